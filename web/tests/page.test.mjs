// The page in a browser, with a made-up session: what it draws against what the data says.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import axe from "axe-core";
import { ask, BLUE, Browser, chartBox, close, isDrawnAt, rgb, settle, TEMPLATE, waitForAddress, waitForView } from "./browser.mjs";
import * as samples from "./samples.mjs";

const KINDS = ["singleRun", "ranks", "twoRuns", "training", "power", "hostile"];
let browser;
const files = {};

before(async () => {
    browser = await Browser.start();
    for (const name of KINDS) files[name] = browser.write(name, samples[name]());
});
after(() => browser.stop());

test("holds its style and script, and asks for nothing", () => {
    const text = readFileSync(TEMPLATE, "utf8");
    assert.ok(text.length < 75_000, `${text.length} bytes`);
    assert.match(text, /Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/);
    assert.doesNotMatch(text, /unsafe-|(src|href)=["']?https?:|@import|url\(/);
    for (const marker of ["<!--gput-title-->", "<!--gput-data-->"]) assert.equal(text.split(marker).length, 2, marker);
});

test("shows the numbers first", async () => {
    const page = await browser.open(files.singleRun);
    assert.equal(await page.textContent("h1"), "python train.py --epochs 12 --data /data/images");
    assert.match(await page.textContent(".facts-line"), /took 3.min 10.s.*✓ exit status 0/);
    const card = page.locator('[data-card="combined_ram"]');
    assert.match(await card.textContent(), /RAM, peaksampled5\.01.GBbetween 5\.01.GB and 5\.07.GB31\.3.% of 16.GB/);
    assert.equal(await card.locator("svg.sparkline").count(), 1);
    assert.equal(await page.textContent('.missing[data-card="gpu_ram"]'), "GPU RAM, peak: not available, no driver of a GPU was found");
    await close(page);
});

test("says with the CPU time how much of it samples saw", async () => {
    const made = samples.singleRun();
    made.report.sessions[0].cards = [{ id: "cpu", label: "CPU time", value: 2, unit: "seconds", state: "exact" }, { id: "cpu_captured", label: "CPU time seen in samples", value: 95.5, unit: "percent", state: "sampled" }];
    const page = await browser.open(browser.write("captured", made));
    assert.deepEqual(await page.$$eval(".card", (cards) => cards.map((card) => card.textContent.replaceAll("\u00a0", " "))), ["CPU time2 s95.5 % of it seen in samples"]);
    await close(page);
});

test("hides the parts of what a process without descendants used", async () => {
    const made = samples.singleRun();
    for (const one of made.report.sessions[0].series) if (one.scope === "descendants") one.values = made.encoder.constant(0, one.values.count);
    const page = await browser.open(browser.write("alone", made));
    const [ram] = await ask(page, "charts");
    assert.deepEqual(ram.lines.filter(({ shown }) => shown).map(({ id }) => id), ["combined_ram"]);
    await close(page);
});

test("gives each card the curve of what it is about", async () => {
    const made = samples.singleRun();
    made.report.sessions[0].cards = ["", "main "].map((whose) => ({ id: `${whose.trim() || "all"}_ram`, label: `RAM peak of ${whose}`, value: 1e9, unit: "bytes", state: "sampled" }));
    const { series } = made.report.sessions[0];
    series.forEach((one) => (one.label = one.scope === "combined" && one.group === "ram" ? "RAM" : one.label));
    const page = await browser.open(browser.write("cards", made));
    const paths = await page.locator("svg.sparkline polyline").evaluateAll((nodes) => nodes.map((node) => node.getAttribute("points")));
    assert.equal(paths.length, 2);
    assert.notEqual(paths[0], paths[1]);
    await close(page);
});

test("draws on a card of a GPU's RAM what the session had of it, not what others had", async () => {
    const made = samples.singleRun();
    const [session] = made.report.sessions;
    const series = (id, values) => ({ id: `gpu0_${id}`, label: id, group: "gpu_ram", scope: "gpu0", unit: "bytes", values });
    session.series.push(series("ram_used", made.encoder.delta(made.ram)), series("combined_ram", made.encoder.constant(0, made.ram.length)));
    session.cards = [{ id: "gpu0_ram", label: "GPU 0 RAM", value: 0, unit: "bytes", state: "sampled" }];
    const page = await browser.open(browser.write("gpu-card", made));
    const points = await page.locator("svg.sparkline polyline").getAttribute("points");
    assert.equal(new Set(points.split(" ").map((point) => point.split(",")[1])).size, 1, points);
    await close(page);
});

test("says what was damaged or left out", async () => {
    const made = samples.singleRun();
    made.report.sessions[0].warnings = ["m.csv: <b>row 3</b> is not a mark."];
    made.report.warnings = ["The sessions do not match."];
    const page = await browser.open(browser.write("warned", made));
    assert.equal(await page.textContent(".warnings"), "The sessions do not match.m.csv: <b>row 3</b> is not a mark.");
    await close(page);
});

test("draws the peak of a single sample", async () => {
    const { time, ram, peakAt } = samples.singleRun();
    const page = await browser.open(files.singleRun);
    const chart = (await ask(page, "charts")).find(({ id }) => id === "ram:bytes");
    assert.equal(chart.lines[0].max, Math.max(...ram));
    assert.equal(chart.lines[0].samples, ram.length);
    assert.ok(Math.abs(chart.lines[0].highestAt - time[peakAt]) < 1e-6);
    // One pixel next to the ring that marks it: the curve itself leads up there.
    const slope = ram[peakAt] - (ram[peakAt] - ram[peakAt - 1]) * 0.25;
    assert.ok(await isDrawnAt(page, "ram:bytes", time[peakAt], slope));
    assert.ok(!(await isDrawnAt(page, "ram:bytes", time[peakAt + 60], slope)), "the test can fail");
    await close(page);
});

test("draws every column's lowest and highest sample of all that is in the file", async () => {
    const { report, encoder, ram } = samples.million(200_000);
    const page = await browser.open(browser.write("columns", { report, encoder }));
    const { from, to } = await ask(page, "view");
    const points = await ask(page, "points", "ram:bytes", "combined_ram");
    const columns = points.times.length / 2;
    assert.ok(columns > 500 && columns < 3000);
    const width = (to - from) / columns;
    for (let i = 0; i < columns - 1; i++) {
        const first = Math.ceil((i * width) / 0.01 - 1e-6);
        const last = Math.ceil(((i + 1) * width) / 0.01 - 1e-6);
        const column = ram.subarray(first, last);
        const drawn = points.values.slice(2 * i, 2 * i + 2).sort((a, b) => a - b);
        assert.deepEqual(drawn, [column.reduce((a, b) => Math.min(a, b)), column.reduce((a, b) => Math.max(a, b))], `column ${i}`);
    }
    await close(page);
});

test("draws curves by columns while the range moves, with their peak, and as they are afterwards", async () => {
    const { report, encoder } = samples.singleRun();
    const page = await browser.open(browser.write("moving", { report, encoder }));
    const before = await ask(page, "points", "cpu:percent", "cpu_combined_sum_utilization_percent");
    const moving = await page.evaluate(async () => {
        const stage = document.querySelector(".stage");
        for (let tries = 0; tries < 20; tries++) {
            for (const key of ["+", "-"]) stage.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
            await new Promise(requestAnimationFrame);
            const points = window.gputReport.points("cpu:percent", "cpu_combined_sum_utilization_percent");
            if (points.reduced) return { ...points, high: Math.max(...points.values) };
        }
        return null;
    });
    assert.equal(before.reduced, false);
    assert.ok(moving, "it moved, and was drawn as if it did not");
    assert.equal(moving.high, Math.max(...before.values.filter((value) => value === value)));
    await page.waitForFunction(() => !window.gputReport.points("cpu:percent", "cpu_combined_sum_utilization_percent").reduced);
    assert.deepEqual(await ask(page, "points", "cpu:percent", "cpu_combined_sum_utilization_percent"), before);
    await close(page);
});

test("opens a million samples, and keeps their peak at every zoom", async () => {
    const { report, encoder, ram, peakAt } = samples.million();
    const page = await browser.open(browser.write("million", { report, encoder }));
    const at = peakAt * 0.01;
    for (const span of [10_000, 2000, 100, 3, 0.05]) {
        await page.evaluate((fragment) => (location.hash = fragment), `t=${Math.max(0, at - span / 3)}_${Math.min(9999.99, at + span / 2)}`);
        await waitForView(page, ({ from, to }) => to - from < 0.9 * span);
        await settle(page);
        const points = await ask(page, "points", "ram:bytes", "combined_ram");
        assert.equal(Math.max(...points.values), ram[peakAt], `span ${span}`);
        // Where samples are far apart the curve is no longer steep.
        const steep = span > 1 ? 0.9 : 0.999;
        assert.ok(await isDrawnAt(page, "ram:bytes", points.times[points.values.indexOf(ram[peakAt])], ram[peakAt] * steep, BLUE, span > 1 ? 2 : 5), `span ${span}`);
    }
    await close(page);
});

test("leaves gaps where values are missing", async () => {
    const made = samples.twoRuns();
    made.report.sessions.pop();
    delete made.report.comparison;
    const count = made.report.sessions[0].times[0].count;
    made.report.sessions[0].series = [{ id: "r", label: "RAM", group: "ram", scope: "combined", unit: "bytes", values: made.encoder.delta(Float64Array.from({ length: count }, (_, i) => (i > 200 && i < 700 ? NaN : 4e9))) }];
    const page = await browser.open(browser.write("gaps", made));
    assert.ok(await isDrawnAt(page, "ram:bytes", 10, 4e9));
    assert.ok(!(await isDrawnAt(page, "ram:bytes", 45, 4e9)));
    assert.ok(await isDrawnAt(page, "ram:bytes", 80, 4e9));
    const [line] = (await ask(page, "charts"))[0].lines;
    assert.equal(line.count, count - 499);
    await close(page);
});

test("zooms by dragging, all charts alike, and goes back", async () => {
    const page = await browser.open(files.singleRun);
    const whole = await ask(page, "view");
    const box = await chartBox(page, "cpu:percent");
    await page.mouse.move(box.x + 300, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 600, box.y + 70, { steps: 4 });
    await page.mouse.up();
    await settle(page);
    const part = await ask(page, "view");
    const scale = (whole.to - whole.from) / (box.width - 104 - 12);
    assert.ok(Math.abs(part.from - (300 - 104) * scale) < scale && Math.abs(part.to - (600 - 104) * scale) < scale, JSON.stringify(part));
    for (const id of ["ram:bytes", "cpu:percent"]) {
        await chartBox(page, id);
        const points = await ask(page, "points", id, (await ask(page, "charts")).find((chart) => chart.id === id).lines[0].id);
        assert.ok(points.times[0] <= part.from + scale && points.times.at(-1) >= part.to - scale && points.times.length < 700, id);
    }
    await page.click("text=Back");
    await settle(page);
    assert.deepEqual(await ask(page, "view"), { ...whole, cursor: null });
    await close(page);
});

test("zooms by the wheel with Ctrl, pans by Shift, and leaves the plain wheel to the page", async () => {
    const page = await browser.open(files.singleRun);
    const box = await chartBox(page, "ram:bytes");
    await page.mouse.move(box.x + 500, box.y + 60);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -200);
    await page.keyboard.up("Control");
    const near = await waitForView(page, ({ from, to }) => to - from < 150);
    const span = near.to - near.from;
    const scroll = await page.evaluate(() => scrollY);
    await page.mouse.wheel(0, 200);
    await page.waitForFunction((before) => scrollY > before, scroll);
    assert.equal((await ask(page, "view")).from, near.from);
    await chartBox(page, "ram:bytes");
    const again = await page.locator('[data-panel="ram:bytes"] canvas').boundingBox();
    await page.keyboard.down("Shift");
    await page.mouse.move(again.x + 400, again.y + 50);
    await page.mouse.down();
    await page.mouse.move(again.x + 500, again.y + 50, { steps: 3 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await settle(page);
    const moved = await ask(page, "view");
    assert.ok(moved.from < near.from && Math.abs(moved.to - moved.from - span) < 1e-6);
    await close(page);
});

test("is used by keys alone", async () => {
    const page = await browser.open(files.singleRun);
    const whole = await ask(page, "view");
    await page.focus(".stage");
    await page.keyboard.press("+");
    await page.keyboard.press("+");
    await settle(page);
    const near = await ask(page, "view");
    assert.ok(Math.abs((near.to - near.from) * 2.25 - (whole.to - whole.from)) < 1e-6);
    await page.keyboard.press("ArrowRight");
    await settle(page);
    assert.ok((await ask(page, "view")).from > near.from);
    await page.keyboard.press("Shift+ArrowRight");
    await settle(page);
    assert.match(await page.textContent("[aria-live=polite][role=status]"), /RAM, combined [\d.]+.GB/);
    assert.notEqual((await ask(page, "view")).cursor, null);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Home");
    await settle(page);
    assert.deepEqual(await ask(page, "view"), whole);
    await page.keyboard.press("?");
    assert.ok(await page.isVisible("dialog.help"));
    await page.keyboard.press("Escape");
    assert.ok(!(await page.isVisible("dialog.help")));
    await page.focus('[data-lanes="calls"] .lanes-scroll');
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await settle(page);
    assert.equal(await page.textContent(".details h3"), "forward");
    await page.keyboard.press("Enter");
    await settle(page);
    const close_ = await ask(page, "view");
    assert.ok(close_.to - close_.from < 1);
    await close(page);
});

test("says the figures at the cursor in all charts", async () => {
    const { ram, cpu } = samples.singleRun();
    const page = await browser.open(files.singleRun, { height: 1400 });
    const box = await chartBox(page, "ram:bytes");
    await page.mouse.move(box.x + 640, box.y + 60);
    await settle(page);
    const { cursor } = await ask(page, "view");
    const at = Math.floor(cursor / 0.1 + 1e-9);
    const drawn = (values) => values[at] + (values[at + 1] - values[at]) * (cursor / 0.1 - at);
    assert.notEqual(Math.round(drawn(cpu)), Math.round(cpu[at]), "the test can fail");
    assert.equal(await page.textContent('[data-line="combined_ram"] .value'), `${(drawn(ram) / 1e9).toFixed(2).replace(/\.?0+$/, "")}\u00a0GB`);
    assert.match(await page.textContent('[data-line="cpu_combined_sum_utilization_percent"] .value'), new RegExp(`^${Math.round(drawn(cpu))}\\D`));
    assert.ok(await page.isVisible(".cursor"));
    await close(page);
});

test("keeps the view in the address", async () => {
    const page = await browser.open(files.singleRun);
    await page.click('[data-line="main_ram"]');
    await page.focus(".stage");
    await page.keyboard.press("+");
    const fragment = await waitForAddress(page, /t=.*main_ram/);
    const view = await ask(page, "view");
    const other = await browser.open(files.singleRun, { fragment });
    const shown = await ask(other, "view");
    assert.ok(Math.abs(shown.from - view.from) < 1e-5 && Math.abs(shown.to - view.to) < 1e-5);
    assert.equal(await other.getAttribute('[data-line="main_ram"]', "aria-pressed"), "false");
    assert.equal(await other.getAttribute('[data-line="combined_ram"]', "aria-pressed"), "true");
    await close(other);
    await close(page);
    const odd = await browser.open(files.singleRun, { fragment: "#t=nonsense_1&sel=calls:999999&s=77&l=%00&c=x" });
    assert.deepEqual((await ask(odd, "view")).full.to, (await ask(odd, "view")).to);
    await close(odd);
});

test("shows the whole session as such where its ends round", async () => {
    const [from, to] = [-0.105634451, 1.96];
    assert.notEqual(from + (to - from), to, "the test can fail");
    const made = samples.singleRun({ samples: 10 });
    const [session] = made.report.sessions;
    session.identity.seconds = to;
    for (const [name, moment] of [["start", from], ["stop", 1]]) session.calls[name] = made.encoder.f64(new Array(session.calls.name.count).fill(moment));
    const page = await browser.open(browser.write("rounded", made));
    await page.waitForTimeout(400);
    assert.deepEqual((await ask(page, "view")).full, { from, to });
    assert.equal(await page.evaluate(() => location.hash), "");
    const whole = page.getByRole("button", { name: "Whole session" });
    assert.ok(await whole.isDisabled());
    await page.focus(".stage");
    await page.keyboard.press("+");
    await settle(page);
    assert.ok(await whole.isEnabled());
    await page.keyboard.press("-");
    await settle(page);
    assert.ok(await whole.isDisabled(), "zoomed out as far as it goes");
    await close(page);
});

test("shows and hides curves", async () => {
    const { time, ram } = samples.singleRun();
    const page = await browser.open(files.singleRun);
    assert.ok(await isDrawnAt(page, "ram:bytes", time[900], ram[900]));
    await page.click('[data-line="combined_ram"]');
    await settle(page);
    const [chart] = await ask(page, "charts");
    assert.deepEqual(chart.lines.map((line) => line.shown), [false, false, true, true, false]);
    assert.equal(await ask(page, "points", "ram:bytes", "combined_ram"), null);
    await close(page);
});

test("keeps what is hidden behind a button, and in sight what was shown by hand", async () => {
    const page = await browser.open(files.singleRun);
    const chart = page.locator('[data-panel="ram:bytes"]');
    const more = chart.locator(".legend-more");
    assert.deepEqual([await more.textContent(), await more.getAttribute("aria-expanded")], ["+2 more", "false"]);
    const entries = () => chart.locator(".legend-entry:visible").evaluateAll((nodes) => nodes.map((node) => node.dataset.line));
    const first = await entries();
    await more.focus();
    await page.keyboard.press("Enter");
    assert.equal(await more.getAttribute("aria-expanded"), "true");
    const [hidden] = (await entries()).filter((id) => !first.includes(id));
    await chart.locator(`[data-line="${hidden}"]`).click();
    await more.click();
    assert.deepEqual(await entries(), [...first, hidden]);
    assert.equal(await more.textContent(), "+1 more");
    await close(page);
});

test("draws bars of code blocks, shows their statistics and zooms to one that is clicked", async () => {
    const page = await browser.open(files.singleRun);
    const lanes = Object.fromEntries((await ask(page, "lanes")).map((entry) => [entry.id, entry]));
    assert.deepEqual(lanes.calls.rows.map(({ label, rows }) => [label, rows]), [["python 48213", [10, 490]], ["python 48220", [120]], ["python 48221", [120]]]);
    assert.equal(lanes.processes.rows[0].rows.reduce((sum, count) => sum + count, 0), 27);
    await page.locator('[data-lanes="calls"]').evaluate((node) => node.scrollIntoView({ block: "center" }));
    await settle(page);
    const point = await ask(page, "pointOf", "calls", 0);
    await page.mouse.click(point.x, point.y);
    await settle(page);
    assert.equal(await page.textContent(".details h3"), "epoch");
    const details = await page.textContent(".details");
    assert.match(details, /This call16\.9.s, from 11\.400.s/);
    assert.match(details, /All 9 calls/);
    assert.doesNotMatch(details, /descendants.gpu.ram/, "the session has no such curve");
    const view = await ask(page, "view");
    assert.ok(view.from < 11.4 && view.from > 8 && view.to > 28.2 && view.to < 32, JSON.stringify(view));
    await page.click(".details >> text=Close");
    assert.ok(!(await page.isVisible(".details")));
    await close(page);
});

test("draws the peak that the kernel kept above all samples, while the whole session is shown", async () => {
    const made = samples.singleRun();
    const [session] = made.report.sessions;
    const peak = 6.5e9;
    session.series[0].max = Math.max(...made.ram);
    session.cards.push({ id: "ram", label: "RAM peak", value: peak, unit: "bytes", at_least: peak, at_most: peak, state: "exact" });
    const page = await browser.open(browser.write("kept", made));
    const isThere = async () => (await Promise.all(Array.from({ length: 12 }, (_, i) => isDrawnAt(page, "ram:bytes", 60 + i, peak, BLUE, 3)))).filter(Boolean).length;
    await chartBox(page, "ram:bytes");
    assert.ok((await isThere()) >= 4, "a broken line at the peak");
    const { y } = await ask(page, "pixelOf", "ram:bytes", 60, peak);
    assert.ok(y > 4, `inside of the chart: ${y}`);
    // When it was is not known: a part may be one without it.
    await page.evaluate(() => (location.hash = "t=20_160"));
    await waitForView(page, ({ from }) => from > 10);
    await settle(page);
    assert.ok((await ask(page, "pixelOf", "ram:bytes", 60, peak)).y < 0, "above what is in sight");
    await close(page);
});

test("draws a peak of GPU RAM that is in no sample, of one GPU and of each of several", async () => {
    for (const gpus of [1, 2]) {
        const made = samples.singleRun();
        const [session] = made.report.sessions;
        const series = (id, scope) => ({ id, label: id, group: "gpu_ram", scope, unit: "bytes", max: 3e9, values: made.encoder.delta(made.ram.map((value) => Math.min(3e9, value))) });
        session.series.push(series("combined_gpu_ram", "combined"));
        session.cards = session.cards.filter(({ id }) => id !== "gpu_ram");
        for (let gpu = 0; gpu < gpus; gpu++) {
            session.series.push({ ...series(`gpu${gpu}_combined_ram`, `gpu${gpu}`), values: made.encoder.delta(made.ram.map((value) => Math.min(3e9, value / (gpu + 2)))) });
            session.cards.push({ id: `gpu${gpu}_ram`, label: `GPU ${gpu} RAM`, value: 4e9 + gpu * 1e9, unit: "bytes", state: "sampled" });
        }
        const page = await browser.open(browser.write(`gpu-peak-${gpus}`, made));
        const chart = (await ask(page, "charts")).find(({ id }) => id === "gpu_ram:bytes");
        assert.deepEqual(chart.lines.filter(({ shown, peak }) => shown && peak).map(({ peak }) => peak), gpus === 1 ? [4e9] : [4e9, 5e9]);
        for (let gpu = 0; gpu < gpus; gpu++) assert.ok((await ask(page, "pixelOf", "gpu_ram:bytes", 60, 4e9 + gpu * 1e9)).y > 4, "inside of the chart");
        await close(page);
    }
});

test("lists intervals by time, not by samples, and keeps the minus of what was just before 0", async () => {
    const made = samples.twoRuns();
    const [session] = made.report.sessions;
    made.report.sessions = [session];
    delete made.report.comparison;
    delete session.calls;
    delete session.blocks;
    session.times = [made.encoder.f64([-0.4, 10, 20, 30])];
    session.series = [{ id: "read", label: "Read", group: "io", scope: "read", unit: "bytes_per_second", of_interval: true, values: made.encoder.f64([NaN, 1e6, 3e6, 2e6]) }];
    session.times.push(made.encoder.f64([-0.4, 10, 10.5, 30]));
    session.series.push({ id: "threads", label: "Combined", group: "threads", scope: "combined", unit: "count", time: 1, values: made.encoder.f64([4, 5, 9, 7]) });
    // It began before its first sample, and so did a process: the axis begins and ends with the session.
    Object.assign(session.identity, { seconds: 30.4375, end_s: 30 });
    session.process_list = { names: ["sh"], pid: made.encoder.f64([7]), name: made.encoder.f64([0]), start: made.encoder.f64([-0.4375]), end: made.encoder.f64([-0.1875]) };
    const page = await browser.open(browser.write("intervals", made));
    assert.deepEqual((await ask(page, "view")).full, { from: -0.4375, to: 30 });
    assert.match(await page.textContent(".facts-line"), /took 30\.4.s/);
    assert.match(await page.textContent(".processes tbody tr"), /sh.*7.*250.ms/);
    const intervalsOf = async (id) => {
        const table = page.locator(`[data-panel="${id}"] .chart-table`);
        await table.locator("summary").click();
        await table.locator("tbody tr").first().waitFor();
        return table.locator("table").last().locator("tbody tr").evaluateAll((found) => found.map((row) => [...row.cells].map((cell) => cell.textContent.replaceAll("\u00a0", " "))));
    };
    const rows = await intervalsOf("io:bytes_per_second");
    assert.equal(rows.length, 24);
    assert.match(rows[0][0], /^\u22120\.4 s – /);
    assert.deepEqual([...new Set(rows.map(([, rate]) => rate))], ["1.00 MB/s", "1.00 MB/s – 3.00 MB/s", "3.00 MB/s", "2.00 MB/s – 3.00 MB/s", "2.00 MB/s"]);
    assert.equal(rows.filter(([, rate]) => rate === "1.00 MB/s").length, 8);
    // 1 MB/s for 10.4 s, 3 and 2 MB/s for 10 s each; the thread counts of four moments.
    const means = Object.fromEntries((await ask(page, "charts")).map(({ id, lines }) => [id, lines[0].mean]));
    assert.ok(Math.abs(means["io:bytes_per_second"] / (60.4e6 / 30.4) - 1) < 1e-9, `${means["io:bytes_per_second"]}`);
    assert.equal(means["threads:count"], 6.25);
    // What is of moments has no figure between them.
    assert.deepEqual((await intervalsOf("threads:count")).map(([, count]) => count).filter((count) => count !== "–"), ["4", "5 – 9", "7"]);
    await close(page);
});

test("says that a peak is a lower bound, and in the heads of columns what is a percent", async () => {
    const made = samples.training({ steps: 40 });
    const [session] = made.report.sessions;
    session.cards = [{ id: "ram", label: "RAM peak", value: 4e9, unit: "bytes", at_least: 4e9, at_most: null, state: "sampled", reason: "the highest of the samples" }];
    session.tables = [{ title: "t", columns: [{ name: "initialization", unit: "seconds", type: "number" }, { name: "initialization_%", unit: "percent", type: "number" }, { name: "used_percent", unit: "percent", type: "number" }], rows: [[2, 10, 30], [3, 20, 40]] }];
    const page = await browser.open(browser.write("bound", made));
    assert.match(await page.textContent('[data-card="ram"]'), /4.GBat least this/);
    assert.match(await page.getAttribute('[data-card="ram"] .state', "title"), /; the highest of the samples/);
    assert.deepEqual(await page.$$eval(".tables th[scope=col]", (heads) => heads.map((head) => head.textContent)), ["initialization", "initialization (%)", "used (%)"]);
    await close(page);
});

test("writes figures in units that fit, and moments as exactly as the step asks for", async () => {
    const made = samples.training({ steps: 40 });
    made.report.sessions[0].tables = [
        { title: "t", columns: [{ name: "span_us", unit: "microseconds", type: "number" }, { name: "n", type: "number" }], rows: [[320, 1234567], [2.5e9, -0.5], [null, 0]] },
    ];
    const page = await browser.open(browser.write("units", made));
    assert.deepEqual(await page.$$eval(".tables th, .tables td", (cells) => cells.map((cell) => cell.textContent)), ["span", "n", "320\u00a0µs", "1\u202f234\u202f567", "41\u00a0min 40\u00a0s", "−0.5", "–", "0"]);
    await close(page);
});

test("reads a row of many columns from top to bottom, and few cores as such", async () => {
    const made = samples.training({ steps: 40 });
    made.report.sessions[0].tables = [{ title: "t", columns: Array.from({ length: 9 }, (_, i) => ({ name: `c${i}`, unit: "cores", type: "number" })), rows: [[0.0006, 0, 1.5, 1, 1, 1, 1, 1, 1]] }];
    const page = await browser.open(browser.write("turned", made));
    assert.deepEqual((await page.$$eval(".tables tbody tr", (rows) => rows.map((row) => row.textContent))).slice(0, 3), ["c0<\u00a00.01\u00a0cores", "c10\u00a0cores", "c21.5\u00a0cores"]);
    await close(page);
});

test("puts a ring at the highest of all curves where a chart has no total", async () => {
    const made = samples.singleRun();
    const { series } = made.report.sessions[0];
    const curve = (id, height) => ({ id, label: id, group: "network", scope: id, unit: "bytes_per_second", values: made.encoder.delta(Float64Array.from({ length: made.ram.length }, (_, i) => (i === 900 ? height : 10))) });
    series.push(curve("read", 500), curve("written", 4000));
    const page = await browser.open(browser.write("ring", made));
    const id = "network:bytes_per_second";
    await chartBox(page, id);
    for (const [value, ring] of [[500, false], [4000, true]]) assert.equal(await isDrawnAt(page, id, 90, value, [255, 255, 255], 0), ring, String(value));
    await close(page);
});

test("draws calls that overlap, and how busy their threads are where there is no curve", async () => {
    // With a search through all rows for each call this takes minutes.
    const page = await browser.open(browser.write("overlapping", samples.overlapping(60_000)));
    const [calls] = await ask(page, "lanes");
    assert.equal(calls.rows[0].rows.length, 60_000);
    const painted = await page.locator(".strip canvas").evaluate((canvas) => canvas.getContext("2d").getImageData(canvas.width / 4, canvas.height * 0.7, 1, 1).data[3]);
    assert.ok(painted > 0);
    await close(page);
});

/** What is written on canvases while one zooms into a session whose code blocks have other names. */
async function writtenOf(rename) {
    const made = samples.singleRun();
    const { names } = made.report.sessions[0].calls;
    names.forEach((name, i) => (names[i] = rename(name)));
    const page = await browser.open(browser.write("names", made));
    await page.locator(".lanes").first().scrollIntoViewIfNeeded();
    await page.evaluate(() => {
        window.texts = [];
        const draw = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
            window.texts.push(text);
            draw.call(this, text, ...rest);
        };
    });
    await page.locator(".stage").press("+");
    await settle(page);
    const texts = await page.evaluate(() => window.texts);
    await close(page);
    return texts;
}

test("writes of a path that does not fit into its bar the end, with dots before it, and of markup the beginning", async () => {
    const texts = await writtenOf((name) => `${"../a-long-folder".repeat(20)}/${name}.c:48`);
    assert.ok(texts.some((text) => text === "…/epoch.c:48"), String(texts));
    assert.ok(!texts.some((text) => text.startsWith("../a") || text === "epoch.c:48"), String(texts));
    const markup = await writtenOf((name) => `${"<b></b>".repeat(40)}/${name}`);
    assert.ok(markup.some((text) => text.startsWith("<b>")), String(markup));
    assert.ok(!markup.some((text) => text.endsWith("/epoch")), String(markup));
});

test("merges bars that are narrower than a pixel", async () => {
    const page = await browser.open(files.hostile);
    await page.locator('[data-lanes="calls"]').evaluate((node) => node.scrollIntoView({ block: "center" }));
    await page.waitForFunction(() => window.gputReport.lanes().find(({ id }) => id === "calls").drawn > 0);
    const [calls] = (await ask(page, "lanes")).filter(({ id }) => id === "calls");
    assert.equal(calls.rows[0].rows[0], 10_000);
    assert.ok(calls.drawn < 1500, String(calls.drawn));
    await close(page);
});

test("shows hostile names as text", async () => {
    const page = await browser.open(files.hostile);
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(await page.evaluate(() => document.querySelectorAll("img, iframe, object, main script").length), 0);
    assert.ok((await page.textContent("h1")).includes(samples.HOSTILE[0]));
    assert.equal(await page.title(), samples.HOSTILE[0]);
    const names = await page.$$eval(".blocks tbody th", (cells) => cells.map((cell) => cell.textContent));
    assert.equal(names.length, 25);
    await page.fill('.blocks input[type="search"]', "<img");
    assert.deepEqual(await page.$$eval(".blocks tbody th", (cells) => cells.map((cell) => cell.textContent)), [samples.HOSTILE[1]]);
    await page.click(".blocks tbody button");
    assert.equal(await page.textContent(".details h3"), samples.HOSTILE[1]);
    assert.equal(await page.evaluate(() => ({}).hacked ?? Object.prototype.polluted), undefined);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(wide <= 0, `${wide} px too wide`);
    await close(page);
});

test("does not say that a process wrote nothing, which was counted in KiB", async () => {
    const made = samples.singleRun({ samples: 400 });
    const list = made.report.sessions[0].process_list;
    list.write_bytes = { ...list.pid, encoding: "constant", value: 0 };
    const page = await browser.open(browser.write("written", made));
    assert.match(await page.textContent(".processes tbody tr"), /< 1 KiB/);
    assert.doesNotMatch(await page.textContent(".processes tbody"), /\b0.B\b/);
    await close(page);
});

test("names cannot turn texts round, wherever they are shown", async () => {
    const made = samples.singleRun({ samples: 400 });
    const [session] = made.report.sessions;
    session.calls.names = session.calls.names.map((name, i) => `\u202e${name}\u001b${i}\u2066`);
    const page = await browser.open(browser.write("turned-names", made));
    await page.click(".blocks tbody button");
    const { text, titles } = await page.evaluate(() => ({ text: document.body.textContent, titles: [...document.querySelectorAll("[title], [aria-label]")].map((node) => `${node.title} ${node.ariaLabel}`).join() }));
    assert.match(text, /\?epoch\?\d/);
    for (const shown of [text.slice(text.indexOf("Over time")), titles]) assert.doesNotMatch(shown.replace(/<script.*/s, ""), /[\u202a-\u202e\u2066-\u2069\u001b]/);
    await close(page);
});

test("a command cannot turn the heading round", async () => {
    const made = samples.singleRun({ samples: 400 });
    made.report.sessions[0].identity.command = "python \u202etrain.py\u2066 مرحبا --fast";
    const page = await browser.open(browser.write("turned", made));
    assert.equal(await page.textContent("h1"), "python ?train.py? مرحبا --fast");
    await close(page);
});

test("fits a telephone", async () => {
    for (const name of ["singleRun", "ranks", "training"]) {
        const page = await browser.open(files[name], { width: 360, height: 700 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        assert.ok(wide <= 0, `${name}: ${wide} px too wide`);
        await close(page);
    }
});

test("is dark where the system is, and where the reader says so", async () => {
    const dark = await browser.open(files.singleRun, { dark: true });
    const background = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await background(dark), "rgb(16, 19, 22)");
    assert.ok(await isDrawnAt(dark, "ram:bytes", 90, samples.singleRun().ram[900], rgb("#5aa9f5")));
    await dark.click("#theme");
    await settle(dark);
    assert.equal(await background(dark), "rgb(247, 247, 245)");
    assert.ok(await isDrawnAt(dark, "ram:bytes", 90, samples.singleRun().ram[900]));
    // The browser keeps it a moment later.
    do {
        await dark.reload();
        await dark.waitForSelector("main h1");
    } while ((await background(dark)) !== "rgb(247, 247, 245)");
    await close(dark);
});

test("has a table for every chart", async () => {
    const { ram } = samples.singleRun();
    const page = await browser.open(files.singleRun);
    assert.equal(await page.locator(".chart .chart-table").count(), await page.locator(".chart").count());
    await page.click('[data-panel="ram:bytes"] summary');
    await page.waitForSelector('[data-panel="ram:bytes"] table');
    const rows = await page.$$eval('[data-panel="ram:bytes"] table:first-of-type tbody tr', (found) => found.map((row) => row.textContent));
    assert.match(rows[0], new RegExp(`^Combined${ram.length.toLocaleString("en").replace(",", "\u202f")}.*5\\.01.GB2:01`));
    assert.equal(await page.locator('[data-panel="ram:bytes"] table').count(), 2);
    await close(page);
});

test("sorts tables, and says by what", async () => {
    const page = await browser.open(files.singleRun);
    const first = () => page.textContent(".processes tbody tr:first-child th");
    assert.equal(await page.getAttribute(".processes thead th:nth-child(5)", "aria-sort"), "descending");
    await page.click(".processes thead th:nth-child(1) button");
    assert.equal(await first(), "git");
    await page.click(".processes thead th:nth-child(1) button");
    assert.equal(await first(), "sh");
    await close(page);
});

test("shows ratios in percent", async () => {
    const { report, encoder } = samples.power();
    report.sessions[0].series.push({ id: "share", label: "Share", group: "shares", scope: "package", unit: "ratio", time: 0, values: encoder.delta(Array.from({ length: 400 }, () => 0.0031), 1e-6) });
    const page = await browser.open(browser.write("ratio", { report, encoder }));
    assert.match((await page.textContent('[data-panel^="shares"]')).replaceAll("\u00a0", " "), /0\.31 %/);
    await close(page);
});

test("shows a call that has not ended as open until the end", async () => {
    const page = await browser.open(files.singleRun);
    await page.locator('[data-lanes="calls"]').evaluate((node) => node.scrollIntoView({ block: "center" }));
    await settle(page);
    const names = await page.evaluate(() => Array.from({ length: 2000 }, (_, i) => window.gputReport.nameOf("calls", i)));
    const index = names.indexOf("epoch (still open)");
    assert.equal(names.filter((name) => name?.endsWith("(still open)")).length, 1);
    const point = await ask(page, "pointOf", "calls", index);
    await page.mouse.click(point.x, point.y);
    assert.match(await page.textContent(".details"), /epoch \(still open\).*until the end of the data/s);
    await close(page);
});

test("says what is wrong with damaged data", async () => {
    const text = readFileSync(files.singleRun, "utf8");
    const at = text.indexOf('id="gput-data">') + 200;
    const damaged = `${files.singleRun}.damaged.html`;
    writeFileSync(damaged, text.slice(0, at) + text.slice(at + 40_000));
    const page = await browser.open(damaged);
    assert.match(await page.textContent(".notice"), /^This report cannot be read: the data is damaged/);
    await page.close();
    const empty = await browser.open(TEMPLATE);
    assert.match(await empty.textContent(".notice"), /holds no session/);
    await close(empty);
});

for (const name of KINDS) {
    test(`is accessible: ${name}`, async () => {
        const page = await browser.open(files[name]);
        await page.evaluate(() => document.querySelectorAll("details").forEach((details) => (details.open = true)));
        if (await page.locator(".pick").count()) await page.locator(".pick").last().click();
        // As a value: the policy of the page forbids to add a script to it.
        await page.evaluate(axe.source);
        for (const [colorScheme, background] of [["light", "rgb(247, 247, 245)"], ["dark", "rgb(16, 19, 22)"]]) {
            await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
            await settle(page);
            assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), background);
            const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
            const serious = violations.filter(({ impact }) => ["moderate", "serious", "critical"].includes(impact));
            assert.deepEqual(serious.map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html)]), [], colorScheme);
        }
        await close(page);
    });
}
