// A curve in small, without axes.

import { colourVariable } from "./colours";
import { svg } from "./dom";
import type { Line } from "./line";

const WIDTH = 120;
const HEIGHT = 28;

/** The highest value of each column: what a figure of the session looked like over time. */
export function sparkline(line: Line): SVGElement | null {
    const { times } = line;
    const { max, min } = line.extremes(0, times.length);
    if (times.length < 2 || !Number.isFinite(max)) return null;
    const low = Math.min(0, min);
    const from = times[0]!;
    const span = times[times.length - 1]! - from || 1;
    const y = (value: number): string => (HEIGHT - 2 - ((value - low) / (max - low || 1)) * (HEIGHT - 4)).toFixed(1);
    const points: string[] = [];
    let first = 0;
    for (let x = 0; x < WIDTH; x++) {
        const until = x === WIDTH - 1 ? Infinity : from + ((x + 1) / WIDTH) * span;
        const end = line.endAt(until);
        const high = end > first ? line.extremes(first, end).max : NaN;
        if (Number.isFinite(high)) points.push(`${x},${y(high)}`);
        first = line.moments.indexAt(until);
    }
    const area = `${points[0]!.split(",")[0]},${HEIGHT} ${points.join(" ")} ${points.at(-1)!.split(",")[0]},${HEIGHT}`;
    return svg(
        "svg",
        { class: "sparkline", color: colourVariable(line.style.colour), viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("polygon", { points: area }),
        svg("polyline", { points: points.join(" "), "vector-effect": "non-scaling-stroke" }),
    );
}
