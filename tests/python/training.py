"""A small training run as SageMaker's profiler records it, with figures that are known."""

import cProfile
import json
import os

BEGIN_US = 1600000000000000  # 2020-09-13T12:26:40
TRAIN, EVAL = "Step:ModeKeys.TRAIN", "Step:ModeKeys.EVAL"
#: phase, begin, end; the step's number is the place
STEPS = [(TRAIN, 1.0, 2.0), (TRAIN, 2.0, 2.5), (EVAL, 3.0, 3.2), (TRAIN, 4.0, 6.0)]
GETNEXT = [0.1, 0.1, 0.05, 0.4]
WORKERS = [0.1, 0.1, 0.5]
CPU = [10.0 * i for i in range(10)]
GPU = [95.0, 95.0, 50.0, 50.0, 5.0, 5.0, 5.0, 90.0, 10.0, 0.0]


def write_training(root="run"):
    """Two files: a reading of each device every second from 0.5 s on, and the events of one process."""
    _write_system(os.path.join(root, "system/incremental/2020091312"))
    _write_events(os.path.join(root, "framework/pevents/2020091312"))
    return root


def _write_system(folder):
    os.makedirs(folder)
    with open(os.path.join(folder, f"{BEGIN_US // 1000000}.algo-1.json"), "w") as file:
        for i, (cpu, gpu) in enumerate(zip(CPU, GPU)):
            node = {"NodeId": "algo-1", "Timestamp": BEGIN_US / 1e6 + 0.5 + i}
            print(json.dumps({"Type": "cpu", "Name": "cpu0", "Dimension": "CPUUtilization", "Value": cpu} | node), file=file)
            print(json.dumps({"Type": "gpu", "Name": "gpu0", "Dimension": "GPUUtilization", "Value": gpu} | node), file=file)


def _write_events(folder):
    os.makedirs(folder)
    phases = {TRAIN: 1, EVAL: 2, "Forward-node": 3, "DataIterator": 4, "DataLoaderIterInitialize": 5, "DataLoaderWorker": 6}
    events = [
        {"name": "process_name", "ph": "M", "pid": 0, "args": {"start_time_since_epoch_in_micros": BEGIN_US}},
        *({"name": "process_name", "ph": "M", "pid": pid, "args": {"name": phase}} for phase, pid in phases.items()),
    ]

    def add(phase, name, begin, seconds, **args):
        times = {"ts": round(begin * 1e6), "dur": round(seconds * 1e6)}
        events.append({"name": name, "ph": "X", "pid": phases[phase], "tid": 7} | times | {"args": {"pid": 27} | args})

    for number, (phase, begin, end) in enumerate(STEPS):
        add(phase, phase, begin, end - begin, step_num=str(number))
        add("DataIterator", "DataLoaderIter::GetNext", begin + 0.01, GETNEXT[number], worker_id=number % 2)
        add("Forward-node", "Forward", begin + 0.1, 0.05, layer_name="conv<1>", bytes_fetched=4096)
    kind = "_MultiProcessingDataLoaderIter.__init__"
    add("DataLoaderIterInitialize", kind, 1.001, 0.001, num_workers=2, pin_memory=True)
    for worker, seconds in enumerate(WORKERS):
        add("DataLoaderWorker", "DataLoaderWorker", 1.002, seconds, worker_id=worker)
    with open(os.path.join(folder, f"{BEGIN_US + 6000000}_27-algo-1_pythontimeline.json"), "w") as file:
        json.dump(events, file)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def write_dumps(root="run"):
    """Dumps of cProfile of four stretches of a run on one node, and of one on another. Returns the folder of the profiler."""
    folder = os.path.join(root, "framework/pytorch/cprofile")
    for node, name, n in (
        ("27-algo-1", "prestepzero-*-start-1000000_train-0-stepstart-2000000", 3),
        ("27-algo-1", "train-0-stepstart-2000000_train-0-forwardpassend-3000000", 5),
        ("27-algo-1", "train-1-stepstart-4000000_train-2-stepend-6000000", 8),
        ("27-algo-1", "eval-3-stepend-7000000_posthookclose-*-end-8000000.5", 2),
        ("31-algo-2", "train-1-stepstart-4000001_train-2-stepend-6000001", 9),
    ):
        path = os.path.join(folder, node, name)
        os.makedirs(path)
        profiler = cProfile.Profile()
        profiler.runcall(lambda: [factorial(n), json.dumps({"n": n})])
        profiler.dump_stats(os.path.join(path, "python_stats"))
    return folder
