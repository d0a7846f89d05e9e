#!/bin/sh
# Runs a program on an NVIDIA GPU under gpu-tracker and nvidia-smi at the same time and prints both views
# as a table for docs/gpu-check.md: gpu-check.sh [COMMAND ARG…]
# Without a command it takes PyTorch, holds 1 GiB on the first GPU and multiplies for ten seconds.
set -eu
tracker=${GPU_TRACKER:-build/gpu-tracker}
[ -x "$tracker" ] || tracker=$(command -v gpu-tracker) || {
    echo "gpu-check.sh: no build/gpu-tracker here: run make first, or set GPU_TRACKER." >&2
    exit 1
}
command -v nvidia-smi >/dev/null || {
    echo "gpu-check.sh: nvidia-smi is not installed: this check compares with it." >&2
    exit 1
}
folder=$(mktemp -d)
pids=
trap 'kill $pids 2>/dev/null || true; rm -rf "$folder"' EXIT

if [ $# -eq 0 ]; then
    python3 -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null || {
        echo "gpu-check.sh: no PyTorch that sees a GPU here: name a program that uses one." >&2
        exit 1
    }
    cat >"$folder/work.py" <<'PY'
import time, torch
held = torch.ones(256 << 20, dtype=torch.float32, device="cuda")
a = torch.rand(4096, 4096, device="cuda")
end = time.time() + 10
while time.time() < end:
    a = torch.nn.functional.normalize(a @ a)
    torch.cuda.synchronize()
PY
    set -- python3 "$folder/work.py"
fi

nvidia-smi --query-gpu=uuid,name,driver_version,memory.total,memory.used,utilization.gpu,power.draw \
    --format=csv,noheader,nounits -lms 200 >"$folder/gpus" &
pids="$pids $!"
nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits -lms 200 >"$folder/processes" &
pids="$pids $!"
"$tracker" doctor
"$tracker" run --st 0.2 --gru bytes --tu seconds -f json -o "$folder/report.json" -- "$@" || echo "The program ended with status $?." >&2
sleep 0.5
kill $pids 2>/dev/null || true

python3 - "$folder" <<'PY'
import csv, json, pathlib, sys

folder = pathlib.Path(sys.argv[1])
MIB = 1 << 20


def number(text):
    try:
        return float(text)
    except ValueError:
        return None  # [N/A]


def rows(name, columns):
    with open(folder / name, newline="") as file:
        return [[cell.strip() for cell in row] for row in csv.reader(file) if len(row) == columns]


def highest(values):
    return max((value for value in values if value is not None), default=None)


def show(value, digits=0):
    return "n/a" if value is None else f"{value:.{digits}f}"


seen = rows("gpus", 7)
processes = rows("processes", 3)
report = json.loads((folder / "report.json").read_text())
print(f"\nNVIDIA driver {seen[0][2] if seen else '?'}; program ran {report['compute_time']['time']:.1f} s\n")
print("| GPU | figure | gpu-tracker | nvidia-smi |\n| --- | --- | --- | --- |")
for gpu in report.get("gpus", []):
    own = [row for row in seen if row[0] == gpu["uuid"]]
    held = {}
    for uuid, pid, used in processes:
        if uuid == gpu["uuid"] and number(used) is not None:
            held[pid] = max(held.get(pid, 0), number(used))
    for what, ours, theirs, digits in (
        ("RAM capacity, MiB", gpu["ram_capacity"] and gpu["ram_capacity"] / MIB, highest(number(row[3]) for row in own), 0),
        ("highest RAM in use, MiB", gpu["max_ram"] and gpu["max_ram"] / MIB, highest(number(row[4]) for row in own), 0),
        ("highest RAM of the program (nvidia-smi: of all programs), MiB",
         None if gpu["max_combined_ram"] is None else gpu["max_combined_ram"] / MIB, sum(held.values()) if held else None, 0),
        ("highest utilization, percent", gpu["max_utilization_percent"], highest(number(row[5]) for row in own), 0),
        ("highest power, W", gpu["max_power_watts"], highest(number(row[6]) for row in own), 1),
    ):
        print(f"| {gpu['name']} | {what} | {show(ours, digits)} | {show(theirs, digits)} |")
    if gpu.get("missing"):
        print(f"\nMissing: {gpu['missing']}")
PY
