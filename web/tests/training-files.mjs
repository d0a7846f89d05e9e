// What profilers of a training run write, made up: a trace of PyTorch's form with GPU kernels, and a folder of SageMaker
// Debugger's. Both are drawn with real names and plausible times, the same each time.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomOf } from "./samples.mjs";

const LAYERS = ["conv1", "layer1", "layer2", "layer3", "layer4", "fc"];
const KERNELS = {
    conv: "implicit_convolve_sgemm<__nv_bfloat16, 1024, 5, 5, 3>",
    norm: "bn_fw_tr_1C11_kernel_NCHW<__nv_bfloat16, float>",
    relu: "vectorized_elementwise_kernel<4, relu>",
    gemm: "sm90_xmma_gemm_bf16bf16_bf16f32_tn_n_tilesize128x128x64",
    dgrad: "dgrad_engine<__nv_bfloat16, 128, 6, 7, 3>",
    wgrad: "wgrad_alg0_engine<__nv_bfloat16, 512, 6, 5, 3>",
    adam: "multi_tensor_apply_kernel<FusedAdamMathFunctor>",
    reduce: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
};

/** A training loop of a few steps: the thread that launches, one of backward, the loader, and two streams of a GPU. */
class Trace {
    events = [];
    #random = randomOf(7);
    #launches = 0;
    /** When each stream is free. */
    #free = { 7: 0, 20: 0 };

    constructor() {
        this.#name("process_name", 4242, 0, "train.py");
        this.#name("process_name", 0, 0, "GPU 0");
        this.#name("process_labels", 0, 0, "GPU 0", "labels");
        for (const [tid, name] of [[1, "main"], [2, "autograd"], [3, "data loader"]]) this.#name("thread_name", 4242, tid, name);
        for (const [tid, name] of [[7, "stream 7"], [20, "stream 20"]]) this.#name("thread_name", 0, tid, name);
    }

    #name(name, pid, tid, text, key = "name") {
        this.events.push({ name, ph: "M", ts: 0, pid, tid, args: { [key]: text } });
    }

    add(cat, name, tid, ts, dur, args = {}, pid = 4242) {
        this.events.push({ ph: "X", cat, name, pid, tid, ts: Math.round(ts * 10) / 10, dur: Math.round(dur * 10) / 10, args });
    }

    between(low, high) {
        return low + (high - low) * this.#random();
    }

    /** An operator that launches a kernel; returns when the operator ended. */
    launch(operator, tid, at, kernel, busy, stream = 7) {
        const correlation = ++this.#launches;
        const took = this.between(60, 90);
        this.add("cpu_op", operator, tid, at, took, { "External id": correlation });
        this.add("cuda_runtime", "cudaLaunchKernel", tid, at + took * 0.45, took * 0.4, { correlation, "External id": correlation });
        const begin = Math.max(at + took, this.#free[stream] + 3);
        this.add("kernel", KERNELS[kernel], stream, begin, busy, { device: 0, stream, correlation, "External id": correlation }, 0);
        this.#free[stream] = begin + busy;
        return at + took + 12;
    }

    get idleFrom() {
        return Math.max(...Object.values(this.#free));
    }

    forward(from) {
        let at = from + 20;
        for (const layer of LAYERS) {
            const begin = at;
            if (layer === "fc") at = this.launch("aten::linear", 1, at + 8, "gemm", this.between(90, 120));
            else for (const [name, kernel, busy] of [["aten::cudnn_convolution", "conv", 260], ["aten::cudnn_batch_norm", "norm", 110], ["aten::relu_", "relu", 70]]) at = this.launch(name, 1, at + 8, kernel, this.between(0.9, 1.1) * busy);
            this.add("user_annotation", `forward ${layer}`, 1, begin, at - begin - 4);
        }
        return at;
    }

    backward(from) {
        let at = from + 30;
        for (const layer of [...LAYERS].reverse()) {
            const begin = at;
            for (const kernel of layer === "fc" ? ["gemm"] : ["norm", "dgrad", "wgrad"]) at = this.launch(kernel === "norm" ? "CudnnBatchNormBackward0" : kernel === "gemm" ? "AddmmBackward0" : "ConvolutionBackward0", 2, at + 8, kernel, this.between(0.9, 1.1) * (kernel === "norm" ? 120 : 290));
            this.launch("c10d::allreduce_", 2, at, "reduce", this.between(300, 420), 20);
            at += 100;
            this.add("user_annotation", `backward ${layer}`, 2, begin, at - begin - 4);
        }
        return at;
    }

    step(number, from, wait) {
        this.add("user_annotation", "enumerate(DataLoader)#next", 1, from, wait);
        const forward = from + wait + 10;
        let at = this.forward(forward);
        this.add("user_annotation", "forward", 1, forward, at - forward);
        const backward = at + 10;
        at = this.backward(backward);
        this.add("user_annotation", "loss.backward()", 1, backward, at - backward);
        const optimizer = at + 10;
        for (let i = 0; i < 3; i++) at = this.launch("aten::_fused_adam_", 1, at + 15, "adam", this.between(130, 160));
        this.add("user_annotation", "optimizer.step", 1, optimizer, at - optimizer);
        const synchronized = Math.max(at + 20, this.idleFrom);
        this.add("cuda_runtime", "cudaStreamSynchronize", 1, at + 10, synchronized - at - 10);
        this.add("user_annotation", `ProfilerStep#${number}`, 1, from, synchronized + 20 - from);
        return synchronized + 30;
    }
}

export function writeTrace(file) {
    const trace = new Trace();
    let at = 1000;
    let loaded = 600;
    for (let step = 3; step < 9; step++) {
        const wait = step === 6 ? 2600 : trace.between(120, 220);
        const ready = at + wait;
        trace.add("user_annotation", "decode and augment", 3, loaded, ready - loaded - 60);
        trace.add("user_annotation", "to pinned memory", 3, ready - 58, 50);
        loaded = ready;
        at = trace.step(step, at, wait);
    }
    writeFileSync(file, JSON.stringify({ schemaVersion: 1, deviceProperties: [{ id: 0, name: "NVIDIA H100" }], distributedInfo: { backend: "nccl", rank: 0, world_size: 8 }, displayTimeUnit: "ms", baseTimeNanoseconds: 1_790_000_000_000_000_000, traceName: "train.json", traceEvents: trace.events }));
}

const START = 1_790_000_000;
const DEVICES = ["gpu0", "gpu1", "gpu2", "gpu3", "cpu0", "cpu1", "cpu2", "cpu3"];

/** How busy a device is while a step of a phase runs, and meanwhile waits. */
function load(device, running, random) {
    const rank = Number(device.at(-1));
    if (device.startsWith("cpu")) return running ? 55 - rank * 9 + 20 * random() : 88 + 10 * random();
    return running ? 93 - (rank === 3 ? 34 : rank * 3) + 6 * random() : 6 * random();
}

/** Two minutes on four GPUs: steps of two modes, a stall of the data loader now and then, a GPU that has less to do. */
export function writeProfile(folder) {
    const random = randomOf(11);
    const micros = (seconds) => Math.round(seconds * 1e6);
    const events = [{ name: "process_name", ph: "M", pid: 0, args: { start_time_since_epoch_in_micros: micros(START) } }];
    ["Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL", "DataIterator"].forEach((name, i) => events.push({ name: "process_name", ph: "M", pid: i + 1, args: { name } }));
    const running = [];
    let at = 6;
    for (let step = 0; step < 400 && at < 118; step++) {
        const isEval = step % 110 >= 90;
        const stalls = step % 61 === 40;
        const wait = stalls ? 1.2 + random() : 0.02 + 0.02 * random();
        const busy = isEval ? 0.11 + 0.02 * random() : 0.24 + 0.03 * random() + (step % 90 === 0 ? 0.4 : 0);
        const name = isEval ? "Step:ModeKeys.EVAL" : "Step:ModeKeys.TRAIN";
        events.push({ name, pid: isEval ? 2 : 1, ph: "X", ts: micros(at), dur: micros(wait + busy), args: { pid: 11, step_num: String(step) } });
        events.push({ name: "DataLoaderIter::GetNext", pid: 3, ph: "X", ts: micros(at), dur: micros(wait), tid: 0, args: { pid: 11 } });
        running.push([at + wait, at + wait + busy]);
        at += wait + busy;
    }
    const system = [];
    for (let time = 0; time < 124; time += 0.5) {
        const share = running.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, time + 0.5) - Math.max(from, time)), 0) / 0.5;
        for (const device of DEVICES) {
            const value = time < 6 || time > at ? 3 * random() : share * load(device, true, random) + (1 - share) * load(device, false, random);
            system.push({ Type: device.slice(0, 3), Name: device, Dimension: `${device.slice(0, 3).toUpperCase()}Utilization`, Value: Math.round(Math.min(100, value) * 100) / 100, NodeId: "algo-1", Timestamp: START + time + 0.5 });
        }
    }
    const hour = "2026092113";
    for (const part of [join("system", "incremental", hour), join("framework", "pevents", hour)]) mkdirSync(join(folder, part), { recursive: true });
    writeFileSync(join(folder, "system", "incremental", hour, `${START}.algo-1.json`), system.map((line) => `${JSON.stringify(line)}\n`).join(""));
    writeFileSync(join(folder, "framework", "pevents", hour, `${micros(START + 124)}_11-algo-1_pythontimeline.json`), JSON.stringify(events));
}
