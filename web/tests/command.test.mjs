// Reports that the built command writes, of real runs: what the page draws against the files it was made from.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { ask, Browser, chartBox, close, pixelsAround } from "./browser.mjs";

const COMMAND = process.env.GPUT_COMMAND;
// The page inside the command is what its users get.
const environment = { ...process.env };
delete environment.GPUT_REPORT_PAGE;

const PROGRAM = "import time\nheld = []\nfor i in range(6):\n    held.append(b'x' * 20_000_000)\n    sum(range(400_000))\n    time.sleep(0.05)\nbig = b'y' * 90_000_000\ntime.sleep(0.1)\ndel big\ntime.sleep(0.1)\n";

const gpuTracker = (...parameters) => spawnSync(COMMAND, parameters, { env: environment, encoding: "utf8" });
const hasReports = gpuTracker("report", "--help").status === 0 && !/has no report/.test(gpuTracker("report", "/nonexistent", "-o", "/dev/null").stderr);
const options = hasReports ? {} : { skip: "this build has no HTML reports" };

let browser;
before(async () => {
    browser = await Browser.start();
});
after(() => browser.stop());

function track(file) {
    execFileSync(COMMAND, ["run", "-q", "--st", "0.02", "--tf", file, "--", "python3", "-c", PROGRAM], { env: environment, stdio: "pipe" });
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

test("compares a CSV and an SQLite file", options, async () => {
    const files = [track(join(browser.folder, "first.csv")), track(join(browser.folder, "second.sqlite"))];
    const page = await browser.open(report("both.html", ...files));
    const chart = (await ask(page, "charts")).find(({ id }) => id.startsWith("ram:"));
    assert.equal(chart.lines.filter((line) => line.shown).length, 2);
    assert.equal(await page.locator(".compare tbody tr").count() >= 2, true);
    await close(page);
});
