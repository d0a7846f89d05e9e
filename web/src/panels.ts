// Which curves go into which chart: one chart for each group and unit of series.

import { wordsOf } from "./cards";
import { causeColour, DASHES, FAINT, GREY } from "./colours";
import type { Columns } from "./columns";
import { Line, Moments, type LineStyle } from "./line";
import { endOf, runsOf, sessionLabels } from "./names";
import type { Report, Series, Session } from "./report";
import { figure } from "./units";

export interface Panel {
    id: string;
    title: string;
    unit: string;
    lines: Line[];
    /** What the chart leaves out. */
    note?: string;
    /** Its curves are shares of one whole. */
    isStacked?: boolean;
    /** What a chart that says nothing more is folded to: of a GPU that was not used, of curves that never change. */
    folded?: string;
    /** Lines that the legend shows as one, besides each alone. */
    together?: { label: string; lines: Line[] }[];
}

/** In the order in which the page shows them. */
const GROUPS: [string, string][] = [
    ["gpu", "GPU utilization"],
    ["card_parts", "Parts of the GPU"],
    ["gpu_ram", "GPU RAM"],
    ["card_slowed", "GPU slowed down"],
    ["card_clock", "GPU clocks"],
    ["card_temperature", "GPU temperature"],
    ["ram", "RAM"],
    ["cpu", "CPU"],
    ["cpu_hardware", "CPU"],
    ["cpu_time", "CPU time per second"],
    ["time_went", "Where the time went"],
    ["shares", "Shares of all CPU time and RAM in use"],
    ["threads", "Threads"],
    ["processes", "Processes"],
    ["io", "I/O"],
    ["i/o", "I/O"],
    ["memory", "Memory"],
    ["network", "Network"],
    ["power", "Power"],
    ["energy", "Energy"],
    ["counter", "Counters"],
];

const UNIT_NAMES: Record<string, string> = { bytes: "bytes", percent: "%", watts: "W", joules: "J", count: "count", ratio: "ratio", bytes_per_second: "bytes per second", cores: "cores" };

/** How the sessions' clocks are laid on one axis. */
export type Alignment = "start" | "clock";

export function offsets(sessions: Session[], alignment: Alignment): number[] {
    const starts = sessions.map((session) => session.identity?.start_timestamp ?? NaN);
    const first = Math.min(...starts.filter(Number.isFinite));
    return starts.map((start) => (alignment === "clock" && Number.isFinite(start) ? start - first : 0));
}

/** Ranks of one job belong on one clock; runs after each other are compared from their starts. */
export function naturalAlignment(sessions: Session[]): Alignment {
    const spans = sessions.map((session) => {
        const start = session.identity?.start_timestamp ?? NaN;
        return { start, end: start + endOf(session) };
    });
    const latestStart = Math.max(...spans.map((span) => span.start));
    const earliestEnd = Math.min(...spans.map((span) => span.end));
    return sessions.length > 1 && latestStart < earliestEnd ? "clock" : "start";
}

/** Moments are shared: reduction and joining work by them. */
class MomentsOf {
    readonly #kept = new Map<string, Moments>();

    constructor(
        readonly sessions: Session[],
        readonly columns: Columns,
        readonly shifts: number[],
    ) {}

    get(session: number, time: number): Moments {
        const key = `${session}:${time}`;
        let moments = this.#kept.get(key);
        if (!moments) {
            moments = new Moments(this.columns.values(this.sessions[session]!.times?.[time]), this.shifts[session]!);
            this.#kept.set(key, moments);
        }
        return moments;
    }
}

export function makePanels(report: Report, columns: Columns, alignment: Alignment): Panel[] {
    const { sessions } = report;
    const moments = new MomentsOf(sessions, columns, offsets(sessions, alignment));
    const panels = new Map<string, Panel>();
    const labels = sessionLabels(sessions);
    sessions.forEach((session, index) => {
        for (const series of session.series ?? []) {
            // What is missing throughout has no curve.
            if (series.values.count === 0 || series.values.value === null) continue;
            const panel = panelOf(panels, series);
            panel.lines.push(makeLine(series, index, session, labels, columns, moments));
        }
    });
    const found = [...panels.values()].filter((panel) => !isRescaled(panel, panels)).sort((a, b) => place(a, sessions) - place(b, sessions));
    for (const panel of found) panel.lines.sort((a, b) => scopeRank(a) - scopeRank(b) || a.session - b.session);
    if (sessions.length === 1) found.forEach((panel) => (panel.id.startsWith("time_went:") ? styleCauses(panel) : styleScopes(panel, sessions[0]!.series ?? [])));
    else found.forEach((panel) => chooseTotals(panel, labels));
    for (const panel of found) {
        // Of what was not used a chart of what was says nothing.
        if (panel.lines.some((line) => line.shownAtFirst && !line.isZero)) for (const line of panel.lines) line.shownAtFirst &&= !line.isZero || line.isMain;
        for (const line of panel.lines) line.shown = line.shownAtFirst;
        panel.folded = foldedText(panel, sessions);
    }
    nameUnits(found);
    return found;
}

/** What is said in place of a chart that would be empty or a level line. */
function foldedText({ id, unit, lines }: Panel, sessions: Session[]): string | undefined {
    if (/^gpu(_ram)?:/.test(id) && lines.every((line) => line.isZero || !line.shown)) return "not used";
    const shown = lines.filter((line) => line.shown);
    if (sessions.length > 1 || shown.some((line) => line.constant === undefined || line.peak)) return undefined;
    return `${[...new Set(shown.map((line) => figure(line.constant, unit)))].join(", ")} throughout`;
}

/** Of all cores or devices instead of one: the same curve on another scale. */
function isRescaled(panel: Panel, panels: Map<string, Panel>): boolean {
    return panels.has(panel.id.replace("_hardware:", ":")) && panel.id.includes("_hardware:");
}

/** The total first, then its parts; the machine last. */
function scopeRank(line: Line): number {
    const rank = ["combined", "main", "descendants"].indexOf(line.scope);
    return rank >= 0 ? rank : line.scope === "system" ? 9 : 3;
}

/** In the order of the groups; of a recording of power, power first. */
function place(panel: Panel, sessions: Session[]): number {
    if (panel.id.startsWith("power:") && sessions.every(({ kind }) => kind === "power")) return -1;
    const index = GROUPS.findIndex(([group]) => panel.id.startsWith(`${group}:`));
    return index < 0 ? GROUPS.length : index;
}

function panelOf(panels: Map<string, Panel>, series: Series): Panel {
    const id = `${series.group}:${series.unit}`;
    let panel = panels.get(id);
    if (!panel) {
        panel = { id, title: groupTitle(series.group), unit: series.unit, lines: [] };
        panels.set(id, panel);
    }
    return panel;
}

export function groupTitle(group: string): string {
    return GROUPS.find(([known]) => known === group)?.[1] ?? group;
}

/** "Main" says enough inside a chart of RAM, not in a table of all. */
export function seriesLabel(series: Series): string {
    const title = groupTitle(series.group);
    return series.label.toLowerCase().includes(title.toLowerCase()) ? series.label : `${title}, ${/^[A-Z][a-z]+$/.test(series.label) ? series.label.toLowerCase() : series.label}`;
}

/** Two charts of one group are distinguished by their unit. */
function nameUnits(panels: Panel[]): void {
    for (const panel of panels) {
        const alone = panels.filter((other) => other.title === panel.title).length === 1;
        if (!alone) panel.title += ` (${UNIT_NAMES[panel.unit] ?? (panel.unit || "no unit")})`;
    }
}

/** What a card says is higher than what any sample saw: what the kernel kept of RAM, or of rows that were lost. One GPU is all. */
function peakOf({ id, max = Infinity }: Series, { cards = [] }: Session): number | undefined {
    const gpus = cards.filter((card) => /^gpu\d*_ram$/.test(card.id));
    const card = id === "combined_gpu_ram" ? !gpus[1] && gpus[0] : cards.find((card) => card.id === (id === "main_ram" ? "ram_main" : id.replace(/(combined_)?ram$/, "ram")));
    return card && typeof card.value === "number" && card.value > max ? card.value : undefined;
}

function makeLine(series: Series, session: number, of: Session, labels: string[], columns: Columns, moments: MomentsOf): Line {
    const several = labels.length > 1;
    const label = series.label || series.id;
    const sessionLabel = labels[session]!;
    const { values, time = 0 } = series;
    return new Line(
        {
            id: several ? `${session}.${series.id}` : series.id,
            series: series.id,
            label: several ? `${sessionLabel} · ${label}` : label,
            longLabel: seriesLabel(series),
            sessionLabel,
            unit: series.unit,
            scope: series.scope ?? "",
            session,
            place: `${of.times?.[time]?.offset} ${values.offset} ${values.value}`,
            isZero: series.max === 0,
            constant: values.encoding === "constant" ? (values.value ?? undefined) : undefined,
            isMain: series.is_main ?? false,
            limit: series.limit ?? null,
            peak: peakOf(series, of),
            ofInterval: series.of_interval,
            style: { colour: 0, dash: [], width: 1.5, fill: false },
            shownAtFirst: true,
        },
        () => moments.get(session, time),
        () => columns.values(values),
    );
}

/** With more sessions than this a chart keeps one line of each. */
const DETAILED_SESSIONS = 4;

/** A process that started no other is all that was used: parts would repeat the total. */
function hasParts(panel: Panel, series: Series[]): boolean {
    const descendants = panel.lines.find(({ scope }) => scope === "descendants");
    const values = series.find(({ id }) => id === descendants?.series)?.values;
    return !values || values.encoding !== "constant" || values.value !== 0;
}

/** "algo-1/gpu0/GPUUtilization" and "algo-1/gpu1/GPUUtilization" are gpu0 and gpu1: the chart says the rest. */
function shortenPaths(lines: Line[]): void {
    const paths = lines.map(({ label }) => label.split("/"));
    const first = paths[0] ?? [];
    const isShared = (part: number): boolean => paths.every((path) => path.at(part) === first.at(part));
    let [from, to] = [0, 0];
    const shortest = Math.min(...paths.map((path) => path.length));
    while (from < shortest && isShared(from)) from++;
    while (from + to < shortest && isShared(-1 - to)) to++;
    if (from + to === 0 || from + to >= shortest) return;
    lines.forEach((line, i) => (line.label = paths[i]!.slice(from, paths[i]!.length - to).join("/")));
}

/** One session: what it used is the strongest line; parts and the machine stand back. */
function styleScopes(panel: Panel, series: Series[]): void {
    const styles: Record<string, LineStyle> = {
        combined: { colour: 0, dash: [], width: 2, fill: true },
        main: { colour: 1, dash: [], width: 1.25, fill: false },
        descendants: { colour: 2, dash: [6, 3], width: 1.25, fill: false },
        system: { colour: GREY, dash: [2, 3], width: 1.25, fill: false },
    };
    const used = new Set<string>();
    const hasOwn = panel.lines.some((line) => line.scope !== "system");
    const gpus = new Set(panel.lines.map((line) => line.scope).filter((scope) => GPU.test(scope)));
    const total = panel.lines.some((line) => line.scope === "combined");
    const parts = !total || hasParts(panel, series);
    const unused = [...gpus].filter((gpu) => isUnused(gpu, series));
    shortenPaths(panel.lines);
    for (const line of panel.lines) line.label = line.label.replace(/(I\/)?\w+(Utilization|Percentage)$/, (name) => wordsOf(panel.id.split(":")[0]!, name));
    const others: Line[] = [];
    for (const line of panel.lines) {
        const { scope } = line;
        const style = styles[scope];
        if (style && !used.has(scope)) {
            used.add(scope);
            line.style = style;
            line.shownAtFirst = scope === "system" ? !hasOwn : parts || scope === "combined";
            continue;
        }
        others.push(line);
        // A second line of the same scope is a detail of the first: private, shared.
        // Where there is one GPU alone, its figures are those of all; where there are several, each has one line.
        const isOfOne = panel.lines.filter((other) => other.series.startsWith(`per_gpu_${line.series}:`)).length === 1;
        const repeats = isOfOne || (gpus.size === 1 && (total ? gpus.has(scope) : scope === "sum" || scope === "hardware"));
        const isDetail = gpus.size > 1 && (gpus.has(scope) ? line !== mainOf(panel.lines, scope) || unused.includes(scope) : scope === "sum");
        line.shownAtFirst = !style && !repeats && !isDetail;
    }
    foldEqual(panel.lines);
    others.filter((line) => line.shownAtFirst).forEach((line, i) => (line.shownAtFirst = i < 16));
    others.sort((a, b) => Number(b.shownAtFirst) - Number(a.shownAtFirst)).forEach((line, next) => {
        const style = styles[line.scope];
        const colour = style || total ? 3 + (next % 4) : next % GREY;
        line.style = { colour, dash: style ? [2, 2] : DASHES[Math.floor(next / GREY) % DASHES.length]!, width: 1.5, fill: panel.lines.length === 1 };
    });
    if (gpus.size > 1 && unused.length) panel.note = `${unused.length < gpus.size ? numbersOf(unused) : "GPUs"} not used`;
}

/** Areas on top of each other, in the colours that bars of the same causes have. */
function styleCauses(panel: Panel): void {
    panel.isStacked = true;
    for (const line of panel.lines) line.style = { colour: causeColour(line.series.slice(5, -8)), dash: [], width: 9, fill: true };
}

const GPU = /^gpu\d+$/;

/** Nothing but memory of others and power at rest: the session and all others let it be. */
function isUnused(gpu: string, series: Series[]): boolean {
    const own = series.filter(({ id, scope, group }) => scope === gpu && !/^card/.test(group) && !/_(ram_used|power_watts)$/.test(id));
    return own.length > 0 && own.every(({ max, values }) => max === 0 || values.value === null);
}

/** What says most of one of several GPUs. */
function mainOf(lines: Line[], gpu: string): Line | undefined {
    const own = lines.filter(({ scope }) => scope === gpu);
    return own.find(({ series }) => /_(combined_ram|utilization_percent)$/.test(series)) ?? own[0];
}

/** "GPU 1–7" of gpu1, gpu2 … */
function numbersOf(gpus: string[]): string {
    const numbers = gpus.map((gpu) => Number(gpu.slice(3)));
    const runs: number[][] = [];
    for (const number of numbers) {
        const run = runs.at(-1);
        if (run && run[1] === number - 1) run[1] = number;
        else runs.push([number, number]);
    }
    return `GPU ${runs.map(([from, to]) => (from === to ? from : `${from}–${to}`)).join(", ")}`;
}

/** Of equal curves the first is drawn, and says so. */
function foldEqual(lines: Line[]): void {
    const drawn = new Map<string, Line>();
    for (const line of lines.filter((one) => one.shownAtFirst)) {
        const same = drawn.get(line.place);
        if (same) {
            line.shownAtFirst = false;
            (same.equals ??= []).push(line.label);
        } else drawn.set(line.place, line);
    }
}

/** Several sessions: of each its total, called as the session is. The title says what it is. */
function chooseTotals(panel: Panel, labels: string[]): void {
    const totals = new Set(panel.lines.filter((line) => line.isMain).map((line) => line.longLabel));
    if (totals.size === 1) panel.title = [...totals][0]!;
    for (const line of panel.lines) {
        line.shownAtFirst = line.isMain;
        if (line.isMain) line.label = labels[line.session]!;
    }
    if (new Set(panel.lines.map((line) => line.session)).size > DETAILED_SESSIONS) panel.lines = panel.lines.filter((line) => line.shownAtFirst);
}

/** More sessions than there are colours make a background for the few that matter: the one that is chosen, and the straggler. */
export function sessionStyles(sessions: Session[], chosen: number, straggler: number): LineStyle[] {
    const runs = runsOf(sessions);
    const styleOf = (colour: number, width: number): LineStyle => ({ colour: colour % GREY, dash: DASHES[Math.floor(colour / GREY) % DASHES.length]!, width, fill: false });
    if (runs) return sessions.map((_, session) => styleOf(runs.findIndex((one) => one.sessions.includes(session)), 1.25));
    if (sessions.length <= GREY) return sessions.map((_, session) => styleOf(session, session === straggler ? 2.5 : 1.5));
    return sessions.map((_, session) => (session === straggler ? styleOf(1, 2.5) : session === chosen ? styleOf(0, 2) : { ...styleOf(0, 1), colour: FAINT }));
}

/** Gives the lines of each session its style; runs of one thing, and all that are in the background, are one entry of the legend. */
export function styleSessions(panels: Panel[], sessions: Session[], styles: LineStyle[]): void {
    const runs = runsOf(sessions);
    for (const panel of panels) {
        for (const line of panel.lines) line.style = styles[line.session]!;
        const shown = panel.lines.filter((line) => line.shownAtFirst);
        const faint = shown.filter((line) => line.style.colour === FAINT);
        if (runs) panel.together = runs.map(({ name, sessions: own }) => ({ label: own.length > 1 ? `${name}, ${own.length} runs` : name, lines: shown.filter((line) => own.includes(line.session)) })).filter(({ lines }) => lines.length);
        else if (faint.length) panel.together = [{ label: `${faint.length} ${faint.length < shown.length ? "others" : "sessions"}`, lines: faint }];
    }
}
