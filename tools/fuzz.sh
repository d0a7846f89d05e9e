#!/bin/sh
# Feeds every parser with broken input: each tests/fuzz/fuzz_NOUN.c (or only those named: fuzz.sh csv json), built by
# clang under libFuzzer and the sanitizers, runs FUZZ_SECONDS (default 20), from the fixtures on. What it learned
# is kept in build-fuzz/corpus/NOUN for the next run; input that crashes is kept in build-fuzz/crashes/NOUN.
# FUZZ_SECONDS=0 builds and links them in build-fuzz-links, without sanitizers and thus sooner, and runs none.
# Exits with 77 and the reason where clang cannot be installed.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-20}
out=build-fuzz

command -v clang >/dev/null || {
    echo "Installing: clang" >&2
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends clang llvm libclang-rt-dev; } >/dev/null 2>&1 || {
        echo "fuzz.sh: skipped: clang cannot be installed here: install the Debian packages clang, llvm and libclang-rt-dev." >&2
        exit 77
    }
}

sanitizers=address,undefined optimization=1
[ "$seconds" -gt 0 ] || { out=build-fuzz-links sanitizers=none optimization=0; }
[ -f "$out/build.ninja" ] || CC=clang meson setup "$out" -Dfuzzers=true -Db_sanitize="$sanitizers" -Db_lundef=false \
    -Doptimization="$optimization" -Dpython=disabled -Dcollectors=disabled -Dreport=disabled \
    -Dc_args='-fsanitize=fuzzer-no-link -fno-omit-frame-pointer -fno-sanitize-recover=undefined' >/dev/null
ninja -C "$out" --quiet fuzzers
[ "$seconds" -gt 0 ] || exit 0

nouns=$*
[ -n "$nouns" ] || nouns=$(ls tests/fuzz/fuzz_*.c | sed 's,.*/fuzz_\(.*\)\.c,\1,')
failed=
for noun in $nouns; do
    mkdir -p "$out/corpus/$noun" "$out/crashes/$noun"
    seeds=tests/fixtures
    [ ! -f "tests/fuzz/$noun.dict" ] || seeds="$seeds -dict=tests/fuzz/$noun.dict"
    log=$out/$noun.log
    # shellcheck disable=SC2086
    if "$out/tests/fuzz/fuzz_$noun" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$out/crashes/$noun/" "$out/corpus/$noun" $seeds >"$log" 2>&1; then
        echo "ok    $noun: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
    else
        echo "FAIL  $noun: see $log and $out/crashes/$noun/"
        tail -40 "$log"
        failed=yes
    fi
done
[ -z "$failed" ]
