// Reports of sessions that never were, one a kind. Each function returns { report, encoder }, and what tests compare with.

import { Encoder } from "./encode.mjs";

/** The same numbers on every run. */
export function randomOf(seed) {
    let state = seed >>> 0;
    return () => {
        state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
        return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
    };
}

const MB = 1e6;
const START = 1_790_000_000;

function cards({ wall, ram, cpu, limit = 16e9 }) {
    return [
        { id: "wall", label: "Wall time", value: wall, unit: "seconds", is_main: true },
        { id: "cpu_time", label: "CPU time", value: wall * cpu, unit: "seconds", state: "exact", is_main: true },
        { id: "cores", label: "Cores used", value: cpu, unit: "cores", limit: 8, state: "exact" },
        { id: "combined_ram", label: "RAM, peak", value: ram, unit: "bytes", at_least: ram, at_most: ram * 1.012, limit, state: "sampled", is_main: true },
        { id: "gpu_ram", label: "GPU RAM, peak", value: null, unit: "bytes", state: "unavailable", reason: "no driver of a GPU was found" },
        { id: "read", label: "Read", value: 3.2e9, unit: "bytes", state: "exact" },
        { id: "threads", label: "Threads, most", value: 18, unit: "", state: "sampled" },
        { id: "energy", label: "Energy of the CPU", value: 4210, unit: "joules", at_most: 4210, state: "exact" },
    ];
}

const SOURCES = [
    { name: "cpu_time", state: "exact", reason: "wait4()" },
    { name: "ram", state: "sampled", reason: "smaps of each process" },
    { name: "gpu", state: "unavailable", reason: "libnvidia-ml.so.1: no such file" },
    { name: "rapl", state: "unavailable", reason: "/sys/class/powercap/intel-rapl:0/energy_uj: permission denied; sudo chmod a+r opens it" },
];

const timeWent = (wall) => [
    { id: "time_went", title: "the command", seconds: wall, shares: [["computing", "computing", 58], ["pipe", "asleep (pipe)", 31.6, 2], ["cpu_wait", "waiting for a CPU", 10], ["storage", "storage", 0.4, 0.2]] },
    { id: "main_thread", title: "main thread alone", seconds: wall, shares: [["child", "asleep (child)", 100, 1]] },
].map((account) => ({ ...account, shares: account.shares.map(([cause, label, percent, half_width]) => ({ cause, label, percent, seconds: (wall * percent) / 100, half_width })) }));

const SUMMARY = "gpu-tracker: python train.py\n  Time             3 min 12 s  exit status 0\n  RAM              4.12 GB  peak, 26 % of the limit\n";

/** A rising and falling curve with noise, and one peak of a single sample. */
function ramCurve(count, random, high) {
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) {
        const share = i / count;
        const base = share < 0.12 ? share / 0.12 : share > 0.93 ? (1 - share) / 0.07 : 0.82 + 0.14 * Math.sin(share * 40) * share;
        values[i] = Math.round(Math.max(0.03, base) * high * (0.97 + 0.02 * random()));
    }
    return values;
}

/** One run with blocks, processes, sources and tables. */
export function singleRun({ samples = 1900, interval = 0.1, seed = 7 } = {}) {
    const random = randomOf(seed);
    const encoder = new Encoder();
    const wall = samples * interval;
    const time = Float64Array.from({ length: samples }, (_, i) => i * interval);
    const ram = ramCurve(samples, random, 4.1e9);
    const peakAt = Math.floor(samples * 0.637);
    ram[peakAt] = 5_012_345_678;
    const descendants = ram.map((value, i) => Math.round(value * (0.3 + 0.1 * Math.sin(i / 70))));
    const main = ram.map((value, i) => value - descendants[i]);
    const cpu = ram.map((value, i) => Math.max(0, 620 * (value / 4.1e9) ** 2 + 90 * random() - (i % 190 < 20 ? 380 : 0)));
    const threads = ram.map((_, i) => 9 + (i % 190 < 150 ? 9 : 0));
    const read = ram.map((_, i) => (i % 190 < 30 ? 180 * MB * random() : 2 * MB * random()));
    const power = cpu.map((value) => 18 + value / 9 + 2 * random());
    const series = (id, label, group, scope, unit, values, extra = {}) => ({ id, label, group, scope, unit, values, ...extra });
    const bytes = (values) => encoder.delta(values);
    const percent = (values) => encoder.delta(values, 0.001);
    const session = {
        name: "train",
        file: "train.csv",
        kind: "tracking",
        identity: { command: "python train.py --epochs 12 --data /data/images", host: "node07", pid: 48213, start_timestamp: START, seconds: wall, exit_status: 0 },
        summary: SUMMARY,
        advice: ["4.1 of 8 cores were used in the mean.", "RAM stayed at 31 % of its limit."],
        cards: cards({ wall, ram: 5_012_345_678, cpu: 4.1 }),
        time_went: timeWent(wall),
        sources: SOURCES,
        times: [encoder.delta(time, 1e-6)],
        series: [
            series("combined_ram", "Combined", "ram", "combined", "bytes", bytes(ram), { limit: 16e9 }),
            series("main_ram", "Main", "ram", "main", "bytes", bytes(main)),
            series("descendants_ram", "Descendants", "ram", "descendants", "bytes", bytes(descendants)),
            series("system_ram", "System", "ram", "system", "bytes", bytes(ram.map((value) => value + 2e9))),
            series("combined_private_ram", "Combined, private", "ram", "combined", "bytes", bytes(ram.map((value) => Math.round(value * 0.8)))),
            series("cpu_combined_sum_utilization_percent", "Combined", "cpu", "combined", "percent", percent(cpu), { limit: 800 }),
            series("cpu_main_sum_utilization_percent", "Main", "cpu", "main", "percent", percent(cpu.map((value) => value * 0.7))),
            series("cpu_system_sum_utilization_percent", "System", "cpu", "system", "percent", percent(cpu.map((value) => value + 40))),
            series("combined_n_threads", "Combined", "threads", "combined", "count", encoder.delta(threads)),
            series("read", "Read", "io", "read", "bytes_per_second", encoder.f64(read)),
            series("written", "Written", "io", "written", "bytes_per_second", encoder.f64(read.map((value) => value / 11))),
            series("cpu_power", "CPU package", "power", "cpu", "watts", encoder.delta(power, 0.001)),
        ],
        tables: [
            {
                id: "accounting",
                title: "CPU time: what samples saw and what the kernel counted",
                columns: [{ name: "Figure", type: "text" }, { name: "Seconds", unit: "seconds", type: "number" }, { name: "Share", unit: "percent", type: "number" }],
                rows: [["Counted by the kernel", 779.2, 100], ["Seen in samples", 777.9, 99.83], ["Of processes that no sample saw", 1.3, 0.17]],
            },
        ],
    };
    addBlocks(session, encoder, wall, random);
    addProcesses(session, encoder, wall, random);
    return { report: { format: 1, generator: "gpu-tracker 1.0.0", created: START + 4000, title: "python train.py", sessions: [session] }, encoder, time, ram, cpu, peakAt };
}

/** Epochs with nested steps in the main process, and a loader in each of two children. */
function addBlocks(session, encoder, wall, random) {
    const names = ["epoch", "forward", "backward", "validate", "load batch"];
    const calls = { start: [], stop: [], name: [], process: [], thread: [], depth: [] };
    const add = (name, start, stop, process, depth) => {
        calls.name.push(names.indexOf(name));
        calls.start.push(start);
        calls.stop.push(stop);
        calls.process.push(process);
        calls.thread.push(process + 100);
        calls.depth.push(depth);
    };
    const epochs = 10;
    const length = (wall * 0.9) / epochs;
    for (let e = 0; e < epochs; e++) {
        const start = wall * 0.06 + e * length;
        add("epoch", start, e === epochs - 1 ? NaN : start + length * 0.99, 0, 0);
        for (let s = 0; s < 24; s++) {
            const at = start + (s / 24) * length * 0.8;
            add("forward", at, at + length * 0.012, 0, 1);
            add("backward", at + length * 0.013, at + length * (0.02 + 0.01 * random()), 0, 1);
            add("load batch", at, at + length * 0.02, 1 + (s % 2), 0);
        }
        add("validate", start + length * 0.82, start + length * 0.97, 0, 1);
    }
    const [start, stop] = encoder.interleaved([calls.start, calls.stop], 1e-6);
    session.calls = {
        names,
        processes: [{ pid: 48213, label: "python 48213" }, { pid: 48220, label: "python 48220" }, { pid: 48221, label: "python 48221" }],
        start,
        stop,
        name: encoder.delta(calls.name),
        process: encoder.delta(calls.process),
        thread: encoder.delta(calls.thread),
        depth: encoder.delta(calls.depth),
    };
    const durations = names.map((_, n) => calls.start.map((start, i) => (calls.name[i] === n ? calls.stop[i] - start : NaN)).filter((value) => !Number.isNaN(value)));
    const each = (reduce) => encoder.f64(durations.map(reduce));
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    session.blocks = {
        name: encoder.delta(names.map((_, i) => i)),
        calls: encoder.delta(durations.map((values) => values.length)),
        samples: encoder.delta(durations.map((values) => values.length * 9)),
        total_s: each((values) => values.reduce((sum, value) => sum + value, 0)),
        call_s: { min: each((values) => Math.min(...values)), max: each((values) => Math.max(...values)), mean: each(mean), std: each(() => 0.01) },
        usage: [
            { series: "combined_ram", min: each(() => 2.1e9), max: each((_, i) => 3e9 + i * 2e8), mean: each(() => 2.8e9), std: each(() => 1e8) },
            { series: "cpu_combined_sum_utilization_percent", min: each(() => 3), max: each(() => 640), mean: each((_, i) => 120 + i * 90), std: each(() => 12) },
        ],
    };
}

function addProcesses(session, encoder, wall, random) {
    const names = ["python", "sh", "git", "nvcc"];
    const list = { pid: [48213], parent: [48000], start: [-0.01], end: [wall], name: [0], cpu: [wall * 2.4], peak: [3.6e9], code: [0], signal: [NaN] };
    for (let i = 0; i < 26; i++) {
        const worker = i < 4;
        const start = worker ? wall * (0.03 + i * 0.004) : wall * random() * 0.9;
        list.pid.push(48220 + i);
        list.parent.push(48213);
        list.start.push(start);
        list.end.push(worker ? (i === 3 ? NaN : wall * 0.97) : start + wall * 0.03 * random());
        list.name.push(worker ? 0 : 1 + (i % 3));
        list.cpu.push(worker ? wall * 0.4 : 0.2 * random());
        list.peak.push(worker ? 4e8 : 1e7 * (1 + random()));
        list.code.push(i === 3 ? NaN : i % 9 === 5 ? 1 : 0);
        list.signal.push(i === 2 ? 15 : NaN);
    }
    session.process_list = {
        names,
        pid: encoder.delta(list.pid),
        parent: encoder.delta(list.parent),
        start: encoder.delta(list.start, 1e-6),
        end: encoder.delta(list.end, 1e-6),
        name: encoder.delta(list.name),
        cpu_seconds: encoder.f64(list.cpu),
        peak_ram_bytes: encoder.delta(list.peak.map(Math.round)),
        exit_status: encoder.delta(list.code),
        signal: encoder.delta(list.signal),
    };
}

/** Ranks of one job on several nodes, one of them slow: it ends last, or, where they wait for each other, is the busiest. */
export function ranks(count = 12, wait = false) {
    const encoder = new Encoder();
    const sessions = Array.from({ length: count }, (_, rank) => {
        const random = randomOf(rank + 1);
        const slow = rank === count - 5;
        const samples = wait ? 600 : slow ? 720 : 600 + Math.floor(random() * 12);
        const time = Float64Array.from({ length: samples }, (_, i) => i * 0.2);
        const ram = ramCurve(samples, random, 2.2e9 + 4e7 * rank);
        const cpu = ram.map((_, i) => (slow ? 240 : 360) + 40 * Math.sin(i / 12) + 25 * random());
        const gpu = ram.map((_, i) => Math.min(100, (i % 60 < 48 ? (slow ? 96 : 74) : 12) + 6 * random()));
        const wall = samples * 0.2;
        return {
            name: `rank ${rank}`,
            file: `job-${rank}.sqlite`,
            kind: "tracking",
            identity: { command: "srun train", host: `node${String(rank >> 2).padStart(2, "0")}`, boot_id: `boot-${rank >> 2}`, rank, pid: 900 + rank, start_timestamp: START + random() * 0.8, seconds: wall, exit_status: 0 },
            cards: [
                { id: "wall", label: "Wall time", value: wall, unit: "seconds", state: "exact" },
                { id: "combined_ram", label: "RAM, peak", value: Math.max(...ram), unit: "bytes", state: "sampled" },
                { id: "cores", label: "Cores used", value: slow ? 2.4 : 3.6, unit: "cores", state: "exact" },
                { id: "energy_machine", label: "Energy of the machine", value: 1000 + (rank & 3), unit: "joules", state: "exact" },
            ],
            times: [encoder.delta(time, 1e-6)],
            series: [
                { id: "combined_ram", label: "Combined", group: "ram", scope: "combined", unit: "bytes", values: encoder.delta(ram) },
                { id: "cpu_combined", label: "Combined", group: "cpu", scope: "combined", unit: "percent", values: encoder.delta(cpu, 0.001) },
                { id: "gpu0", label: "GPU 0", group: "gpu", scope: "gpu0", unit: "percent", values: encoder.delta(gpu, 0.001) },
            ],
        };
    });
    return { report: { format: 1, generator: "gpu-tracker 1.0.0", created: START + 4000, title: `srun train, ${count} ranks`, sessions }, encoder };
}

/** Two runs of one program, to compare. */
export function twoRuns() {
    const encoder = new Encoder();
    const sessions = ["before", "after"].map((name, i) => {
        const random = randomOf(i + 40);
        const samples = i ? 760 : 900;
        const ram = ramCurve(samples, random, i ? 2.4e9 : 3.3e9);
        const wall = samples * 0.1;
        return {
            name,
            kind: "tracking",
            identity: { command: "python fit.py", host: "laptop", pid: 700 + i, start_timestamp: START + i * 9000, seconds: wall, exit_status: 0 },
            cards: [
                { id: "wall", label: "Wall time", value: wall, unit: "seconds", state: "exact" },
                { id: "combined_ram", label: "RAM, peak", value: Math.max(...ram), unit: "bytes", state: "sampled" },
                { id: "cpu_time", label: "CPU time", value: wall * (3.2 - i * 0.3), unit: "seconds", state: "exact" },
            ],
            times: [encoder.delta(Float64Array.from({ length: samples }, (_, s) => s * 0.1), 1e-6)],
            series: [
                { id: "combined_ram", label: "Combined", group: "ram", scope: "combined", unit: "bytes", values: encoder.delta(ram) },
                { id: "main_ram", label: "Main", group: "ram", scope: "main", unit: "bytes", values: encoder.delta(ram.map((value) => Math.round(value * 0.7))) },
                { id: "cpu_combined", label: "Combined", group: "cpu", scope: "combined", unit: "percent", values: encoder.delta(ram.map(() => 310 - i * 20 + 60 * random()), 0.001) },
            ],
        };
    });
    const comparison = [
        {
            id: "blocks",
            title: "Code blocks: mean time of a call",
            columns: [{ name: "Code block", type: "text" }, { name: "before", unit: "seconds", type: "number" }, { name: "after", unit: "seconds", type: "number" }, { name: "Change", unit: "percent", type: "number" }, { name: "95 % confidence", type: "text" }],
            rows: [["fit", 3.91, 3.1, -20.7, "−23.1 to −18.4 %"], ["predict", 0.42, 0.43, 2.4, "−1.0 to 5.9 %"]],
        },
    ];
    return { report: { format: 1, generator: "gpu-tracker 1.0.0", created: START + 4000, title: "before, after - gpu-tracker", sessions, comparison }, encoder };
}

/** A training profile: steps, phases, devices. */
export function training({ steps = 480 } = {}) {
    const random = randomOf(3);
    const encoder = new Encoder();
    const start = [];
    const stop = [];
    const phase = [];
    let at = 4;
    for (let i = 0; i < steps; i++) {
        const slow = i % 97 === 60;
        const duration = 0.21 + 0.03 * random() + (slow ? 0.5 : 0);
        start.push(at);
        stop.push(at + duration);
        phase.push(i % 120 >= 100 ? 1 : 0);
        at += duration + 0.01;
    }
    const wall = at + 3;
    const samples = Math.floor(wall / 0.5);
    const time = Float64Array.from({ length: samples }, (_, i) => i * 0.5);
    const devices = ["gpu0", "gpu1", "gpu2", "gpu3", "cpu0", "cpu1", "cpu2", "cpu3"];
    const series = devices.map((device, d) => ({
        id: `u_${device}`,
        label: device,
        group: device.startsWith("gpu") ? "gpu" : "cpu",
        scope: device,
        unit: "percent",
        values: encoder.delta(time.map((t) => (t < 4 || t > at ? 2 : Math.max(0, Math.min(100, (d < 4 ? 78 - d * 14 : 45) + 18 * Math.sin(t / (3 + d)) + 10 * random())))), 0.001),
    }));
    const session = {
        name: "resnet",
        file: "profile/",
        kind: "profile",
        identity: { command: "train.py", host: "algo-1", start_timestamp: START, seconds: wall, exit_status: null },
        cards: [
            { id: "wall", label: "Wall time", value: wall, unit: "seconds", state: "exact" },
            { id: "steps", label: "Steps", value: steps, unit: "", state: "exact" },
            { id: "gpu", label: "GPU utilization, mean", value: 57.4, unit: "percent", limit: 100, state: "sampled" },
        ],
        times: [encoder.delta(time, 1e-6)],
        series,
        training: {
            steps: { number: encoder.delta(start.map((_, i) => i)), start: encoder.delta(start, 1e-6), stop: encoder.delta(stop, 1e-6), phase: encoder.delta(phase), phases: ["train", "validate"] },
            phases: [{ name: "initialisation", start: 0, stop: 4 }, { name: "training loop", start: 4, stop: at }, { name: "finalisation", start: at, stop: null }],
            utilization: devices.map((device) => ({ series: `u_${device}`, node: "algo-1", device, dimension: "Utilization", resource: device.slice(0, 3) })),
        },
        tables: [
            { id: "profile_dataloader", title: "Data loader: batches that took far longer than the others", columns: [{ name: "Worker", type: "text" }, { name: "Start", unit: "seconds", type: "number" }, { name: "Duration", unit: "seconds", type: "number" }], rows: [["worker 2", 31.2, 1.94], ["worker 0", 77.7, 1.61]] },
            { id: "profile_kernels", title: "GPU kernels", columns: [{ name: "Kernel", type: "text" }, { name: "Launches", type: "number" }, { name: "Total", unit: "seconds", type: "number" }], rows: [["ampere_sgemm_128x64_tn", 48211, 31.4], ["void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>", 96021, 7.2]] },
            { id: "profile_idle", title: "Why GPUs were idle", columns: [{ name: "Reason", type: "text" }, { name: "Time", unit: "seconds", type: "number" }], rows: [["waiting for data", 11.2], ["kernel launch", 2.1]] },
        ],
    };
    return { report: { format: 1, generator: "gpu-tracker 1.0.0", created: START + 4000, title: "train.py", sessions: [session] }, encoder, steps };
}

/** A folder of AIPowerMeter: power of domains and devices, each with its own moments. */
export function power() {
    const random = randomOf(21);
    const encoder = new Encoder();
    const curve = (count, low, high) => Float64Array.from({ length: count }, (_, i) => low + (high - low) * (i % 200 < 140 ? 0.8 + 0.2 * random() : 0.1 * random()));
    const times = [400, 800, 395].map((count) => encoder.delta(Float64Array.from({ length: count }, (_, i) => (i * 400) / count), 1e-6));
    const session = {
        name: "power",
        kind: "power",
        identity: { command: null, host: "gpu-box", start_timestamp: START, seconds: 400, exit_status: null },
        cards: [
            { id: "energy_cpu", label: "Energy of the CPU", value: 21_400, unit: "joules", state: "exact" },
            { id: "energy_gpu", label: "Energy of GPU 0", value: 74_900, unit: "joules", state: "sampled" },
        ],
        times,
        series: [
            { id: "package", label: "CPU package", group: "power", scope: "package", unit: "watts", time: 0, values: encoder.delta(curve(400, 22, 95), 0.001) },
            { id: "gpu0", label: "GPU 0", group: "power", scope: "gpu0", unit: "watts", time: 1, limit: 300, values: encoder.delta(curve(800, 55, 291), 0.001) },
            { id: "dram", label: "DRAM", group: "power", scope: "dram", unit: "watts", time: 2, values: encoder.delta(curve(395, 3, 11), 0.001) },
        ],
    };
    return { report: { format: 1, generator: "gpu-tracker 1.0.0", created: START + 4000, title: "power of gpu-box", sessions: [session] }, encoder };
}

export const HOSTILE = ["</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "__proto__", "constructor", "\u202eevil\u202c", "نموذج التدريب", "🧮🏳️‍🌈👩‍👩‍👧", "a\u0000b\u001b[31m", "x".repeat(5000), "", "\ud83d", "{{policy}} $& $1"];

/** Names that break careless pages, and ten thousand blocks. */
export function hostile() {
    const made = singleRun({ samples: 400 });
    const { encoder } = made;
    const session = made.report.sessions[0];
    const names = [...HOSTILE, ...Array.from({ length: 10_000 - HOSTILE.length }, (_, i) => `block ${i}`)];
    const count = names.length;
    const start = Float64Array.from({ length: count }, (_, i) => (i * 40) / count);
    session.name = HOSTILE[0];
    session.identity.command = `${HOSTILE[0]} ${HOSTILE[1]} ${HOSTILE[4]} ${HOSTILE[6]}`;
    session.identity.host = HOSTILE[1];
    session.advice = HOSTILE;
    session.series.forEach((series, i) => (series.label = HOSTILE[i % HOSTILE.length]));
    session.process_list.names = HOSTILE.slice(0, 4);
    session.sources = HOSTILE.map((name) => ({ name, state: name, reason: name }));
    session.tables = [{ id: HOSTILE[1], title: HOSTILE[1], columns: [{ name: HOSTILE[0], type: "text" }], rows: HOSTILE.map((name) => [name]) }];
    session.calls = { names, processes: [{ pid: 1, label: HOSTILE[5] }], start: encoder.delta(start, 1e-6), stop: encoder.delta(start.map((value) => value + 0.003), 1e-6), name: encoder.delta(start.map((_, i) => i)), process: encoder.constant(0, count), thread: encoder.constant(1, count), depth: encoder.constant(0, count) };
    session.blocks = { name: encoder.delta(start.map((_, i) => i)), calls: encoder.constant(1, count), total_s: encoder.constant(0.003, count) };
    made.report.title = HOSTILE[0];
    return made;
}

/** Calls of one thread that overlap, and nothing else: each goes on until long after the next began. */
export function overlapping(count) {
    const encoder = new Encoder();
    const column = (value) => encoder.delta(Float64Array.from({ length: count }, (_, i) => value(i)), 1e-6);
    const calls = { names: ["task"], processes: [{ label: "tasks" }], start: column((i) => i * 1e-3), stop: column((i) => (i + count) * 1e-3), name: encoder.constant(0, count), process: encoder.constant(0, count), thread: encoder.constant(1, count), depth: column((i) => Math.min(i, 999)) };
    const session = { name: "tasks", kind: "trace", identity: { start_timestamp: START, seconds: count * 2e-3 }, calls };
    return { report: { format: 1, generator: "gpu-tracker 1.0.0", created: START, title: "tasks", sessions: [session] }, encoder };
}

/** A million samples of eight figures. */
export function million(samples = 1_000_000) {
    const random = randomOf(99);
    const encoder = new Encoder();
    const time = Float64Array.from({ length: samples }, (_, i) => i * 0.01);
    const peakAt = 777_777 % samples;
    let level = 2e9;
    const ram = Float64Array.from({ length: samples }, () => (level = Math.max(1e8, level + Math.round((random() - 0.5) * 4e5))));
    ram[peakAt] = 9e9;
    const groups = [["ram", "bytes"], ["gpu_ram", "bytes"], ["cpu", "percent"], ["gpu", "percent"], ["threads", "count"], ["io", "bytes_per_second"], ["power", "watts"]];
    const series = groups.map(([group, unit], g) => ({
        id: `combined_${group}`,
        label: "Combined",
        group,
        scope: "combined",
        unit,
        values: g === 0 ? encoder.delta(ram) : encoder.delta(ram.map((value, i) => (unit === "bytes" ? value / 2 : 50 + 40 * Math.sin(i / 5000 + g) + 5 * random())), unit === "bytes" || unit === "count" ? 1 : 0.001),
    }));
    const session = { name: "long", kind: "tracking", identity: { command: "simulate", host: "node", pid: 1, start_timestamp: START, seconds: samples * 0.01, exit_status: 0 }, times: [encoder.delta(time, 1e-6)], series };
    return { report: { format: 1, generator: "gpu-tracker 1.0.0", created: START, title: "simulate", sessions: [session] }, encoder, ram, peakAt };
}
