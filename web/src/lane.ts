// Bars on the time axis, arranged in rows: calls of code blocks by process and thread, processes from start to end.

import type { Columns } from "./columns";
import { FirstFree } from "./first-free";
import { ascending } from "./order";
import type { Calls, ProcessList } from "./report";

/** A row of bars that do not overlap, sorted by start. */
export interface Row {
    starts: Float64Array;
    stops: Float64Array;
    /** Place of each bar in the data it comes from. */
    indices: Uint32Array;
}

/** Rows under one heading. */
export interface Lane {
    label: string;
    /** Of a thread: its process and itself, for a label in two lines. */
    place?: { process: string; thread: string };
    rows: Row[];
}

/** What bars are: their text, colour and words, by their place in the data. */
export interface Bars {
    lanes: Lane[];
    name: (index: number) => string;
    /** Bars of one kind, a number, have one colour. */
    kind: (index: number) => number;
    /** Process and thread, where they are known. */
    where?: (index: number) => string;
    /** What it launched, or what launched it. */
    linked?: (index: number) => number[];
    /** Start, stop, and whether it was still open at the end of the data. */
    range: (index: number) => { start: number; stop: number; open: boolean };
}

interface Interval {
    start: number;
    stop: number;
    index: number;
}

export function makeRow(intervals: Interval[]): Row {
    return {
        starts: Float64Array.from(intervals, (interval) => interval.start),
        stops: Float64Array.from(intervals, (interval) => interval.stop),
        indices: Uint32Array.from(intervals, (interval) => interval.index),
    };
}

/** Each interval in the first row that is free again. Intervals are sorted by start. */
function packed(intervals: Interval[]): Row[] {
    const rows: Interval[][] = [];
    const free = new FirstFree();
    for (const interval of intervals) (rows[free.take(interval.start, interval.stop)] ??= []).push(interval);
    return rows.map(makeRow);
}

const NAMELESS = "(no name)";

/** A lane for each process and thread, a row for each depth. `end`: where open calls are drawn to. */
export function callBars(calls: Calls, columns: Columns, shift: number, end: number): Bars {
    const starts = columns.values(calls.start);
    const stops = columns.values(calls.stop);
    const names = columns.values(calls.name);
    const processes = columns.values(calls.process);
    const threads = columns.values(calls.thread);
    const depths = columns.values(calls.depth);
    const links = columns.values(calls.link);
    const range = (index: number): { start: number; stop: number; open: boolean } => {
        const stop = stops[index]!;
        const open = !(stop === stop);
        return { start: starts[index]! + shift, stop: open ? Math.max(end, starts[index]! + shift) : stop + shift, open };
    };
    // One pass over calls by start: a million of them must not be sorted lane by lane.
    const lanes = new Map<string, { process: number; thread: number; depths: Map<number, Interval[]> }>();
    for (const index of ascending(starts)) {
        const process = processes[index] ?? 0;
        const thread = threads[index] ?? 0;
        const key = `${process} ${thread}`;
        let lane = lanes.get(key);
        if (!lane) lanes.set(key, (lane = { process, thread, depths: new Map() }));
        const depth = depths[index] || 0;
        const { start, stop } = range(index);
        const row = lane.depths.get(depth);
        if (row) row.push({ start, stop, index });
        else lane.depths.set(depth, [{ start, stop, index }]);
    }
    const threadsOf = new Map<number, number>();
    for (const lane of lanes.values()) threadsOf.set(lane.process, (threadsOf.get(lane.process) ?? 0) + 1);
    const ordered = [...lanes.values()].sort((a, b) => a.process - b.process || a.thread - b.thread);
    const placeOf = placesOf(calls);
    const isAlone = (lane: { process: number; thread: number }): boolean => threadsOf.get(lane.process) === 1 && !placeOf(lane.process, lane.thread).isNamed;
    return {
        lanes: ordered.map((lane) => ({
            label: placeText(placeOf(lane.process, lane.thread), !isAlone(lane)),
            place: isAlone(lane) ? undefined : placeOf(lane.process, lane.thread),
            // Calls of one depth that overlap (a stop was lost) get rows of their own.
            rows: [...lane.depths.entries()].sort(([a], [b]) => a - b).flatMap(([, intervals]) => packed(intervals)),
        })),
        name: (index) => `${calls.names[names[index]!] || NAMELESS}${stops[index] === stops[index] ? "" : " (still open)"}`,
        kind: (index) => names[index]!,
        where: (index) => placeText(placeOf(processes[index] ?? 0, threads[index] ?? 0), calls.thread !== undefined),
        linked: (index) => Array.from(links.keys()).filter((other) => other !== index && links[other] === links[index]),
        range,
    };
}

interface Place {
    process: string;
    thread: string;
    isNamed: boolean;
}

function placesOf(calls: Calls): (process: number, thread: number) => Place {
    const names = new Map((calls.threads ?? []).map(({ process, thread, name }) => [`${process} ${thread}`, name]));
    return (process, thread) => {
        const known = calls.processes?.[process];
        const label = known ? withoutMode(known.label || `pid ${known.pid}`) : `process ${process}`;
        const name = names.get(`${process} ${thread}`);
        // The first thread of a process has its number.
        return { process: label, thread: name ?? (label === String(thread) ? "" : `thread ${thread}`), isNamed: name !== undefined };
    };
}

function placeText({ process, thread }: Place, withThread: boolean): string {
    return withThread && thread ? `${process}, ${thread}` : process;
}

/** "Step:ModeKeys.TRAIN" is called what it is. */
export function withoutMode(name: string): string {
    return name.replace(/Step:ModeKeys\./g, "");
}

/** Processes in the order of their starts, those that do not overlap below each other share a row. */
export function processBars(list: ProcessList, columns: Columns, shift: number, whole: { from: number; to: number }): Bars {
    const pids = columns.values(list.pid);
    const starts = columns.values(list.start);
    const ends = columns.values(list.end);
    const names = columns.values(list.name);
    const range = (index: number): { start: number; stop: number; open: boolean } => {
        const start = starts[index] ?? NaN;
        const end = ends[index] ?? NaN;
        const open = !Number.isFinite(end);
        // A process may have been there before the session.
        const from = Number.isFinite(start) ? Math.max(whole.from, start + shift) : whole.from;
        return { start: from, stop: Math.max(from, open ? whole.to : end + shift), open };
    };
    const intervals = Array.from(pids, (_, index) => ({ index, ...range(index) })).sort((a, b) => a.start - b.start || a.index - b.index);
    return {
        lanes: intervals.length ? [{ label: intervals.length === 1 ? "1 process" : `${intervals.length} processes`, rows: packed(intervals) }] : [],
        name: (index) => `${list.names[names[index]!] || NAMELESS} · ${pids[index]}`,
        kind: (index) => names[index] ?? 0,
        range,
    };
}
