// Reports that the built command writes, of real runs: what the page draws against the files it was made from.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { ask, Browser, chartBox, close, limitWaits, pixelsAround } from "./browser.mjs";

const COMMAND = process.env.GPUT_COMMAND;
// The page inside the command is what its users get.
const environment = { ...process.env };
delete environment.GPUT_REPORT_PAGE;

// Each of its steps is in some rows; those of a database are committed once a second alone.
const PROGRAM = `
import sys, time
def rows():
    with open(sys.argv[1]) as file:
        return file.read().count("\\n")
def wait(seconds, count):
    time.sleep(seconds)
    seen = rows() if sys.argv[1].endswith(".csv") else None
    while seen is not None and rows() < seen + count:
        time.sleep(0.01)
held = []
for i in range(6):
    held.append(b"x" * 20_000_000)
    sum(range(400_000))
    wait(0.03, 1)
big = b"y" * 90_000_000
wait(0.05, 2)
del big
wait(0.05, 2)
`;

const gpuTracker = (...parameters) => spawnSync(COMMAND, parameters, { env: environment, encoding: "utf8" });
const hasReports = gpuTracker("report", "--help").status === 0 && !/has no report/.test(gpuTracker("report", "/nonexistent", "-o", "/dev/null").stderr);
const options = hasReports ? {} : { skip: "this build has no HTML reports" };

let browser;
before(async () => {
    browser = await Browser.start();
});
after(() => browser.stop());

function track(file) {
    execFileSync(COMMAND, ["run", "-q", "--st", "0.02", "--tf", file, "--", "python3", "-c", PROGRAM, file], { env: environment, stdio: "pipe" });
    return file;
}

function report(name, ...parameters) {
    const file = join(browser.folder, name);
    const result = gpuTracker("report", ...parameters, "-o", file);
    assert.equal(result.status, 0, result.stderr);
    return file;
}

/** Combined RAM in a tracking file, in bytes; the file says that it counts in gigabytes. */
function ramOf(csv) {
    const [units, values, names, ...rows] = readFileSync(csv, "utf8").trim().split("\n").map((line) => line.split(","));
    assert.equal(values[units.indexOf("ram_unit")], "gigabytes");
    return rows.map((row) => Number(row[names.indexOf("combined_ram")]) * 1e9);
}

test("shows the category, the exact peak and the counters of code blocks", options, async () => {
    const csv = track(join(browser.folder, "counted.csv"));
    const [, , names, ...rows] = readFileSync(csv, "utf8").trim().split("\n").map((line) => line.split(","));
    const [start, stop] = [rows[1], rows.at(-2)].map((row) => row[names.indexOf("timestamp")]);
    const head = "process_id,code_block_name,position,timestamp,thread_id,instructions,cycles,cache_misses,block_peak_rss_bytes,gpu_ns";
    const label = (position) => `1,[gpu-tracker] category: nvtx:train [phase],${position},${start},1,10,20,30,4096,0`;
    const marks = [label(0), label(1), `1,nvtx:train/step [phase],0,${start},1,10,20,30,4096,0`, `1,plain,0,${start},1,10,20,30,4096,0`, `1,plain,1,${stop},1,11,22,33,8192000,0`, `1,nvtx:train/step [phase],1,${stop},1,1010,2020,3030,9000000,2000000000`];
    writeFileSync(join(browser.folder, "counted-marks.csv"), [head, ...marks, ""].join("\n"));
    const page = await browser.open(report("counted.html", csv, "--stf", join(browser.folder, "counted-marks.csv")));
    const tables = await page.$$eval("table", (found) => found.map((table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent))));
    const cells = tables.find((rows) => rows[0].some((text) => text.startsWith("Code block")));
    const columns = ["Category", "Peak RSS", "Instructions", "Cycles", "Cache misses", "GPU time, counted"].map((name) => cells[0].findIndex((text) => text.startsWith(name)));
    const shown = Object.fromEntries(cells.slice(1).map((row) => [row.find((text) => /train|plain/.test(text)), columns.map((column) => row[column])]));
    assert.deepEqual(shown["nvtx:train/step [phase]"].slice(0, 2), ["phase", "9.00\u00a0MB"], JSON.stringify(cells));
    assert.deepEqual(shown["nvtx:train/step [phase]"].slice(2, 5).map((text) => text.replace(/\D/g, "")), ["1000", "2000", "3000"]);
    assert.match(shown["nvtx:train/step [phase]"][5], /^2(\.0*)?\u00a0s$/);
    assert.equal(shown.plain[0], "–");
});

test("draws the peak of a CSV tracking file", options, async () => {
    const csv = track(join(browser.folder, "run.csv"));
    const page = await browser.open(report("csv.html", csv));
    const chart = (await ask(page, "charts")).find(({ id }) => id.startsWith("ram:"));
    const line = chart.lines.find(({ id }) => id === "combined_ram");
    assert.ok(line.samples > 10, String(line.samples));
    assert.ok(line.max > 150e6 && line.max < 1e9, String(line.max));
    const ram = ramOf(csv);
    assert.equal(line.samples, ram.length);
    assert.equal(Math.round(Math.max(...ram)), line.max);
    await chartBox(page, chart.id);
    const ring = await ask(page, "pixelOf", chart.id, line.highestAt, line.max);
    assert.ok((await pixelsAround(page, chart.id, ring, 6)).some(([r, g, b, a]) => a > 100 && b > r + 60 && b > g + 30), "the peak is on the canvas");
    await close(page);
});

/** Where the package that was built next to the command is. */
const PACKAGE = join(dirname(COMMAND), "python");
const python = (code, page) => spawnSync("python3", ["-c", code], { env: { ...process.env, PYTHONPATH: PACKAGE, ...page }, encoding: "utf8", cwd: browser.folder });
const NOTEBOOK = `
import gpu_tracker
html = gpu_tracker.SubTrackingAnalyzer("frame.csv", None)._repr_html_()
report = gpu_tracker.report("frame.csv")._repr_html_()
open("notebook.html", "w").write("<!doctype html><meta charset=utf-8>" + html + report)
`;

test("draws charts in a frame of a notebook, which may do nothing else", { skip: options.skip || (!existsSync(join(PACKAGE, "gpu_tracker")) && "no Python package was built") }, async () => {
    const csv = track(join(browser.folder, "frame.csv"));
    const made = python(NOTEBOOK);
    assert.equal(made.status, 0, made.stderr);
    const page = await browser.chromium.newPage({ offline: true });
    limitWaits(page);
    const complaints = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => complaints.push(message.text()));
    page.on("request", (request) => request.isNavigationRequest() || complaints.push(request.url()));
    await page.goto(pathToFileURL(join(browser.folder, "notebook.html")).href);
    assert.equal(await page.locator("img").evaluate((image) => image.naturalWidth > 100), true);
    await page.click("summary");
    const frame = page.frameLocator("details iframe");
    await frame.locator("main h1").waitFor();
    // Below the main figures it begins with the charts; a report that was asked for begins with its title.
    const top = async (locator) => {
        await page.locator(locator).scrollIntoViewIfNeeded();
        const body = page.frameLocator(locator).locator("body");
        await body.locator("main h1").waitFor();
        return body.evaluate(async (_, isScrolled) => {
            while (isScrolled && scrollY === 0) await new Promise((done) => setTimeout(done, 20));
            return scrollY;
        }, locator.startsWith("details"));
    };
    assert.ok((await top("details iframe")) > 0);
    assert.equal(await top("body > div > iframe"), 0);
    assert.equal(await frame.locator("body").evaluate(() => origin), "null");
    const chart = await frame.locator("body").evaluate(() => window.gputReport.charts().find(({ id }) => id.startsWith("ram:")));
    assert.equal(chart.lines.find(({ id }) => id === "combined_ram").max, Math.round(Math.max(...ramOf(csv))));
    // Zooming changes the place in the address, which a frame has not.
    await frame.locator(".stage").press("+");
    await page.waitForTimeout(400);
    assert.deepEqual(complaints, []);
    await page.close();
});

/** Perfetto's page, as far as it matters: another origin, which fetches what the address names. */
test("gives a timeline to the page of Perfetto", options, async () => {
    const csv = track(join(browser.folder, "timeline.csv"));
    const server = spawn(COMMAND, ["report", "--perfetto", csv], { env: { ...environment, GPUT_PERFETTO_ADDRESS: "127.0.0.1:0" } });
    const ended = once(server, "exit");
    const [address] = await once(server.stdout, "data");
    // A reader is asked whether the page may reach this machine; without one the question is switched off.
    const other = await Browser.start("--disable-features=LocalNetworkAccessChecks");
    const page = await other.chromium.newPage();
    limitWaits(page);
    await page.route("https://ui.perfetto.dev/**", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html><title>Perfetto</title>" }));
    await page.goto(String(address).trim());
    const names = await page.evaluate(async () => {
        const trace = await (await fetch(new URLSearchParams(location.hash.split("?")[1]).get("url"))).json();
        return (trace.traceEvents ?? trace).map((event) => event.name);
    });
    assert.ok(names.some((name) => /RAM/i.test(name)), String(names.slice(0, 20)));
    assert.deepEqual(await ended, [0, null]);
    await other.stop();
});

test("compares a CSV and an SQLite file", options, async () => {
    const files = [track(join(browser.folder, "first.csv")), track(join(browser.folder, "second.sqlite"))];
    const page = await browser.open(report("both.html", ...files));
    const chart = (await ask(page, "charts")).find(({ id }) => id.startsWith("ram:"));
    assert.equal(chart.lines.filter((line) => line.shown).length, 2);
    assert.equal(await page.locator(".compare tbody tr").count() >= 2, true);
    // A row a measurement, a column a session; no rows of GPUs that are not there.
    const table = page.locator(".compare details >> nth=0");
    await table.evaluate((node) => (node.open = true));
    assert.match(await table.locator("thead").textContent(), /first\.csv.*second\.sqlite/s);
    assert.match(await table.locator("tbody tr", { hasText: "whole session" }).first().textContent(), /RAM.*\d.MB.*\d.MB \([+\u2212±][\d.]+\D?%\)/s);
    assert.doesNotMatch(await table.textContent(), /gpu/i);
    await close(page);
});
