// Sessions of real programs, recorded by the built command for the pictures in docs/: each function returns a report.
// What this machine has not is simulated (GPUs: tests/fake-nvml; counters of energy) or made up (training-files.mjs), and the
// page says so in the name of the session.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { writeProfile, writeTrace } from "./training-files.mjs";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

const COLOURS = ["#1c1f24", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dcdfe4", "#7f848e"];

/** What a terminal shows, with its sequences for colours (SGR), as a page. */
function terminalPage(text) {
    let style = { colour: 7, bold: false, reverse: false };
    const apply = (code) => {
        if (code === 0) style = { colour: 7, bold: false, reverse: false };
        else if (code === 1) style.bold = true;
        else if (code === 7) style.reverse = true;
        else if (code === 39) style.colour = 7;
        else if (code >= 30 && code < 38) style.colour = code - 30;
        else if (code >= 90 && code < 98) style.colour = 8;
    };
    const spans = text.split(/\x1b\[([0-9;]*)m/).map((part, i) => {
        if (i % 2) return part.split(";").map(Number).forEach(apply) ?? "";
        const [ink, paper] = style.reverse ? [COLOURS[0], COLOURS[style.colour]] : [COLOURS[style.colour], "transparent"];
        const escaped = part.replace(/[\x0e\x0f]/g, "").replace(/&/g, "&amp;").replace(/</g, "&lt;");
        return `<span style="color:${ink};background:${paper}${style.bold ? ";font-weight:bold" : ""}">${escaped}</span>`;
    });
    const page = `margin:0;padding:14px;background:${COLOURS[0]};font:15px/18px 'DejaVu Sans Mono',monospace`;
    return `<!doctype html><meta charset="utf-8"><body style="${page}"><pre style="margin:0;font:inherit">${spans.join("")}</pre>`;
}

export class Recorder {
    constructor(build, folder) {
        this.build = resolve(build);
        this.command = join(this.build, "gpu-tracker");
        this.folder = folder;
    }

    #path(...names) {
        return join(this.folder, ...names);
    }

    /** Tracks a command; the promise ends with it. */
    async #track(file, command, { environment = {}, options = [], cwd = this.folder } = {}) {
        const parameters = ["run", "-q", "--st", "0.05", "--tf", this.#path(file), "--overwrite", ...options, "--", ...command];
        const [status] = await once(spawn(this.command, parameters, { cwd, env: { ...process.env, ...environment }, stdio: ["ignore", "ignore", "inherit"] }), "exit");
        if (status !== 0) throw new Error(`${command.join(" ")} ended with ${status}`);
    }

    #report(name, ...sessions) {
        const file = this.#path(`${name}.html`);
        execFileSync(this.command, ["report", ...sessions, "-o", file], { cwd: this.folder });
        return file;
    }

    /** The live view of a program whose workers wait for a CPU, in tmux, as a page. */
    async live() {
        writeFileSync(this.#path("train.py"), [
            "import multiprocessing, os, sys, time", "def burn():", "    while True: sum(range(10**5))", "def store():", "    while True:",
            "        with open('checkpoint', 'wb') as file:", "            file.write(os.urandom(1 << 20)); file.flush(); os.fsync(file.fileno())",
            "kept = []", "for worker in [burn] * (os.cpu_count() + 1) + [store]:", "    multiprocessing.Process(target=worker, daemon=True).start()",
            "for step in range(300):", "    kept.append(bytearray(4 << 20))",
            "    print(f'step {step:3}  loss {2 / (step + 1) ** 0.3:.3f}', flush=True)", "    time.sleep(0.2)"].join("\n"));
        const tmux = (...words) => execFileSync("tmux", ["-L", `gput-${process.pid}`, ...words], { cwd: this.folder, encoding: "utf8", env: { ...process.env, LC_ALL: "C.UTF-8" } });
        tmux("-f", "/dev/null", "new-session", "-d", "-x", "132", "-y", "34", `${this.command} run --live -- python3 train.py`);
        await new Promise((resolve) => setTimeout(resolve, 45_000));
        const text = tmux("capture-pane", "-p", "-e");
        tmux("kill-server");
        const file = this.#path("live.html");
        writeFileSync(file, terminalPage(text));
        return file;
    }

    /** A build: make compiles a part of this project, by two compilers at a time. */
    async run() {
        const file = this.#path("run.html");
        const flags = `-std=gnu17 -O2 -I ${ROOT}/src -I ${ROOT}/include -D_GNU_SOURCE -DGPUT_VERSION='"1"'`;
        writeFileSync(this.#path("Makefile"), [
            `objects = $(patsubst ${ROOT}/src/base/%.c,%.o,$(wildcard ${ROOT}/src/base/*.c))`,
            "libbase.a: $(objects)", "\tar rcs $@ $^", `%.o: ${ROOT}/src/base/%.c`, `\tcc ${flags} -c $< -o $@`, ""].join("\n"));
        await this.#track("run.sqlite", ["make", "-j2"], { options: ["--processes", "--report", file] });
        return file;
    }

    /** Threads of five processes that mark what they do. */
    async codeBlocks() {
        const file = this.#path("blocks.html");
        await this.#track("blocks.sqlite", [join(this.build, "examples", "mark-blocks"), "4"], { options: ["--processes", "--report", file], environment: { GPUT_BLOCKS_FILE: this.#path("marks-%p.gputblocks") } });
        return file;
    }

    /** One program with lists and with arrays, which need a quarter of the RAM; five runs of each in turn. */
    async comparison() {
        const program = (kind) => `import array, random\nrandom.seed(1)\nfor step in range(4):\n    data = ${kind}(random.random() for _ in range(1_200_000))\n    total = sum(data)\n    del data\n`;
        const kinds = { lists: program("list"), arrays: program("(lambda rows: array.array('d', rows))") };
        const sessions = [];
        for (let run = 0; run < 5; run++) {
            for (const [name, text] of Object.entries(kinds)) {
                await this.#track(`${name}${run}.sqlite`, ["python3", "-c", text]);
                sessions.push(`${name}=${name}${run}.sqlite`);
            }
        }
        return this.#report("comparison", ...sessions.sort((a, b) => (a.startsWith("l") ? 0 : 1) - (b.startsWith("l") ? 0 : 1)));
    }

    /** Eight processes of one job; one has three times the work. They sleep most of the time, as they share the machine. */
    async ranks() {
        mkdirSync(this.#path("job"), { recursive: true });
        const program = "import sys, time\nrank = int(sys.argv[1])\nheld = []\nfor step in range(20):\n    sum(range(300_000 * (3 if rank == 5 else 1)))\n    held.append(bytearray(4_000_000 + 150_000 * rank))\n    time.sleep(0.2 if rank == 5 else 0.15)\n";
        await Promise.all(Array.from({ length: 8 }, (_, rank) => this.#track(join("job", `solve.r${rank}.sqlite`), ["python3", "-c", program, String(rank)])));
        return this.#report("ranks", "job");
    }

    /** A trace of PyTorch's form, made up. */
    trace() {
        writeTrace(this.#path("train.json"));
        return this.#report("trace", "train.py, an example=train.json");
    }

    /** A training profile of SageMaker Debugger's form, made up. */
    training() {
        writeProfile(this.#path("profile"));
        return this.#report("training", "train.py on four GPUs, an example=profile");
    }

    /** Power of a simulated machine: counters of two packages with their memory, and of a GPU. */
    async power() {
        const counters = this.#simulatedCounters({ "intel-rapl:0": ["package-0", 38, 92], "intel-rapl:0:0": ["dram", 5, 11], "intel-rapl:1": ["package-1", 35, 64], "intel-rapl:1:0": ["dram", 5, 8] });
        const steps = "hold 2000000000 busy 40 2000 wait 700 busy 95 2500 wait 500 busy 70 2500 wait 600 busy 100 2200 release wait 400";
        const environment = { ...process.env, ...this.#simulatedGpu(), GPUT_SYSFS: this.#path("sys") };
        const parameters = ["energy", "record", "--output-folder", "energy", "--measurement-period", "0.2", "--cmd", `gpu-load ${steps}`];
        const [status] = await once(spawn(this.command, parameters, { cwd: this.folder, env: environment, stdio: ["ignore", "ignore", "inherit"] }), "exit");
        if (status !== 0) throw new Error(`gpu-load ended with ${status}`);
        clearInterval(counters);
        return this.#report("power", "Power of a simulated machine=energy");
    }

    /** Zones of RAPL as files, moved between two powers in watts as something worked and rested. */
    #simulatedCounters(zones) {
        const moved = Object.entries(zones).map(([zone, [name, low, high]]) => {
            const folder = this.#path("sys", "class", "powercap", zone);
            mkdirSync(folder, { recursive: true });
            writeFileSync(join(folder, "name"), `${name}\n`);
            writeFileSync(join(folder, "max_energy_range_uj"), "262143328850\n");
            const energy = join(folder, "energy_uj");
            writeFileSync(energy, `${"0".padStart(20, "0")}\n`);
            return { file: openSync(energy, "r+"), low, high, joules: 0 };
        });
        const begin = performance.now();
        let last = begin;
        return setInterval(() => {
            const now = performance.now();
            const phase = ((now - begin) / 1000) % 3;
            const share = phase < 2.4 ? 0.75 + 0.2 * Math.sin(now / 170) : 0.08;
            for (const counter of moved) {
                counter.joules += ((now - last) / 1000) * (counter.low + (counter.high - counter.low) * share);
                writeSync(counter.file, `${String(Math.round(counter.joules * 1e6)).padStart(20, "0")}\n`, 0);
            }
            last = now;
        }, 5);
    }

    #simulatedGpu() {
        writeFileSync(this.#path("scenario.txt"), "driver 580.1\ngpu GPU-simulated\nsimulated\n");
        return {
            GPUT_NVML: join(this.build, "tests", "fake-nvml", "libfake-nvml.so"),
            GPU_CHECK_CUDA: join(this.build, "tests", "fake-nvml", "libfake-cuda.so"),
            FAKE_NVML_SCENARIO: this.#path("scenario.txt"),
            FAKE_GPU_STATE: this.#path("gpu-state"),
            PATH: `${join(this.build, "tools", "gpu-check")}:${process.env.PATH}`,
        };
    }

    /** Memory and kernels of two processes on a GPU that is not there. */
    async gpu() {
        const environment = this.#simulatedGpu();
        const steps = "hold 2000000000 busy 30 2000 hold 3000000000 busy 90 3000 release busy 60 1500 hold 6000000000 busy 100 1500 release wait 500";
        await this.#track("gpu.sqlite", ["gpu-load", ...steps.split(" ")], { environment, options: ["--processes"] });
        return this.#report("gpu", "gpu-load on a simulated GPU=gpu.sqlite");
    }
}
