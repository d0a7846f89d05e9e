// Pictures of reports for docs/screenshots, one for each kind of session: screenshots.mjs BUILD FOLDER [NAME…]
// The sessions are recorded now, by the command in the build folder: recorded.mjs.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { Browser, settle } from "./browser.mjs";
import { Recorder } from "./recorded.mjs";

const [build, folder, ...names] = process.argv.slice(2);
const SIZE = { width: 1360, height: 940 };

/** Most of a step of the loop, with a kernel chosen. */
async function toStep(page) {
    await page.evaluate(() => (location.hash = "t=0.0161_0.0190"));
    await settle(page);
    const at = await page.evaluate(() => {
        const { nameOf, pointOf } = window.gputReport;
        return Array.from({ length: 5000 }, (_, i) => i).find((i) => nameOf("calls", i)?.startsWith("wgrad_alg0") && pointOf("calls", i)?.x > 700);
    });
    await page.evaluate((index) => (location.hash += `&sel=calls:${index}`), at);
}

/** The blocks of all threads, with the cursor on a moment. */
async function toBlocks(page) {
    await page.evaluate(() => document.querySelector('[data-panel="cpu:percent"]').scrollIntoView());
    const box = await page.locator('[data-panel="cpu:percent"] canvas').boundingBox();
    await page.mouse.move(box.x + 640, box.y + 60);
}

/** A page that is no report. */
async function openTerminal(file, height) {
    const page = await browser.context.newPage();
    await page.setViewportSize({ width: 1230, height });
    await page.goto(pathToFileURL(file).href);
    return page;
}

/** `act` brings the page into the state that is shown. */
const PICTURES = [
    { name: "run", file: () => recorder.run(), height: 1520 },
    { name: "code-block", file: () => recorder.codeBlocks(), dark: true, act: toBlocks },
    { name: "comparison", file: () => recorder.comparison() },
    { name: "ranks", file: () => recorder.ranks() },
    { name: "trace", file: () => recorder.trace(), act: toStep },
    { name: "training", file: () => recorder.training(), height: 1490 },
    { name: "power", file: () => recorder.power() },
    { name: "live", file: () => recorder.live(), isTerminal: true, height: 640 },
    { name: "gpu", file: () => recorder.gpu(), dark: true },
];

const unknown = names.filter((name) => !PICTURES.some((picture) => picture.name === name));
if (unknown.length) {
    console.error(`There is no picture ${unknown.join(", ")}. There are ${PICTURES.map(({ name }) => name).join(", ")}.`);
    process.exit(2);
}
mkdirSync(folder, { recursive: true });
const sessions = mkdtempSync(join(tmpdir(), "gput-pictures-"));
const browser = await Browser.start();
const recorder = new Recorder(build, sessions);
for (const { name, file, dark, act, isTerminal, height = SIZE.height } of PICTURES.filter(({ name }) => !names.length || names.includes(name))) {
    const path = join(folder, `${name}.png`);
    const page = await (isTerminal ? openTerminal(await file(), height) : browser.open(await file(), { ...SIZE, height, dark }));
    await act?.(page);
    await page.waitForTimeout(300);
    if (!isTerminal) await settle(page);
    await page.screenshot({ path });
    await page.close();
    // Without pngquant (Debian's package of that name) they are right, but three times as large.
    spawnSync("pngquant", ["--force", "--skip-if-larger", "--strip", "--output", path, "128", path]);
}
await browser.stop();
rmSync(sessions, { recursive: true });
