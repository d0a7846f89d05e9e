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
