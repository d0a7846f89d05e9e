// The legend of a chart: what is shown, with its figure; what is hidden, or one of many, waits behind a button.

import { colourVariable } from "./colours";
import { button, element, listen, svg } from "./dom";
import type { Line, LineStyle } from "./line";
import type { Panel } from "./panels";
import { figure } from "./units";
import type { View } from "./view";

/** More curves than this are not read one by one. */
const SHOWN = 8;

interface Entry {
    lines: Line[];
    node: HTMLButtonElement;
    value: HTMLElement;
}

interface LegendActions {
    /** Curves were shown or hidden. */
    toggled(): void;
    /** A curve to draw stronger than the others, or none. */
    pointed(line: Line | null): void;
}

export class Legend {
    readonly node: HTMLElement;
    readonly #entries: Entry[] = [];
    readonly #rest: Entry[] = [];
    readonly #panel: Panel;
    readonly #actions: LegendActions;
    readonly #more: HTMLButtonElement;

    constructor(panel: Panel, actions: LegendActions) {
        this.#panel = panel;
        this.#actions = actions;
        this.node = element("div", { class: "legend", role: "group", "aria-label": `Curves of ${panel.title}` });
        this.#more = button("", () => this.#open(!this.isOpen), { class: "legend-more no-print", "aria-expanded": false });
        const together = new Set((panel.together ?? []).flatMap(({ lines }) => lines));
        const single = panel.lines.filter((line) => !together.has(line));
        const first = single.filter((line) => line.shownAtFirst).slice(0, SHOWN);
        for (const line of first) this.#add([line], withEquals(line), false);
        for (const { label, lines } of panel.together ?? []) this.#add(lines, label, false);
        this.node.append(this.#more);
        if (panel.note) this.node.append(element("span", { class: "hint" }, panel.note));
        for (const line of panel.lines) if (!first.includes(line)) this.#add([line], line.label, true);
        this.refresh();
    }

    get isOpen(): boolean {
        return this.node.classList.contains("open");
    }

    /** At the cursor; without one, the highest in sight. */
    showFigures({ cursor, from, to }: View): void {
        for (const { lines, value } of this.#entries) {
            const shown = lines.filter((line) => line.shown);
            if (!shown.length || (cursor !== null && shown.length > 1)) value.textContent = "";
            else if (cursor !== null) value.textContent = figure(shown[0]!.valueAt(cursor), shown[0]!.unit);
            else {
                // Of shares of a whole the mean says most.
                const { isStacked } = this.#panel;
                const most = isStacked ? shown[0]!.summary(from, to).mean : highest(shown, from, to);
                value.textContent = most === most ? `${isStacked ? "mean" : "max"} ${figure(most, shown[0]!.unit)}` : "nothing here";
            }
        }
    }

    /** The toggles as the lines are, after the lines were set from elsewhere. */
    refresh(): void {
        for (const { lines, node } of this.#entries) {
            const shown = lines.filter((line) => line.shown).length;
            node.setAttribute("aria-pressed", shown === 0 ? "false" : shown === lines.length ? "true" : "mixed");
        }
        this.#open(this.isOpen);
    }

    /** What was hidden and is now shown stays in sight; what stands for itself in a group does not. */
    #open(open: boolean): void {
        const together = new Set((this.#panel.together ?? []).flatMap(({ lines }) => lines));
        let hidden = 0;
        for (const { lines, node } of this.#rest) {
            const isNew = lines[0]!.shown && !lines[0]!.shownAtFirst && !together.has(lines[0]!);
            node.hidden = !open && !isNew;
            if (!isNew) hidden++;
        }
        this.node.classList.toggle("open", open);
        this.#more.hidden = hidden === 0;
        this.#more.setAttribute("aria-expanded", String(open));
        this.#more.textContent = open ? "fewer" : `+${hidden} more`;
    }

    #add(lines: Line[], label: string, rest: boolean): void {
        const value = element("span", { class: "value" });
        const node = button("", () => {
            const shown = !lines.every((line) => line.shown);
            for (const line of lines) line.shown = shown;
            this.refresh();
            this.#actions.toggled();
        }, { class: "legend-entry", "data-line": lines.length === 1 ? lines[0]!.id : undefined });
        node.append(swatch(lines[0]!.style), element("span", { class: "name" }, label), value);
        const point = (line: Line | null): void => this.#actions.pointed(line);
        if (lines.length === 1) {
            for (const event of ["pointerenter", "focus"] as const) listen(node, event, () => point(lines[0]!));
            for (const event of ["pointerleave", "blur"] as const) listen(node, event, () => point(null));
        }
        const entry = { lines, node, value };
        this.#entries.push(entry);
        if (rest) this.#rest.push(entry);
        this.node.append(node);
    }
}

/** "Written and 2 equal" */
function withEquals({ label, equals = [] }: Line): string {
    return equals.length > 1 ? `${label} and ${equals.length} equal` : [label, ...equals].join(" = ");
}

function highest(lines: Line[], from: number, to: number): number {
    const found = lines.map((line) => line.highestDrawn(from, to)).filter((max) => Number.isFinite(max));
    return found.length ? Math.max(...found) : NaN;
}

/** A piece of the line as it is drawn: colour and dashes. */
export function swatch(style: LineStyle): SVGElement {
    return svg(
        "svg",
        { class: "swatch", width: 20, height: 10, viewBox: "0 0 20 10", "aria-hidden": "true" },
        svg("line", { x1: 0, y1: 5, x2: 20, y2: 5, stroke: colourVariable(style.colour), "stroke-width": Math.max(2, style.width - 1), "stroke-dasharray": style.dash.join(" ") }),
    );
}
