// Opens reports in Chromium as a reader does, from file://, and keeps what must not happen: errors, requests.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { fillPage } from "./encode.mjs";

export const TEMPLATE = process.env.GPUT_REPORT_PAGE ?? join(dirname(fileURLToPath(import.meta.url)), "..", "dist", "report.html");

const SIZE = { width: 1280, height: 900 };

/** How long a test waits for one thing, with a machine as busy as it may be: less than its program has (tests/web/meson.build). */
const PATIENCE_MS = 180_000;

/** Gives all that a page waits for a limit. Of scripts Playwright has none, or does not say which it waited for. */
export function limitWaits(page) {
    page.setDefaultTimeout(PATIENCE_MS);
    for (const method of ["evaluate", "waitForFunction"]) {
        const ask = page[method].bind(page);
        page[method] = (script, ...values) => {
            let timer;
            const limit = new Promise((_, fail) => {
                const what = `${script}`.slice(0, 200) + values.map((value) => ` of ${JSON.stringify(value)}`).join("");
                timer = setTimeout(() => fail(new Error(`waited ${PATIENCE_MS / 1000} s for ${what}`)), PATIENCE_MS);
            });
            return Promise.race([limit, ask(script, ...values)]).finally(() => clearTimeout(timer));
        };
    }
}

export class Browser {
    static async start(...flags) {
        const browser = new Browser();
        browser.folder = mkdtempSync(join(tmpdir(), "gput-web-"));
        // Containers and root have no sandbox of Chromium's. A busy machine needs its time: the browser does not end a part
        // of itself that is slow to answer. All pages are of one process, which has compiled the scripts already.
        const onePageProcess = ["--renderer-process-limit=1", "--disable-site-isolation-trials"];
        const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu-watchdog", ...onePageProcess, ...flags];
        browser.chromium = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args, timeout: PATIENCE_MS });
        browser.context = await browser.chromium.newContext({ offline: true });
        // An empty page that stays open: the process of pages would end with its last one.
        const empty = join(browser.folder, "empty.html");
        writeFileSync(empty, "<!doctype html>");
        browser.empty = await browser.context.newPage();
        limitWaits(browser.empty);
        await browser.empty.goto(pathToFileURL(empty).href);
        return browser;
    }

    async stop() {
        await this.chromium.close();
        rmSync(this.folder, { recursive: true });
    }

    /** Writes a report to a file; returns its path. */
    write(name, { report, encoder }) {
        const file = join(this.folder, `${name}.html`);
        writeFileSync(file, fillPage(TEMPLATE, report, encoder));
        return file;
    }

    /** In a page of its own, which is in front of others: those do not draw. Options: fragment, dark, width, height. */
    async open(file, { fragment = "", dark = false, ...size } = {}) {
        // All that pages have in common is what their readers chose.
        await this.empty.evaluate(() => localStorage.clear());
        const page = await this.context.newPage();
        limitWaits(page);
        await page.setViewportSize({ ...SIZE, ...size });
        await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
        page.complaints = [];
        page.on("pageerror", (error) => page.complaints.push(`error: ${error.stack ?? error}`));
        page.on("console", (message) => ["error", "warning"].includes(message.type()) && page.complaints.push(`console: ${message.text()}`));
        page.on("request", (request) => request.isNavigationRequest() || page.complaints.push(`request: ${request.url()}`));
        page.on("dialog", (dialog) => page.complaints.push(`dialog: ${dialog.message()}`));
        await page.goto(pathToFileURL(file).href + fragment);
        await page.waitForSelector("main h1, .notice[role=alert]");
        await settle(page);
        return page;
    }
}

/** Waits until all that was asked for has been drawn. */
export async function settle(page) {
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
}

export async function close(page) {
    assert.deepEqual(page.complaints, []);
    await page.close();
}

/** Asks the read-only handle of the page. */
export const ask = (page, what, ...parameters) => page.evaluate(([name, args]) => window.gputReport[name](...args), [what, parameters]);

/** Waits for the place in the address, which is written a while after the view has changed, and returns it. */
export async function waitForAddress(page, pattern) {
    await page.waitForFunction((text) => new RegExp(text).test(location.hash), pattern.source);
    return page.evaluate(() => location.hash);
}

/** Waits until the view is what `isThere` says of it, and returns it. */
export async function waitForView(page, isThere) {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
        const view = await ask(page, "view");
        if (isThere(view)) return view;
        assert.ok(Date.now() < deadline, `waited for ${isThere}, but the view is ${JSON.stringify(view)}`);
        await settle(page);
    }
}

/** Scrolls a chart into sight, and returns where on the page its canvas is. */
export async function chartBox(page, id) {
    const canvas = page.locator(`[data-panel="${id}"] canvas`);
    await canvas.evaluate((node) => node.scrollIntoView({ block: "center" }));
    await page.waitForTimeout(50);
    await settle(page);
    return canvas.boundingBox();
}

/** Colours of the pixels of a chart in a square around a point of CSS pixels, as [r, g, b, alpha]. */
export async function pixelsAround(page, id, { x, y }, reach = 2) {
    return page.locator(`[data-panel="${id}"] .plot canvas`).evaluate((canvas, [x, y, reach]) => {
        const ratio = canvas.width / canvas.clientWidth;
        const size = Math.ceil((2 * reach + 1) * ratio);
        // Read from a copy: reading slows a canvas down.
        const copy = document.createElement("canvas");
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(Math.round((x - reach) * ratio), Math.round((y - reach) * ratio), size, size);
        const pixels = [];
        for (let i = 0; i < data.length; i += 4) pixels.push([...data.slice(i, i + 4)]);
        return pixels;
    }, [x, y, reach]);
}

export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
const near = (a, b) => a.every((value, i) => Math.abs(value - b[i]) < 40);
/** Of a curve of a total, on a light page. */
export const BLUE = rgb("#0b65c2");

/** Whether a curve of a colour passes a value of a chart. */
export async function isDrawnAt(page, id, time, value, colour = BLUE, reach = 2) {
    const point = await ask(page, "pixelOf", id, time, value);
    return (await pixelsAround(page, id, point, reach)).some((pixel) => pixel[3] > 100 && near(pixel.slice(0, 3), colour));
}
