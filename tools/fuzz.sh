#!/bin/sh
# Feeds every parser with broken input: each tests/fuzz/fuzz_NOUN.c (or only those named: fuzz.sh csv json), built by
# clang with all of src/ under libFuzzer and the sanitizers, runs FUZZ_SECONDS (default 20), from the fixtures on. What it learned is kept in
# build-fuzz/corpus/NOUN for the next run; input that crashes is kept in build-fuzz/crashes/NOUN.
set -eu
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-20}
out=build-fuzz
flags="-std=gnu17 -D_GNU_SOURCE -DGPUT_VERSION=\"fuzz\" -Iinclude -Isrc -g -O1 -fno-omit-frame-pointer
    -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined"
libraries="-lpthread -lm -ldl $(pkg-config --libs jansson zlib)"

command -v clang >/dev/null || {
    echo "Installing: clang" >&2
    as_root=
    [ "$(id -u)" -eq 0 ] || as_root=sudo
    { $as_root apt-get update && $as_root apt-get install -y --no-install-recommends clang llvm libclang-rt-dev; } >/dev/null 2>&1 || {
        echo "clang cannot be installed here: install the Debian packages clang, llvm and libclang-rt-dev." >&2
        exit 1
    }
}

nouns=$*
[ -n "$nouns" ] || nouns=$(ls tests/fuzz/fuzz_*.c | sed 's,.*/fuzz_\(.*\)\.c,\1,')

# All sources once, those that changed (or whose headers may have) anew.
mkdir -p "$out/objects"
newest_header=$(find src include -name '*.h' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
sources=$(find src -name '*.c' ! -name '*_without_*.c') # those stand for parts that were left out of a build
printf '%s\n' $sources | while read -r source; do
    object=$out/objects/$(echo "$source" | tr / -).o
    if [ ! -f "$object" ] || [ "$source" -nt "$object" ] || [ "$newest_header" -nt "$object" ]; then
        echo "$source $object"
    fi
done | xargs -r -P "$(nproc)" -n 2 sh -c "clang $(echo $flags | sed 's/"/\\"/g') -c \"\$0\" -o \"\$1\" || exit 255"

objects=$(printf '%s\n' $sources | tr / - | sed "s,.*,$out/objects/&.o,")

failed=
for noun in $nouns; do
    mkdir -p "$out/corpus/$noun" "$out/crashes/$noun"
    # What it tests of the command, which is not in src/.
    of_command=
    [ "$noun" != phase_lines ] || of_command="cli/phases/brackets.c cli/phases/line_search.c cli/phases/phase_lines.c cli/phases/phase_matcher.c cli/live/code_point.c cli/message.c cli/screen.c"
    clang $flags -fsanitize=fuzzer "tests/fuzz/fuzz_$noun.c" $of_command $objects $libraries -o "$out/fuzz_$noun"
    seeds=tests/fixtures
    [ ! -f "tests/fuzz/$noun.dict" ] || seeds="$seeds -dict=tests/fuzz/$noun.dict"
    log=$out/$noun.log
    if "$out/fuzz_$noun" -max_total_time="$seconds" -rss_limit_mb=1024 -timeout=10 -print_final_stats=1 \
        -artifact_prefix="$out/crashes/$noun/" "$out/corpus/$noun" $seeds >"$log" 2>&1; then
        echo "ok    $noun: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs in $seconds s"
    else
        echo "FAIL  $noun: see $log and $out/crashes/$noun/"
        tail -40 "$log"
        failed=yes
    fi
done
[ -z "$failed" ]
