// Writes dist/report.html: the page of a report with its style and script inside, without data.
// What goes in place of its two markers: docs/report-format.md. Usage: node build.mjs [FILE]

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? join(here, "dist", "report.html"));

/** Long names of properties that are neither in the data, nor the browser's, nor of the handle for tests: they are shortened. */
const INTERNAL = /^(shownAtFirst|indexAt|extremes|invalidate|isMoving|heldAt|endAt|ofInterval|longLabel|sessionLabel|drawnAt|highestDrawn|isFull|boundaries|valueAt|rowsShown|titleHidden|unsearched|pickLabel|onPick|restyle|farLimits|refreshLegend|showFigures|moveCursor|onRange|onCursor|canGoBack|zoomTo|fillColumn|fillArea|drawOn|putOn|describe|onSelect|isZero)$/;

/** One source file and all that it imports, minified, as text. */
async function bundle(entry) {
    const result = await build({
        entryPoints: [join(here, "src", entry)],
        absWorkingDir: here,
        bundle: true,
        minify: true,
        mangleProps: INTERNAL,
        write: false,
        format: "iife",
        target: ["chrome108", "firefox115", "safari16.4"],
        legalComments: "none",
        // The page is ASCII, whatever a server says of its encoding.
        charset: "ascii",
        logLevel: "warning",
    });
    // "</" would end the element that the text is in.
    return result.outputFiles[0].text.trim().replaceAll("</", "<\\/");
}

const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const [style, early, load, script] = await Promise.all(["page.css", "theme-early.ts", "load.ts", "main.ts"].map(bundle));
// Nothing is loaded and nothing runs but these four texts.
const policy = [
    "default-src 'none'",
    `script-src ${hash(early)} ${hash(load)} ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
].join("; ");

/** Of all that the page is made from: tools/embed-report-page.py takes no page of other sources. */
function sourcesHash() {
    const hash = createHash("sha256");
    const sources = readdirSync(join(here, "src")).sort().map((name) => `src/${name}`);
    for (const name of ["build.mjs", "package-lock.json", ...sources]) hash.update(`${name}\0`).update(readFileSync(join(here, name)));
    return hash.digest("hex");
}

const sources = sourcesHash();
const packed = deflateSync(script, { level: 9 }).toString("base64");
const parts = { sources, policy, style, early, load, packed };
const page = readFileSync(join(here, "src", "page.html"), "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);

mkdirSync(dirname(target), { recursive: true });
writeFileSync(`${target}.part`, page);
renameSync(`${target}.part`, target);
