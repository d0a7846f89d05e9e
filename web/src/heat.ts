// A heat map on the time axis: a row a device or rank, colour by value, and the value at the cursor in words.

import { scaleColour, themeColour } from "./colours";
import { element, listen, replaceChildren } from "./dom";
import { fitted } from "./lanes";
import type { Line } from "./line";
import { fitCanvas, gutter, INSET, RIGHT } from "./plot-area";
import { Sight } from "./sight";
import { foldedTable, headings, makeTable } from "./tables";
import { figure } from "./units";
import type { View } from "./view";

export interface HeatRow {
    label: string;
    line: Line;
}

const ROW = 18;
const VALUES = 74;

export class HeatMap {
    readonly node: HTMLElement;
    readonly #view: View;
    readonly #sight: Sight;
    readonly #rows: HeatRow[];
    readonly #top: number;
    readonly #unit: string;
    readonly #canvas = element("canvas", { "aria-hidden": "true" });
    readonly #values: HTMLElement[];
    readonly #table: HTMLDetailsElement;
    #width = 0;
    #stale = true;

    constructor(view: View, id: string, title: string, rows: HeatRow[]) {
        this.#view = view;
        this.#rows = rows;
        this.#unit = rows[0]?.line.unit ?? "";
        const highest = Math.max(...rows.map((row) => row.line.extremes(0, row.line.times.length).max).filter(Number.isFinite), 0);
        // Below half of all of it, nothing would be distinguished.
        this.#top = this.#unit === "percent" && highest > 50 && highest <= 100 ? 100 : highest || 1;
        this.#values = rows.map(() => element("span", {}));
        this.#table = foldedTable(title);
        listen(this.#table, "toggle", () => this.#fillTable());
        const values = element("div", { class: "heat-values", "aria-hidden": "true" }, ...this.#values);
        values.style.width = `${VALUES}px`;
        this.node = element(
            "section",
            { class: "chart heat", "aria-label": title, "data-heat": id },
            element("header", {}, element("h3", {}, title), this.#key()),
            element("div", { class: "plot", "data-plot": "heat" }, this.#canvas, values),
            this.#table,
        );
        view.onRange(() => this.invalidate());
        view.onCursor(() => this.#sight.isIn && this.#showValues());
        this.#sight = new Sight(this.node, () => this.draw());
    }

    resize(width: number): void {
        this.#width = width;
        this.#placeHolder();
        this.invalidate();
    }

    invalidate(): void {
        this.#stale = true;
        if (this.#table.open) this.draw();
        else this.#sight.changed();
    }

    /** Its size before it is drawn for the first time, so that nothing below moves then. */
    #placeHolder(): void {
        this.#canvas.style.width = `${this.#width}px`;
        this.#canvas.style.height = `${this.#rows.length * ROW}px`;
    }

    draw(): void {
        if (!this.#stale || this.#width <= 0) return;
        this.#stale = false;
        const context = fitCanvas(this.#canvas, this.#width, this.#rows.length * ROW);
        context.font = `11px ${themeColour("font")}`;
        context.textBaseline = "middle";
        const colours = Array.from({ length: 65 }, (_, i) => scaleColour(i / 64));
        this.#rows.forEach((row, i) => {
            context.fillStyle = themeColour("muted");
            context.fillText(fitted(context, row.label, gutter(this.#width) - INSET - 6), INSET, i * ROW + ROW / 2);
            this.#drawRow(context, row.line, i * ROW, colours);
        });
        this.#showValues();
        if (this.#table.open) this.#fillTable();
    }

    /** The mean of each column of pixels; columns of one colour are one rectangle. */
    #drawRow(context: CanvasRenderingContext2D, line: Line, y: number, colours: string[]): void {
        const left = gutter(this.#width);
        const width = Math.floor(this.#width - left - RIGHT);
        let start = 0;
        let colour = -1;
        [...line.columnMeans(this.#view, width), NaN].forEach((value, x) => {
            const next = Number.isFinite(value) ? Math.round(Math.min(1, Math.max(0, value / this.#top)) * 64) : -1;
            if (next === colour && x < width) return;
            if (colour >= 0) {
                context.fillStyle = colours[colour]!;
                context.fillRect(left + start, y, x - start, ROW - 2);
            }
            start = x;
            colour = next;
        });
    }

    #showValues(): void {
        const { cursor } = this.#view;
        this.#rows.forEach((row, i) => {
            this.#values[i]!.textContent = cursor === null ? "" : figure(row.line.valueAt(cursor), this.#unit);
        });
    }

    /** The scale in words and colours. */
    #key(): HTMLElement {
        const steps = Array.from({ length: 9 }, (_, i) => {
            const step = element("i", {});
            step.dataset.share = String(i / 8);
            return step;
        });
        const key = element("span", { class: "heat-key" }, "0", element("span", { class: "steps", "aria-hidden": "true" }, ...steps), figure(this.#top, this.#unit));
        this.#paintKey(key);
        return key;
    }

    #paintKey(place: ParentNode): void {
        for (const step of place.querySelectorAll<HTMLElement>("[data-share]")) step.style.background = scaleColour(Number(step.dataset.share));
    }

    restyle(): void {
        this.#paintKey(this.node);
        this.invalidate();
    }

    #fillTable(): void {
        if (!this.#table.open) return;
        const { from, to } = this.#view;
        const rows = this.#rows.map(({ label, line }) => {
            const { min, mean, max } = line.summary(from, to);
            return [label, min, mean, max];
        });
        replaceChildren(
            this.#table,
            this.#table.querySelector("summary"),
            makeTable({ title: "Figures of the shown range", columns: headings("Row|Lowest|Mean|Highest", 1, this.#unit), rows }),
        );
    }
}
