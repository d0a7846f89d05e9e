// Draws curves on a canvas: grid, labels of the axis, the curves themselves, limits and the peak.

import { lineColour, themeColour } from "./colours";
import type { Line } from "./line";
import { fitCanvas, GUTTER, HEIGHT, positionOf, RIGHT } from "./plot-area";
import { reduceLine, type Points } from "./reduce";
import { roundStep, ticks, timeStep } from "./ticks";
import { axisLabels, figure } from "./units";
import type { View } from "./view";

const TOP = 8;
const BOTTOM = HEIGHT - 8;

/** A limit is drawn where a curve comes near it; one far above would press the curve flat. */
const LIMIT_IN_SIGHT = 2.5;

export interface Vertical {
    low: number;
    high: number;
}

export interface Drawn {
    vertical: Vertical;
    points: Map<Line, Points>;
    /** Limits above what is shown. */
    farLimits: number[];
}

export function drawCurves(canvas: HTMLCanvasElement, width: number, view: View, lines: Line[], unit: string): Drawn {
    const context = fitCanvas(canvas, width, HEIGHT);
    const limits = [...new Set(lines.flatMap((line) => line.properties.limit ?? []))];
    const vertical = verticalRange(view, lines, limits);
    drawGrid(context, width, view, vertical, unit);
    const columns = Math.max(50, Math.round((width - GUTTER - RIGHT) * Math.min(2, devicePixelRatio)));
    const points = new Map(lines.map((line) => [line, reduceLine(line, view.from, view.to, columns)]));
    context.save();
    context.beginPath();
    context.rect(GUTTER, 0, width - GUTTER - RIGHT, HEIGHT);
    context.clip();
    // The first line is the strongest and lies on top.
    for (const line of [...lines].reverse()) {
        const drawn = points.get(line)!;
        if (drawn.reduced) drawColumns(context, width, view, vertical, line, drawn);
        else drawCurve(context, width, view, vertical, line, drawn);
    }
    for (const limit of limits) if (limit <= vertical.high) drawLimit(context, width, heightOf(vertical, limit), `limit ${figure(limit, unit)}`, unit);
    context.restore();
    if (lines[0]?.properties.session === 0 && unit !== "count") drawPeak(context, width, view, vertical, lines[0]);
    return { vertical, points, farLimits: limits.filter((limit) => limit > vertical.high) };
}

/** Where a value is, from the top. */
export function heightOf(vertical: Vertical, value: number): number {
    return BOTTOM - ((value - vertical.low) / (vertical.high - vertical.low)) * (BOTTOM - TOP);
}

/** From zero (or below, if values are) to a little above the highest value in sight. */
function verticalRange(view: View, lines: Line[], limits: number[]): Vertical {
    let low = 0;
    let high = 0;
    for (const line of lines) {
        // One sample more at each side: the curve comes from there.
        const first = Math.max(0, line.moments.indexAt(view.from) - 1);
        const found = line.extremes(first, Math.min(line.times.length, line.moments.indexAt(view.to) + 1));
        if (found.min < low) low = found.min;
        if (found.max > high) high = found.max;
    }
    for (const limit of limits) if (limit <= high * LIMIT_IN_SIGHT && limit > high) high = limit;
    if (high === low) high = low + 1;
    const room = (high - low) * 0.06;
    return { low: low < 0 ? low - room : 0, high: high + room };
}

function drawGrid(context: CanvasRenderingContext2D, width: number, view: View, vertical: Vertical, unit: string): void {
    context.fillStyle = themeColour("hairline");
    for (const time of ticks(view.from, view.to, timeStep(view.span, width / 110))) {
        context.fillRect(Math.round(positionOf(view, time, width)), TOP, 1, BOTTOM - TOP);
    }
    const values = ticks(vertical.low, vertical.high, roundStep(vertical.high - vertical.low, 4));
    for (const value of values) context.fillRect(GUTTER, Math.round(heightOf(vertical, value)), width - GUTTER - RIGHT, 1);
    context.font = `11px ${themeColour("font")}`;
    context.fillStyle = themeColour("muted");
    context.textAlign = "right";
    context.textBaseline = "middle";
    axisLabels(values, unit).forEach((text, i) => context.fillText(text, GUTTER - 8, heightOf(vertical, values[i]!)));
}

/**
 * A bar from the lowest to the highest of each column, which reaches over to the column before: what a curve through all
 * samples looks like, at a tenth of what stroking it costs.
 */
function drawColumns(context: CanvasRenderingContext2D, width: number, view: View, vertical: Vertical, line: Line, points: Points): void {
    const { style } = line.properties;
    const base = heightOf(vertical, Math.max(0, vertical.low));
    const half = style.width / 2;
    const period = style.dash.reduce((sum, part) => sum + part, 0);
    context.fillStyle = lineColour(style.colour);
    let before: { x: number; top: number; bottom: number } | null = null;
    for (let i = 0; i < points.times.length; i += 2) {
        const [a, b] = [points.values[i]!, points.values[i + 1]!];
        if (!(a === a)) {
            before = null;
            continue;
        }
        const x = positionOf(view, points.times[i]!, width);
        const top = heightOf(vertical, Math.max(a, b));
        const bottom = heightOf(vertical, Math.min(a, b));
        const left: number = before && x - before.x < 3 ? before.x : x - 1;
        if (style.fill) {
            context.globalAlpha = 0.1;
            context.fillRect(left, top, x - left, base - top);
            context.globalAlpha = 1;
        }
        // Columns far apart (few samples at an end of the range) are joined by a line.
        if (before && x - before.x >= 3) joinColumns(context, before, { x, top }, style.width);
        if (!period || isInDash(style.dash, x % period)) {
            const reachTop: number = before && before.bottom < top ? before.bottom : top;
            const reachBottom: number = before && before.top > bottom ? before.top : bottom;
            context.fillRect(left, reachTop - half, Math.max(1, x - left), reachBottom - reachTop + style.width);
        }
        before = { x, top, bottom };
    }
}

function joinColumns(context: CanvasRenderingContext2D, from: { x: number; top: number }, to: { x: number; top: number }, width: number): void {
    context.strokeStyle = context.fillStyle;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(from.x, from.top);
    context.lineTo(to.x, to.top);
    context.stroke();
}

function isInDash(dash: number[], at: number): boolean {
    let drawn = true;
    for (const part of dash) {
        if (at < part) return drawn;
        at -= part;
        drawn = !drawn;
    }
    return true;
}

function drawCurve(context: CanvasRenderingContext2D, width: number, view: View, vertical: Vertical, line: Line, points: Points): void {
    const { style } = line.properties;
    const base = heightOf(vertical, Math.max(0, vertical.low));
    const path = new Path2D();
    const area = new Path2D();
    let from = NaN;
    let x = NaN;
    for (let i = 0; i < points.times.length; i++) {
        const value = points.values[i]!;
        if (!(value === value)) {
            endArea(area, from, x, base);
            from = NaN;
            continue;
        }
        x = positionOf(view, points.times[i]!, width);
        const y = heightOf(vertical, value);
        if (from === from) {
            path.lineTo(x, y);
            area.lineTo(x, y);
        } else {
            from = x;
            path.moveTo(x, y);
            area.moveTo(x, base);
            area.lineTo(x, y);
            // A sample between two gaps is a dot.
            if (!(points.values[i + 1]! === points.values[i + 1]!)) path.lineTo(x + 1, y);
        }
    }
    endArea(area, from, x, base);
    context.strokeStyle = context.fillStyle = lineColour(style.colour);
    if (style.fill) {
        context.globalAlpha = 0.1;
        context.fill(area);
        context.globalAlpha = 1;
    }
    context.lineWidth = style.width;
    context.lineJoin = "bevel";
    context.setLineDash(style.dash);
    context.stroke(path);
    context.setLineDash([]);
}

function endArea(area: Path2D, from: number, to: number, base: number): void {
    if (!(from === from)) return;
    area.lineTo(to, base);
    area.closePath();
}

function drawLimit(context: CanvasRenderingContext2D, width: number, y: number, text: string, unit: string): void {
    // All of a device in use is good news as often as bad.
    context.strokeStyle = context.fillStyle = themeColour(unit === "percent" ? "muted" : "alarm");
    context.lineWidth = 1;
    context.setLineDash([7, 4]);
    context.beginPath();
    context.moveTo(GUTTER, Math.round(y) + 0.5);
    context.lineTo(width - RIGHT, Math.round(y) + 0.5);
    context.stroke();
    context.setLineDash([]);
    context.textAlign = "right";
    context.fillText(text, width - RIGHT - 4, y + 10);
}

/** A ring at the highest value in sight. */
function drawPeak(context: CanvasRenderingContext2D, width: number, view: View, vertical: Vertical, line: Line): void {
    const { index, max } = line.highest(view.from, view.to);
    if (index < 0 || max === 0) return;
    context.beginPath();
    context.arc(positionOf(view, line.times[index]!, width), heightOf(vertical, max), 3.5, 0, 2 * Math.PI);
    context.fillStyle = themeColour("surface");
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = lineColour(line.properties.style.colour);
    context.stroke();
}
