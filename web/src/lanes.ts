// Draws lanes of bars on a canvas of its own, as many as there are: only the rows in sight, and bars narrower than
// a pixel as one. Pointer and keys reach every bar.

import { COLOUR_COUNT, lineColour, themeColour } from "./colours";
import { boxOf, element, listen } from "./dom";
import type { Bars, Lane, Row } from "./lane";
import { fitCanvas, gutter, INSET, isNarrow, momentAt, RIGHT } from "./plot-area";
import { Sight } from "./sight";
import { figure } from "./units";
import { upright } from "./upright";
import type { View } from "./view";

const ROW = 19;
const LANE_GAP = 7;
const TALLEST = 420;
const TEXT_FROM = 26;

/** Of a graph that launches thousands of kernels, as many arrows as can be told apart. */
const MOST_LINKS = 20;

interface PlacedRow {
    row: Row;
    top: number;
    lane: number;
}

interface LanesOptions {
    id: string;
    title: string;
    hint: string;
    bars: Bars;
    /** Words on a bar, for the tooltip. */
    describe: (index: number) => string[];
    onSelect: (index: number | null) => void;
}

export class Lanes {
    readonly node: HTMLElement;
    readonly options: LanesOptions;
    readonly #view: View;
    readonly #sight: Sight;
    readonly #scroller: HTMLElement;
    readonly #canvas: HTMLCanvasElement;
    readonly #tooltip: HTMLElement;
    readonly #spacer = element("div", { class: "spacer" });
    #placed: PlacedRow[] = [];
    #laneTops: number[] = [];
    #height = 0;
    #width = 0;
    #selected: number | null = null;
    #linked: number[] = [];
    #drawn = 0;
    #stale = true;

    constructor(view: View, options: LanesOptions) {
        this.options = options;
        this.#view = view;
        this.#canvas = element("canvas", { "aria-hidden": "true" });
        this.#tooltip = element("div", { class: "tooltip", hidden: true, "aria-hidden": "true" });
        this.#scroller = element(
            "div",
            { class: "lanes-scroll", "data-plot": "lanes", tabindex: 0, role: "group", "aria-label": `${options.title}. Arrow keys go from bar to bar, Enter zooms to the chosen one. The table below has the same.` },
            this.#canvas,
            this.#spacer,
        );
        this.#placeRows();
        this.node = element("section", { class: "lanes", "aria-label": `${options.title} over time`, "data-lanes": options.id }, element("header", {}, element("h3", {}, options.title), element("span", { class: "hint" }, options.hint), options.id === "calls" && this.#searchField()), this.#scroller, this.#tooltip);
        this.#listen();
        view.onRange(() => this.invalidate());
        this.#sight = new Sight(this.node, () => this.draw());
    }

    resize(width: number): void {
        const isOther = isNarrow(width) !== isNarrow(this.#width);
        this.#width = width;
        if (isOther) this.#placeRows();
        this.invalidate();
    }

    invalidate(): void {
        this.#stale = true;
        this.#sight.changed();
    }

    /** How many rectangles the last drawing took; for tests. */
    get drawn(): number {
        return this.#drawn;
    }

    get selected(): number | null {
        return this.#selected;
    }

    select(index: number | null): void {
        this.#selected = index;
        this.#linked = index === null ? [] : (this.options.bars.linked?.(index) ?? []).slice(0, MOST_LINKS);
        if (index !== null) this.#scrollTo(index);
        this.invalidate();
    }

    /** The next bar with a text in its name, in the order of their starts; counted in words. */
    #find(text: string, step: 1 | -1): string {
        const { name, range } = this.options.bars;
        const words = text.toLowerCase();
        const found = this.#placed.flatMap(({ row }) => [...row.indices].filter((index) => name(index).toLowerCase().includes(words))).sort((a, b) => range(a).start - range(b).start);
        if (!words || !found.length) return words && "not found";
        const at = found.indexOf(this.#selected ?? -1);
        const next = at < 0 ? 0 : (at + step + found.length) % found.length;
        this.options.onSelect(found[next]!);
        return `${next + 1} of ${found.length}`;
    }

    #searchField(): HTMLElement {
        const count = element("output", { class: "hint" });
        const field = element("input", { type: "search", class: "find no-print", "aria-label": `Find in ${this.options.title}` });
        field.placeholder = "Find, Enter for the next";
        listen(field, "keydown", (event) => event.key === "Enter" && (count.textContent = this.#find(field.value, event.shiftKey ? -1 : 1)));
        return element("span", {}, field, " ", count);
    }

    /** From a launch to what it launched. */
    #drawLinks(context: CanvasRenderingContext2D, top: number): void {
        const endOf = (index: number): { range: { start: number; stop: number }; y: number } => ({ range: this.options.bars.range(index), y: (this.#placed.find(({ row }) => row.indices.includes(index))?.top ?? 0) - top + ROW / 2 });
        context.strokeStyle = context.fillStyle = themeColour("ink");
        context.lineWidth = 1.5;
        for (const other of this.#linked) {
            const [from, to] = [endOf(this.#selected!), endOf(other)].sort((a, b) => a.range.start - b.range.start) as [ReturnType<typeof endOf>, ReturnType<typeof endOf>];
            const [x1, x2] = [this.#x(from.range.stop), this.#x(to.range.start)];
            const bend = Math.max(20, Math.abs(x2 - x1) / 2);
            context.beginPath();
            context.moveTo(x1, from.y);
            context.bezierCurveTo(x1 + bend, from.y, x2 - bend, to.y, x2 - 4, to.y);
            context.stroke();
            context.beginPath();
            for (const [x, y] of [[x2, to.y], [x2 - 7, to.y - 4], [x2 - 7, to.y + 4]] as const) context.lineTo(x, y);
            context.fill();
        }
    }

    /** Middle of a bar in page coordinates, if its row is in sight; for tests. */
    pointOf(index: number): { x: number; y: number } | null {
        const placed = this.#placed.find((candidate) => candidate.row.indices.includes(index));
        if (!placed) return null;
        const { start, stop } = this.options.bars.range(index);
        const box = boxOf(this.#scroller);
        const x = this.#x((Math.max(start, this.#view.from) + Math.min(stop, this.#view.to)) / 2);
        return { x: box.left + x, y: box.top + placed.top - this.#scroller.scrollTop + ROW / 2 };
    }

    draw(): void {
        if (!this.#stale || this.#width <= 0) return;
        this.#stale = false;
        const height = Math.min(TALLEST, this.#height);
        const context = fitCanvas(this.#canvas, this.#width, height);
        const top = this.#scroller.scrollTop;
        this.#drawn = 0;
        context.font = `11px ${themeColour("font")}`;
        context.textBaseline = "middle";
        this.#drawLabels(context, top, height);
        const ink = themeColour("bar-ink");
        const merged = themeColour("merged");
        context.save();
        context.beginPath();
        context.rect(gutter(this.#width), 0, this.#width - gutter(this.#width) - RIGHT, height);
        context.clip();
        for (const placed of this.#placed) {
            const y = placed.top - top;
            if (y > -ROW && y < height) this.#drawRow(context, placed.row, y, ink, merged);
        }
        this.#drawLinks(context, top);
        context.restore();
    }

    /** Names of lanes are left of the axis, or where there is no space above their rows. */
    #placeRows(): void {
        let top = 4;
        this.#placed = [];
        this.#laneTops = [];
        this.options.bars.lanes.forEach((lane, i) => {
            this.#laneTops.push(top);
            if (isNarrow(this.#width)) top += ROW;
            for (const row of lane.rows) {
                this.#placed.push({ row, top, lane: i });
                top += ROW;
            }
            top += LANE_GAP;
        });
        this.#height = top;
        this.#spacer.style.height = `${top}px`;
        this.#scroller.style.height = `${Math.min(TALLEST, top)}px`;
    }

    #x(moment: number): number {
        return gutter(this.#width) + ((moment - this.#view.from) / this.#view.span) * (this.#width - gutter(this.#width) - RIGHT);
    }

    #drawLabels(context: CanvasRenderingContext2D, top: number, height: number): void {
        context.strokeStyle = themeColour("line");
        context.fillStyle = themeColour("muted");
        this.options.bars.lanes.forEach((lane, i) => {
            const y = this.#laneTops[i]! - top;
            if (y > height || y < -ROW * (lane.rows.length + 1) - LANE_GAP) return;
            if (i > 0) {
                context.beginPath();
                context.moveTo(0, Math.round(y - LANE_GAP / 2) + 0.5);
                context.lineTo(this.#width - RIGHT, Math.round(y - LANE_GAP / 2) + 0.5);
                context.stroke();
            }
            if (isNarrow(this.#width)) {
                const { process, thread } = lane.place ?? { process: lane.label, thread: "" };
                return context.fillText(fitted(context, [process, thread].filter(Boolean).join(" · "), this.#width - INSET - RIGHT), INSET, y + ROW / 2);
            }
            // Stays in sight while a tall lane is scrolled.
            const space = y + (lane.rows.length - 1) * ROW;
            const lines = labelLines(lane, this.options.bars.lanes[i - 1]);
            lines.forEach((line, l) => context.fillText(fitted(context, line, gutter(this.#width) - INSET - 6), INSET, Math.max(y, Math.min(0, space)) + ROW * (l + 0.5)));
        });
    }

    #drawRow(context: CanvasRenderingContext2D, row: Row, y: number, ink: string, merged: string): void {
        const { starts, stops, indices } = row;
        const right = this.#width - RIGHT;
        const height = ROW - 2;
        // What is narrower than a pixel waits here until a bar or a gap follows.
        let crowdFrom = NaN;
        let crowdTo = NaN;
        let crowdCount = 0;
        let crowdIndex = -1;
        const flush = (): void => {
            if (!crowdCount) return;
            context.fillStyle = crowdCount > 1 ? merged : this.#colour(crowdIndex);
            context.fillRect(crowdFrom, y, Math.max(1, crowdTo - crowdFrom), height);
            this.#drawn++;
            crowdCount = 0;
        };
        for (let i = firstEnding(stops, this.#view.from); i < starts.length; i++) {
            const left = this.#x(starts[i]!);
            if (left > right) break;
            const end = this.#x(stops[i]!);
            if (end - left < 1) {
                if (crowdCount && left - crowdTo < 1) {
                    crowdTo = Math.max(crowdTo, end, crowdFrom + 1);
                    crowdCount++;
                } else {
                    flush();
                    [crowdFrom, crowdTo, crowdCount, crowdIndex] = [left, Math.max(end, left + 0.5), 1, indices[i]!];
                }
                continue;
            }
            flush();
            this.#drawBar(context, indices[i]!, Math.max(left, gutter(this.#width) - 2), Math.min(end, right + 2), y, height, ink);
        }
        flush();
    }

    #drawBar(context: CanvasRenderingContext2D, index: number, left: number, right: number, y: number, height: number, ink: string): void {
        const name = this.options.bars.name(index);
        const width = right - left;
        context.fillStyle = this.#colour(index);
        // A hair of background between neighbours.
        context.fillRect(left, y, width > 3 ? width - 1 : width, height);
        this.#drawn++;
        if (this.options.bars.range(index).open) drawOpenEnd(context, left, right, y, height);
        if (index === this.#selected) {
            context.strokeStyle = themeColour("ink");
            context.lineWidth = 2;
            context.strokeRect(left + 1, y + 1, Math.max(1, width - 3), height - 2);
        }
        if (width < TEXT_FROM) return;
        context.fillStyle = ink;
        context.fillText(fitted(context, name, width - 10), left + 5, y + height / 2 + 0.5);
    }

    #colour(index: number): string {
        // Grey is for what was merged.
        return lineColour(this.options.bars.kind(index) % (COLOUR_COUNT - 1) || 0);
    }

    #barAt(event: MouseEvent): number | null {
        const box = boxOf(this.#scroller);
        const y = event.clientY - box.top + this.#scroller.scrollTop;
        const x = event.clientX - box.left;
        if (x < gutter(this.#width) || x > this.#width - RIGHT) return null;
        const placed = this.#placed.find((candidate) => y >= candidate.top && y < candidate.top + ROW);
        return placed ? this.#nearest(placed.row, x) : null;
    }

    /** The bar under a position, or one within two pixels of it. */
    #nearest(row: Row, x: number): number | null {
        const moment = momentAt(this.#view, x, this.#width);
        const slack = (2 / (this.#width - gutter(this.#width) - RIGHT)) * this.#view.span;
        const at = firstEnding(row.stops, moment);
        let best: number | null = null;
        let distance = slack;
        for (const i of [at - 1, at]) {
            if (i < 0 || i >= row.starts.length) continue;
            const away = Math.max(0, row.starts[i]! - moment, moment - row.stops[i]!);
            if (away <= distance) [best, distance] = [row.indices[i]!, away];
        }
        return best;
    }

    #listen(): void {
        const scroller = this.#scroller;
        listen(scroller, "scroll", () => this.invalidate());
        listen(scroller, "click", (event) => this.options.onSelect(this.#barAt(event)));
        listen(scroller, "pointermove", (event) => this.#hover(event));
        listen(scroller, "pointerleave", () => (this.#tooltip.hidden = true));
        listen(scroller, "keydown", (event) => this.#key(event));
    }

    #hover(event: PointerEvent): void {
        const index = event.buttons ? null : this.#barAt(event);
        this.#tooltip.hidden = index === null;
        this.#scroller.classList.toggle("over-bar", index !== null);
        if (index === null) return;
        this.#tooltip.textContent = "";
        for (const line of this.options.describe(index)) this.#tooltip.append(element("div", {}, element("bdi", {}, line)));
        const box = boxOf(this.node);
        const left = Math.min(event.clientX - box.left + 14, box.width - this.#tooltip.offsetWidth - 8);
        this.#tooltip.style.transform = `translate(${Math.max(0, left)}px, ${event.clientY - box.top + 16}px)`;
    }

    #key(event: KeyboardEvent): void {
        if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
        if (event.key === "Enter" && this.#selected !== null) {
            event.preventDefault();
            this.zoomTo(this.#selected);
            return;
        }
        const next = this.#neighbour(event.key);
        if (next === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        if (next !== null) this.options.onSelect(next);
    }

    /** The bar that an arrow key leads to; null: there is none; undefined: not such a key. */
    #neighbour(key: string): number | null | undefined {
        const steps: Record<string, [number, number]> = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
        const step = steps[key];
        if (!step) return undefined;
        const at = this.#placed.findIndex((placed) => this.#selected !== null && placed.row.indices.includes(this.#selected));
        if (at < 0) return this.#placed[0]?.row.indices[0] ?? null;
        const row = this.#placed[at]!.row;
        const place = row.indices.indexOf(this.#selected!);
        if (step[1]) return row.indices[place + step[1]] ?? null;
        const other = this.#placed[at + step[0]]?.row;
        if (!other) return null;
        return other.indices[Math.min(other.indices.length - 1, firstEnding(other.stops, row.starts[place]!))] ?? null;
    }

    /** Shows a bar with some space at its sides. */
    zoomTo(index: number): void {
        const { start, stop } = this.options.bars.range(index);
        const space = Math.max((stop - start) * 0.15, (this.#view.full.to - this.#view.full.from) * 1e-7);
        this.#view.leap(start - space, stop + space);
    }

    #scrollTo(index: number): void {
        const placed = this.#placed.find((candidate) => candidate.row.indices.includes(index));
        if (!placed) return;
        const { scrollTop, clientHeight } = this.#scroller;
        if (placed.top < scrollTop || placed.top + ROW > scrollTop + clientHeight) this.#scroller.scrollTop = placed.top - clientHeight / 2;
    }
}

/** Process and thread below each other where there is space; else what distinguishes this lane from the one above. */
function labelLines(lane: Lane, above: Lane | undefined): string[] {
    if (!lane.place) return [lane.label];
    const { process, thread } = lane.place;
    if (lane.rows.length > 1) return thread ? [process, thread] : [process];
    return [above?.place?.process === process && thread ? thread : `${process} ${thread}`];
}

/** The first bar that ends at or after a moment. */
function firstEnding(stops: Float64Array, moment: number): number {
    let low = 0;
    let high = stops.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (stops[middle]! < moment) low = middle + 1;
        else high = middle;
    }
    return low;
}

/** Of a path its end says most, of markup its beginning. Cut by code points, so that no half of a character is left. */
export function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
    // No name is wider on the screen than this, and measuring a longer one takes time.
    let shown = upright(text.length > 200 ? `${[...text.slice(0, 200)].join("")}…` : text);
    if (context.measureText(shown).width <= width) return shown;
    const file = /^[^\s<>]+\/([^/\s<>]+( \(still open\))?)$/.exec(text)?.[1];
    // The dots say that "data" is only the end of a name.
    if (file) return [`…/${file}`, `…${file}`].find((end) => context.measureText(end).width <= width) ?? fitted(context, file, width);
    const points = [...shown];
    let low = 0;
    let high = points.length;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (context.measureText(`${points.slice(0, middle).join("")}…`).width <= width) low = middle;
        else high = middle - 1;
    }
    shown = low ? `${points.slice(0, low).join("")}…` : "";
    return shown;
}

/** Torn off: gaps that grow towards the end of the data. */
function drawOpenEnd(context: CanvasRenderingContext2D, left: number, right: number, y: number, height: number): void {
    context.fillStyle = themeColour("surface");
    [12, 8, 4].forEach((from, i) => {
        if (right - from > left + 3) context.fillRect(right - from, y, i + 1, height);
    });
}

/** One line on when and how long. */
export function whenText(range: { start: number; stop: number; open: boolean }): string {
    const length = figure(range.stop - range.start, "seconds");
    return range.open ? `${length} until the end of the data (no end was recorded)` : length;
}
