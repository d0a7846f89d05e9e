// Sessions of real programs, recorded by the built command for the pictures in docs/: each function returns a report.
// The GPU is simulated (tests/fake-nvml), and the page says so in the name of the session.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { settle } from "./browser.mjs";

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

    /** A part of this project, compiled by two compilers at a time. */
    async run() {
        const file = this.#path("run.html");
        const script = "ls src/base/*.c | xargs -P 2 -n 1 cc -std=gnu17 -O2 -I src -I include -D_GNU_SOURCE -DGPUT_VERSION='\"1\"' -c -o /dev/null";
        await this.#track("run.sqlite", ["sh", "-c", script], { cwd: ROOT, options: ["--processes", "--report", file] });
        return file;
    }

    /** Threads of five processes that mark what they do. */
    async codeBlocks() {
        const file = this.#path("blocks.html");
        await this.#track("blocks.sqlite", [join(this.build, "examples", "mark-blocks"), "4"], { options: ["--processes", "--report", file], environment: { GPUT_BLOCKS_FILE: this.#path("marks-%p.gputblocks") } });
        return file;
    }

    /** One program with lists and with arrays. */
    async comparison() {
        const program = (kind) => `import array, random\nrandom.seed(1)\nfor step in range(6):\n    data = ${kind}(random.random() for _ in range(700_000))\n    total = sum(sorted(data))\n    del data\n`;
        await this.#track("lists.sqlite", ["python3", "-c", program("list")]);
        await this.#track("arrays.sqlite", ["python3", "-c", `${program("(lambda rows: array.array('d', rows))")}`]);
        return this.#report("comparison", "lists=lists.sqlite", "arrays=arrays.sqlite");
    }

    /** Eight processes of one job; one has twice the work. */
    async ranks() {
        mkdirSync(this.#path("job"), { recursive: true });
        const program = "import sys, time\nrank = int(sys.argv[1])\nheld = []\nfor step in range(12):\n    sum(range(700_000 * (2 if rank == 5 else 1)))\n    held.append(bytearray(4_000_000 + 400_000 * rank))\n    time.sleep(0.1)\n";
        await Promise.all(Array.from({ length: 8 }, (_, rank) => this.#track(join("job", `solve.r${rank}.sqlite`), ["python3", "-c", program, String(rank)])));
        return this.#report("ranks", "job");
    }

    /** What Chromium does while it opens a report. */
    async trace(browser, report) {
        const page = await browser.chromium.newPage();
        await browser.chromium.startTracing(page, { categories: ["devtools.timeline", "blink.user_timing", "v8.execute", "cc", "toplevel"] });
        await page.goto(`file://${report}`);
        await page.waitForSelector("main h1");
        await settle(page);
        writeFileSync(this.#path("trace.json"), await browser.chromium.stopTracing());
        await page.close();
        return this.#report("trace", "Chromium opens a report=trace.json");
    }

    /** Memory and kernels of two processes on a GPU that is not there. */
    async gpu() {
        writeFileSync(this.#path("scenario.txt"), "driver 580.1\ngpu GPU-simulated\nsimulated\n");
        const environment = {
            GPUT_NVML: join(this.build, "tests", "gpu", "libfake-nvml.so"),
            GPU_CHECK_CUDA: join(this.build, "tests", "gpu", "libfake-cuda.so"),
            FAKE_NVML_SCENARIO: this.#path("scenario.txt"),
            FAKE_GPU_STATE: this.#path("gpu-state"),
            PATH: `${join(this.build, "tools", "gpu-check")}:${process.env.PATH}`,
        };
        const steps = "hold 2000000000 busy 30 2000 hold 3000000000 busy 90 3000 release busy 60 1500 hold 6000000000 busy 100 1500 release wait 500";
        await this.#track("gpu.sqlite", ["gpu-load", ...steps.split(" ")], { environment, options: ["--processes"] });
        return this.#report("gpu", "gpu-load on a simulated GPU=gpu.sqlite");
    }
}
