// The axis of time, with its moments.

import { themeColour } from "./colours";
import { element } from "./dom";
import { fitCanvas, INSET, positionOf } from "./plot-area";
import { ticks, timeStep } from "./ticks";
import { figure, moment } from "./units";
import type { Range, View } from "./view";

/** Its height in CSS pixels. */
export const RULER = 22;

/** The axis of the charts. */
export function drawRuler(canvas: HTMLCanvasElement, view: View, width: number): void {
    const context = fitCanvas(canvas, width, RULER);
    drawMoments(context, view, width, 0, 11);
    context.textAlign = "left";
    context.fillText(view.isFull ? "" : figure(view.span, "seconds"), INSET, 16);
}

/** Ticks at a height, with their moments below. */
export function drawMoments(context: CanvasRenderingContext2D, range: Range, width: number, top: number, size: number): void {
    const { from, to } = range;
    const step = timeStep(to - from, width / 110);
    // A trace of a few steps.
    const inMs = to < 1 && step < 0.1;
    context.font = `${size}px ${themeColour("font")}`;
    context.fillStyle = themeColour("muted");
    context.textAlign = "center";
    context.textBaseline = "alphabetic";
    for (const time of ticks(from, to, step)) {
        const x = positionOf(range, time, width);
        const text = inMs ? `${Number((time * 1000).toFixed(6))}\u00a0ms` : moment(time, step);
        const half = context.measureText(text).width / 2;
        if (x + half > width) continue;
        context.fillRect(Math.round(x), top, 1, 4);
        context.fillText(text, x, top + size + 5);
    }
}

/** On paper no strip stays in sight: each chart has an axis of its own, made when the page is printed. */
export function addPaperAxis(node: HTMLElement, view: View, width: number): void {
    let canvas = node.querySelector<HTMLCanvasElement>(".paper-axis");
    if (!canvas) {
        canvas = element("canvas", { class: "paper-axis", "aria-hidden": "true" });
        node.append(canvas);
    }
    drawRuler(canvas, view, width);
}
