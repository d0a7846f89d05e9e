// Training profiles and traces on the page.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, Browser, close, settle } from "./browser.mjs";
import * as samples from "./samples.mjs";

let browser, file;

before(async () => {
    browser = await Browser.start();
    file = browser.write("training", samples.training());
});
after(() => browser.stop());

test("calls threads of a trace as the trace does, and sums up events of one name", async () => {
    const made = samples.overlapping(6);
    const { calls } = made.report.sessions[0];
    calls.threads = [{ process: 0, thread: 1, name: "stream 7" }];
    const page = await browser.open(browser.write("threads", made), { fragment: "#sel=calls:2" });
    assert.equal((await ask(page, "lanes"))[0].rows[0].label, "tasks, stream 7");
    assert.match(await page.textContent(".details"), /In.*tasks, stream 7.*All events of this name/s);
    assert.match(await page.textContent(".details tbody tr"), /^636\.0.ms/);
    // As exact as the call is short.
    assert.match(await page.textContent(".details"), /This call6.ms, from 2.ms/);
    await close(page);
});

test("shows first what each GPU of a trace did", async () => {
    const made = samples.overlapping(6);
    made.report.sessions[0].tables = [{ id: "trace_breakdown", title: "What each GPU did", columns: [{ name: "gpu" }], rows: [[0]] }];
    const share = (cause, label, percent) => ({ cause, label, percent, seconds: percent / 100 });
    made.report.sessions[0].time_went = [{ id: "gpu", title: "GPU 0", note: "98 % of its communication while it computed", seconds: 1, shares: [share("computing", "computing", 89.5), share("idle", "idle", 10.5)] }];
    const page = await browser.open(browser.write("trace-bars", made));
    assert.match((await page.textContent(".gpus")).replaceAll("\u00a0", " "), /^GPU 0, 1 s89\.5 % computing10\.5 % idle98 % of its communication while it computedTable/);
    const [computing, idle] = await page.$$eval(".gpus .stacked span", (parts) => parts.map((part) => part.getBoundingClientRect().width));
    assert.ok(Math.abs(computing / idle - 89.5 / 10.5) < 0.1, `${computing} ${idle}`);
    assert.equal(await page.locator(".tables").textContent(), "Figures", "its table is at the bars");
    await close(page);
});

test("finds events by name, draws an arrow from a launch to its kernel, and moves by W A S D", async () => {
    const made = samples.overlapping(6);
    const [session] = made.report.sessions;
    session.kind = "trace";
    session.calls.names = ["launch", "gemm kernel"];
    session.calls.name = made.encoder.delta([0, 1, 0, 1, 0, 1]);
    session.calls.link = made.encoder.f64([1, 1, NaN, NaN, NaN, NaN]);
    const page = await browser.open(browser.write("find", made));
    const dark = () => page.locator('[data-lanes="calls"] canvas').evaluate((canvas) => {
        const copy = document.createElement("canvas");
        [copy.width, copy.height] = [canvas.width, canvas.height];
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        return data.reduce((count, byte, i) => count + (i % 4 === 0 && byte === 27 && data[i + 1] === 31 && data[i + 2] === 36 ? 1 : 0), 0);
    });
    const counts = [];
    for (const words of ["1 of 3", "2 of 3"]) {
        await page.fill(".find", "GEMM");
        await page.press(".find", "Enter");
        await settle(page);
        assert.equal(await page.textContent(".lanes output"), words);
        assert.equal(await page.textContent(".details h3"), "gemm kernel");
        counts.push(await dark());
    }
    assert.ok(counts[0] > counts[1] + 20, `the first has an arrow: ${counts}`);
    await page.fill(".find", "nothing of this name");
    await page.press(".find", "Enter");
    assert.equal(await page.textContent(".lanes output"), "not found");
    await page.locator(".stage").press("0");
    await settle(page);
    const whole = await ask(page, "view");
    await page.locator(".stage").press("w");
    await settle(page);
    const near = await ask(page, "view");
    assert.ok(near.to - near.from < whole.to - whole.from);
    await page.locator(".stage").press("d");
    await settle(page);
    assert.ok((await ask(page, "view")).from > near.from);
    await page.locator(".stage").press("a");
    await page.locator(".stage").press("s");
    await settle(page);
    assert.deepEqual(await ask(page, "view"), whole);
    await close(page);
});

test("puts the few steps that took far longer into one bar", async () => {
    const { report, encoder } = samples.training();
    const [session] = report.sessions;
    const durations = Array.from({ length: 100 }, (_, i) => (i % 25 === 24 ? 9 : 0.2 + (i % 10) / 100));
    const column = (values) => encoder.delta(Float64Array.from(values), 1e-6);
    session.training.steps = { number: column(durations.keys()), start: column(durations.map((_, i) => i * 10)), stop: column(durations.map((one, i) => i * 10 + one)), phase: column(durations.map(() => 0)), phases: ["train"] };
    const page = await browser.open(browser.write("outliers", { report, encoder }));
    assert.equal(await page.locator(".bin.longer").count(), 1);
    assert.match(await page.textContent(".histogram svg"), /4 longer,up to 9.s/);
    const counts = await page.$$eval(".histogram table tbody td", (cells) => cells.map((cell) => Number(cell.textContent)));
    assert.deepEqual([counts.at(-1), counts.reduce((sum, count) => sum + count, 0)], [4, 100]);
    await close(page);
});

test("shows steps, phases, devices and tables of a training profile", async () => {
    const page = await browser.open(file);
    assert.deepEqual((await ask(page, "lanes")).map(({ id }) => id), ["phases", "steps"]);
    assert.match(await page.textContent(".histogram >> nth=0"), /Duration of steps: train400 in all; median 2\d\d.ms/);
    const counts = await page.$$eval(".histogram:first-child table tbody td", (cells) => cells.map((cell) => Number(cell.textContent.replace(/\D/g, ""))));
    assert.equal(counts.reduce((sum, count) => sum + count, 0), 400);
    assert.equal(await page.locator('[data-heat="utilization"]').count(), 1);
    assert.match(await page.textContent(".tables"), /ampere_sgemm_128x64_tn48.211/);
    await close(page);
});

test("leaves a gap in maps and in the strip that begins within one pixel of a reading", async () => {
    const made = samples.training();
    const [session] = made.report.sessions;
    const times = [0, 200_000, 200_060, 400_000, 600_000];
    session.identity.seconds = times.at(-1);
    delete session.training.steps;
    session.training.phases = [];
    session.times = [made.encoder.delta(Float64Array.from(times), 1e-6)];
    for (const one of session.series) one.values = made.encoder.f64(Float64Array.from([20, 30, NaN, 40, 50]));
    const page = await browser.open(browser.write("interrupted", made));
    for (const plot of ["heat", "overview"]) {
        const canvas = page.locator(`[data-plot=${plot}] canvas`);
        await canvas.scrollIntoViewIfNeeded();
        await settle(page);
        const drawn = await canvas.evaluate((canvas) => {
            const copy = document.createElement("canvas");
            [copy.width, copy.height] = [canvas.width, canvas.height];
            const context = copy.getContext("2d", { willReadFrequently: true });
            context.drawImage(canvas, 0, 0);
            return [0.25, 0.5, 0.75].map((share) => context.getImageData(canvas.width * share, canvas.height * 0.7, 1, 1).data[3] > 0);
        });
        assert.deepEqual(drawn, [true, false, true], plot);
    }
    await close(page);
});

test("begins with the figures of a training profile, and calls its devices by what distinguishes them", async () => {
    const made = samples.training();
    const [session] = made.report.sessions;
    const table = (id, row) => ({ id, title: id, columns: Object.keys(row).map((name) => ({ name })), rows: [Object.values(row)] });
    delete session.cards;
    for (const one of session.series) [one.label, one.limit] = [`algo-1/${one.label}/Utilization`, 100];
    session.tables = [
        table("profile_job", { training_loop_duration: 112, job_duration: 124, "training_loop_%": 90.3 }),
        table("profile_steps", { training_phase: "Step:ModeKeys.TRAIN", duration_p50_us: 285_000, duration_p95_us: 305_000 }),
        table("profile_utilization", { Resource: "gpu", nodeID: "algo-1", dimension: "GPUMemoryUtilization", utilization_mean: 54, utilization_p50: 60 }),
    ];
    session.tables.at(-1).rows.push(["gpu", "algo-1", "GPUUtilization", 20.6, 10]);
    const page = await browser.open(browser.write("training-cards", made));
    const cards = await page.$$eval(".card", (nodes) => nodes.map((card) => card.textContent.replaceAll("\u00a0", " ")));
    assert.deepEqual(cards, ["Training loop1 min 52 s90.3 % of 2 min 4 s", "Median step, TRAIN285 ms95th percentile 305 ms", "Mean GPU memory utilization54 %median 60 %", "Mean GPU utilization20.6 %median 10 %"]);
    assert.deepEqual((await ask(page, "charts")).find(({ id }) => id === "gpu:percent").lines.map(({ label }) => label), ["gpu0", "gpu1", "gpu2", "gpu3"]);
    await close(page);
});

test("says of a histogram what the tables say: quantiles between two values in proportion", async () => {
    const { report, encoder } = samples.training();
    const [session] = report.sessions;
    const column = (values) => encoder.delta(Float64Array.from(values), 1e-6);
    session.training.steps = { number: column([0, 1, 2, 3, 4]), start: column([0, 1, 2, 3, 4]), stop: column([0.1, 1.1, 2.1, 3.2, 5]), phase: column([0, 0, 0, 0, 0]), phases: ["train"] };
    const page = await browser.open(browser.write("quantiles", { report, encoder }));
    assert.match(await page.textContent(".histogram"), /5 in all; median 100.ms, 95th percentile 840.ms, 100.ms to 1.s/);
    await close(page);
});

test("draws what is out of sight, too, when the page is still: a picture of the whole page has it", async () => {
    const page = await browser.open(file, { height: 500 });
    await page.waitForFunction(() => {
        const isDrawn = (canvas) => {
            const copy = document.createElement("canvas");
            [copy.width, copy.height] = [canvas.width, canvas.height];
            const context = copy.getContext("2d", { willReadFrequently: true });
            context.drawImage(canvas, 0, 0);
            return context.getImageData(0, 0, copy.width, copy.height).data.some((value) => value > 0);
        };
        return [...document.querySelectorAll(".chart canvas, .lanes canvas")].every(isDrawn);
    }, null, { polling: 100 });
    const below = await page.evaluate(() => [...document.querySelectorAll("canvas")].filter((canvas) => canvas.getBoundingClientRect().top > innerHeight + 200).length);
    assert.ok(below > 2, String(below));
    await close(page);
});

test("writes tables of a profile as people read them", async () => {
    const made = samples.training();
    const text = (name) => ({ name, type: "text" });
    made.report.sessions[0].tables = [
        { id: "profile_utilization", title: "Utilization", columns: [text("Resource"), text("dimension")], rows: [["gpu", "GPUMemoryUtilization"], ["i/o", "I/OWaitPercentage"]] },
        { id: "profile_getnext_outliers", title: "Data loading: getnext_outliers", columns: [text("training_phase"), text("start_time"), { name: "step", type: "number" }, text("pin_memory")], rows: [["Step:ModeKeys.EVAL", "2020-09-13T12:26:42:500000", -1, "NA"], ["Step:ModeKeys.TRAIN", "NA", 3, "NA"]] },
        {
            id: "profile_times",
            title: "Times",
            columns: [text("start_time"), { name: "start_time_us", type: "number", unit: "us" }, { name: "size", type: "number", unit: "bytes" }],
            rows: [["2020-09-13T12:26:42:500000", 54e6, 4e9], ["2020-09-13T12:26:43:500000", 192e6, 4.12e9], ["2020-09-13T12:26:44:500000", 5.123e6, 0], ["2020-09-13T12:26:45:500000", 7500e6, 12]],
        },
        { id: "other", title: "other_table", columns: [text("a")], rows: [["NA"], ["left_alone"]] },
    ];
    const page = await browser.open(browser.write("tables", made));
    const shown = await page.$$eval(".tables table", (tables) => tables.map((table) => [table.caption.textContent, ...[...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent).join("; "))]));
    assert.deepEqual(await page.$$eval(".tables table:nth-of-type(1) th[scope=col]", (heads) => heads.map((head) => head.textContent).filter((name) => name.startsWith("start"))), ["start time", "start time", "start after"]);
    assert.deepEqual(shown, [
        ["Utilization", "gpu; GPU memory utilization", "i/o; I/O wait"],
        // A day and its time are one word; a column that no row has a value of is skipped.
        ["Data loading: GetNext outliers", "EVAL; 2020-09-13\u00a012:26:42.500; –", "TRAIN; –; 3"],
        // Three digits each, but for whole bytes.
        ["Times", ["54.0 s", "4.00 GB"], ["3 min 12 s", "4.12 GB"], ["5.12 s", "0 B"], ["2 h 05 min", "12 B"]].map((row, i) => (i ? [`2020-09-13\u00a012:26:4${i + 1}.500`, ...row.map((figure) => figure.replace(/(?<!min) /g, "\u00a0").replace("h\u00a0", "h "))].join("; ") : row)),
        ["other_table", "NA", "left_alone"],
    ]);
    await close(page);
});
