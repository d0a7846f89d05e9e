// A chart as a picture of its own: title, legend, curves and axis, as they are in sight.

import { lineColour, themeColour } from "./colours";
import { drawCurves } from "./curves";
import type { Line } from "./line";
import type { Panel } from "./panels";
import { fitCanvas, HEIGHT, INSET } from "./plot-area";
import { drawRuler, RULER } from "./ruler";
import { figure } from "./units";
import { upright } from "./upright";
import type { View } from "./view";

const LINE = 18;

interface Entry {
    line: Line;
    text: string;
    x: number;
    y: number;
}

/** Places the entries of the legend from left to right, in as many lines as they need. */
function placeEntries(context: CanvasRenderingContext2D, lines: Line[], view: View, from: number, width: number): Entry[] {
    let [x, y] = [from, LINE];
    return lines.map((line) => {
        const text = upright(`${line.label} (max ${figure(line.highestDrawn(view.from, view.to), line.unit)})`);
        const needed = context.measureText(text).width + 46;
        if (x + needed > width && x > from) [x, y] = [INSET, y + LINE];
        const entry = { line, text, x, y };
        x += needed;
        return entry;
    });
}

export function saveChart({ title, unit, isStacked }: Panel, lines: Line[], view: View, width: number): void {
    const [picture, curves, ruler] = [0, 1, 2].map(() => document.createElement("canvas")) as [HTMLCanvasElement, HTMLCanvasElement, HTMLCanvasElement];
    drawCurves(curves, width, view, lines, unit, isStacked);
    drawRuler(ruler, view, width);
    const font = themeColour("font");
    let context = fitCanvas(picture, width, 1);
    context.font = `600 13px ${font}`;
    const left = INSET + context.measureText(title).width + 20;
    context.font = `12px ${font}`;
    const entries = placeEntries(context, lines, view, left, width);
    const top = (entries.at(-1)?.y ?? LINE) + 10;
    context = fitCanvas(picture, width, top + HEIGHT + RULER + 6);
    context.fillStyle = themeColour("surface");
    context.fillRect(0, 0, width, top + HEIGHT + RULER + 6);
    context.fillStyle = themeColour("ink");
    context.font = `600 13px ${font}`;
    context.fillText(title, INSET, LINE);
    context.font = `12px ${font}`;
    for (const { line, text, x, y } of entries) {
        context.strokeStyle = lineColour(line.style.colour);
        context.lineWidth = 2;
        context.setLineDash(line.style.dash);
        context.beginPath();
        context.moveTo(x, y - 4);
        context.lineTo(x + 20, y - 4);
        context.stroke();
        context.fillText(text, x + 26, y);
    }
    context.drawImage(curves, 0, top, width, HEIGHT);
    context.drawImage(ruler, 0, top + HEIGHT, width, RULER);
    const link = document.createElement("a");
    link.download = `${title.replace(/[^\w]+/g, "-").toLowerCase()}.png`;
    link.href = picture.toDataURL();
    link.click();
}
