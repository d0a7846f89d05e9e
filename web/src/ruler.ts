// The axis of time, with its moments.

import { themeColour } from "./colours";
import { element } from "./dom";
import { fitCanvas, INSET, positionOf } from "./plot-area";
import { ticks, timeStep } from "./ticks";
import { figure, moment } from "./units";
import type { View } from "./view";

const RULER = 22;

export function drawRuler(canvas: HTMLCanvasElement, view: View, width: number): void {
    const context = fitCanvas(canvas, width, RULER);
    const { from, to, span } = view;
    const step = timeStep(span, width / 110);
    context.font = `11px ${themeColour("font")}`;
    context.fillStyle = themeColour("muted");
    context.textAlign = "center";
    for (const time of ticks(from, to, step)) {
        const x = positionOf(view, time, width);
        const text = moment(time, step);
        const half = context.measureText(text).width / 2;
        if (x + half > width) continue;
        context.fillRect(Math.round(x), 0, 1, 4);
        context.fillText(text, x, 16);
    }
    context.textAlign = "left";
    context.fillText(view.isFull ? "" : figure(span, "seconds"), INSET, 16);
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
