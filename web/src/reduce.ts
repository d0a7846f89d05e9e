// From a million samples to what a chart of some thousand pixels can show, without losing a peak: the lowest
// and the highest value of every column of pixels.

import type { Line } from "./line";

/** Where a curve goes, in time; NaN is a gap in it. */
export interface Points {
    times: number[];
    values: number[];
    /** Whether these are pairs of extremes, one pair a column. */
    reduced: boolean;
}

/** Few samples are drawn where they are; more than pixels can hold are reduced. */
export function reduceLine(line: Line, from: number, to: number, columns: number): Points {
    const first = line.moments.indexAt(from);
    const last = line.moments.indexAt(to);
    return last - first <= 2 * columns ? exactPoints(line, first, last) : columnExtremes(line, from, to, columns);
}

/** With one sample more at each side, so that the curve reaches the edges. */
function exactPoints(line: Line, first: number, last: number): Points {
    const [begin, end] = [Math.max(0, first - 1), Math.min(line.times.length, last + 1)];
    return { times: Array.from(line.times.subarray(begin, end)), values: Array.from(line.values.subarray(begin, end)), reduced: false };
}

/** A column without a sample adds no point, so that the curve goes on; one without a known value is a gap. */
function columnExtremes(line: Line, from: number, to: number, columns: number): Points {
    const points: Points = { times: [], values: [], reduced: true };
    const width = (to - from) / columns;
    const boundaries = line.moments.boundaries(from, to, columns);
    for (let i = 0; i < columns; i++) {
        const first = boundaries[i]!;
        const last = boundaries[i + 1]!;
        if (last <= first) continue;
        const { min, max } = line.extremes(first, last);
        const middle = from + (i + 0.5) * width;
        points.times.push(middle, middle);
        // Up or down first, whichever is the way of the samples.
        const rises = !(line.values[last - 1]! < line.values[first]!);
        points.values.push(rises ? min : max, rises ? max : min);
    }
    return points;
}
