// Pictures of reports for docs/screenshots, one for each kind of session: screenshots.mjs FOLDER
// The sessions are those of the tests, so that a picture changes when the page does, and not with the machine.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Browser, settle } from "./browser.mjs";
import * as samples from "./samples.mjs";

const folder = process.argv[2];
const SIZE = { width: 1360, height: 940 };

/** `act` brings the page into the state that is shown. */
const PICTURES = [
    { name: "run", session: samples.singleRun },
    { name: "code-block", session: samples.singleRun, dark: true, act: showBlock },
    { name: "comparison", session: samples.twoRuns },
    { name: "ranks", session: samples.ranks, act: (page) => page.locator(".over-time").evaluate((node) => node.scrollIntoView()) },
    { name: "training", session: samples.training, act: (page) => page.locator(".over-time").evaluate((node) => node.scrollIntoView()) },
    { name: "power", session: samples.power, dark: true },
];

async function showBlock(page) {
    await page.click(".blocks .pick >> nth=3");
    await page.evaluate(() => document.querySelector('[data-panel="power:watts"]').scrollIntoView());
    const box = await page.locator('[data-panel="power:watts"] canvas').boundingBox();
    await page.mouse.move(box.x + 640, box.y + 60);
}

mkdirSync(folder, { recursive: true });
const browser = await Browser.start();
for (const { name, session, dark, act } of PICTURES) {
    const page = await browser.open(browser.write(name, session()), { ...SIZE, dark });
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
