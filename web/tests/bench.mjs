// What a report costs its reader: bytes, time to open, time of a frame while zooming. Prints rows as bench/run.sh takes
// them. The floor is the same page with no session's samples in it, opened in turn.

import { statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Browser, settle, TEMPLATE } from "./browser.mjs";
import * as samples from "./samples.mjs";

const ROUNDS = 5;
const FRAMES = 60;

const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)];
const median = (values) => quantile(values, 0.5);
const row = (what, unit, ours, against, theirs, target) => console.log([what, unit, ours.toFixed(1), against, theirs.toFixed(1), (ours / theirs).toFixed(2), target].join("\t"));

/** Milliseconds until the page is drawn; it is left open. */
async function open(page, file) {
    const begin = performance.now();
    await page.goto(pathToFileURL(file).href);
    await page.waitForSelector("main h1");
    await settle(page);
    return performance.now() - begin;
}

/** Milliseconds of each frame while zooming in and out. */
function zoom(page) {
    return page.evaluate(async (count) => {
        const stage = document.querySelector(".stage");
        stage.focus();
        const times = [];
        for (let i = 0; i < count; i++) {
            const begin = performance.now();
            stage.dispatchEvent(new KeyboardEvent("keydown", { key: i < count / 2 ? "+" : "-", bubbles: true }));
            await new Promise(requestAnimationFrame);
            await new Promise((done) => setTimeout(done, 0));
            times.push(performance.now() - begin);
        }
        return times;
    }, FRAMES);
}

const browser = await Browser.start();
const files = { run: browser.write("run", samples.singleRun({ samples: 1800 })), million: browser.write("million", samples.million()), empty: browser.write("empty", samples.million(2)) };
const context = await browser.chromium.newContext({ viewport: { width: 1400, height: 1000 } });
const page = await context.newPage();
const opened = { run: [], million: [], empty: [] };
const frames = { run: [], million: [], empty: [] };
for (let round = 0; round < ROUNDS; round++) {
    for (const name of Object.keys(files)) {
        opened[name].push(await open(page, files[name]));
        frames[name].push(...(await zoom(page)));
    }
}

const bytes = (file) => statSync(file).size / 1000;
row("bytes of a 3-minute session at 10 Hz", "kB", bytes(files.run), "the page alone", bytes(TEMPLATE), "<= 170 kB");
row("bytes of 7 figures x 1e6 samples", "kB", bytes(files.million), "as doubles", 8e3 * 8, "");
row("opening 7 figures x 1e6 samples", "ms", median(opened.million), "2 samples", median(opened.empty), "<= 2000 ms");
row("opening a 3-minute session", "ms", median(opened.run), "2 samples", median(opened.empty), "");
row("a frame of zooming, 1e6 samples", "ms", median(frames.million), "2 samples", median(frames.empty), "<= 16.7 ms");
row("95 of 100 frames of zooming, 1e6 samples", "ms", quantile(frames.million, 0.95), "2 samples", quantile(frames.empty, 0.95), "");
row("a frame of zooming, a 3-minute session", "ms", median(frames.run), "2 samples", median(frames.empty), "<= 16.7 ms");
await browser.stop();
