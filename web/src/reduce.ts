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

/** From this share of the columns on, a path takes the browser longer than columns of pixels: it draws it edge by edge. */
const DENSE = 0.25;

/**
 * Few samples are drawn where they are; more than pixels can hold are reduced. Between the two a path looks best, and columns
 * of what it covers are drawn faster: that is for ranges that are moving.
 */
export function reduceLine(line: Line, from: number, to: number, columns: number, isMoving: boolean): Points {
    const count = line.moments.indexAt(to) - line.moments.indexAt(from);
    if (count > 2 * columns) return columnExtremes(line, from, to, columns);
    return isMoving && count > DENSE * columns ? curveExtremes(line, from, to, columns) : exactPoints(line, from, to);
}

/** With one sample more at each side, so that the curve reaches the edges. */
function exactPoints(line: Line, from: number, to: number): Points {
    const [first, last] = [line.moments.indexAt(from), line.moments.indexAt(to)];
    const [begin, end] = [Math.max(0, first - 1), Math.min(line.times.length, last + 1)];
    if (line.ofInterval) return steps(line, begin, end);
    return { times: Array.from(line.times.subarray(begin, end)), values: Array.from(line.values.subarray(begin, end)), reduced: false };
}

/** Each value from the sample before it to its own. */
function steps(line: Line, begin: number, end: number): Points {
    const points: Points = { times: [], values: [], reduced: false };
    for (let i = begin; i < end; i++) {
        const value = line.values[i]!;
        points.times.push(line.times[Math.max(0, i - 1)]!, line.times[i]!);
        points.values.push(value, value);
    }
    return points;
}

/** The lowest and the highest place of the curve itself in each column, and half a pen next to it. */
function curveExtremes(line: Line, from: number, to: number, columns: number): Points {
    const points: Points = { times: [], values: [], reduced: true };
    const { times } = line;
    const width = (to - from) / columns;
    const margin = (Math.max(0, line.style.width * (devicePixelRatio || 1) - 1) / 2) * width;
    let first = line.moments.indexAt(from - margin);
    let last = first;
    for (let i = 0; i < columns; i++) {
        const left = from + i * width;
        const [begin, end] = [left - margin, left + width + margin];
        while (first < times.length && times[first]! < begin) first++;
        last = Math.max(first, last);
        while (last < times.length && times[last]! < end) last++;
        const samples = line.extremes(first, last);
        const [enters, leaves] = [line.drawnAt(begin, first), line.drawnAt(end, last)];
        points.times.push(left + width / 2, left + width / 2);
        points.values.push(least(least(samples.min, enters), leaves), -least(least(-samples.max, -enters), -leaves));
    }
    return points;
}

/** Of what is known. */
function least(a: number, b: number): number {
    return a < b || !(b === b) ? a : b;
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
