// Where charts and lanes put the time axis: the same place in all of them, so that one cursor fits all.

import type { Range } from "./view";

/** Where labels left of the axis begin; space right of it; height of a chart. CSS pixels. */
export const INSET = 14;
export const RIGHT = 12;
export const HEIGHT = 150;

/** A drawing narrower than this has space for figures left of the axis, not for names. */
const NARROW = 560;
export const isNarrow = (width: number): boolean => width < NARROW;

/** Space left of the axis, for labels. */
export const gutter = (width: number): number => (isNarrow(width) ? 60 : 104);

/** The moment under a position inside an element that has the axis, and the reverse. */
export function momentAt({ from, to }: Range, x: number, width: number): number {
    return from + ((x - gutter(width)) / Math.max(1, width - gutter(width) - RIGHT)) * (to - from);
}

export function positionOf({ from, to }: Range, moment: number, width: number): number {
    return gutter(width) + ((moment - from) / (to - from)) * Math.max(1, width - gutter(width) - RIGHT);
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
