// How long things took: a histogram with the median and the slowest twentieth marked.

import { element, svg } from "./dom";
import { quantile } from "./order";
import { roundStep } from "./ticks";
import { foldedTable, headings, makeTable } from "./tables";
import { figure } from "./units";

const WIDTH = 640;
const HEIGHT = 150;
const BASE = 22;
/** Above the bars: the names of the two marks, one below the other. */
const NAMES = 28;

export function histogram(title: string, values: Float64Array, unit: string): HTMLElement {
    const sorted = values.filter(Number.isFinite).sort();
    const [low, high] = [sorted[0] ?? 0, sorted[sorted.length - 1] ?? 0];
    const most = lastOfMost(sorted);
    const step = roundStep(most - low || Math.abs(high) || 1, 36);
    const from = Math.floor(low / step) * step;
    const bins = new Uint32Array(Math.max(1, Math.floor((most - from) / step + 1e-9) + 1) + (most < high ? 1 : 0));
    for (const value of sorted) bins[Math.min(bins.length - 1, Math.floor((value - from) / step + 1e-9))]!++;
    const words = `${sorted.length} in all; median ${figure(quantile(sorted, 0.5), unit)}, 95th percentile ${figure(quantile(sorted, 0.95), unit)}, ${figure(low, unit)} to ${figure(high, unit)}`;
    const rows = Array.from(bins, (count, i) => [`${figure(from + i * step, unit)} – ${figure(most < high && i === bins.length - 1 ? high : from + (i + 1) * step, unit)}`, count]);
    return element(
        "figure",
        { class: "histogram" },
        element("figcaption", {}, element("h3", {}, title), element("p", { class: "hint" }, words)),
        drawn(bins, from, step, sorted, unit, most < high) as unknown as Node,
        foldedTable(title, makeTable({ title, columns: headings("Duration|Count"), rows }, { rowsShown: 60 })),
    );
}

/** A few outliers would press all others into one bar: they share the last one. */
function lastOfMost(sorted: Float64Array): number {
    const high = sorted[sorted.length - 1] ?? 0;
    if (sorted.length < 20) return high;
    const median = quantile(sorted, 0.5);
    const usual = quantile(sorted, 0.95);
    const end = usual + Math.max(usual - median, median * 0.1);
    return high > end + (end - sorted[0]!) ? end : high;
}

function drawn(bins: Uint32Array, from: number, step: number, sorted: Float64Array, unit: string, cut: boolean): SVGElement {
    const top = Math.max(...bins);
    const width = WIDTH / bins.length;
    const x = (value: number): number => Math.min(((value - from) / step) * width, WIDTH);
    const root = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT + BASE}`, role: "img", "aria-label": "Histogram; the table below has its figures" });
    bins.forEach((count, i) => {
        // A single outlier must be seen next to thousands.
        const height = count ? Math.max(2, (count / top) * (HEIGHT - NAMES)) : 0;
        root.append(svg("rect", { class: cut && i === bins.length - 1 ? "bin longer" : "bin", x: i * width + 0.5, y: HEIGHT - height, width: Math.max(0.5, width - 1), height }));
    });
    root.append(svg("line", { class: "base", x1: 0, x2: WIDTH, y1: HEIGHT + 0.5, y2: HEIGHT + 0.5 }));
    mark(root, x(quantile(sorted, 0.5)), "median", 24);
    if (sorted.length >= 20) mark(root, x(quantile(sorted, 0.95)), "95 %", 10);
    const above = HEIGHT - (bins.at(-1)! / top) * (HEIGHT - NAMES) - 8;
    if (cut) root.append(text(WIDTH, above - 14, `${bins.at(-1)} longer,`, "end"), text(WIDTH, above, `up to ${figure(sorted.at(-1), unit)}`, "end"));
    const labels = Math.min(bins.length, 5);
    for (let i = 0; i <= labels; i++) {
        const at = Math.round((i / labels) * bins.length);
        root.append(text(at * width, HEIGHT + 16, cut && i === labels ? "longer" : figure(from + at * step, unit), i === 0 ? "start" : i === labels ? "end" : "middle"));
    }
    return root;
}

function mark(root: SVGElement, x: number, name: string, y: number): void {
    root.append(svg("line", { class: "mark", x1: x, x2: x, y1: 0, y2: HEIGHT }));
    root.append(text(x > WIDTH - 60 ? x - 4 : x + 4, y, name, x > WIDTH - 60 ? "end" : "start"));
}

function text(x: number, y: number, words: string, anchor: string): SVGElement {
    const node = svg("text", { x, y, "text-anchor": anchor });
    node.textContent = words;
    return node;
}
