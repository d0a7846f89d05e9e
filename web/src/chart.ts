// A chart of one panel: its curves, its legend with figures at the cursor, and the same as a table.

import { lineColour } from "./colours";
import { drawCurves, heightOf, type Drawn } from "./curves";
import { button, element, replaceChildren, svg } from "./dom";
import type { Line } from "./line";
import type { Panel } from "./panels";
import { positionOf } from "./plot-area";
import type { Points } from "./reduce";
import { Sight } from "./sight";
import { makeTable } from "./tables";
import { figure, moment } from "./units";
import type { View } from "./view";

const TABLE_ROWS = 24;

export class Chart {
    readonly panel: Panel;
    readonly node: HTMLElement;
    readonly #view: View;
    readonly #sight: Sight;
    readonly #canvas = element("canvas", { "aria-hidden": "true" });
    readonly #limitNote: HTMLElement;
    readonly #outputs = new Map<Line, HTMLElement>();
    readonly #table: HTMLDetailsElement;
    readonly #toggled: () => void;
    #drawn: Drawn | null = null;
    #width = 0;
    #stale = true;

    constructor(panel: Panel, view: View, toggled: () => void) {
        this.panel = panel;
        this.#view = view;
        this.#toggled = toggled;
        this.#limitNote = element("span", { class: "limit-note" });
        this.#table = element("details", { class: "chart-table" }, element("summary", {}, "Table", element("span", { class: "hidden-text" }, ` of ${panel.title}`)));
        this.#table.addEventListener("toggle", () => this.#fillTable());
        const title = element("h3", {}, panel.title);
        this.node = element(
            "section",
            { class: "chart", "aria-label": `${panel.title} over time`, "data-panel": panel.id },
            element("header", {}, title, this.#legend(), this.#limitNote),
            element("div", { class: "plot", "data-plot": "chart" }, this.#canvas),
            this.#table,
        );
        view.onRange(() => this.invalidate());
        view.onCursor(() => this.#sight.isIn && this.#showFigures());
        this.#sight = new Sight(this.node, () => this.draw());
    }

    invalidate(): void {
        this.#stale = true;
        this.#sight.changed();
        if (this.#table.open) this.#fillTable();
    }

    resize(width: number): void {
        if (width === this.#width || width <= 0) return;
        this.#width = width;
        this.invalidate();
    }

    /** Colours are read anew. */
    restyle(): void {
        for (const swatch of this.node.querySelectorAll<SVGElement>(".swatch line")) {
            swatch.setAttribute("stroke", lineColour(Number(swatch.getAttribute("data-colour"))));
        }
        this.invalidate();
    }

    /** Whether it is in sight or not, as printing and tests need it. */
    draw(): void {
        if (!this.#stale || this.#width <= 0) return;
        this.#stale = false;
        this.#drawn = drawCurves(this.#canvas, this.#width, this.#view, this.#shownLines(), this.panel.unit);
        const far = this.#drawn.farLimits.map((limit) => figure(limit, this.panel.unit));
        this.#limitNote.textContent = far.length ? `limit ${far.join(", ")}, above this chart` : "";
        this.#showFigures();
    }

    /** Where a value is on the canvas, in CSS pixels; for tests. */
    pixelOf(time: number, value: number): { x: number; y: number } | null {
        return this.#drawn && { x: positionOf(this.#view, time, this.#width), y: heightOf(this.#drawn.vertical, value) };
    }

    /** The points of a curve as it was drawn last; for tests. */
    pointsOf(id: string): Points | null {
        const line = this.panel.lines.find((candidate) => candidate.id === id);
        return (line && this.#drawn?.points.get(line)) ?? null;
    }

    #shownLines(): Line[] {
        return this.panel.lines.filter((line) => line.shown);
    }

    #legend(): HTMLElement {
        const entries = this.panel.lines.map((line) => {
            const output = element("span", { class: "value" });
            this.#outputs.set(line, output);
            const entry = button("", () => {
                line.shown = !line.shown;
                entry.setAttribute("aria-pressed", String(line.shown));
                this.invalidate();
                this.#toggled();
            }, { class: "legend-entry", "aria-pressed": line.shown, "data-line": line.id });
            entry.append(swatch(line), element("span", { class: "name" }, line.label), output);
            return entry;
        });
        return element("div", { class: "legend", role: "group", "aria-label": `Curves of ${this.panel.title}` }, ...entries);
    }

    /** The toggles as the lines are, after the lines were set from elsewhere. */
    refreshLegend(): void {
        for (const [line, output] of this.#outputs) output.parentElement!.setAttribute("aria-pressed", String(line.shown));
    }

    /** At the cursor; without one, the highest in sight. */
    #showFigures(): void {
        const { cursor, from, to } = this.#view;
        for (const [line, output] of this.#outputs) {
            if (!line.shown) output.textContent = "";
            else if (cursor !== null) output.textContent = figure(line.valueAt(cursor), line.unit);
            else output.textContent = `max ${figure(line.extremes(line.moments.indexAt(from), Math.min(line.times.length, line.moments.indexAt(to) + 1)).max, line.unit)}`;
        }
    }

    #fillTable(): void {
        if (!this.#table.open) return;
        const lines = this.#shownLines();
        const { from, to, span } = this.#view;
        const step = span / TABLE_ROWS;
        const totals = lines.map((line) => {
            const { min, mean, max, highestAt, count } = line.summary(from, to);
            return [line.label, count, figure(min, line.unit), figure(mean, line.unit), figure(max, line.unit), moment(highestAt, step / 10)];
        });
        const rows = Array.from({ length: TABLE_ROWS }, (_, i) => {
            const start = from + i * step;
            return [`${moment(start, step)} – ${moment(start + step, step)}`, ...lines.map((line) => intervalText(line, start, start + step))];
        });
        replaceChildren(
            this.#table,
            this.#table.querySelector("summary"),
            makeTable({
                title: `${this.panel.title}, ${moment(from, step)} to ${moment(to, step)}`,
                columns: ["Curve", "Samples", "Lowest", "Mean", "Highest", "Highest at"].map((name, i) => ({ name, type: i ? "number" : "text" })),
                rows: totals,
            }),
            makeTable({
                title: `${this.panel.title} in ${TABLE_ROWS} intervals: lowest to highest`,
                columns: [{ name: "Time", type: "text" }, ...lines.map((line) => ({ name: line.label, type: "number" as const }))],
                rows,
            }),
        );
    }
}

function intervalText(line: Line, from: number, to: number): string {
    const { min, max } = line.extremes(line.moments.indexAt(from), line.moments.indexAt(to));
    if (!Number.isFinite(min)) return "–";
    const low = figure(min, line.unit);
    const high = figure(max, line.unit);
    return low === high ? low : `${low} – ${high}`;
}

/** A piece of the line as it is drawn: colour and dashes. */
function swatch(line: Line): SVGElement {
    const { style } = line;
    return svg(
        "svg",
        { class: "swatch", width: 20, height: 10, viewBox: "0 0 20 10", "aria-hidden": "true" },
        svg("line", { x1: 0, y1: 5, x2: 20, y2: 5, stroke: lineColour(style.colour), "data-colour": style.colour, "stroke-width": 2, "stroke-dasharray": style.dash.join(" ") }),
    );
}
