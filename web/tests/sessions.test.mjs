// Several sessions on one page: overlays, comparisons, ranks of a job.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { ask, Browser, chartBox, close, settle, waitForAddress } from "./browser.mjs";
import * as samples from "./samples.mjs";

let browser;
const files = {};

before(async () => {
    browser = await Browser.start();
    for (const name of ["ranks", "twoRuns"]) files[name] = browser.write(name, samples[name]());
});
after(() => browser.stop());

test("shows the straggler of many ranks and the chosen one, and the others as a background", async () => {
    const page = await browser.open(files.ranks);
    const chart = page.locator('[data-panel="cpu:percent"]');
    const legend = () => chart.locator(".legend-entry:visible").evaluateAll((nodes) => nodes.map((node) => [node.querySelector(".name").textContent, node.querySelector("line").getAttribute("stroke"), node.getAttribute("aria-pressed")]));
    assert.deepEqual(await legend(), [["rank 0", "var(--c0)", "true"], ["rank 7", "var(--c1)", "true"], ["10 others", "var(--faint)", "true"]]);
    assert.deepEqual(await page.$$eval(".session-key li bdi", (names) => names.map((name) => name.textContent)), ["rank 0", "rank 7", "10 others"]);
    assert.match(await page.textContent("tr.marked"), /^rank 7/);
    await chart.getByText("10 others").click();
    const [cpu] = (await ask(page, "charts")).filter(({ id }) => id === "cpu:percent");
    assert.deepEqual(cpu.lines.filter((line) => line.shown).map((line) => line.label), ["rank 0", "rank 7"]);
    await close(page);
});

test("names the one of many curves that is under the pointer", async () => {
    const page = await browser.open(files.ranks);
    const id = "ram:bytes";
    const box = await chartBox(page, id);
    const { lines } = (await ask(page, "charts")).find((chart) => chart.id === id);
    const line = lines.find((one) => one.label === "rank 11");
    const point = await ask(page, "pixelOf", id, line.highestAt, line.max);
    await page.mouse.move(box.x + point.x, box.y + point.y);
    await settle(page);
    assert.match(await page.textContent(`[data-panel="${id}"] .pointed`), /^rank 11 [\d.]+.GB$/);
    await close(page);
});

test("compares means of runs, and says what the spread of the runs explains", async () => {
    const { report, encoder } = samples.ranks(9);
    const [walls, rams] = [[[10, 10.2, 9.8, 10.1, 9.9], [12, 12.3, 11.8, 12.1]], [[5e8, 6e8, 4e8, 5.5e8, 4.5e8], [5.2e8, 4.4e8, 6.1e8, 5e8]]];
    report.sessions.forEach((session, i) => {
        const [group, run] = i < 5 ? [0, i] : [1, i - 5];
        const card = (id, label, unit, value) => ({ id, label, unit, value, state: "exact" });
        Object.assign(session, { name: ["old", "new"][group], identity: { seconds: 1 }, cards: [card("wall", "Wall time", "seconds", walls[group][run]), card("ram", "RAM peak", "bytes", rams[group][run]), card("n", "Cores", "cores", 2)] });
    });
    report.title = "old, new - gpu-tracker"; // as the command names sessions
    const page = await browser.open(browser.write("welch", { report, encoder }));
    assert.equal(await page.textContent("h1"), "old, new");
    const rows = await page.$$eval(".compare .table tbody tr", (found) => found.map((row) => [...row.children].map((cell) => cell.textContent.replaceAll("\u00a0", " "))));
    // 2.7764 x 0.1581 / sqrt(5) = 0.196, and 3.1824 x 0.2082 / sqrt(4) = 0.331.
    assert.deepEqual(rows[0].slice(0, 3), ["Wall time", "10.0 s ± 1.96 %", "12.1 s ± 2.75 %"]);
    assert.match(rows[0][3], /^\+20\.5 % ± 3\.\d+ %$/);
    assert.match(rows[1][3], /^not distinguishable \(\+3\.5 % ± 2\d(\.\d)? %\)$/);
    assert.deepEqual(rows[2].slice(1), ["2.00 cores in all runs", "2.00 cores in all runs", "the same"]);
    assert.deepEqual((await page.$$eval('[data-panel="cpu:percent"] .legend-entry:not([hidden]) .name', (names) => names.map((name) => name.textContent))), ["old, 5 runs", "new, 4 runs"]);
    await close(page);
});

test("compares the RAM of main only where it is not all RAM", async () => {
    for (const [name, main, isShown] of [["main-alone", 5e8, false], ["main-and-others", 4e8, true]]) {
        const { report, encoder } = samples.twoRuns();
        const card = (id, label, value) => ({ id, label, unit: "bytes", value, state: "sampled" });
        for (const session of report.sessions) session.cards = [card("ram", "RAM peak", 5e8), card("ram_main", "RAM peak of main", main)];
        const page = await browser.open(browser.write(name, { report, encoder }));
        assert.equal((await page.textContent(".compare tbody")).includes("RAM peak of main"), isShown, name);
        await close(page);
    }
});

test("lays several sessions over each other and compares them", async () => {
    const page = await browser.open(files.twoRuns);
    const [chart] = await ask(page, "charts");
    assert.deepEqual(chart.lines.filter((line) => line.shown).map((line) => line.label), ["before", "after"]);
    // What changed the most comes first, with a bar as long as the change.
    const rows = await page.$$eval(".compare .table:first-of-type tbody tr", (found) => found.map((row) => [row.cells[0].textContent, row.cells[3].textContent.replace(/\s/g, " "), row.querySelector(".change-bar i")?.style.width ?? null]));
    const place = (name) => rows.findIndex(([label]) => label === name);
    assert.deepEqual(rows[place("Wall time")].slice(0, 2), ["Wall time", "−15.6 %"]);
    assert.ok(place("CPU time") < place("Wall time"), JSON.stringify(rows));
    assert.ok(Math.abs(parseFloat(rows[place("Wall time")][2]) - 15.6 / 2) < 0.1, JSON.stringify(rows));
    assert.match(await page.textContent(".compare"), /95 % confidence.*−23\.1 to −18\.4/);
    const sum = chart.lines.find((line) => line.id === "sum");
    assert.ok(sum.max > chart.lines[0].max && sum.max <= chart.lines.filter((line) => line.shown).reduce((total, line) => total + line.max, 0));
    await page.selectOption("#session", "1");
    await waitForAddress(page, /s=1/);
    await close(page);
});

test("says whose code blocks and processes the lanes have", async () => {
    const { report, encoder } = samples.twoRuns();
    for (const session of report.sessions) {
        const [start, stop] = encoder.interleaved([[0, 1], [0.5, 1.5]], 1e-6);
        session.calls = { names: ["step"], start, stop, name: encoder.delta([0, 0]) };
    }
    const page = await browser.open(browser.write("lanes-of", { report, encoder }));
    const titles = () => page.$$eval(".lanes h3", (found) => found.map((title) => title.textContent));
    assert.deepEqual(await titles(), ["Code blocks of before"]);
    await page.selectOption("#session", "1");
    await waitForAddress(page, /s=1/);
    assert.deepEqual(await titles(), ["Code blocks of after"]);
    await close(page);
});

test("gives compared figures the digit that their change is in", async () => {
    const made = samples.twoRuns();
    [0.0804, 0.0824].forEach((value, i) => (made.report.sessions[i].cards = [{ id: "cores", label: "Cores used", value, unit: "cores", state: "exact" }]));
    const page = await browser.open(browser.write("digits", made));
    assert.match(await page.textContent(".compare"), /0\.08.cores.*0\.082.cores.*\+2\.49.%/);
    await close(page);
});

test("names the measurements of a comparison as people do", async () => {
    const { report, encoder } = samples.twoRuns();
    const label = "CPU of main, of all cores";
    for (const { series } of report.sessions) series.push({ ...series[2], id: "main_cpu_hardware", label, group: "cpu_hardware", scope: "main" });
    const columns = ["code_block", "measurement", "session", "value", "percent_change"].map((name) => ({ name }));
    report.comparison = [{ id: "mean", title: "Comparison: mean", columns, rows: [[null, "main_cpu_hardware", "before", 10, null], [null, "main_cpu_hardware", "after", 20, 100], ["step", "main_cpu_hardware", "before", 10, null], ["step", "main_cpu_hardware", "after", 10, 0.0004], ["less", "main_cpu_hardware", "before", 10, null], ["less", "main_cpu_hardware", "after", 10, -0.52]] }];
    const page = await browser.open(browser.write("measurements", { report, encoder }));
    assert.match(await page.textContent(".compare"), /whole sessionCPU of main, of all cores10\.0.%20\.0.% \(\+100.%\)/);
    assert.match(await page.textContent(".compare"), /stepCPU of main, of all cores10\.0.%10\.0.% \(±0.%\)/);
    assert.match(await page.textContent(".compare"), /lessCPU of main, of all cores10\.0.%10\.0.% \(\u22120\.52.%\)/);
    assert.deepEqual((await ask(page, "charts")).map(({ id }) => id), ["ram:bytes", "cpu:percent"]);
    await close(page);
});

test("shows runs of one name in one column, with the interval of their mean", async () => {
    const { report, encoder } = samples.ranks(4);
    report.sessions.forEach((session, i) => Object.assign(session, { name: i < 2 ? "old" : "new", identity: {} }));
    const columns = ["code_block", "measurement", "session", "value", "percent_change", "runs", "low", "high", "within_noise"].map((name) => ({ name }));
    const rows = [[null, "compute_time", "old", 4, 0, 2, 3, 5, 0], [null, "compute_time", "new", 6, 50, 2, 4, 8, 1]];
    report.comparison = [{ id: "mean", title: "Comparison: mean", columns, rows }];
    const page = await browser.open(browser.write("runs", { report, encoder }));
    assert.match(await page.textContent(".compare details"), /OfMeasurementoldnewwhole sessioncompute time4\.00.s \(95 %: 3.s to 5.s\)6\.00.s \(\+50.%, within noise; 95 %: 4.s to 8.s\)/);
    await close(page);
});

test("calls ranks by their numbers in comparisons, too", async () => {
    const { report, encoder } = samples.ranks(2);
    report.sessions.forEach((session, i) => Object.assign(session, { name: `t.r${i}.sqlite` }));
    const columns = ["code_block", "measurement", "session", "value", "percent_change"].map((name) => ({ name }));
    report.comparison = [{ id: "mean", title: "Comparison: mean", columns, rows: [[null, "compute_time", "t.r0.sqlite", 4, 0], [null, "compute_time", "t.r1.sqlite", 6, 50]] }];
    const page = await browser.open(browser.write("ranks-compared", { report, encoder }));
    assert.match(await page.textContent(".compare details"), /OfMeasurementrank 0rank 1whole sessioncompute time4\.00.s6\.00.s \(\+50.%\)/);
    await close(page);
});

test("gives each session a colour of its own, also one without curves", async () => {
    const { report, encoder } = samples.ranks(3);
    report.sessions[2].series = [];
    const page = await browser.open(browser.write("no-curves", { report, encoder }));
    const colours = await page.$$eval(".session-key line", (lines) => lines.map((line) => line.getAttribute("stroke")));
    assert.deepEqual(colours, ["var(--c0)", "var(--c1)", "var(--c2)"]);
    await close(page);
});

test("gives ranks a lane each and names the straggler", async () => {
    const page = await browser.open(files.ranks);
    assert.match(await page.textContent("h1"), /^srun train, \d+ ranks$/); // the title that was given
    assert.match(await page.textContent(".straggler"), /^rank 7 on node01 \(2.min.24.s, 5.min.46.s of CPU time\) ran or worked far longer than the others\. Median: 2.min.1?\d?.*s, 7.min.*s of CPU time\.$/);
    assert.equal(await page.locator(".heat").count(), 3);
    assert.match(await page.textContent(".compare tbody tr:first-child"), /All together.*the longest.*at most/);
    // Three machines with four ranks each: some 1003 J of each machine and what ranks read before and after that, not 12 times that of one.
    assert.match(await page.textContent(".compare tbody tr:first-child"), /3\.03.kJ/);
    await page.click(".heat summary >> nth=0");
    await page.waitForSelector(".heat table");
    assert.equal(await page.locator(".heat >> nth=0 >> tbody tr").count(), 12);
    await close(page);
});

test("holds an even number of ranks against the mean of the middle two", async () => {
    const { report, encoder } = samples.ranks(2);
    report.sessions.forEach((session, i) => {
        const seconds = [40, 60][i];
        Object.assign(session.identity, { start_timestamp: 1.7e9, seconds });
        session.cards[0].value = seconds;
    });
    const page = await browser.open(browser.write("two-ranks", { report, encoder }));
    assert.match(await page.textContent(".straggler"), /^rank 1 on node00 \(1.min.0.s, .*\) ran or worked far longer than the others\. Median: 50.s, /);
    const rows = await page.$$eval(".compare tbody tr", (rows) => rows.map((row) => row.textContent));
    assert.match(rows[1], /40\.0.s \(\u221220.%\)/);
    assert.match(rows[2], /1.min.0.s \(\+20.%\)/);
    await close(page);
});

test("adds up what ranks used at the same time, and joules of one machine also when they took turns", async () => {
    const { report, encoder } = samples.ranks(2);
    const [first, second] = report.sessions;
    Object.assign(first.identity, { start_timestamp: 1e9, seconds: 100 });
    Object.assign(second.identity, { start_timestamp: 1e9 + 110, seconds: 100 });
    for (const [session, ram, joules] of [[first, 1e9, 1000], [second, 2e9, 500]]) {
        for (const card of session.cards) {
            if (card.id === "combined_ram") card.value = ram;
            if (card.id === "cores") card.value = 1.2;
            if (card.id === "energy_machine") card.value = joules;
        }
    }
    const page = await browser.open(browser.write("in-turns", { report, encoder }));
    const sums = await page.textContent(".compare tbody tr:first-child");
    assert.match(sums, /at most 2\.00.GB/);
    assert.match(sums, /1\.14.cores on average/);
    assert.match(sums, /1\.50.kJ/);
    await close(page);
});

test("adds up joules of ranks that read their machine in turns, whoever read it", async () => {
    const { report, encoder } = samples.ranks(3);
    for (const [i, session] of report.sessions.entries()) {
        const read = [99, null, 101][i];
        Object.assign(session.identity, { start_timestamp: 1e9, seconds: 2 + i, boot_id: "one", ...(i !== 1 && { node_seconds: 2 }) });
        session.cards.find(({ id }) => id === "energy_machine").value = read;
    }
    const page = await browser.open(browser.write("readers", { report, encoder }));
    assert.match(await page.textContent(".compare tbody tr:first-child"), /200.J/);
    await close(page);
});

test("adds up joules of one machine once where ranks in several containers read it at once, as job does", async () => {
    const { report, encoder } = samples.ranks(3);
    for (const [i, session] of report.sessions.entries()) {
        Object.assign(session.identity, { start_timestamp: 1e9 + [0, 1, 20][i], seconds: 10, boot_id: "one", node_seconds: [10, 10, 5][i] });
        session.cards.find(({ id }) => id === "energy_machine").value = [100, 100, 50][i];
    }
    const page = await browser.open(browser.write("containers", { report, encoder }));
    // 0 to 11 s at 10 W, read by two, and 25 to 30 s.
    assert.match(await page.textContent(".compare tbody tr:first-child"), /160.J/);
    await close(page);
});

test("has a column for the energy of each choice of parts, and no change between them", async () => {
    const { report, encoder } = samples.ranks(2);
    const [first, second] = report.sessions;
    first.identity = { command: "a" };
    second.identity = { command: "b" };
    const energyOf = (session) => session.cards.find(({ id }) => id === "energy_machine");
    Object.assign(energyOf(first), { label: "Energy of CPU packages", value: 1000 });
    Object.assign(energyOf(second), { label: "Energy of GPUs", value: 3000 });
    first.cards[0].value = 100;
    second.cards[0].value = 99.999;
    const page = await browser.open(browser.write("parts", { report, encoder }));
    const table = await page.textContent(".compare");
    assert.match(table, /Energy of CPU packages.*Energy of GPUs/);
    assert.doesNotMatch(table, /200.%/);
    assert.match(table, /±0.%/);
    assert.doesNotMatch(table, /\u22120.%/);
    await close(page);
});

test("shows in the strip above the charts also the session that ends last", async () => {
    const page = await browser.open(files.ranks);
    const alpha = await page.locator(".strip canvas").evaluate((canvas) => {
        const copy = document.createElement("canvas");
        [copy.width, copy.height] = [canvas.width, canvas.height];
        copy.getContext("2d").drawImage(canvas, 0, 0);
        return copy.getContext("2d").getImageData(Math.round(canvas.width * 0.95), Math.round(canvas.height * 0.7), 1, 1).data[3];
    });
    assert.ok(alpha > 20, `${alpha}`);
    await close(page);
});

test("takes sessions for ranks of one job only where each has a rank of its own", async () => {
    for (const other of [{}, { rank: 1 }]) {
        const { report, encoder } = samples.ranks(4);
        report.sessions[3].identity.rank = other.rank;
        const page = await browser.open(browser.write(`not-ranks-${other.rank}`, { report, encoder }));
        assert.equal(await page.$(".straggler"), null);
        await close(page);
    }
});

test("says of a failed job who failed and how, and compares the others", async () => {
    const { report, encoder } = samples.ranks(4);
    Object.assign(report.sessions[2].identity, { exit_status: null, signal: 9 });
    report.sessions[3].identity.exit_status = 3;
    report.notes = ["1 rank is missing: 4 </script>"];
    const page = await browser.open(browser.write("failed", { report, encoder }));
    assert.equal(await page.textContent(".straggler"), "2 of 4 ranks failed: rank 2 (ended by signal 9 (SIGKILL)), rank 3 (exit status 3).");
    const head = await page.$$eval(".compare thead th", (cells) => cells.map((cell) => cell.textContent));
    const ends = await page.$$eval(".compare tbody tr", (rows, at) => rows.map((row) => row.cells[at].textContent), head.findIndex((text) => text.startsWith("End")));
    assert.deepEqual(ends, ["–", "exit status 0", "exit status 0", "ended by signal 9 (SIGKILL)", "exit status 3"]);
    assert.equal(await page.textContent("[aria-label='What was found']"), "1 rank is missing: 4 </script>");
    await close(page);
});

test("says of a session by which signal it ended", async () => {
    const { report, encoder } = samples.singleRun();
    Object.assign(report.sessions[0].identity, { exit_status: null, signal: 11 });
    const page = await browser.open(browser.write("signal", { report, encoder }));
    assert.equal(await page.textContent(".page-head .badge.bad"), "✗ ended by signal 11 (SIGSEGV)");
    await close(page);
});

test("says of a killed session that it did not finish, and names it by its process", async () => {
    const { report, encoder } = samples.singleRun();
    const [session] = report.sessions;
    Object.assign(session, { name: ".gpu-tracker_14f6.results" });
    session.identity = { program: "sleep", pid: 4711, is_unfinished: true };
    const page = await browser.open(browser.write("unfinished", { report, encoder }));
    assert.equal(await page.textContent(".page-head .badge.bad"), "✗ did not finish");
    assert.equal(await page.textContent("h1"), "sleep, pid 4711");
    await close(page);
});

test("calls a session that was read from a file by its program and script, which say more than the file's name", async () => {
    const { report, encoder } = samples.singleRun();
    const [session] = report.sessions;
    Object.assign(session, { name: "a.sqlite" });
    session.identity = { program: "python train.py", pid: 4711 };
    const named = await browser.open(browser.write("script", { report, encoder }));
    assert.equal(await named.textContent("h1"), "python train.py");
    await close(named);
    session.identity.program = "python";
    const page = await browser.open(browser.write("program", { report, encoder }));
    assert.equal(await page.textContent("h1"), "a.sqlite");
    await close(page);
});

test("names the stragglers that gpu-tracker job names, whenever they ended", async () => {
    const { report, encoder } = samples.ranks(6);
    const walls = [100, 100, 100, 100, 109, 111]; // of an array, as there was space: what ends last did not take longer
    report.sessions.forEach((session, i) => {
        Object.assign(session.identity, { start_timestamp: 1.7e9 + 3600 * (i === 2 ? 1 : 0) + 20 * (i % 2), seconds: walls[i] });
        session.cards = [{ id: "cpu", label: "CPU time", value: i === 3 ? 126 : 100, unit: "seconds", state: "exact" }];
    });
    Object.assign(report.sessions[0].identity, { exit_status: 1, seconds: 3 });
    let page = await browser.open(browser.write("stragglers", { report, encoder }));
    assert.equal((await page.textContent(".straggler")).replaceAll("\u00a0", " "),
        "1 of 6 ranks failed: rank 0 (exit status 1). rank 3 on node00 (1 min 40 s, 2 min 6 s of CPU time), rank 5 on node01 (1 min 51 s, 1 min 40 s of CPU time) ran or worked far longer than the others. Median: 1 min 40 s, 1 min 40 s of CPU time.");
    assert.equal(await page.locator(".session-key .hint", { hasText: "straggler" }).count(), 1);
    await close(page);
    for (const session of report.sessions) session.identity.exit_status = 1;
    page = await browser.open(browser.write("all-failed", { report, encoder }));
    assert.match(await page.textContent(".straggler"), /^6 of 6 ranks failed: [^.]*\.$/);
    await close(page);
});

test("names the busiest of ranks that end together", async () => {
    const { report, encoder } = samples.ranks(12, true);
    report.findings = { busiest: { session: 7, group: "gpu", mean: 94.2, median: 61.5 } };
    const page = await browser.open(browser.write("waiting", { report, encoder }));
    assert.match(await page.textContent(".straggler"), /^rank 7 was the busiest, GPU utilization 94\.2.% against a median of 61\.5.%: the others may wait for it\.$/);
    await close(page);
});

test("sets figures below each other whatever their changes, and prints the widest table whole", async () => {
    const page = await browser.open(files.ranks, { width: 700 });
    const ends = await page.$$eval("tbody tr:not(:first-child) .change", (changes) => changes.map((change) => [change.closest("td").cellIndex, change.getBoundingClientRect().left]));
    assert.ok(ends.length > 20, String(ends.length));
    for (const [column, left] of ends) assert.ok(Math.abs(left - ends.find(([other]) => other === column)[1]) < 1, `column ${column}: ${left}`);
    const isWhole = () => page.$$eval(".table-scroll", (nodes) => nodes.every((node) => node.scrollWidth <= node.clientWidth));
    assert.equal(await isWhole(), false);
    await page.emulateMedia({ media: "print" });
    assert.equal(await isWhole(), true);
    await close(page);
});

test("prints the whole legend of many sessions", async () => {
    const page = await browser.open(files.ranks, { width: 320 });
    for (const more of await page.$$(".legend-more")) await more.click();
    const isWhole = () => page.$$eval(".legend", (legends) => legends.every((legend) => legend.scrollHeight <= legend.clientHeight));
    assert.equal(await isWhole(), false);
    await page.emulateMedia({ media: "print" });
    assert.equal(await isWhole(), true);
    await close(page);
});
