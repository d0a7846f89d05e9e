#!/bin/sh
# Runs the benchmarks of a build folder, or only those named: run.sh BUILD [NAME…]. A few minutes; BENCH_FULL=1 takes
# its time. Ratios are what counts: compare figures of one run only. All of it is kept in BUILD/bench.tsv and
# BUILD/bench.txt.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
bench=$build/bench
export BENCH_BUILD="$PWD/$build"

# A generated trace, in a folder of its own; of 1 GB when there is time (and memory: Python takes 4 GB for it).
trace() {
    folder=$(mktemp -d)
    megabytes=200
    [ -z "${BENCH_FULL:-}" ] || megabytes=1000
    python3 bench/kineto-trace.py $megabytes "$folder/trace.json" && gzip -k "$folder/trace.json" &&
        { ! command -v zstd >/dev/null || zstd -q -k "$folder/trace.json"; } && "$bench/bench-trace" "$folder/trace.json" "$folder" ||
        { rm -rf "$folder"; return 1; }
    rm -rf "$folder"
}

analyze() {
    for names in 1 10 1000; do
        "$bench/bench-analyze" 1000000 100000 $names || return 1
    done
    [ -z "${BENCH_FULL:-}" ] || "$bench/bench-analyze" 10000000 1000000 10
}

# NAME: TITLE: COMMAND; `rows` are those that print rows as bench.h says.
regions() {
    for threads in 1 8; do
        echo "$threads threads"
        "$bench/bench-regions" "$build/collectors/libgputracker-nvtx.so" $threads
    done
}

run() {
    case $1 in
    sampling) title rows "One sample"; "$bench/bench-sampling" ;;
    session) title rows "A session"; "$bench/bench-session" ;;
    families) title rows "Families with thousands of mappings"; "$bench/bench-families" ;;
    slowdown) title rows "What the tracked program feels"; "$bench/bench-slowdown" ;;
    live) title rows "The live view"; python3 bench/live.py "$build" ;;
    python) title rows "The Python package"; python3 bench/python.py "$build" ;;
    cell) title rows "A notebook cell measured at 1 ms"; python3 bench/cell.py "$build" ;;
    suite) title rows "A suite of quick tests under pytest"; python3 bench/suite.py "$build" ;;
    repeat) title rows "Repeated runs"; python3 bench/repeat.py "$build" ;;
    peer) title rows "The Python gpu_tracker"; python3 bench/peer.py "$build" ;;
    marks) title own "Marks of code blocks"; "$bench/bench-marks" ;;
    output) title own "Output that is passed on"; python3 bench/output.py "$build" ;;
    regions) title own "Regions of an unmodified program"; regions ;;
    analyze) title own "Analysis of code blocks"; analyze ;;
    gpu-sample) title own "GPUs: one sample"; "$bench/bench-gpu-sample" "$bench/libbench-fake-nvml.so" ;;
    gpu-fdinfo) title own "GPUs: clients of graphics cards"; "$bench/bench-gpu-fdinfo" ;;
    energy-sample) title own "Energy: one sample"; "$bench/bench-energy-sample" ;;
    job) title own "Jobs of many ranks"; python3 bench/job.py "$build/gpu-tracker" ${BENCH_FULL:+10000 100000} ;;
    scaling) title own "How costs grow"; python3 bench/scaling.py "$build" ;;
    fleet) title own "Many ranks on engines"; "${BENCH_PYTHON:-python3}" bench/fleet.py "$build" ${BENCH_FULL:+64 156250 15625} ;;
    engines) title own "One large session on engines"; "${BENCH_PYTHON:-python3}" bench/engines.py "$build" ${BENCH_FULL:+1e7 1e6} ;;
    history) title own "The history"; python3 bench/history.py "$build" ${BENCH_FULL:+1000} ;;
    size) title own "What to ask for"; "$bench/bench-size" ;;
    push) title own "Metrics that are sent"; python3 bench/push.py "$build" ;;
    trace) title own "Traces as PyTorch's profiler writes them"; trace ;;
    trace-peer) title own "Traces: SageMaker Debugger's merger"; python3 bench/trace-peer.py "$build" 28 ${BENCH_FULL:+100} ;;
    report) title rows "A report in Chromium"; web/tests/run.sh --bench ;;
    *) echo "There is no benchmark $1." >&2; return 2 ;;
    esac
}

title() {
    printf '\n== %s\n' "$2"
    [ "$1" = own ] || printf 'what\tunit\tours\tagainst\ttheirs\tratio\ttarget\n'
}

# Rows of one table, its columns aligned; any other line as it is.
align() {
    awk -F '\t' '
        function flush_rows(   row, i) {
            for (row = 1; row <= rows; row++) {
                for (i = 1; i <= 7; i++)
                    printf (i == 3 || i == 5 || i == 6 ? "%" : "%-") width[i] "s%s", cell[row, i], i < 7 ? "  " : "\n"
            }
            rows = 0
            delete width
        }
        NF == 7 { rows++; for (i = 1; i <= 7; i++) { cell[rows, i] = $i; if (length($i) > width[i]) width[i] = length($i) } next }
        { flush_rows(); print }
        END { flush_rows() }'
}

: >"$build/bench.raw"
failed=
for name in ${*:-sampling session families slowdown live marks regions output analyze job trace gpu-sample gpu-fdinfo energy-sample python cell suite peer trace-peer report}; do
    echo "… $name" >&2
    run "$name" >>"$build/bench.raw" || failed="$failed $name"
done
grep "$(printf '\t')" "$build/bench.raw" | awk 'NR == 1 || !/^what\t/' >"$build/bench.tsv"
align <"$build/bench.raw" | tee "$build/bench.txt"
rm -f "$build/bench.raw"
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
