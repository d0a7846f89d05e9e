// What a training profile adds: steps, phases, how devices were used over time.

import { wordsOf } from "./cards";
import type { Columns } from "./columns";
import { element } from "./dom";
import type { HeatRow } from "./heat";
import { histogram } from "./histogram";
import { type Bars, type Lane, makeRow, withoutMode } from "./lane";
import { ascending } from "./order";
import type { Panel } from "./panels";
import type { Table, Training } from "./report";
import { figure } from "./units";

type Steps = NonNullable<Training["steps"]>;

/** A lane for each node and phase of steps. */
export function stepBars(steps: Steps, columns: Columns, shift: number): Bars {
    const starts = columns.values(steps.start);
    const stops = columns.values(steps.stop);
    const numbers = columns.values(steps.number);
    const phases = columns.values(steps.phase);
    const nodes = columns.values(steps.node);
    const lanes = new Map<string, { label: string; indices: number[] }>();
    for (const index of ascending(starts)) {
        const phase = withoutMode(steps.phases?.[phases[index]!] ?? "steps");
        const node = steps.nodes?.[nodes[index]!];
        const label = (steps.nodes?.length ?? 0) > 1 && node ? `${node} ${phase}` : phase;
        const lane = lanes.get(label);
        if (lane) lane.indices.push(index);
        else lanes.set(label, { label, indices: [index] });
    }
    const range = (index: number): { start: number; stop: number; open: boolean } => {
        const [start, stop] = [starts[index]! + shift, stops[index]! + shift];
        const open = !(stop === stop);
        return { start, stop: open ? start : stop, open };
    };
    return {
        lanes: [...lanes.values()].map((lane): Lane => ({ label: lane.label, rows: [makeRow(lane.indices.map((index) => ({ ...range(index), index })))] })),
        kind: (index) => phases[index] ?? 0,
        name: (index) => `${withoutMode(steps.phases?.[phases[index]!] ?? "step")} ${numbers[index] ?? index}`,
        range,
    };
}

export function phaseBars(phases: NonNullable<Training["phases"]>, shift: number, end: number): Bars {
    const range = (index: number): { start: number; stop: number; open: boolean } => {
        const phase = phases[index]!;
        return { start: phase.start + shift, stop: phase.stop === null ? end : phase.stop + shift, open: phase.stop === null };
    };
    const names = [...new Set(phases.map(({ name }) => name))];
    const order = phases.map((_, i) => i).sort((a, b) => phases[a]!.start - phases[b]!.start);
    // Phases follow each other; those that overlap get a row each.
    const rows: number[][] = [];
    for (const index of order) {
        const row = rows.find((held) => range(held.at(-1)!).stop <= range(index).start + 1e-9);
        if (row) row.push(index);
        else rows.push([index]);
    }
    return {
        lanes: [{ label: "phases", rows: rows.map((row) => makeRow(row.map((index) => ({ ...range(index), index })))) }],
        name: (index) => withoutMode(phases[index]!.name),
        // What comes again has the colour that it had.
        kind: (index) => names.indexOf(phases[index]!.name),
        range,
    };
}

/** Devices of one resource below each other. */
export function utilizationRows(training: Training, panels: Panel[], session: number): HeatRow[] {
    const lines = panels.flatMap((panel) => panel.lines).filter((line) => line.session === session);
    const severalNodes = new Set(training.utilization?.map((entry) => entry.node)).size > 1;
    const order = ["gpu", "memory", "cpu", "i/o", "network"];
    return (training.utilization ?? [])
        .map((entry) => ({ entry, line: lines.find((line) => line.series === entry.series) }))
        .filter(({ line }) => line && line.unit === "percent")
        .sort((a, b) => order.indexOf(a.entry.resource) - order.indexOf(b.entry.resource))
        .map(({ entry, line }) => ({ label: [severalNodes && entry.node, entry.device, !entry.device.startsWith(entry.resource) && entry.resource, partOf(entry)].filter(Boolean).join(" "), line: line! }));
}

/** "GPUMemoryUtilization" of a GPU is "memory". */
function partOf({ dimension, resource }: NonNullable<Training["utilization"]>[number]): string {
    const name = dimension.replace(/(Utilization|Percent(age)?)$/, "").toLowerCase();
    return name.startsWith(resource) ? name.slice(resource.length) : name;
}

/** A histogram for each phase of steps, and the steps that took far longer than the others. */
export function stepFigures(steps: Steps, columns: Columns): HTMLElement | null {
    const starts = columns.values(steps.start);
    const stops = columns.values(steps.stop);
    const phases = columns.values(steps.phase);
    const byPhase = new Map<string, number[]>();
    for (let i = 0; i < starts.length; i++) {
        const phase = steps.phases?.[phases[i]!] ?? "steps";
        const duration = stops[i]! - starts[i]!;
        if (!Number.isFinite(duration)) continue;
        const list = byPhase.get(phase);
        if (list) list.push(duration);
        else byPhase.set(phase, [duration]);
    }
    // One step has no distribution.
    const figures = [...byPhase].filter(([, durations]) => durations.length > 1).map(([phase, durations]) => histogram(`Duration of steps: ${withoutMode(phase)}`, Float64Array.from(durations), "seconds"));
    return figures.length ? element("div", { class: "histograms" }, ...figures) : null;
}

export function stepWords(bars: Bars, index: number): string[] {
    const { start, stop } = bars.range(index);
    return [bars.name(index), figure(stop - start, "seconds")];
}

/** "getnext_outliers", which programs read, is "GetNext outliers"; a name of a mode goes without "Step:ModeKeys.", a time without microseconds. */
function readableText(text: string): string {
    const words = /^[a-z]+(_[a-z]+)*$/.test(text) ? text.replaceAll("_", " ") : text;
    return withoutMode(words).replace(/getnext/, "GetNext").replace(/^([\d-]{10})T([\d:]{8}):(\d{3})\d*$/, "$1 $2.$3");
}

/** A table of a training profile as people read it. What the profiler had not is -1 or "NA" in its files. */
export function readableTable(table: Table): Table {
    const places = Object.fromEntries(table.columns.map(({ name }, i) => [name, i]));
    const { dimension = -1, Resource = -1 } = places;
    const rows = table.rows.map((row) => row.map((cell, i) => {
        if (cell === -1 || cell === "NA") return null;
        if (typeof cell !== "string") return cell;
        return i === dimension ? wordsOf(String(row[Resource]), cell) : readableText(cell);
    }));
    // What no row has, this framework does not say.
    const isSaid = (_: unknown, i: number): boolean => rows.some((row) => row[i] != null);
    return {
        ...table,
        title: table.title.split(": ").map(readableText).join(": "),
        columns: table.columns.filter(isSaid),
        rows: rows.map((row) => row.filter(isSaid)),
    };
}
