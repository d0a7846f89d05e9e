// Processes as figures: the table of all, and what is known of one.

import { factList, known, usageDuring } from "./blocks";
import type { Columns } from "./columns";
import type { Bars } from "./lane";
import { whenText } from "./lanes";
import type { Line } from "./line";
import type { Column, ProcessList, Table } from "./report";
import { headings } from "./tables";
import { figure, moment } from "./units";

const FIGURES: [keyof ProcessList, string, string][] = [
    ["cpu_seconds", "CPU time", "seconds"],
    ["peak_ram_bytes", "RAM peak", "bytes"],
    ["peak_gpu_ram_bytes", "GPU RAM peak", "bytes"],
    ["read_bytes", "Read", "bytes"],
    ["write_bytes", "Written", "bytes"],
];

/** The kernel counts what an ended process read and wrote in whole KiB. */
const zeroText = (name: string): string | undefined => (name === "Read" || name === "Written" ? "< 1 KiB" : undefined);

const figureText = (name: string, value: number | undefined, unit: string): string => (value === 0 && zeroText(name)) || figure(value, unit);

function knownFigures(list: ProcessList, columns: Columns): { name: string; unit: string; values: Float64Array }[] {
    return FIGURES.map(([key, name, unit]) => ({ name, unit, values: columns.values(list[key] as Column | undefined) })).filter(({ values }) => values.some((value) => value === value));
}

/** Whole numbers of the kernel: no separators in pids. */
const pidText = (value: number | undefined): string => String(known(value) ?? "");

function endText(list: ProcessList, columns: Columns, index: number): string {
    const code = known(columns.values(list.exit_status)[index]);
    const signal = known(columns.values(list.signal)[index]);
    const name = list.signals?.[signal ?? ""];
    if (signal) return `ended by signal ${signal}${name ? ` (${name})` : ""}`;
    if (code !== null) return `exit status ${code}`;
    if (known(columns.values(list.end)[index]) === null) return "alive at the end";
    return "";
}

export function processTable(list: ProcessList, columns: Columns, bars: Bars): Table {
    const pids = columns.values(list.pid);
    const names = columns.values(list.name);
    const parents = columns.values(list.parent);
    const figures = knownFigures(list, columns);
    const rows = Array.from(pids, (pid, i) => {
        const { start, stop } = bars.range(i);
        return [list.names[names[i]!] ?? "", pidText(pid), pidText(parents[i]), stop - start, ...figures.map(({ values }) => known(values[i])), endText(list, columns, i)];
    });
    return {
        title: "Processes; those that ended used at least this",
        columns: [
            ...headings("Process|Pid|Parent"),
            ...headings("Lived", 0, "seconds"),
            ...figures.map(({ name, unit }) => ({ name, unit, type: "number" as const, zero: zeroText(name) })),
            { name: "End" },
        ],
        rows,
    };
}

export function processWords(list: ProcessList, columns: Columns, bars: Bars, index: number): string[] {
    const figures = knownFigures(list, columns).flatMap(({ name, unit, values }) => (known(values[index]) === null ? [] : [`${name} ${figureText(name, values[index], unit)}`]));
    return [bars.name(index), whenText(bars.range(index)), ...figures, endText(list, columns, index)].filter(Boolean);
}

export function processDetails(list: ProcessList, columns: Columns, bars: Bars, lines: Line[], index: number): HTMLElement[] {
    const range = bars.range(index);
    const facts: [string, string][] = [
        ["Pid", pidText(columns.values(list.pid)[index])],
        ["Parent", pidText(columns.values(list.parent)[index])],
        ["Lived", `${whenText(range)}, from ${moment(range.start, 1e-3)}`],
        ...knownFigures(list, columns).map(({ name, unit, values }): [string, string] => [name, known(values[index]) === null ? "" : figureText(name, values[index], unit)]),
        ["End", endText(list, columns, index)],
    ];
    return [factList(facts), ...usageDuring(lines, range.start, range.stop)];
}
