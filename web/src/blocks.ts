// Code blocks as figures: the table of all, and what is known of one and of one call.

import type { Columns } from "./columns";
import { element } from "./dom";
import type { Bars } from "./lane";
import { whenText } from "./lanes";
import type { Line } from "./line";
import { seriesLabel } from "./panels";
import type { Blocks, Calls, Column, FourFigures, Series, Session, Table } from "./report";
import { headings, makeTable } from "./tables";
import { figure, moment } from "./units";

/** The usage that the table of all blocks shows: what it needed of the main things. */
const SHOWN_USAGE: [RegExp, keyof FourFigures, string][] = [
    [/^combined_ram$/, "max", "RAM, highest"],
    [/^combined_gpu_ram$/, "max", "GPU RAM, highest"],
    [/^cpu_combined_sum/, "mean", "CPU, mean"],
    [/^gpu_sum_util/, "mean", "GPU, mean"],
];

function seriesOf(session: Session, id: string): Series | undefined {
    return session.series?.find((series) => series.id === id);
}

export function blockTable(session: Session, columns: Columns): Table | null {
    const { blocks, calls } = session;
    if (!blocks || !calls) return null;
    const names = columns.values(blocks.name);
    const callS = blocks.call_s ?? {};
    const seconds = "seconds";
    const all: Figure[] = [
        ["Calls", "", blocks.calls],
        ["Open", "", blocks.open],
        ["Total", seconds, blocks.total_s],
        ["Mean", seconds, callS.mean],
        ["Shortest", seconds, callS.min],
        ["Longest", seconds, callS.max],
        ...usageColumns(session, blocks),
        ...exactColumns(blocks),
    ];
    const figures = all.map(([name, unit, column]) => ({ head: { name, unit, type: "number" as const }, values: columns.values(column) })).filter(({ values }) => values.some((value) => value === value));
    const { category } = blocks;
    const rows = Array.from(names, (name, i) => [calls.names[name] ?? "", ...(category ? [category[i] ?? null] : []), ...figures.map(({ values }) => known(values[i]))]);
    const categoryColumn = category ? [{ name: "Category", type: "text" as const }] : [];
    return { title: "Code blocks", columns: [{ name: "Code block", type: "text" }, ...categoryColumn, ...figures.map(({ head }) => head)], rows };
}

/** Its name, its unit and a value a block. */
type Figure = [string, string, Column | undefined];

function usageColumns(session: Session, blocks: Blocks): Figure[] {
    return (blocks.usage ?? []).flatMap((usage): Figure[] => {
        const shown = SHOWN_USAGE.find(([words]) => words.test(usage.series));
        const column = shown && usage[shown[1]];
        const series = seriesOf(session, usage.series);
        return column && series ? [[shown[2], series.unit, column]] : [];
    });
}

/** What was counted that samples do not show. */
const SHOWN_EXACT: Record<string, string> = {
    process_cpu_time: "CPU time, counted",
    block_peak_rss: "Peak RSS",
    instructions: "Instructions",
    cycles: "Cycles",
    cache_misses: "Cache misses",
    gpu_time: "GPU time, counted",
};

function exactColumns(blocks: Blocks): Figure[] {
    return (blocks.exact ?? []).flatMap(({ figure, unit, total, max }): Figure[] => {
        const name = SHOWN_EXACT[figure];
        const column = total ?? max;
        return name && column ? [[name, unit, column]] : [];
    });
}

export const known = (value: number | undefined): number | null => (value === undefined || Number.isNaN(value) ? null : value);

/** Row of the blocks that calls of a name belong to; -1 if there is none. */
function blockRowOf(session: Session, columns: Columns, name: number): number {
    return session.blocks ? columns.values(session.blocks.name).indexOf(name) : -1;
}

/** One call: when, where, what was in use while it ran, and all calls of its block. */
export function callDetails(session: Session, columns: Columns, bars: Bars, lines: Line[], index: number): HTMLElement[] {
    const calls = session.calls!;
    const range = bars.range(index);
    const facts: [string, string][] = [
        ["This call", `${whenText(range)}, from ${moment(range.start, Math.min(1e-3, (range.stop - range.start) / 10))}`],
        ["In", calls.process || calls.thread ? bars.where!(index) : ""],
    ];
    const row = blockRowOf(session, columns, columns.values(calls.name)[index]!);
    const all = row >= 0 ? blockStatistics(session, columns, row) : callStatistics(calls, columns, index);
    return [factList(facts), element("div", { class: "details-figures" }, ...(lines.length ? usageDuring(lines, range.start, range.stop) : []), all)];
}

/** All calls of the name of one, where no statistics came with them: events of traces. */
function callStatistics(calls: Calls, columns: Columns, index: number): HTMLElement {
    const [names, starts, stops] = [columns.values(calls.name), columns.values(calls.start), columns.values(calls.stop)];
    const ended: number[] = [];
    names.forEach((name, i) => name === names[index] && stops[i]! >= starts[i]! && ended.push(stops[i]! - starts[i]!));
    const sorted = ended.sort((a, b) => a - b);
    const own = stops[index]! - starts[index]!;
    const total = sorted.reduce((sum, one) => sum + one, 0);
    const span = starts.length ? stops.reduce((last, stop) => (stop > last ? stop : last), -Infinity) - starts.reduce((first, start) => Math.min(first, start), Infinity) : NaN;
    const longer = sorted.length - sorted.findIndex((one) => one >= own) - 1;
    const rank = own >= 0 && sorted.length > 1 ? `${longer === 0 ? "the longest" : `${longer} longer`}` : "";
    const rows = [[figure(sorted.length, "count"), figure(total, "seconds"), figure((total / span) * 100, "percent"), ...[sorted[0], sorted[Math.floor((sorted.length - 1) / 2)], sorted.at(-1)].map((value) => figure(value, "seconds")), rank]];
    return makeTable({ title: "All events of this name", columns: [...headings("Events|Total|Of the trace|Shortest|Median|Longest", 0), { name: "This one" }], rows });
}

export function factList(facts: [string, string][]): HTMLElement {
    return element("dl", { class: "facts" }, ...facts.filter(([, value]) => value).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, element("bdi", {}, value))]));
}

/** What the samples between two moments say; nothing if there were none. */
export function usageDuring(lines: Line[], from: number, to: number): HTMLElement[] {
    const rows = lines.flatMap((line) => {
        const { min, mean, max, count } = line.summary(from, to);
        const { unit, longLabel } = line;
        return count ? [[longLabel, figure(min, unit), figure(mean, unit), figure(max, unit), count]] : [];
    });
    if (!rows.length) return [element("p", { class: "hint" }, "Shorter than the sampling interval: no sample was taken while it ran.")];
    return [
        makeTable({
            title: "Samples of this stretch",
            columns: headings("Figure|Lowest|Mean|Highest|Samples"),
            rows,
        }),
    ];
}

/** All calls of one block. */
export function blockStatistics(session: Session, columns: Columns, row: number): HTMLElement {
    const blocks = session.blocks!;
    const at = (column: FourFigures[keyof FourFigures]): number | null => known(columns.values(column)[row]);
    const four = (figures: FourFigures, unit: string): string[] => [at(figures.min), at(figures.mean), at(figures.max), at(figures.std)].map((value) => figure(value, unit));
    const rows: string[][] = [["Duration of a call", ...four(blocks.call_s ?? {}, "seconds")]];
    for (const usage of blocks.usage ?? []) {
        const series = seriesOf(session, usage.series);
        if (at(usage.max) === null) continue;
        rows.push([series ? seriesLabel(series) : usage.series.replaceAll("_", " "), ...four(usage, series?.unit ?? "")]);
    }
    const calls = at(blocks.calls);
    for (const exact of blocks.exact ?? []) {
        const value = at(exact.total ?? exact.max);
        if (value === null) continue;
        const name = exact.figure.replaceAll("_", " ").replace("rss", "RSS").replace("cpu", "CPU");
        const label = `${name[0]!.toUpperCase()}${name.slice(1)}, counted`;
        rows.push(exact.max ? [label, "", "", figure(value, exact.unit), ""] : [label, "", calls ? figure(value / calls, exact.unit) : "", "", ""]);
    }
    const open = at(blocks.open);
    const title = `All ${figure(calls, "count")} calls${open ? `, ${open} open` : ""}, ${figure(at(blocks.total_s), "seconds")} in total`;
    return makeTable({ title, columns: headings("Figure|Lowest|Mean|Highest|Std. deviation"), rows }, { rowsShown: 40 });
}

/** First call of a block in time, to show where it is. */
export function firstCallOf(calls: Calls, columns: Columns, name: number): number | null {
    const names = columns.values(calls.name);
    const starts = columns.values(calls.start);
    let first: number | null = null;
    for (let i = 0; i < names.length; i++) if (names[i] === name && (first === null || starts[i]! < starts[first]!)) first = i;
    return first;
}
