// The strip above the charts: the whole session in small, with its own moments and the part that is shown; below it the ruler of that part.

import { lineColour, themeColour } from "./colours";
import { boxOf, element, listen } from "./dom";
import type { Row } from "./lane";
import type { Line } from "./line";
import { fitCanvas, gutter, momentAt, positionOf, RIGHT } from "./plot-area";
import { drawMoments, drawRuler } from "./ruler";
import { isDark } from "./theme";
import type { View } from "./view";

const STRIP = 34;

/** Between the strip and the ruler, where lines lead from the part in the strip to the charts. */
const FUNNEL = 9;

export class Overview {
    readonly node: HTMLElement;
    readonly #view: View;
    readonly #lines: Line[];
    readonly #rows: Row[];
    readonly #strip = element("canvas", { "aria-hidden": "true" });
    readonly #ruler = element("canvas", { "aria-hidden": "true" });
    #width = 0;
    #kept: { key: string; canvas: HTMLCanvasElement } | null = null;
    #drag: { x: number; from: number; to: number; edge: "from" | "to" | "both" } | null = null;

    /** Shows curves, or where there is none how many of the rows are busy. */
    constructor(view: View, lines: Line[], rows: Row[]) {
        this.#view = view;
        this.#lines = lines;
        this.#rows = lines.length ? [] : rows;
        const strip = element("div", { class: "strip", "data-plot": "overview" }, this.#strip);
        this.node = element("div", { class: "overview" }, strip, element("div", { class: "ruler" }, this.#ruler));
        view.onRange(() => this.draw());
        this.#listen(strip);
    }

    resize(width: number): void {
        this.#width = width;
        this.draw();
    }

    draw(): void {
        if (this.#width <= 0) return;
        this.#drawStrip();
        drawRuler(this.#ruler, this.#view, this.#width);
    }

    #wholeX(time: number): number {
        return positionOf(this.#view.full, time, this.#width);
    }

    #drawStrip(): void {
        // What lies below stays as it is while the view changes.
        const silhouettes = this.#silhouettes();
        const context = fitCanvas(this.#strip, this.#width, STRIP + FUNNEL);
        const [left, right] = [gutter(this.#width), this.#width - RIGHT];
        context.drawImage(silhouettes, 0, 0, this.#width, STRIP);
        const from = this.#wholeX(this.#view.from);
        const to = Math.max(from + 2, this.#wholeX(this.#view.to));
        context.fillStyle = themeColour("shade");
        context.fillRect(left, 0, from - left, STRIP);
        context.fillRect(to, 0, right - to, STRIP);
        context.strokeStyle = themeColour("edge");
        context.strokeRect(left + 0.5, 0.5, right - left - 1, STRIP - 1);
        if (this.#view.isFull) return;
        drawMoments(context, this.#view.full, this.#width, STRIP - 16, 9.5);
        context.fillStyle = context.strokeStyle = themeColour("accent");
        context.fillRect(from - 1, 0, 2, STRIP);
        context.fillRect(to - 1, 0, 2, STRIP);
        context.globalAlpha = 0.12;
        context.beginPath();
        for (const [x, y] of [[from, STRIP], [to, STRIP], [right, STRIP + FUNNEL], [left, STRIP + FUNNEL]] as const) context.lineTo(x, y);
        context.fill();
        context.globalAlpha = 1;
    }

    #silhouettes(): HTMLCanvasElement {
        const key = `${this.#width} ${devicePixelRatio} ${isDark()}`;
        if (this.#kept?.key === key) return this.#kept.canvas;
        const canvas = document.createElement("canvas");
        const context = fitCanvas(canvas, this.#width, STRIP);
        const highest = (line: Line): number => line.extremes(0, line.times.length).max || 0;
        for (const line of this.#lines) {
            const top = Math.max(...this.#lines.filter((other) => other.unit === line.unit).map(highest));
            if (top > 0) this.#drawSilhouette(context, line, top, gutter(this.#width), this.#width - gutter(this.#width) - RIGHT);
        }
        if (this.#rows.length) this.#drawBusy(context, gutter(this.#width), this.#width - gutter(this.#width) - RIGHT);
        this.#kept = { key, canvas };
        return canvas;
    }

    /** The highest value of each pixel, as an area. */
    #drawSilhouette(context: CanvasRenderingContext2D, line: Line, top: number, left: number, width: number): void {
        const { full } = this.#view;
        context.fillStyle = lineColour(line.style.colour);
        // Many areas over each other are as dark as two.
        context.globalAlpha = Math.min(0.4, 0.8 / this.#lines.length);
        context.beginPath();
        context.moveTo(left, STRIP);
        let height = 0;
        let first = line.moments.indexAt(full.from);
        for (let x = 0; x < width; x++) {
            const until = full.from + ((x + 1) / width) * (full.to - full.from);
            const end = line.endAt(until);
            height = ((end > first ? line.extremes(first, end).max : line.heldAt(first)) / top) * (STRIP - 4) || 0;
            first = line.moments.indexAt(until);
            context.lineTo(left + x, STRIP - height);
        }
        context.lineTo(left + width, STRIP - height);
        context.lineTo(left + width, STRIP);
        context.fill();
        context.globalAlpha = 1;
    }

    /** How much of each pixel's time the bars of the rows take, together. */
    #drawBusy(context: CanvasRenderingContext2D, left: number, width: number): void {
        const pixels = Math.max(1, Math.round(width));
        const busy = new Float64Array(pixels);
        for (const { starts, stops } of this.#rows) {
            for (let i = 0; i < starts.length; i++) {
                const from = Math.max(0, this.#wholeX(starts[i]!) - left);
                const to = Math.min(pixels, this.#wholeX(stops[i]!) - left);
                for (let x = Math.floor(from); x < to; x++) busy[x]! += Math.min(to, x + 1) - Math.max(from, x);
            }
        }
        const most = busy.reduce((high, value) => Math.max(high, value), 0);
        context.fillStyle = lineColour(0);
        context.globalAlpha = 0.4;
        busy.forEach((value, x) => context.fillRect(left + x, STRIP, 1, (-value / (most || 1)) * (STRIP - 4)));
        context.globalAlpha = 1;
    }

    /** The window of what is shown is moved by dragging it, and resized at its edges. A press outside moves it there. */
    #listen(strip: HTMLElement): void {
        listen(strip, "pointerdown", (event) => {
            event.stopPropagation();
            const x = event.clientX - boxOf(strip).left;
            const { from, to } = this.#view;
            const [a, b] = [this.#wholeX(from), this.#wholeX(to)];
            let edge: "from" | "to" | "both" = "both";
            if (this.#view.isFull) {
                const start = this.#wholeTime(x);
                this.#drag = { x, from: start, to: start, edge: "to" };
                strip.setPointerCapture(event.pointerId);
                return;
            }
            if (Math.abs(x - a) < 6) edge = "from";
            else if (Math.abs(x - b) < 6) edge = "to";
            else if (x < a || x > b) {
                const middle = this.#wholeTime(x);
                this.#view.show(middle - (to - from) / 2, middle + (to - from) / 2);
            }
            this.#drag = { x, from: this.#view.from, to: this.#view.to, edge };
            strip.setPointerCapture(event.pointerId);
        });
        listen(strip, "pointermove", (event) => this.#dragTo(event.clientX - boxOf(strip).left));
        listen(strip, "pointerup", () => (this.#drag = null));
        listen(strip, "pointercancel", () => (this.#drag = null));
    }

    #wholeTime(x: number): number {
        return momentAt(this.#view.full, x, this.#width);
    }

    #dragTo(x: number): void {
        const drag = this.#drag;
        if (!drag || Math.abs(x - drag.x) < 3) return;
        const by = this.#wholeTime(x) - this.#wholeTime(drag.x);
        const { full } = this.#view;
        if (drag.edge === "both") {
            const shift = Math.min(full.to - drag.to, Math.max(full.from - drag.from, by));
            this.#view.show(drag.from + shift, drag.to + shift);
            return;
        }
        const a = drag.edge === "from" ? drag.from + by : drag.from;
        const b = drag.edge === "to" ? drag.to + by : drag.to;
        this.#view.show(Math.min(a, b), Math.max(a, b));
    }
}
