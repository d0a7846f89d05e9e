// The page as it is read: on paper, by keys, and what its legends and curves say of moments and intervals.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { ask, BLUE, Browser, chartBox, close, isDrawnAt, rgb, settle, waitForView } from "./browser.mjs";
import * as samples from "./samples.mjs";

let browser;
let single;

before(async () => {
    browser = await Browser.start();
    single = browser.write("singleRun", samples.singleRun());
});
after(() => browser.stop());

test("prints all charts, without what only a screen can do", async () => {
    const page = await browser.open(single, { height: 500 });
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    for (const { id, lines } of await ask(page, "charts")) assert.ok(await ask(page, "points", id, lines[0].id), id);
    assert.ok(!(await page.isVisible("#theme")));
    const axes = await page.$$eval(".stage > :not(.overview) .paper-axis", (canvases) => canvases.map((canvas) => ({ high: canvas.getBoundingClientRect().height, drawn: canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte) })));
    assert.equal(axes.length, await page.locator(".stage > .chart, .stage > .lanes").count());
    assert.ok(axes.every(({ high, drawn }) => high > 10 && drawn), JSON.stringify(axes));
    const whole = await page.$$eval(".overview .paper-axis", (canvases) => canvases.map((canvas) => canvas.getBoundingClientRect().height));
    assert.ok(whole.length === 1 && whole[0] > 10, "the overview has moments, too");
    assert.ok((await page.pdf()).length > 10_000);
    await page.emulateMedia({ media: "screen" });
    assert.equal(await page.locator(".paper-axis").first().isVisible(), false);
    await close(page);
});

test("shades the side at which a table goes on", async () => {
    const page = await browser.open(single, { width: 390 });
    const images = await page.$$eval(".table-scroll", (nodes) => nodes.map((node) => [node.scrollWidth > node.clientWidth, getComputedStyle(node).backgroundImage, getComputedStyle(node).backgroundAttachment]));
    assert.ok(images.some(([scrolls]) => scrolls), "one is wider than the screen");
    for (const [, image, attachment] of images) assert.ok(/gradient.*gradient/.test(image) && attachment === "local, scroll", image);
    await close(page);
});

test("prints in light colours what is dark on the screen", async () => {
    for (const dark of [false, true]) {
        const page = await browser.open(single, { dark });
        if (!dark) await page.keyboard.press("t");
        const seen = () => page.evaluate(() => [getComputedStyle(document.body).color, getComputedStyle(document.querySelector(".card")).backgroundColor, getComputedStyle(document.querySelector(".swatch line")).stroke]);
        const isBlue = (colour) => isDrawnAt(page, "ram:bytes", 90, samples.singleRun().ram[900], colour);
        const before = await seen();
        assert.deepEqual(before, ["rgb(233, 235, 238)", "rgb(23, 27, 32)", "rgb(90, 169, 245)"], "dark on the screen");
        await page.evaluate(() => ["beforeprint", "beforeprint"].forEach((name) => dispatchEvent(new Event(name))));
        assert.ok(await isBlue(BLUE), "drawn for paper");
        await page.emulateMedia({ media: "print" });
        assert.deepEqual(await seen(), ["rgb(27, 31, 36)", "rgb(255, 255, 255)", "rgb(11, 101, 194)"]);
        await page.emulateMedia({ media: "screen" });
        await page.evaluate(() => dispatchEvent(new Event("afterprint")));
        await settle(page);
        assert.deepEqual(await seen(), before);
        assert.ok(await isBlue(rgb("#5aa9f5")), "drawn for the screen");
        await close(page);
    }
});

test("keys count wherever the focus is, but where somebody types or goes through a list", async () => {
    const page = await browser.open(single);
    const whole = await ask(page, "view");
    const span = async () => {
        await settle(page);
        const { from, to } = await ask(page, "view");
        return to - from;
    };
    const places = {
        "an entry of a legend": () => page.click('[data-line="main_ram"]'),
        "a block in a table": () => page.click(".blocks tbody button"),
        "a button": () => page.click("text=Back"),
        "a bar": async () => {
            await page.locator('[data-lanes="calls"]').evaluate((node) => node.scrollIntoView({ block: "center" }));
            await settle(page);
            const { x, y } = await ask(page, "pointOf", "calls", 0);
            await page.mouse.click(x, y);
        },
    };
    for (const [place, reach] of Object.entries(places)) {
        await page.evaluate(() => document.activeElement.blur());
        await page.keyboard.press("0");
        await reach();
        const before = await span();
        await page.keyboard.press("+");
        const near = await span();
        assert.ok(Math.abs(near * 1.5 - before) < 1e-6, `+ on ${place}`);
        await page.keyboard.press("0");
        assert.equal(await span(), whole.to - whole.from, `0 on ${place}`);
        await page.keyboard.press("Backspace");
        assert.equal(await span(), near, `Backspace on ${place}`);
    }
    await page.focus('.processes input[type="search"]');
    const before = await span();
    await page.keyboard.type("0+");
    assert.equal(await span(), before);
    assert.equal(await page.inputValue('.processes input[type="search"]'), "0+");
    const table = page.locator(".processes .table-scroll");
    await table.evaluate((node) => (node.style.width = "100px"));
    await table.focus();
    await page.keyboard.press("Home");
    assert.equal(await span(), before, "a table that is wider than its place goes to its beginning");
    await close(page);
});

test("draws what is of intervals as steps over the time between its readings, in charts and cards", async () => {
    const made = samples.singleRun();
    const [session] = made.report.sessions;
    session.series = session.series.filter(({ group }) => group !== "io");
    const add = (id, times, values) => {
        session.times.push(made.encoder.f64(times));
        session.series.push({ id, label: id, group: "io", scope: id, unit: "bytes_per_second", of_interval: true, time: session.times.length - 1, values: made.encoder.f64(values) });
    };
    add("read", [0, 60, 120, 180], [NaN, 1000, 4000, 2000]);
    add("written", [0, 180], [NaN, 3000]);
    session.cards = ["read", "written"].map((id) => ({ id, label: id, value: 1, unit: "bytes", state: "exact" }));
    const page = await browser.open(browser.write("rates", made));
    const id = "io:bytes_per_second";
    const known = async (line) => {
        const { times, values } = await ask(page, "points", id, line);
        return times.map((time, i) => [time, values[i]]).filter(([, value]) => value !== null && value === value);
    };
    await chartBox(page, id);
    assert.deepEqual(await known("read"), [[0, 1000], [60, 1000], [60, 4000], [120, 4000], [120, 2000], [180, 2000]]);
    assert.deepEqual(await known("written"), [[0, 3000], [180, 3000]], "one reading is a whole step");
    const heights = await page.locator("svg.sparkline polyline").evaluateAll((nodes) => nodes.map((node) => node.getAttribute("points").split(" ").map((point) => Number(point.split(",")[1]))));
    assert.deepEqual(heights.map((all) => [all.length, [...new Set(all)].length]), [[120, 3], [120, 1]]);
    const box = await chartBox(page, id);
    const { x } = await ask(page, "pixelOf", id, 30, 0);
    await page.mouse.move(box.x + x, box.y + 60);
    await settle(page);
    assert.equal(await page.textContent('[data-line="read"] .value'), "1\u00a0kB/s", "in the first interval");
    await close(page);
});

test("a legend says the highest of what is drawn, where there is no sample in sight, too", async () => {
    const made = samples.singleRun();
    const [session] = made.report.sessions;
    session.times.push(made.encoder.f64([0, 10, 20, 100]));
    for (const one of session.series.filter(({ group }) => group === "cpu")) Object.assign(one, { time: session.times.length - 1, values: made.encoder.f64([10, 10, 2, 2]) });
    const page = await browser.open(browser.write("between", made), { fragment: "#t=15_19" });
    // The line falls from 10 at 0:10 to 2 at 0:20; after 1:40 there is none.
    for (const [begin, end, words] of [[15, 19, "max 6\u00a0%"], [5, 15, "max 10\u00a0%"], [18, 40, "max 3.6\u00a0%"], [110, 120, "nothing here"], [0, 190, "max 10\u00a0%"]]) {
        await page.evaluate((fragment) => (location.hash = fragment), `t=${begin}_${end}`);
        await waitForView(page, ({ from, to }) => Math.abs(from - begin) < 0.01 && Math.abs(to - end) < 0.01);
        await chartBox(page, "cpu:percent");
        assert.equal(await page.textContent('[data-line="cpu_combined_sum_utilization_percent"] .value'), words, `${begin} to ${end}`);
    }
    await close(page);
});

/** A session of `count` GPUs, of which the first was used, or none. */
function withGpus(count, used) {
    const made = samples.singleRun();
    const { encoder } = made;
    const [session] = made.report.sessions;
    session.series = session.series.filter(({ group }) => group === "ram");
    const add = (id, group, scope, unit, values) => session.series.push({ id, label: id.replaceAll("_", " "), group, scope, unit, max: Math.max(...values), values: values.some(Boolean) ? encoder.delta(values) : encoder.constant(0, values.length) });
    const zeros = new Array(made.ram.length).fill(0);
    const some = used ? Array.from(made.ram, (_, i) => 1e9 + i) : zeros;
    // Equal columns have one place.
    add("combined_gpu_ram", "gpu_ram", "combined", "bytes", some);
    const { values } = session.series.at(-1);
    for (let gpu = 0; gpu < count; gpu++) {
        const own = gpu === 0 ? some : zeros;
        add(`gpu${gpu}_ram_used`, "gpu_ram", `gpu${gpu}`, "bytes", own.map((value) => value + 472e6));
        add(`gpu${gpu}_combined_ram`, "gpu_ram", `gpu${gpu}`, "bytes", own);
        if (gpu === 0 && used) session.series.at(-1).values = values;
        add(`gpu${gpu}_utilization_percent`, "gpu", `gpu${gpu}`, "percent", gpu === 0 && used ? zeros.map((_, i) => i % 90) : zeros);
    }
    return made;
}

test("draws equal curves once and says so, and folds GPUs that were not used", async () => {
    const page = await browser.open(browser.write("gpus", withGpus(8, true)));
    const legend = (id) => page.locator(`[data-panel="${id}"] .legend`);
    const names = async (id) => (await legend(id).locator(".legend-entry:visible .name").allTextContents()).join("; ");
    assert.equal(await names("gpu_ram:bytes"), "combined gpu ram = gpu0 combined ram");
    assert.equal(await names("gpu:percent"), "gpu0 utilization percent");
    assert.match(await legend("gpu:percent").textContent(), /GPU 1–7 not used/);
    await legend("gpu:percent").locator(".legend-more").click();
    assert.equal(await legend("gpu:percent").locator(".legend-entry:visible").count(), 8, "all can be shown");
    assert.equal(await page.locator(".unused").count(), 0);
    await close(page);
    const idle = await browser.open(browser.write("idle", withGpus(8, false)));
    assert.equal(await idle.textContent(".unused > summary"), "GPU utilization, GPU RAM: not used");
    assert.ok(!(await idle.isVisible('[data-panel="gpu_ram:bytes"]')));
    await idle.click(".unused > summary");
    assert.ok(await idle.isVisible('[data-panel="gpu_ram:bytes"]'));
    await close(idle);
});

test("says most in few large figures, and where the time went as one bar", async () => {
    const page = await browser.open(single);
    assert.deepEqual(await page.$$eval(".cards.main .card", (cards) => cards.map((card) => card.dataset.card)), ["wall", "cpu_time", "combined_ram"]);
    assert.ok((await page.$$eval(".more-figures .figure", (figures) => figures.map((figure) => figure.dataset.card))).includes("energy"));
    const wall = page.locator('[data-card="wall"]');
    assert.match((await wall.locator(".stacked-legend").textContent()).replaceAll("\u00a0", " "), /^58 % computing31\.6 % asleep \(pipe\)10 % waiting for a CPU$/);
    const widths = await wall.locator(".stacked span").evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().width));
    assert.ok(Math.abs(widths[0] / widths[1] - 58 / 31.6) < 0.05, String(widths));
    await wall.locator("summary").click();
    assert.match((await wall.locator("table").textContent()).replaceAll("\u00a0", " "), /the commandstorage0\.40 %.*main thread aloneasleep \(child\)100 %/);
    await close(page);
});

test("is short where the session was, and says it of curves that never change", async () => {
    const brief = samples.singleRun({ samples: 2 });
    const [session] = brief.report.sessions;
    for (const key of ["calls", "blocks", "process_list"]) delete session[key];
    const short = await browser.open(browser.write("short", brief));
    assert.equal(await short.isVisible(".over-time"), false);
    await short.click(".short > summary");
    assert.ok(await short.isVisible(".over-time canvas >> nth=0"));
    await close(short);

    const level = samples.singleRun();
    const threads = level.report.sessions[0].series.find(({ group }) => group === "threads");
    threads.values = level.encoder.constant(7, threads.values.count);
    const page = await browser.open(browser.write("level", level));
    assert.equal(await page.textContent(".unused > summary"), "Threads: 7 throughout");
    assert.equal(await page.isVisible('[data-panel="threads:count"]'), false);
    assert.ok(await page.isVisible('[data-panel="ram:bytes"]'));
    await close(page);
});

test("follows the pointer with the figures of the curves under it", async () => {
    const page = await browser.open(single);
    const box = await chartBox(page, "ram:bytes");
    await page.mouse.move(box.x + 500, box.y + 60);
    await settle(page);
    const tip = page.locator('[data-panel="ram:bytes"] .pointed');
    assert.match(await tip.textContent(), /Combined [\d.]+.GB.*Main [\d.]+.GB/);
    const first = await tip.boundingBox();
    await page.mouse.move(box.x + 700, box.y + 60);
    await settle(page);
    assert.ok(Math.abs((await tip.boundingBox()).x - first.x - 200) < 2);
    await page.mouse.move(box.x + box.width - 20, box.y + 60);
    await settle(page);
    const last = await tip.boundingBox();
    assert.ok(last.x + last.width <= box.x + box.width - 20, "left of the pointer where there is no space at its right");
    await close(page);
});

test("saves a chart as a picture, and copies a link to what is in sight", async () => {
    const page = await browser.open(single);
    await browser.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const download = page.waitForEvent("download");
    await page.click('[data-panel="ram:bytes"] .save');
    assert.equal((await download).suggestedFilename(), "ram.png");
    const picture = readFileSync(await (await download).path());
    assert.equal(picture.subarray(1, 4).toString(), "PNG");
    assert.ok(picture.readUInt32BE(16) > 800 && picture.readUInt32BE(20) > 170, "as wide as the chart, with its axis");
    await page.locator(".stage").press("+");
    await settle(page);
    await page.click("#link");
    await page.waitForSelector(".toast");
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^file:.*#t=[\d.]+_[\d.]+$/);
    // As from http: without a clipboard.
    await page.evaluate(() => Object.defineProperty(window, "isSecureContext", { value: false }));
    await page.click("#link");
    await page.waitForFunction(() => document.querySelector(".toast")?.textContent.includes("address bar"));
    await close(page);
});

test("names lanes above their bars where there is no space next to them", async () => {
    const page = await browser.open(single, { width: 390 });
    const left = (await ask(page, "pixelOf", "ram:bytes", 0, 0)) ?? (await chartBox(page, "ram:bytes"), await ask(page, "pixelOf", "ram:bytes", 0, 0));
    assert.ok(left.x <= 60, `the axis begins at ${left.x} px`);
    const lanes = page.locator('[data-lanes="calls"] .lanes-scroll');
    const height = (await lanes.boundingBox()).height;
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.waitForFunction((before) => document.querySelector('[data-lanes="calls"] .lanes-scroll').clientHeight < before, height);
    await close(page);
});

test("stacks the shares of where the time went, and says their means", async () => {
    const made = samples.singleRun();
    const [session] = made.report.sessions;
    const count = session.times[0].count;
    const share = (name, label, values) => ({ id: `time_${name}_percent`, label, group: "time_went", scope: "main", unit: "percent", of_interval: true, max: 80, values: made.encoder.delta(values, 0.001) });
    // Half of the time, all of it; then all of the other.
    const computing = Float64Array.from({ length: count }, (_, i) => (i < count / 2 ? 80 : 20));
    session.series.push(share("computing", "computing", computing), share("pipe", "asleep (pipe)", computing.map((value) => 100 - value)));
    const page = await browser.open(browser.write("stacked", made));
    const id = "time_went:percent";
    await chartBox(page, id);
    const [blue, pipe] = [BLUE, rgb("#2f7fb3")];
    for (const [time, value, colour] of [[20, 75, blue], [20, 85, pipe], [150, 15, blue], [150, 25, pipe]]) assert.ok(await isDrawnAt(page, id, time, value, colour, 0), `${time} s, ${value} %`);
    assert.match((await page.textContent(`[data-panel="${id}"] .legend`)).replaceAll("\u00a0", " "), /computingmean 50 %asleep \(pipe\)mean 50 %/);
    await close(page);
});
