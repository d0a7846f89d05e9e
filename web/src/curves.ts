// Draws curves on a canvas: grid, labels of the axis, the curves themselves, limits and the peak.

import { lineColour, themeColour } from "./colours";
import type { Line } from "./line";
import { fitCanvas, gutter, HEIGHT, isNarrow, positionOf, RIGHT } from "./plot-area";
import { emptyRaster, type Raster, rgbOf } from "./raster";
import { reduceLine, type Points } from "./reduce";
import { roundStep, ticks, timeStep } from "./ticks";
import { axisLabels, figure } from "./units";
import type { View } from "./view";

const TOP = 8;
const BOTTOM = HEIGHT - 8;

/** A limit is drawn where a curve comes near it; one far above would press the curve flat. */
const LIMIT_IN_SIGHT = 2.5;

interface Vertical {
    low: number;
    high: number;
    ticks: number[];
}

export interface Drawn {
    vertical: Vertical;
    points: Map<Line, Points>;
    /** Limits above what is shown. */
    farLimits: number[];
}

export function drawCurves(canvas: HTMLCanvasElement, width: number, view: View, lines: Line[], unit: string, isStacked = false): Drawn {
    const context = fitCanvas(canvas, width, HEIGHT);
    const limits = [...new Set(lines.flatMap((line) => line.limit ?? []))];
    // When it was is not known: it is of the whole.
    const peaks = lines.filter((line) => view.isFull && line.peak);
    // Runs of one thing come to nearly the same peak.
    const named = new Map(peaks.map(({ peak, style }) => [`peak ${figure(peak, unit)}, between samples`, { peak, style }]));
    if (isStacked) return drawStacked(context, width, view, lines, unit);
    const vertical = verticalRange(view, lines, limits, unit, Math.max(0, ...peaks.map((line) => line.peak!)));
    drawGrid(context, width, view, vertical, unit);
    const columns = Math.max(50, plotPixels(width).width);
    const points = new Map(lines.map((line) => [line, reduceLine(line, view.from, view.to, columns, view.isMoving)]));
    context.save();
    context.beginPath();
    context.rect(gutter(width), 0, width - gutter(width) - RIGHT, HEIGHT);
    context.clip();
    // The first line is the strongest and lies on top.
    drawLines(context, width, view, vertical, [...lines].reverse(), points);
    // All of a device in use is good news as often as bad.
    for (const limit of limits) if (limit <= vertical.high && !isWhole(limit, unit)) drawLimit(context, width - RIGHT - 4, width, heightOf(vertical, limit), 10, `limit ${figure(limit, unit)}`, themeColour(unit === "percent" ? "muted" : "alarm"));
    [...named].forEach(([text, { peak, style }], i) => drawLimit(context, width - RIGHT - 4 - (isNarrow(width) ? 0 : 230 * (i + 1)), width, heightOf(vertical, peak!), -7, text, lineColour(style.colour)));
    context.restore();
    if (unit !== "count") drawPeak(context, width, view, vertical, lines);
    return { vertical, points, farLimits: limits.filter((limit) => limit > vertical.high) };
}

/** Shares of one whole, as areas on top of each other, the first at the bottom: the mean of each column of pixels. */
function drawStacked(context: CanvasRenderingContext2D, width: number, view: View, lines: Line[], unit: string): Drawn {
    const vertical = { low: 0, high: 100, ticks: [0, 50, 100] };
    const left = gutter(width);
    const columns = Math.floor(width - left - RIGHT);
    drawGrid(context, width, view, vertical, unit);
    const tops = new Array<number>(columns).fill(0);
    for (const line of lines) {
        context.fillStyle = lineColour(line.style.colour);
        line.columnMeans(view, columns).forEach((share, x) => {
            if (!(share > 0)) return;
            const from = heightOf(vertical, tops[x]!);
            tops[x]! += share;
            const to = heightOf(vertical, Math.min(100, tops[x]!));
            context.fillRect(left + x, to, 1, from - to);
        });
    }
    return { vertical, points: new Map(), farLimits: [] };
}

/** Where a value is, from the top. */
export function heightOf(vertical: Vertical, value: number): number {
    return BOTTOM - ((value - vertical.low) / (vertical.high - vertical.low)) * (BOTTOM - TOP);
}

/** From zero (or below, if values are) to a little above the highest value in sight. */
function verticalRange(view: View, lines: Line[], limits: number[], unit: string, high: number): Vertical {
    let low = 0;
    for (const line of lines) {
        // One sample more at each side: the curve comes from there.
        const first = Math.max(0, line.moments.indexAt(view.from) - 1);
        const found = line.extremes(first, Math.min(line.times.length, line.moments.indexAt(view.to) + 1));
        if (found.min < low) low = found.min;
        if (found.max > high) high = found.max;
    }
    for (const limit of limits) if (limit <= high * LIMIT_IN_SIGHT && limit > high) high = limit;
    const isZero = high === low;
    if (isZero) high = low + 1;
    const space = (high - low) * 0.06;
    [low, high] = [low < 0 ? low - space : 0, high + space];
    // There is no half thread. A chart of zeros has no other figure.
    const step = Math.max(roundStep(high - low, 5), unit === "count" ? 1 : 0);
    return { low, high, ticks: isZero ? [0] : ticks(low, high, step) };
}

/** All of a device: the axis says it. */
function isWhole(limit: number, unit: string): boolean {
    return unit === "percent" && limit === 100;
}

function drawGrid(context: CanvasRenderingContext2D, width: number, view: View, vertical: Vertical, unit: string): void {
    context.fillStyle = themeColour("line");
    for (const time of ticks(view.from, view.to, timeStep(view.span, width / 110))) {
        context.fillRect(Math.round(positionOf(view, time, width)), TOP, 1, BOTTOM - TOP);
    }
    const values = vertical.ticks;
    for (const value of values) context.fillRect(gutter(width), Math.round(heightOf(vertical, value)), width - gutter(width) - RIGHT, 1);
    context.font = `11px ${themeColour("font")}`;
    context.fillStyle = themeColour("muted");
    context.textAlign = "right";
    context.textBaseline = "middle";
    axisLabels(values, unit).forEach((text, i) => context.fillText(text, gutter(width) - 8, heightOf(vertical, values[i]!)));
}

interface Point {
    x: number;
    y: number;
}

/** Pixels of the canvas that the plot covers. */
interface PlotPixels {
    ratio: number;
    left: number;
    width: number;
}

function plotPixels(width: number): PlotPixels {
    const ratio = devicePixelRatio || 1;
    const left = Math.round(gutter(width) * ratio);
    return { ratio, left, width: Math.max(1, Math.round((width - RIGHT) * ratio) - left) };
}

/** Where all are dense, the chart is one picture with its grid; else dense ones share a picture over what lies below. */
function drawLines(context: CanvasRenderingContext2D, width: number, view: View, vertical: Vertical, lines: Line[], points: Map<Line, Points>): void {
    const plot = plotPixels(width);
    const allDense = lines.every((line) => points.get(line)!.reduced);
    let raster: Raster | null = null;
    let joins: [Point, Point, Line][] = [];
    const begin = (): Raster => {
        const empty = emptyRaster(plot.width, Math.round(HEIGHT * plot.ratio));
        if (allDense) rasterGrid(empty, plot, width, view, vertical);
        return empty;
    };
    const put = (): void => {
        if (allDense) raster?.putOn(context, plot.left, 0);
        else raster?.drawOn(context, plot.left, 0);
        for (const [from, to, line] of joins) joinColumns(context, from, to, line);
        raster = null;
        joins = [];
    };
    for (const line of lines) {
        const drawn = points.get(line)!;
        if (drawn.reduced) {
            raster ??= begin();
            drawColumns(raster, plot, width, view, vertical, line, drawn, joins);
        } else {
            put();
            drawCurve(context, width, view, vertical, line, drawn);
        }
    }
    put();
}

/** As drawGrid() draws it. */
function rasterGrid(raster: Raster, plot: PlotPixels, width: number, view: View, vertical: Vertical): void {
    const colour = rgbOf(themeColour("line"));
    const thick = Math.max(1, Math.round(plot.ratio));
    for (const time of ticks(view.from, view.to, timeStep(view.span, width / 110))) {
        const x = Math.round(Math.round(positionOf(view, time, width)) * plot.ratio) - plot.left;
        for (let i = 0; i < thick; i++) raster.fillColumn(x + i, TOP * plot.ratio, BOTTOM * plot.ratio, colour);
    }
    for (const value of vertical.ticks) {
        const y = Math.round(Math.round(heightOf(vertical, value)) * plot.ratio);
        for (let i = 0; i < thick; i++) raster.fillRow(y + i, colour);
    }
}

/**
 * A bar from the lowest to the highest of each column, which reaches over to the column before: what a curve through all
 * samples looks like.
 */
function drawColumns(raster: Raster, plot: PlotPixels, width: number, view: View, vertical: Vertical, line: Line, points: Points, joins: [Point, Point, Line][]): void {
    const { style } = line;
    const { ratio } = plot;
    const colour = rgbOf(lineColour(style.colour));
    const base = heightOf(vertical, Math.max(0, vertical.low)) * ratio;
    const half = (style.width / 2) * ratio;
    const tops = new Float32Array(plot.width).fill(Infinity);
    const period = style.dash.reduce((sum, part) => sum + part, 0);
    let before: { column: number; x: number; top: number; bottom: number } | null = null;
    for (let i = 0; i < points.times.length; i += 2) {
        const [a, b] = [points.values[i]!, points.values[i + 1]!];
        if (!(a === a)) {
            before = null;
            continue;
        }
        const x = positionOf(view, points.times[i]!, width);
        const column = Math.floor(x * ratio) - plot.left;
        const top = heightOf(vertical, Math.max(a, b)) * ratio;
        const bottom = heightOf(vertical, Math.min(a, b)) * ratio;
        const isNear: boolean = before !== null && column - before.column < 3 * ratio;
        // Columns far apart (few samples at an end of the range) are joined by a line.
        if (before && !isNear) joins.push([{ x: before.x, y: before.top / ratio }, { x, y: top / ratio }, line]);
        const reachTop: number = before && isNear && before.bottom < top ? before.bottom : top;
        const reachBottom: number = before && isNear && before.top > bottom ? before.top : bottom;
        for (let at: number = before && isNear ? before.column + 1 : column; at <= column; at++) {
            tops[at] = top;
            if (!period || isInDash(style.dash, ((plot.left + at) / ratio) % period)) raster.fillColumn(at, reachTop - half, reachBottom + half, colour);
        }
        before = { column, x, top, bottom };
    }
    if (style.fill) raster.fillArea(tops, base, colour, 0.1);
}

function joinColumns(context: CanvasRenderingContext2D, from: Point, to: Point, line: Line): void {
    const { style } = line;
    context.strokeStyle = lineColour(style.colour);
    context.lineWidth = style.width;
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.lineTo(to.x, to.y);
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
    const { style } = line;
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

function drawLimit(context: CanvasRenderingContext2D, right: number, width: number, y: number, below: number, text: string, colour: string): void {
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 1;
    context.setLineDash([7, 4]);
    context.beginPath();
    context.moveTo(gutter(width), Math.round(y) + 0.5);
    context.lineTo(width - RIGHT, Math.round(y) + 0.5);
    context.stroke();
    context.setLineDash([]);
    context.textAlign = "right";
    // A curve near its limit would strike the words through.
    context.lineWidth = 4;
    context.strokeStyle = themeColour("surface");
    context.strokeText(text, right, y + below);
    context.fillText(text, right, y + below);
}

/** A ring at the highest value in sight: of the total, where a chart has one, else of all curves. */
function drawPeak(context: CanvasRenderingContext2D, width: number, view: View, vertical: Vertical, lines: Line[]): void {
    const candidates = lines[0]?.style.fill ? lines.slice(0, 1) : lines;
    const peaks = candidates.map((line) => ({ line, ...line.highest(view.from, view.to) })).filter((peak) => peak.index >= 0 && peak.max !== 0);
    if (!peaks.length) return;
    const { line, index, max } = peaks.reduce((high, peak) => (peak.max > high.max ? peak : high));
    context.beginPath();
    context.arc(positionOf(view, line.times[index]!, width), heightOf(vertical, max), 3.5, 0, 2 * Math.PI);
    context.fillStyle = themeColour("surface");
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = lineColour(line.style.colour);
    context.stroke();
}
