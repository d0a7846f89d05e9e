#!/bin/sh
# Runs every benchmark of a build folder: run.sh BUILD
set -eu
bench=$1/bench

title() {
    printf '\n== %s\n' "$*"
}

title "Marks of code blocks"
"$bench/bench-marks"
title "GPUs: one sample"
"$bench/bench-gpu-sample" "$bench/libbench-fake-nvml.so"
title "GPUs: clients of graphics cards"
"$bench/bench-gpu-fdinfo"
