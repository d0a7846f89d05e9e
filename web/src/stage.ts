// The area of charts and lanes: one cursor, one selection, and the pointer's and the keys' way along the time axis.

import { boxOf, element, listen } from "./dom";
import { gutter, momentAt, positionOf, RIGHT } from "./plot-area";
import { moment } from "./units";
import type { View } from "./view";

/** A press that moves less is a click. CSS pixels. */
const DRAG_FROM = 4;

export class Stage {
    readonly node: HTMLElement;
    readonly #view: View;
    readonly #cursor: HTMLElement;
    readonly #label: HTMLElement;
    readonly #selection: HTMLElement;
    #drag: { from: number; pan: boolean; moved: boolean; start: number; end: number } | null = null;

    constructor(view: View) {
        this.#view = view;
        this.#label = element("span", { class: "cursor-label" });
        this.#cursor = element("div", { class: "cursor", hidden: true, "aria-hidden": "true" }, this.#label);
        this.#selection = element("div", { class: "selection", hidden: true, "aria-hidden": "true" });
        this.node = element(
            "div",
            { class: "stage", tabindex: 0, role: "group", "aria-label": "Charts and lanes on one time axis. Arrow keys move, plus and minus zoom, 0 shows everything, question mark lists all keys." },
            this.#cursor,
            this.#selection,
        );
        this.#listen();
        view.onCursor(() => this.#place());
    }

    #listen(): void {
        const { node } = this;
        listen(node, "pointerdown", (event) => this.#press(event));
        listen(node, "pointermove", (event) => this.#move(event));
        listen(node, "pointerup", (event) => this.#release(event));
        listen(node, "pointercancel", () => this.#endDrag());
        listen(node, "pointerleave", () => this.#drag || this.#view.moveCursor(null));
        listen(node, "dblclick", (event) => this.#onPlot(event) && this.#view.reset());
        listen(node, "wheel", (event) => this.#wheel(event), { passive: false });
    }

    #left(): DOMRect {
        return boxOf(this.node);
    }

    #momentOf(event: MouseEvent): number {
        const box = this.#left();
        return momentAt(this.#view, event.clientX - box.left, box.width);
    }

    #onPlot(event: Event): HTMLElement | null {
        const plot = (event.target as Element).closest<HTMLElement>("[data-plot]");
        const x = (event as MouseEvent).clientX - this.#left().left;
        return plot && x >= gutter(this.#left().width) - 2 && x <= this.#left().width - RIGHT + 2 ? plot : null;
    }

    #press(event: PointerEvent): void {
        if ((event.button !== 0 && event.button !== 1) || !this.#onPlot(event)) return;
        const pan = event.shiftKey || event.button === 1;
        this.#drag = { from: event.clientX, pan, moved: false, start: this.#momentOf(event), end: this.#momentOf(event) };
        if (event.button === 1) event.preventDefault();
    }

    #move(event: PointerEvent): void {
        const drag = this.#drag;
        if (!drag) {
            this.#view.moveCursor(this.#onPlot(event) ? this.#momentOf(event) : null);
            return;
        }
        if (!drag.moved && Math.abs(event.clientX - drag.from) < DRAG_FROM) return;
        // With the pointer captured, the click at the end does not reach what lies under it.
        if (!drag.moved) this.node.setPointerCapture(event.pointerId);
        drag.moved = true;
        const now = this.#momentOf(event);
        if (drag.pan) {
            this.#view.pan((drag.start - now) / this.#view.span);
            return;
        }
        drag.end = now;
        this.#showSelection(drag.start, drag.end);
        this.#view.moveCursor(now);
    }

    #release(event: PointerEvent): void {
        const drag = this.#drag;
        this.#endDrag();
        if (!drag?.moved || drag.pan) return;
        const [from, to] = [Math.min(drag.start, drag.end), Math.max(drag.start, drag.end)];
        if (to > from) this.#view.leap(Math.max(from, this.#view.from), Math.min(to, this.#view.to));
        event.preventDefault();
    }

    #endDrag(): void {
        this.#drag = null;
        this.#selection.hidden = true;
    }

    #showSelection(a: number, b: number): void {
        const width = this.#left().width;
        const left = Math.max(gutter(this.#left().width), positionOf(this.#view, Math.min(a, b), width));
        const right = Math.min(width - RIGHT, positionOf(this.#view, Math.max(a, b), width));
        this.#selection.hidden = false;
        this.#selection.style.left = `${left}px`;
        this.#selection.style.width = `${Math.max(0, right - left)}px`;
    }

    /** A plain wheel scrolls the page, as everywhere; over the overview, or with a modifier, it zooms. */
    #wheel(event: WheelEvent): void {
        const plot = this.#onPlot(event);
        if (!plot) return;
        const zooms = event.ctrlKey || event.metaKey || event.altKey || plot.dataset.plot === "overview";
        const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY) || (event.shiftKey && !zooms);
        if (sideways) {
            event.preventDefault();
            this.#view.pan(Math.sign(event.deltaX || event.deltaY) * 0.08);
        } else if (zooms) {
            event.preventDefault();
            const around = plot.dataset.plot === "overview" ? undefined : this.#momentOf(event);
            this.#view.zoom(Math.exp(Math.sign(event.deltaY) * Math.min(0.5, Math.abs(event.deltaY) / 300)), around);
        }
    }

    #place(): void {
        const { cursor, from, to, span } = this.#view;
        this.#cursor.hidden = cursor === null || cursor < from || cursor > to;
        if (cursor === null) return;
        const width = this.#left().width;
        const left = positionOf(this.#view, cursor, width);
        this.#cursor.style.transform = `translateX(${left}px)`;
        this.#cursor.classList.toggle("at-end", left > width - 110);
        this.#label.textContent = moment(cursor, span / 1000);
    }
}
