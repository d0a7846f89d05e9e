// A chart of one panel: its curves, its legend with figures at the cursor, and the same as a table.

import { FAINT, GREY } from "./colours";
import { drawCurves, heightOf, type Drawn } from "./curves";
import { boxOf, button, element, listen, replaceChildren } from "./dom";
import { Legend, swatch } from "./legend";
import type { Line, LineStyle } from "./line";
import type { Panel } from "./panels";
import { momentAt, positionOf } from "./plot-area";
import type { Points } from "./reduce";
import { Sight } from "./sight";
import { saveChart } from "./save-chart";
import { foldedTable, headings, makeTable } from "./tables";
import { figure, moment } from "./units";
import type { View } from "./view";

const TABLE_ROWS = 24;

/** Of more curves than this the one under the pointer is named, not all. */
const MANY = 8;

/** So many pixels from a curve the pointer is at it. */
const REACH = 10;

export class Chart {
    readonly panel: Panel;
    readonly node: HTMLElement;
    readonly #view: View;
    readonly #sight: Sight;
    readonly #canvas = element("canvas", { "aria-hidden": "true" });
    readonly #limitNote: HTMLElement;
    readonly #legend: Legend;
    /** Follows the pointer. */
    readonly #tip = element("div", { class: "pointed", "aria-hidden": "true", hidden: true });
    readonly #table: HTMLDetailsElement;
    #pointed: { line: Line; style: LineStyle } | null = null;
    #drawn: Drawn | null = null;
    #width = 0;
    #stale = true;

    constructor(panel: Panel, view: View, toggled: () => void) {
        this.panel = panel;
        this.#view = view;
        this.#limitNote = element("span", { class: "limit-note" });
        this.#table = foldedTable(panel.title);
        listen(this.#table, "toggle", () => this.#fillTable());
        const title = element("h3", {}, panel.title);
        this.#legend = new Legend(panel, {
            toggled: () => {
                this.invalidate();
                toggled();
            },
            pointed: (line) => this.#point(line),
        });
        this.node = element(
            "section",
            { class: "chart", "aria-label": `${panel.title} over time`, "data-panel": panel.id },
            element("header", {}, title, this.#legend.node, this.#limitNote),
            button("Save", () => saveChart(panel, this.#shownLines(), view, this.#width), { class: "save no-print", title: "Save this chart as a picture", "aria-label": `Save ${panel.title} as a picture` }),
            element("div", { class: "plot", "data-plot": "chart" }, this.#canvas, this.#tip),
            this.#table,
        );
        this.#followPointer();
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

    /** Whether it is in sight or not, as printing and tests need it. */
    draw(): void {
        if (!this.#stale || this.#width <= 0) return;
        this.#stale = false;
        this.#drawn = drawCurves(this.#canvas, this.#width, this.#view, this.#shownLines(), this.panel.unit, this.panel.isStacked);
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

    /** The first is drawn on top. */
    #shownLines(): Line[] {
        const shown = this.panel.lines.filter((line) => line.shown);
        const first = (line: Line): number => (line === this.#pointed?.line ? 0 : line.style.colour === FAINT ? 2 : 1);
        return this.panel.together || this.#pointed ? shown.sort((a, b) => first(a) - first(b)) : shown;
    }

    refreshLegend(): void {
        this.#legend.refresh();
    }

    #showFigures(): void {
        this.#legend.showFigures(this.#view);
    }

    /** Draws one curve stronger than the others. */
    #point(line: Line | null): void {
        if (line === (this.#pointed?.line ?? null)) return;
        if (this.#pointed) this.#pointed.line.style = this.#pointed.style;
        this.#pointed = line && { line, style: line.style };
        if (line) line.style = { ...line.style, colour: line.style.colour === FAINT ? GREY : line.style.colour, width: 3 };
        this.#tip.hidden = true;
        this.invalidate();
    }

    /** Says at the pointer what all curves are at its moment; of many, which one is under it. */
    #followPointer(): void {
        listen(this.#canvas, "pointermove", (event) => {
            if (!this.#drawn || event.buttons) return;
            const box = boxOf(this.#canvas);
            const [x, y] = [event.clientX - box.left, event.clientY - box.top];
            const at = momentAt(this.#view, x, this.#width);
            let lines = this.#shownLines();
            if (this.panel.lines.length > MANY) {
                const near = this.#nearest(lines, at, y);
                this.#point(near);
                lines = near ? [near] : [];
            }
            const rows = lines.map((line) => ({ line, value: line.valueAt(at) })).filter(({ value }) => value === value);
            this.#tip.hidden = !rows.length || at < this.#view.from || at > this.#view.to;
            replaceChildren(this.#tip, ...rows.map(({ line, value }) => element("div", {}, rows.length > 1 && (swatch(line.style) as unknown as Node), `${line.label} ${figure(value, line.unit)}`)));
            const left = x + 16 + this.#tip.offsetWidth > box.width ? x - 12 - this.#tip.offsetWidth : x + 12;
            this.#tip.style.transform = `translate(${Math.max(0, left)}px, ${y + 14}px)`;
        });
        listen(this.#canvas, "pointerleave", () => {
            this.#tip.hidden = true;
            if (this.panel.lines.length > MANY) this.#point(null);
        });
    }

    #nearest(lines: Line[], at: number, y: number): Line | null {
        const { vertical } = this.#drawn!;
        const slack = (2 / this.#width) * this.#view.span;
        const away = (line: Line): number => {
            const { min, max } = line.extremes(Math.max(0, line.moments.indexAt(at - slack) - 1), line.moments.indexAt(at + slack));
            return Math.max(0, heightOf(vertical, max) - y, y - heightOf(vertical, min));
        };
        return lines.filter((line) => away(line) < REACH).sort((a, b) => away(a) - away(b))[0] ?? null;
    }

    #fillTable(): void {
        if (!this.#table.open) return;
        const lines = this.#shownLines();
        const { from, to, span } = this.#view;
        const step = span / TABLE_ROWS;
        const totals = lines.map((line) => {
            const { min, mean, max, highestAt, count } = line.summary(from, to);
            // At an edge the curve may be higher than all samples in sight, as the legend says.
            const drawn = line.highestDrawn(from, to);
            const at = drawn > max || count === 0 ? (line.drawnAt(from) === drawn ? from : to) : highestAt;
            return [line.label, count, figure(min, line.unit), figure(mean, line.unit), figure(drawn, line.unit), moment(at, step / 10)];
        });
        const rows = Array.from({ length: TABLE_ROWS }, (_, i) => {
            const start = from + i * step;
            // The last has the sample at its very end, too.
            const end = start + step * (i === TABLE_ROWS - 1 ? 1 + 1e-6 : 1);
            return [`${moment(start, step)} – ${moment(end, step)}`, ...lines.map((line) => intervalText(line, start, end))];
        });
        replaceChildren(
            this.#table,
            this.#table.querySelector("summary"),
            makeTable({
                title: `${this.panel.title}, ${moment(from, step)} to ${moment(to, step)}`,
                columns: headings("Curve|Samples|Lowest|Mean|Highest|Highest at"),
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
    const first = line.moments.indexAt(from);
    // What ended at the beginning is of the time before it.
    const { min, max } = line.extremes(first + (line.ofInterval && line.times[first] === from ? 1 : 0), line.endAt(to));
    if (!Number.isFinite(min)) return "–";
    const low = figure(min, line.unit);
    const high = figure(max, line.unit);
    return low === high ? low : `${low} – ${high}`;
}
