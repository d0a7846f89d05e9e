// Several sessions next to each other: a table with relative changes, sums, and ranks with the one that others wait for.

import { colourVariable, FAINT } from "./colours";
import { element, svg } from "./dom";
import type { HeatRow } from "./heat";
import { Line, type LineStyle, Moments } from "./line";
import { ascending } from "./order";
import { areRanks, rankLabel, runsOf, sessionLabels, sessionName } from "./names";
import { type Panel, seriesLabel } from "./panels";
import type { MainFigure, Session, Table } from "./report";
import type { Straggler } from "./stragglers";
import { makeTable } from "./tables";
import { figure } from "./units";

/** Ranks, or more sessions than fit next to each other: a row each, with its change against the first or the median. */
export function sessionTable(sessions: Session[], figures: MainFigure[]): Table {
    const ranks = areRanks(sessions);
    const rows = sessionLabels(sessions).map((label, index) => [
        label,
        ...figures.map(({ values, base, unit }) => {
            const value = values[index]!;
            return typeof value === "string" ? value : withChange(value, !ranks && index === 0 ? null : base, unit);
        }),
    ]);
    if (ranks) rows.unshift(["All together", ...figures.map(togetherText)]);
    return {
        title: ranks ? "Ranks, and their difference from the median" : "Sessions, and their change against the first",
        columns: [{ name: ranks ? "Rank" : "Session" }, ...figures.map(({ label }) => ({ name: label, type: "number" as const }))],
        rows,
    };
}

/** A few sessions next to each other: a row a figure, what changed most first. */
export function figuresTable(sessions: Session[], figures: MainFigure[]): HTMLElement {
    const [first, ...others] = sessionLabels(sessions);
    const changes = figures.map(({ values, base }) => values.slice(1).map((value) => (typeof value === "number" ? changeOf(value, base) : null)));
    const rows = figures.map(({ label, unit, values }, i) => {
        const texts = values.map((value) => (typeof value === "string" ? value : figure(value, unit, true)));
        return [label, texts[0]!, ...texts.slice(1).flatMap((text, k) => [text, changes[i]![k] == null ? null : signedPercent(changes[i]![k]!)])];
    });
    return changesTable("Sessions, and their change against the first", first!, others, rows, changes);
}

/** Figures of the first and of each other with its change, as a text and as a bar to the left or right. */
export function changesTable(title: string, first: string, others: string[], rows: (string | null)[][], changes: (number | null)[][]): HTMLElement {
    const number = (name: string): { name: string; type: "number" } => ({ name, type: "number" });
    const columns = [{ name: "Figure" }, number(first), ...others.flatMap((name) => [number(name), { name: "Change" }])];
    return makeTable({ title, columns, rows }, { rowsShown: rows.length, unsearched: true, change: (row, column) => (column > 2 && column % 2 ? (changes[row]![(column - 3) / 2] ?? 0) : null) });
}

/** The long table of a comparison, a row a measurement and a column a session, in units and with the change; what no session shows is skipped. */
export function comparisonTable(table: Table, sessions: Session[]): Table {
    const places = "code_block measurement session value percent_change within_noise runs low high".split(" ").map((name) => table.columns.findIndex((column) => column.name === name));
    if (places.slice(0, 5).some((place) => place < 0)) return table;
    const [block, measurement, session, value, percentChange, noise, runs, low, high] = places as [number, number, number, number, number, number, number, number, number];
    // Sessions of one name are runs of one thing: a column for all.
    const names = [...new Set(sessions.map(sessionName))];
    const labels = names.length < sessions.length ? names : sessionLabels(sessions);
    const known = new Map(sessions.flatMap((one) => one.series ?? []).map((series) => [series.id, series]));
    const rows = new Map<string, (string | null)[]>();
    for (const row of table.rows) {
        const id = String(row[measurement]);
        const series = known.get(id);
        const at = names.indexOf(String(row[session]));
        if (at < 0) continue;
        const key = `${String(row[block])}/${id}`;
        let cells = rows.get(key);
        if (!cells) rows.set(key, (cells = [(row[block] as string | null) ?? "whole session", series ? seriesLabel(series) : id.replaceAll("_", " "), ...names.map(() => null)]));
        const [figureOf, changed] = [row[value], row[percentChange]];
        const unit = series?.unit ?? (id === "compute_time" ? "seconds" : id === "energy" ? "joules" : "");
        const interval = Number(row[runs]) > 1 && typeof row[low] === "number" && typeof row[high] === "number" ? intervalText(row[low], row[high], unit, Number(row[runs])) : "";
        const change = at && typeof changed === "number" ? `${signedPercent(changed)}${row[noise] ? ", within noise" : ""}` : "";
        const words = [change, interval].filter(Boolean).join("; ");
        cells[at + 2] = typeof figureOf === "number" ? `${figure(figureOf, unit, true)}${words && ` (${words})`}` : null;
    }
    return { id: table.id, title: table.title, columns: [{ name: "Of" }, { name: "Measurement" }, ...labels.map((name) => ({ name, type: "number" as const }))], rows: [...rows.values()] };
}

/** Runs that do not differ have no interval. */
function intervalText(low: number, high: number, unit: string, runs: number): string {
    return low === high ? `in all ${runs} runs` : `95 %: ${figure(low, unit)} to ${figure(high, unit)}`;
}

/** "at most 3.2 GB" of ranks that ran at the same time; "–": such figures do not add up. */
function togetherText({ together, unit }: MainFigure): string {
    if (!together) return "–";
    const text = figure(together.value, unit);
    return { sum: text, longest: `${text}, the longest`, at_most: `at most ${text}`, mean: `${text} on average` }[together.is];
}

/** In percent. Unlike sessions have none. */
function changeOf(value: number, base: number | null): number | null {
    return !base || value > 1e4 * base ? null : (value / base - 1) * 100;
}

function withChange(value: number | null, base: number | null, unit: string): string {
    const change = value === null ? null : changeOf(value, base);
    return figure(value, unit, true) + (change === null ? "" : ` (${signedPercent(change)})`);
}

export function signedPercent(change: number): string {
    const text = figure(Math.abs(change), "percent");
    // What is rounded away has no sign.
    return `${!parseFloat(text) ? "±" : change > 0 ? "+" : "\u2212"}${text}`;
}

/** Which colour and dashes are whose; those without a colour of their own as one. */
export function sessionKey(sessions: Session[], styles: LineStyle[], straggler: Straggler | null): HTMLElement {
    const labels = sessionLabels(sessions);
    const entry = ({ colour, dash }: LineStyle, name: string, hint: string): HTMLElement => {
        const sample = svg("svg", { class: "swatch", width: 28, height: 10, viewBox: "0 0 28 10", "aria-hidden": "true" }, svg("line", { x1: 0, y1: 5, x2: 28, y2: 5, stroke: colourVariable(colour), "stroke-width": 2.5, "stroke-dasharray": dash.join(" ") }));
        return element("li", {}, sample as unknown as Node, element("bdi", {}, name), element("span", { class: "hint" }, hint));
    };
    const hosts = (places: number[]): string => [...new Set(places.map((place) => sessions[place]!.identity?.host ?? ""))].filter(Boolean).join(", ");
    const faint = sessions.map((_, i) => i).filter((i) => styles[i]!.colour === FAINT);
    const runs = runsOf(sessions);
    const own = sessions.map((_, i) => i).filter((i) => styles[i]!.colour !== FAINT);
    const entries = runs
        ? runs.map(({ name, sessions: places }) => entry(styles[places[0]!]!, name, [places.length > 1 ? `${places.length} runs` : "one run", hosts(places)].filter(Boolean).join(" on ")))
        : own.map((i) => entry(styles[i]!, labels[i]!, [sessions[i]!.identity?.host, i === straggler?.session && straggler.word, faint.length > 0 && i !== straggler?.session && "chosen"].filter(Boolean).join(", ")));
    if (faint.length) entries.push(entry(styles[faint[0]!]!, `${faint.length} others`, ""));
    return element("ul", { class: "session-key", "aria-label": "Sessions" }, ...entries);
}

/** Adds to each chart the sum of the sessions' lines, hidden at first. */
export function addSums(panels: Panel[]): void {
    for (const panel of panels) {
        const parts = panel.lines.filter((line) => line.shownAtFirst);
        if (parts.length < 2 || panel.unit === "ratio") continue;
        let sum: { times: Moments; values: Float64Array } | null = null;
        const made = (): { times: Moments; values: Float64Array } => (sum ??= sumOf(parts, parts[0]!.ofInterval));
        const properties = { ...parts[0]!, id: "sum", label: `Sum of ${parts.length}`, scope: "sum", limit: null, isMain: false, shownAtFirst: false, style: { colour: 7, dash: [], width: 2.25, fill: false } };
        panel.lines.push(new Line(properties, () => made().times, () => made().values));
    }
}

/** At every sample of any part, the sum of what each part last had; of intervals, of those that each part was in. */
function sumOf(parts: Line[], ofInterval = false): { times: Moments; values: Float64Array } {
    const total = parts.reduce((count, part) => count + part.times.length, 0);
    const moments = new Float64Array(total);
    const owners = new Uint16Array(total);
    const values = new Float64Array(total);
    // What has ended, or, counted back from the ends of intervals, has not begun, uses nothing.
    const edges = parts.map((part) => part.times.at(ofInterval ? 0 : -1));
    let at = 0;
    parts.forEach((part, owner) => {
        moments.set(part.times, at);
        owners.fill(owner, at, at + part.times.length);
        values.set(part.values.subarray(0, part.times.length), at);
        at += part.times.length;
    });
    const held = new Float64Array(parts.length);
    const sums = new Float64Array(total);
    const order = ascending(moments);
    let sum = 0;
    for (let k = 0; k < total; k++) {
        // The value of an interval holds until its sample.
        const i = ofInterval ? total - 1 - k : k;
        const index = order[i]!;
        const owner = owners[index]!;
        const value = moments[index] === edges[owner] ? 0 : values[index] || 0;
        // The last sample itself still counts at its moment.
        sums[i] = sum - held[owner]! + (values[index] || 0);
        sum += value - held[owner]!;
        held[owner] = value;
    }
    const times = Float64Array.from(order, (index) => moments[index]!);
    return { times: new Moments(times), values: sums };
}

/** One row a session for the heat map of a panel. */
export function rankRows(panel: Panel, sessions: Session[]): HeatRow[] {
    return panel.lines.filter((line) => line.shownAtFirst && line.scope !== "sum").map((line) => ({ label: rankLabel(sessions[line.session]!, line.session), line }));
}
