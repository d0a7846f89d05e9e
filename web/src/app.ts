// Lays a report out and keeps its parts together: what is shown where, what is chosen, what the address says.

import { blockStatistics, blockTable, callDetails, firstCallOf } from "./blocks";
import { cardsOfTables, makeCards } from "./cards";
import { Chart } from "./chart";
import { FAINT } from "./colours";
import type { Columns } from "./columns";
import { button, element, listen, replaceChildren, type Child } from "./dom";
import { type Place, parsePlace, PlaceKeeper } from "./fragment";
import { makeHeader, sessionFacts } from "./header";
import { HeatMap } from "./heat";
import { keyHelp, listenToKeys } from "./keys";
import { callBars, processBars, type Bars } from "./lane";
import { Lanes, whenText } from "./lanes";
import type { Line, LineStyle } from "./line";
import { areRanks, endOf, runsOf, sessionLabels } from "./names";
import { Overview } from "./overview";
import { type Alignment, makePanels, naturalAlignment, offsets, type Panel, sessionStyles, styleSessions } from "./panels";
import type { Payload } from "./payload";
import { processDetails, processTable, processWords } from "./processes";
import type { Column, Report, Session, Table } from "./report";
import { addSums, comparisonTable, figuresTable, rankRows, sessionKey, sessionTable } from "./sessions";
import { type Straggler, stragglerOf } from "./stragglers";
import { addPaperAxis } from "./ruler";
import { runsTable } from "./runs";
import { Stage } from "./stage";
import { makeTable } from "./tables";
import { applyTheme, lightenForPaper, onSystemTheme, switchTheme } from "./theme";
import { gpuBars } from "./time-went";
import { phaseBars, readableTable, stepBars, stepFigures, stepWords, utilizationRows } from "./training";
import { figure, moment } from "./units";
import { upright } from "./upright";
import { View, type Range } from "./view";

const NESTED = "by process and thread, nested ones below";

/** What calls are called in a kind of session, and how they are drawn. */
const CALLS: Record<string, [string, string]> = {
    trace: ["Events", NESTED],
    profile: ["Events", NESTED],
    python: ["Stacks", "how long functions took in their callers, the longest first: not when they ran"],
};

/** So many sessions fit next to each other. */
const FEW = 4;

/** Pixels of the charts on paper, upright or not. */
const PAPER_WIDTH = 860;

/** What is drawn on the time axis. */
interface Drawing {
    node: HTMLElement;
    resize(width: number): void;
    restyle?(): void;
    invalidate?(): void;
    draw(): void;
}

export class App {
    readonly node = element("main", {});
    readonly #payload: Payload;
    readonly #help = keyHelp();
    readonly #live = element("div", { class: "hidden-text", role: "status", "aria-live": "polite" });
    readonly #keeper: PlaceKeeper;
    #session: number;
    #alignment: Alignment;
    // All of these are made anew when another session or alignment is chosen.
    #panels: Panel[] = [];
    #styles: LineStyle[] = [];
    #straggler: Straggler | null = null;
    #charts: Chart[] = [];
    #lanes: Lanes[] = [];
    #drawings: Drawing[] = [];
    #details = element("aside", { class: "details", "aria-live": "polite", hidden: true });
    #selected: { lanes: Lanes; index: number } | null = null;
    #view: View;
    #stage: Stage;

    constructor(payload: Payload) {
        this.#payload = payload;
        const place = parsePlace(location.hash);
        const { sessions } = payload.report;
        this.#session = Math.min(place.session, Math.max(0, sessions.length - 1));
        this.#alignment = place.alignment === "clock" || place.alignment === "start" ? place.alignment : naturalAlignment(sessions);
        this.#keeper = new PlaceKeeper(() => this.#place(), (next) => this.#restore(next));
        this.#view = new View({ from: 0, to: 1 });
        this.#stage = new Stage(this.#view);
        this.#build();
        this.#restore(place);
        this.#watch();
    }

    /** What was drawn, for tests and the curious; nothing can be changed by it. */
    get debug(): object {
        return {
            view: () => ({ from: this.#view.from, to: this.#view.to, cursor: this.#view.cursor, full: { ...this.#view.full } }),
            charts: () => this.#charts.map((chart) => ({ id: chart.panel.id, unit: chart.panel.unit, lines: chart.panel.lines.map((line) => ({ id: line.id, label: line.label, shown: line.shown, peak: line.peak, samples: line.times.length, ...line.summary(-Infinity, Infinity) })) })),
            points: (id: string, line: string) => this.#charts.find((chart) => chart.panel.id === id)?.pointsOf(line) ?? null,
            pixelOf: (id: string, time: number, value: number) => this.#charts.find((chart) => chart.panel.id === id)?.pixelOf(time, value) ?? null,
            lanes: () => this.#lanes.map((lanes) => ({ id: lanes.options.id, drawn: lanes.drawn, selected: lanes.selected, rows: lanes.options.bars.lanes.map((lane) => ({ label: lane.label, rows: lane.rows.map((row) => row.indices.length) })) })),
            nameOf: (id: string, index: number) => this.#lanes.find((lanes) => lanes.options.id === id)?.options.bars.name(index) ?? null,
            pointOf: (id: string, index: number) => this.#lanes.find((lanes) => lanes.options.id === id)?.pointOf(index) ?? null,
        };
    }

    get #current(): Session {
        return this.#payload.report.sessions[this.#session]!;
    }

    get #shift(): number {
        return offsets(this.#payload.report.sessions, this.#alignment)[this.#session]!;
    }

    #build(): void {
        const { report, columns } = this.#payload;
        this.#panels = makePanels(report, columns, this.#alignment);
        if (report.sessions.length > 1) this.#styleSessions();
        this.#view = new View(wholeRange(this.#panels, report.sessions, columns, offsets(report.sessions, this.#alignment)));
        this.#stage = new Stage(this.#view);
        this.#charts = this.#panels.map((panel) => new Chart(panel, this.#view, () => this.#keeper.keep()));
        this.#lanes = this.#makeLanes();
        this.#selected = null;
        this.#drawings = [new Overview(this.#view, overviewLines(this.#panels, report.sessions.length > 1), this.#lanes.flatMap((lanes) => lanes.options.bars.lanes.map((lane) => lane.rows[0]!))), ...this.#charts, ...this.#makeHeats(), ...this.#lanes];
        const folded = this.#charts.filter(({ panel }) => panel.folded);
        this.#stage.node.append(...this.#drawings.map(({ node }) => node));
        if (folded.length) {
            const place = element("details", { class: "unused" }, element("summary", {}, folded.map(({ panel }, i) => panel.title + (panel.folded === folded[i + 1]?.panel.folded ? ", " : `: ${panel.folded} · `)).join("").replace(/ · $/, "")));
            this.#charts.at(-1)!.node.after(place);
            place.append(...folded.map(({ node }) => node));
        }
        this.#view.onRange(() => this.#keeper.keep());
        this.#view.onCursor(() => this.#keeper.keep());
        replaceChildren(this.node, ...this.#layOut(), this.#help, this.#live);
        this.#details.hidden = true;
        this.#fit();
    }

    #styleSessions(): void {
        const { sessions } = this.#payload.report;
        this.#straggler = stragglerOf(this.#payload.report);
        this.#styles = sessionStyles(sessions, this.#session, this.#straggler?.session ?? -1);
        styleSessions(this.#panels, sessions, this.#styles);
        if (!runsOf(sessions)) addSums(this.#panels);
    }

    #layOut(): Child[] {
        const { report } = this.#payload;
        const several = report.sessions.length > 1;
        const session = this.#current;
        return [
            makeHeader(report, { theme: () => this.#switchTheme(), help: () => this.#help.showModal(), copyLink: () => this.#copyLink() }),
            notesOf(report.notes, "advice", "What was found"),
            warningsOf(report),
            !several && this.#cards(),
            !several && adviceOf(session),
            several && this.#comparison(),
            this.#drawings.length > 1 && this.#overTime(),
            several && this.#sessionChoice(),
            several && this.#cards(),
            several && adviceOf(session),
            ...this.#sessionSections(session),
            element("footer", { class: "page-foot" }, `Written by ${report.generator ?? "gpu-tracker"}${report.created ? `, ${calendarDay(report.created)}` : ""}. All data is in this file; it loads nothing.`),
        ];
    }

    #cards(): Child {
        const session = this.#current;
        const cards = session.cards ?? cardsOfTables(session);
        if (cards.length) return makeCards(cards, this.#panels, this.#session, session.time_went);
        return session.time_went ? gpuBars(session.time_went, session.tables?.find(isBreakdown)) : null;
    }

    /** Curves of one or two samples show nothing that the figures above do not say. */
    #overTime(): HTMLElement {
        const { sessions } = this.#payload.report;
        const isShort = sessions.every(({ times = [], cards, calls, training }) => cards && !calls && !training && times.every(({ count }) => count <= 2));
        const charts = element("section", { class: "over-time", "aria-labelledby": "h-time" }, this.#toolbar(), this.#stage.node, this.#details);
        return isShort ? element("details", { class: "part short" }, element("summary", {}, "Curves: it ended after one or two samples"), charts) : charts;
    }

    /** The address has the view. */
    #copyLink(): void {
        this.#keeper.write();
        // A page from http has no clipboard.
        const copied: Promise<void> = isSecureContext ? navigator.clipboard.writeText(location.href) : Promise.reject(new Error());
        void copied.then(
            () => this.#say("Copied a link to this view."),
            () => this.#say("The browser does not let this page copy: the link is in the address bar."),
        );
    }

    #say(text: string): void {
        this.#live.textContent = upright(text);
        this.#live.classList.add("toast");
        setTimeout(() => this.#live.classList.remove("toast"), 2500);
    }

    #comparison(): HTMLElement {
        const { sessions, comparison, findings } = this.#payload.report;
        const { figures = [], means = [] } = findings ?? {};
        const straggler = this.#straggler;
        const labels = sessionLabels(sessions);
        const runs = runsOf(sessions);
        // The sums of ranks come first.
        const sums = Number(areRanks(sessions));
        return section(
            "compare",
            areRanks(sessions) ? "Ranks" : "Comparison",
            sessionKey(sessions, this.#styles, straggler),
            straggler && element("p", { class: "straggler" }, straggler.text),
            runs ? runsTable(runs, figures, means) : !areRanks(sessions) && sessions.length <= FEW ? figuresTable(sessions, figures) : makeTable(sessionTable(sessions, figures), { rowsShown: 30, unsearched: sessions.length <= 30, marked: straggler && straggler.session >= 0 ? straggler.session + sums : null, onPick: (row) => this.#chooseSession(row - sums), pickLabel: (row) => (row < sums ? "" : `Show the details of ${labels[row - sums]!}`) }),
            !runs && !areRanks(sessions) && element("p", { class: "hint single" }, "One run each: significance unknown. Several runs of one name (before=1.csv before=2.csv) give each an interval."),
            comparison?.length ? element("div", { class: "folded" }, ...comparison.map((table) => comparisonTable(table, sessions)).map((table) => element("details", { open: table.rows.length <= 12 || table.id === "diff" }, element("summary", {}, table.title), makeTable(table, { titleHidden: true })))) : null,
        );
    }

    #sessionChoice(): HTMLElement {
        const { sessions } = this.#payload.report;
        const select = element("select", { id: "session" }, ...sessionLabels(sessions).map((label, i) => {
            const option = element("option", {}, label);
            option.value = String(i);
            option.selected = i === this.#session;
            return option;
        }));
        listen(select, "change", () => this.#chooseSession(Number(select.value)));
        const label = element("label", {}, "Details of ", select);
        return element("div", { class: "session-choice" }, label, element("p", { class: "facts-line" }, ...sessionFacts(this.#current)));
    }

    #toolbar(): HTMLElement {
        const view = this.#view;
        const range = element("output", { class: "range", "aria-live": "off" });
        const back = button("Back", () => view.back(), { class: "plain", title: "Back to what was shown before (Backspace)" });
        const whole = button("Whole session", () => view.reset(), { class: "plain", title: "Show everything (0)" });
        const show = (): void => {
            const step = view.span / 1000;
            range.textContent = view.isFull ? figure(view.span, "seconds") : `${moment(view.from, step)} – ${moment(view.to, step)} · ${figure(view.span, "seconds")}`;
            back.disabled = !view.canGoBack;
            whole.disabled = view.isFull;
        };
        view.onRange(show);
        show();
        return element(
            "div",
            { class: "toolbar" },
            element("h2", { id: "h-time" }, "Over time"),
            range,
            element("span", { class: "hint no-print" }, "drag to zoom, Shift drag to move, click a bar for its figures"),
            element(
                "div",
                { class: "tools no-print" },
                this.#alignmentSwitch(),
                button("−", () => view.zoom(1.5), { class: "plain", "aria-label": "Zoom out", title: "Zoom out (−)" }),
                button("+", () => view.zoom(1 / 1.5), { class: "plain", "aria-label": "Zoom in", title: "Zoom in (+)" }),
                back,
                whole,
            ),
        );
    }

    #alignmentSwitch(): Child {
        const { sessions } = this.#payload.report;
        if (sessions.length < 2 || !sessions.every((session) => typeof session.identity?.start_timestamp === "number")) return null;
        const byClock = this.#alignment === "clock";
        return button("By the clock", () => {
            this.#alignment = byClock ? "start" : "clock";
            this.#build();
            this.#keeper.keep();
        }, { class: "plain", "aria-pressed": byClock, title: "On: at the times of day at which they ran. Off: all from their starts." });
    }

    #sessionSections(session: Session): Child[] {
        const { columns } = this.#payload;
        const steps = session.training?.steps;
        const figures = steps ? stepFigures(steps, columns) : null;
        return [
            figures && section("training", "Training steps", figures),
            this.#blocksSection(session),
            this.#processesSection(session),
            session.tables?.length ? section("tables", "Figures", ...session.tables.filter((table) => session.cards || !session.time_went || !isBreakdown(table)).map((table) => makeTable(table.id?.startsWith("profile_") ? readableTable(table) : table))) : null,
            session.sources?.length || session.summary ? element("div", { class: "part last" }, sourcesOf(session), summaryOf(session)) : null,
        ];
    }

    #blocksSection(session: Session): Child {
        const { columns } = this.#payload;
        const table = blockTable(session, columns);
        if (!table) return null;
        const names = columns.values(session.blocks!.name);
        const total = table.columns.findIndex((column) => column.name === "Total");
        return section("blocks", "Code blocks", makeTable(table, {
            onPick: (row) => this.#showBlock(session, row, names[row]!),
            pickLabel: (row) => `Show ${session.calls!.names[names[row]!] ?? ""}`,
            titleHidden: true,
            bars: total >= 0 ? [total] : [],
            sort: total >= 0 ? [total, -1] : undefined,
        }));
    }

    /** Its first call, if calls are drawn; else its statistics alone. */
    #showBlock(session: Session, row: number, name: number): void {
        const lanes = this.#lanes.find((candidate) => candidate.options.id === "calls");
        const first = lanes && firstCallOf(session.calls!, this.#payload.columns, name);
        if (lanes && typeof first === "number") this.#select(lanes, first, true);
        else this.#showDetails(session.calls!.names[name] ?? "", [blockStatistics(session, this.#payload.columns, row)]);
        this.#details.scrollIntoView({ block: "nearest" });
    }

    #processesSection(session: Session): Child {
        const list = session.process_list;
        const lanes = this.#lanes.find((candidate) => candidate.options.id === "processes");
        if (!list || !lanes) return null;
        const table = processTable(list, this.#payload.columns, lanes.options.bars);
        const bars = table.columns.flatMap((column, i) => (["CPU time", "RAM peak"].includes(column.name) ? [i] : []));
        return section("processes", "Processes", makeTable(table, {
            onPick: (row) => {
                this.#select(lanes, row, true);
                this.#details.scrollIntoView({ block: "nearest" });
            },
            bars,
            sort: bars[0] ? [bars[0], -1] : undefined,
        }));
    }

    #makeHeats(): HeatMap[] {
        const { sessions } = this.#payload.report;
        const heats: HeatMap[] = [];
        const training = this.#current.training;
        const rows = training ? utilizationRows(training, this.#panels, this.#session) : [];
        if (rows.length) heats.push(new HeatMap(this.#view, "utilization", "Utilization of devices", rows));
        if (!areRanks(sessions) && sessions.length <= 8) return heats;
        for (const panel of this.#panels.filter((candidate) => /^(cpu|gpu|ram|gpu_ram):/.test(candidate.id))) {
            const ranks = rankRows(panel, sessions);
            if (ranks.length > 1) heats.push(new HeatMap(this.#view, `ranks-${panel.id}`, `${panel.title}, each ${areRanks(sessions) ? "rank" : "session"}`, ranks));
        }
        return heats;
    }

    #makeLanes(): Lanes[] {
        const { columns, report } = this.#payload;
        const session = this.#current;
        // Charts have all sessions, lanes have one.
        const whose = report.sessions.length > 1 ? ` of ${sessionLabels(report.sessions)[this.#session]!}` : "";
        const shift = this.#shift;
        const { full } = this.#view;
        const made: Lanes[] = [];
        const add = (id: string, title: string, hint: string, bars: Bars, describe: (index: number) => string[]): void => {
            if (!bars.lanes.length) return;
            const lanes: Lanes = new Lanes(this.#view, { id, title: title + whose, hint, bars, describe, onSelect: (index) => this.#select(lanes, index, index !== null) });
            made.push(lanes);
        };
        const { phases, steps } = session.training ?? {};
        if (phases?.length) {
            const bars = phaseBars(phases, shift, full.to);
            add("phases", "Phases", "", bars, (index) => stepWords(bars, index));
        }
        if (steps) {
            const bars = stepBars(steps, columns, shift);
            add("steps", "Steps", "", bars, (index) => stepWords(bars, index));
        }
        if (session.calls) {
            const bars = callBars(session.calls, columns, shift, full.to);
            const [title, hint] = CALLS[session.kind ?? ""] ?? ["Code blocks", NESTED];
            add("calls", title, hint, bars, (index) => [bars.name(index), whenText(bars.range(index)), bars.where!(index)]);
        }
        const list = session.process_list;
        if (list && !isOnlyMain(session, columns)) {
            const bars = processBars(list, columns, shift, full);
            add("processes", "Processes", "from start to end", bars, (index) => processWords(list, columns, bars, index));
        }
        return made;
    }

    #select(lanes: Lanes, index: number | null, zooms: boolean): void {
        this.#selected?.lanes.select(null);
        this.#selected = index === null ? null : { lanes, index };
        lanes.select(index);
        this.#keeper.keep();
        if (index === null) {
            this.#details.hidden = true;
            return;
        }
        if (zooms) lanes.zoomTo(index);
        this.#showDetails(lanes.options.bars.name(index), this.#detailsOf(lanes, index));
    }

    #detailsOf(lanes: Lanes, index: number): HTMLElement[] {
        const { columns } = this.#payload;
        const session = this.#current;
        const { id, bars } = lanes.options;
        const lines = this.#ownLines();
        if (id === "calls") return callDetails(session, columns, bars, lines, index);
        if (id === "processes") return processDetails(session.process_list!, columns, bars, lines, index);
        return [element("p", {}, whenText(bars.range(index)))];
    }

    /** Curves of the chosen session that are shown. */
    #ownLines(): Line[] {
        return this.#panels.flatMap((panel) => panel.lines).filter((line) => line.shown && line.session === this.#session && line.scope !== "sum");
    }

    #showDetails(title: string, content: HTMLElement[]): void {
        const close = button("Close", () => this.#clear(), { class: "plain" });
        replaceChildren(this.#details, element("div", { class: "details-head" }, element("h3", {}, element("bdi", {}, title)), close), ...content);
        this.#details.hidden = false;
    }

    #clear(): void {
        this.#view.moveCursor(null);
        this.#selected?.lanes.select(null);
        this.#selected = null;
        this.#details.hidden = true;
        this.#keeper.keep();
    }

    #chooseSession(index: number): void {
        this.#session = index;
        const { from, to } = this.#view;
        this.#build();
        this.#view.show(from, to);
        this.#keeper.keep();
        this.node.querySelector<HTMLElement>("#session")?.focus();
    }

    #place(): Place {
        const view = this.#view;
        return {
            range: view.isFull ? null : [view.from, view.to],
            cursor: null,
            toggled: this.#panels.flatMap((panel) => panel.lines.filter((line) => line.shown !== line.shownAtFirst).map((line) => `${panel.id}/${line.id}`)),
            selected: this.#selected ? `${this.#selected.lanes.options.id}:${this.#selected.index}` : null,
            session: this.#session,
            alignment: this.#alignment === naturalAlignment(this.#payload.report.sessions) ? null : this.#alignment,
        };
    }

    #restore(place: Place): void {
        if (place.session !== this.#session && place.session < this.#payload.report.sessions.length) this.#chooseSession(place.session);
        for (const panel of this.#panels) for (const line of panel.lines) line.shown = line.shownAtFirst !== place.toggled.includes(`${panel.id}/${line.id}`);
        for (const chart of this.#charts) chart.refreshLegend();
        const [id, index] = (place.selected ?? "").split(":");
        const lanes = this.#lanes.find((candidate) => candidate.options.id === id);
        if (lanes && Number(index) >= 0 && lanes.options.bars.range(Number(index)).start >= -Infinity) this.#select(lanes, Number(index), false);
        if (place.range) this.#view.show(...place.range);
        else this.#view.show(this.#view.full.from, this.#view.full.to);
        if (place.cursor !== null) this.#view.moveCursor(place.cursor);
        for (const chart of this.#charts) chart.invalidate();
    }

    #switchTheme(): void {
        switchTheme();
        this.#restyle();
    }

    #restyle(): void {
        for (const drawing of this.#drawings) {
            if (drawing.restyle) drawing.restyle();
            else if (drawing.invalidate) drawing.invalidate();
            else drawing.draw();
        }
    }

    /** Figures at the cursor in words, for those who do not see it. */
    #describeCursor(): string {
        const { cursor, span } = this.#view;
        if (cursor === null) return "";
        const figures = this.#ownLines().map((line) => `${line.longLabel} ${figure(line.valueAt(cursor), line.unit)}`);
        return `${moment(cursor, span / 1000)}: ${figures.join(", ")}`;
    }

    #fit(): void {
        const width = this.#stage.node.clientWidth;
        if (width > 0) for (const drawing of this.#drawings) drawing.resize(width);
    }

    #watch(): void {
        new ResizeObserver(() => this.#fit()).observe(this.node);
        onSystemTheme(() => this.#restyle());
        // Paper shows all charts, not those that were in sight, in light colours and letters of a size for paper.
        addEventListener("beforeprint", () => {
            lightenForPaper();
            this.#restyle();
            for (const drawing of this.#drawings) {
                drawing.resize(PAPER_WIDTH);
                drawing.draw();
                addPaperAxis(drawing.node, drawing instanceof Overview ? new View(this.#view.full) : this.#view, PAPER_WIDTH);
            }
        });
        addEventListener("afterprint", () => {
            applyTheme();
            this.#restyle();
            this.#fit();
        });
        listenToKeys(() => this.#stage.node, () => this.#view, this.#help, {
            theme: () => this.#switchTheme(),
            clear: () => this.#clear(),
            say: (text) => (this.#live.textContent = upright(text)),
            describe: () => this.#describeCursor(),
        });
    }
}

/** That of a trace, which is drawn as a bar for each GPU. */
const isBreakdown = ({ id }: Table): boolean => id === "trace_breakdown";

/** What the only process used is what the session used: it has no lane and no row. */
function isOnlyMain({ process_list: list, identity, cards }: Session, columns: Columns): boolean {
    return list?.pid.count === 1 && columns.values(list.pid)[0] === identity?.pid && !!cards;
}

/** From the first to the last thing that is on the time axis. */
function wholeRange(panels: Panel[], sessions: Session[], columns: Columns, shifts: number[]): Range {
    let from = Infinity;
    let to = -Infinity;
    const take = (moment = NaN): void => {
        if (!Number.isFinite(moment)) return;
        from = Math.min(from, moment);
        to = Math.max(to, moment);
    };
    for (const panel of panels) {
        for (const line of panel.lines) {
            take(line.times[0]);
            take(line.times[line.times.length - 1]);
        }
    }
    const takeColumn = (column: Column | undefined, shift: number): void => {
        const [low, high] = bounds(columns.values(column));
        take(low + shift);
        take(high + shift);
    };
    sessions.forEach((session, i) => {
        const shift = shifts[i]!;
        take(shift);
        const end = shift + endOf(session);
        take(end);
        // It began before its first sample, which is time 0.
        take(end - (session.identity?.seconds ?? 0));
        for (const column of [session.calls?.start, session.calls?.stop, session.training?.steps?.start, session.training?.steps?.stop]) takeColumn(column, shift);
    });
    return from < to ? { from, to } : { from: 0, to: 1 };
}

function bounds(values: Float64Array): [number, number] {
    let low = Infinity;
    let high = -Infinity;
    for (const value of values) {
        if (value < low) low = value;
        if (value > high) high = value;
    }
    return [low, high];
}

/** What the overview shows: RAM and CPU of the session, or what there is; of a recording of power, what took the most; of several sessions, RAM of each that has a colour. */
function overviewLines(panels: Panel[], several: boolean): Line[] {
    if (panels[0]?.id.startsWith("power:")) return [...panels[0].lines].sort((a, b) => b.extremes(0, b.times.length).max - a.extremes(0, a.times.length).max).slice(0, 1);
    const main = panels.filter((panel) => /^(ram|cpu|gpu):/.test(panel.id)).slice(0, 2);
    if (several && main[0]) return main[0].lines.filter((line) => line.shownAtFirst && line.style.colour !== FAINT);
    return (main.length ? main : panels.slice(0, 1)).flatMap((panel) => panel.lines.filter((line) => line.shownAtFirst).slice(0, 1));
}

function section(id: string, title: string, ...children: Child[]): HTMLElement {
    return element("section", { class: `part ${id}`, "aria-labelledby": `h-${id}` }, element("h2", { id: `h-${id}` }, title), ...children);
}

function adviceOf(session: Session): Child {
    return notesOf(session.advice, "advice", "Advice");
}

/** What was damaged or left out, of all sessions; the text has the file. */
function warningsOf(report: Report): Child {
    const texts = [...new Set([...(report.warnings ?? []), ...report.sessions.flatMap((session) => session.warnings ?? [])])];
    return notesOf(texts, "advice warnings", "Warnings");
}

function notesOf(texts: string[] | undefined, kind: string, label: string): Child {
    if (!texts?.length) return null;
    return element("section", { class: kind, "aria-label": label }, element("ul", {}, ...texts.map((text) => element("li", {}, element("bdi", {}, text)))));
}

/** Where each figure comes from, and why some are missing, folded to one line. */
function sourcesOf({ sources = [] }: Session): Child {
    if (!sources.length) return null;
    const missing = sources.filter((source) => source.state === "unavailable").length;
    const table = makeTable({ title: "Sources", columns: [{ name: "Source" }, { name: "State" }, { name: "Why" }], rows: sources.map((source) => [source.name, source.state, source.reason ?? ""]) }, { rowsShown: 60, titleHidden: true });
    const words = missing ? `${missing} of ${sources.length} sources were not available, and why` : `${sources.length} sources, all available`;
    return element("details", { class: "sources" }, element("summary", {}, `Where the figures come from: ${words}`), table);
}

function summaryOf({ summary }: Session): Child {
    return summary ? element("details", { class: "summary" }, element("summary", {}, "Summary as text"), element("pre", { tabindex: 0, role: "group", "aria-label": "Summary as text" }, summary)) : null;
}

function calendarDay(unixSeconds: number): string {
    return new Date(unixSeconds * 1000).toLocaleDateString(undefined, { year: "numeric", month: "long", day: "numeric" });
}
