// Where charts and lanes put the time axis: the same place in all of them, so that one cursor fits all.

import type { View } from "./view";

/** Left of the axis, for labels, which begin at INSET; right of it; height of a chart. CSS pixels. */
export const GUTTER = 104;
export const INSET = 14;
export const RIGHT = 12;
export const HEIGHT = 150;

/** The moment under a position inside an element that has the axis, and the reverse. */
export function momentAt(view: View, x: number, width: number): number {
    return view.from + ((x - GUTTER) / Math.max(1, width - GUTTER - RIGHT)) * view.span;
}

export function positionOf(view: View, moment: number, width: number): number {
    return GUTTER + ((moment - view.from) / view.span) * Math.max(1, width - GUTTER - RIGHT);
}

/** Fits a canvas to its place and the display; the context then counts in CSS pixels. */
export function fitCanvas(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.width = `${width}px`;
        canvas.style.height = `${height}px`;
    }
    const context = canvas.getContext("2d")!;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return context;
}
