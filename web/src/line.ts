// One curve: moments in ascending order and a value for each, with fast extremes of any stretch.

import { ascending } from "./order";

const BLOCK = 32;

interface Extremes {
    min: number;
    max: number;
}

/** Of the samples before each: values by their weights, the weights, and how many are known. */
type Sums = Record<"sums" | "weights" | "counts", Float64Array>;

export interface Summary extends Extremes {
    mean: number;
    /** Of the known samples. */
    count: number;
    highestAt: number;
}

/** Moments of samples, shared by the curves that were sampled together. */
export class Moments {
    readonly times: Float64Array;
    /** Where each is in the file, if it was not in order there (a clock was set). */
    readonly order: Uint32Array | null;
    #kept: { key: string; found: Uint32Array } | null = null;

    constructor(raw: Float64Array, offset = 0) {
        const sorted = ascending(raw);
        const inOrder = sorted.length === raw.length && sorted.every((index, i) => index === i);
        const order = inOrder ? null : sorted;
        this.order = order;
        const times = new Float64Array(order ? order.length : raw.length);
        for (let i = 0; i < times.length; i++) times[i] = raw[order ? order[i]! : i]! + offset;
        this.times = times;
    }

    arrange(values: Float64Array): Float64Array {
        const order = this.order;
        if (!order) return values;
        return Float64Array.from(order, (index) => values[index] ?? NaN);
    }

    /** The first index of each of some equal columns of a range, and of what follows them. Kept for the next line that is drawn. */
    boundaries(from: number, to: number, columns: number): Uint32Array {
        const key = `${from} ${to} ${columns}`;
        if (this.#kept?.key !== key) {
            const found = new Uint32Array(columns + 1);
            const width = (to - from) / columns;
            for (let i = 0; i < columns; i++) found[i] = this.indexAt(from + i * width);
            // The last column has the sample at its very end too.
            found[columns] = this.indexAt(to + width * 1e-6);
            this.#kept = { key, found };
        }
        return this.#kept.found;
    }

    /** The first index whose moment is not before `moment`. */
    indexAt(moment: number): number {
        let low = 0;
        let high = this.times.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.times[middle]! < moment) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}

export interface LineStyle {
    colour: number;
    dash: number[];
    width: number;
    fill: boolean;
}

interface LineProperties {
    /** Unlike all others of the page. */
    id: string;
    /** Its id in its session. */
    series: string;
    label: string;
    /** With the name of its chart, for tables of all. */
    longLabel: string;
    /** What distinguishes its session from the others. */
    sessionLabel: string;
    unit: string;
    scope: string;
    session: number;
    /** Curves of one chart that have the same are equal. */
    place: string;
    /** Throughout. */
    isZero: boolean;
    /** Its value, where it never changes. */
    constant?: number;
    /** Of several sessions: by what its session is compared in its chart. */
    isMain: boolean;
    /** Those that are drawn with it, being equal. */
    equals?: string[];
    limit: number | null;
    /** Higher than all samples: that of a moment between them which is not known. */
    peak?: number;
    /** Of what a counter grew by: each value is that of all the time since the sample before. */
    ofInterval?: boolean;
    style: LineStyle;
    shownAtFirst: boolean;
}

/** A line has its properties as its own. */
export interface Line extends LineProperties {}

export class Line {
    shown: boolean;
    readonly #moments: () => Moments;
    readonly #read: () => Float64Array;
    #values: Float64Array | null = null;
    #blocks: { lows: Float64Array; highs: Float64Array } | null = null;
    #sums: Sums | null = null;

    /** Nothing is decoded before the line is drawn or asked. */
    constructor(properties: LineProperties, moments: () => Moments, read: () => Float64Array) {
        Object.assign(this, properties);
        this.shown = properties.shownAtFirst;
        this.#moments = moments;
        this.#read = read;
    }

    get moments(): Moments {
        return this.#moments();
    }

    get times(): Float64Array {
        return this.moments.times;
    }

    get values(): Float64Array {
        return (this.#values ??= this.moments.arrange(this.#read()));
    }

    /** Past the last sample that says something of the time before a moment: a rate holds until its sample. */
    endAt(moment: number): number {
        const after = this.moments.indexAt(moment);
        return this.ofInterval ? Math.min(this.times.length, after + 1) : after;
    }

    /** The sample before an index, which holds until there is another one; NaN in a gap and outside of the line. */
    heldAt(index: number): number {
        return index < this.times.length ? (this.values[index - 1] ?? NaN) : NaN;
    }

    /** What is drawn at a moment: a sample, or what is between two; NaN outside of the line and in a gap. */
    valueAt(moment: number): number {
        const after = this.moments.indexAt(moment);
        return this.times[after] === moment ? this.values[after]! : this.drawnAt(moment, after);
    }

    /** The value of the straight line, or of the step, between the samples around a moment; `after` is the index of the later one. NaN in a gap. */
    drawnAt(moment: number, after = this.moments.indexAt(moment)): number {
        const { times, values } = this;
        if (after === 0 || after >= times.length) return NaN;
        if (this.ofInterval) return values[after]!;
        const [start, end] = [times[after - 1]!, times[after]!];
        const share = end > start ? (moment - start) / (end - start) : 1;
        return values[after - 1]! + (values[after]! - values[after - 1]!) * Math.min(1, Math.max(0, share));
    }

    /** The highest of what is drawn from one moment to another, with or without a sample in between; NaN if nothing is. */
    highestDrawn(from: number, to: number): number {
        const known = [this.highest(from, to).max, this.drawnAt(from), this.drawnAt(to)].filter((value) => value === value);
        return known.length ? Math.max(...known) : NaN;
    }

    /** Lowest and highest known value of samples [from, to); NaN if there is none. */
    extremes(from: number, to: number): Extremes {
        const values = this.values;
        let min = Infinity;
        let max = -Infinity;
        const firstBlock = Math.ceil(from / BLOCK);
        const lastBlock = Math.floor(to / BLOCK);
        const hasBlocks = firstBlock < lastBlock;
        // Samples before the first block and after the last one, or all of them.
        const [before, after] = hasBlocks ? [firstBlock * BLOCK, lastBlock * BLOCK] : [from, from];
        const scan = (i: number, end: number): void => {
            for (; i < end; i++) {
                const value = values[i]!;
                if (value < min) min = value;
                if (value > max) max = value;
            }
        };
        scan(from, before);
        scan(after, to);
        if (!hasBlocks) return min <= max ? { min, max } : { min: NaN, max: NaN };
        const { lows, highs } = this.#makeBlocks();
        for (let block = firstBlock; block < lastBlock; block++) {
            const low = lows[block]!;
            const high = highs[block]!;
            if (low < min) min = low;
            if (high > max) max = high;
        }
        return min <= max ? { min, max } : { min: NaN, max: NaN };
    }

    #makeBlocks(): { lows: Float64Array; highs: Float64Array } {
        if (this.#blocks) return this.#blocks;
        const values = this.values;
        const blocks = Math.floor(values.length / BLOCK);
        const lows = new Float64Array(blocks);
        const highs = new Float64Array(blocks);
        for (let block = 0, i = 0; block < blocks; block++) {
            let low = Infinity;
            let high = -Infinity;
            for (const end = i + BLOCK; i < end; i++) {
                const value = values[i]!;
                if (value < low) low = value;
                if (value > high) high = value;
            }
            lows[block] = low;
            highs[block] = high;
        }
        return (this.#blocks = { lows, highs });
    }

    /** Mean of the known samples [from, to), of intervals by their lengths; NaN if there is none. */
    mean(from: number, to: number): number {
        const { sums, weights } = this.#cumulate();
        return (sums[to]! - sums[from]!) / (weights[to]! - weights[from]!);
    }

    /** The mean of each of some equal columns of a range; a column without a sample has the sample before it, NaN in a gap. */
    columnMeans({ from, to }: { from: number; to: number }, columns: number): number[] {
        let first = this.moments.indexAt(from);
        return Array.from({ length: columns }, (_, x) => {
            const until = from + ((x + 1) / columns) * (to - from);
            const end = this.endAt(until);
            const value = end > first ? this.mean(first, end) : this.heldAt(first);
            first = this.moments.indexAt(until);
            return value;
        });
    }

    #cumulate(): Sums {
        if (this.#sums) return this.#sums;
        const { values, times } = this;
        const [sums, weights, counts] = [0, 1, 2].map(() => new Float64Array(values.length + 1)) as [Float64Array, Float64Array, Float64Array];
        values.forEach((value, i) => {
            const known = value === value;
            // The first is of as long as the second. Samples of one moment count only where there are no others.
            const weight = this.ofInterval ? times[i || 1]! - times[i && i - 1]! || 1e-9 : 1;
            sums[i + 1] = sums[i]! + (known ? value * weight : 0);
            weights[i + 1] = weights[i]! + (known ? weight : 0);
            counts[i + 1] = counts[i]! + Number(known);
        });
        return (this.#sums = { sums, weights, counts });
    }

    /** Indices of the samples from one moment to another, both included. */
    #indices(from: number, to: number): [number, number] {
        const { times } = this;
        const first = this.moments.indexAt(from);
        let last = this.moments.indexAt(to);
        while (last < times.length && times[last] === to) last++;
        return [first, last];
    }

    /** The first sample with the highest value between two moments; index -1 if there is none. */
    highest(from: number, to: number): { index: number; max: number } {
        const [first, last] = this.#indices(from, to);
        const { max } = this.extremes(first, last);
        return { index: max === max ? this.values.indexOf(max, first) : -1, max };
    }

    /** Figures of what a range shows: extremes, mean, and the moment of the highest. */
    summary(from: number, to: number): Summary {
        const [first, last] = this.#indices(from, to);
        const { min } = this.extremes(first, last);
        const { index, max } = this.highest(from, to);
        const { counts } = this.#cumulate();
        return { min, max, mean: this.mean(first, last), count: counts[last]! - counts[first]!, highestAt: index < 0 ? NaN : this.times[index]! };
    }
}
