// Pictures of reports for docs/screenshots, one for each kind of session: screenshots.mjs BUILD FOLDER
// The sessions are recorded now, by the command in the build folder: recorded.mjs.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, settle } from "./browser.mjs";
import { Recorder } from "./recorded.mjs";

const [build, folder] = process.argv.slice(2);
const SIZE = { width: 1360, height: 940 };

const toCharts = (page) => page.locator(".over-time").evaluate((node) => node.scrollIntoView());

/** The blocks of all threads, with the cursor on a moment. */
async function toBlocks(page) {
    await page.evaluate(() => document.querySelector('[data-panel="cpu:percent"]').scrollIntoView());
    const box = await page.locator('[data-panel="cpu:percent"] canvas').boundingBox();
    await page.mouse.move(box.x + 640, box.y + 60);
}

mkdirSync(folder, { recursive: true });
const sessions = mkdtempSync(join(tmpdir(), "gput-pictures-"));
const browser = await Browser.start();
const recorder = new Recorder(build, sessions);
const run = await recorder.run();

/** `act` brings the page into the state that is shown. */
const PICTURES = [
    { name: "run", file: run },
    { name: "code-block", file: await recorder.codeBlocks(), dark: true, act: toBlocks },
    { name: "comparison", file: await recorder.comparison() },
    { name: "ranks", file: await recorder.ranks(), act: toCharts },
    { name: "trace", file: await recorder.trace(browser, run), act: toCharts },
    { name: "gpu", file: await recorder.gpu(), dark: true },
];

for (const { name, file, dark, act } of PICTURES) {
    const page = await browser.open(file, { ...SIZE, dark });
    await act?.(page);
    await page.waitForTimeout(300);
    await settle(page);
    const path = join(folder, `${name}.png`);
    await page.screenshot({ path });
    await page.context().close();
    // Without pngquant (Debian's package of that name) they are right, but three times as large.
    spawnSync("pngquant", ["--force", "--skip-if-larger", "--strip", "--output", path, "128", path]);
}
await browser.stop();
rmSync(sessions, { recursive: true });
