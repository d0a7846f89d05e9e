// The order of values, without copying what they stand for.

/** Indices of the known values, lowest first; equal ones in file order. */
export function ascending(values: Float64Array): Uint32Array {
    const indices = new Uint32Array(values.length);
    let count = 0;
    let sorted = true;
    let last = -Infinity;
    for (let i = 0; i < values.length; i++) {
        const value = values[i]!;
        if (!(value === value)) continue;
        sorted &&= value >= last;
        last = value;
        indices[count++] = i;
    }
    const known = indices.subarray(0, count);
    return sorted ? known : known.sort((a, b) => values[a]! - values[b]! || a - b);
}

/** As the tables of a training profile and of a job have it: between two values in proportion. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
    const place = share * (sorted.length - 1);
    const [below, above] = [sorted[Math.floor(place)] ?? NaN, sorted[Math.ceil(place)] ?? NaN];
    return below + (above - below) * (place - Math.floor(place));
}
