// Round positions of labels and grid lines.

const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 432000, 864000];

/** A step of 1, 2 or 5 times a power of ten, of which at most `count` fit into `span`. */
export function roundStep(span: number, count: number): number {
    const min = span / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(min));
    for (const factor of [1, 2, 5, 10]) {
        if (factor * power >= min * (1 - 1e-9)) return factor * power;
    }
    return 10 * power;
}

/** The same for a time axis: from a second on, steps that clocks have. */
export function timeStep(span: number, count: number): number {
    const min = span / Math.max(1, count);
    if (min < 1) return roundStep(span, count);
    return SECONDS.find((step) => step >= min) ?? roundStep(span / 86400, count) * 86400;
}

export function ticks(from: number, to: number, step: number): number[] {
    const found: number[] = [];
    for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i++) found.push(i * step);
    return found;
}
