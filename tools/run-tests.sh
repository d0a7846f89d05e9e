#!/bin/sh
# Runs the tests of a build folder and ends with "N passed, N failed": run-tests.sh BUILD [meson test option…]
set -eu
build=$1
shift
meson test -C "$build" --no-rebuild --print-errorlogs "$@" || failed=yes
python3 - "$build/meson-logs" <<'PY'
import json, pathlib, re, sys

logs = sorted(pathlib.Path(sys.argv[1]).glob("testlog*.json"), key=lambda path: path.stat().st_mtime)
passed = failed = skipped = 0
for line in logs[-1].read_text().splitlines():
    test = json.loads(line)
    lines = [l for l in test.get("stdout", "").splitlines() if re.match(r"(not )?ok\b", l)]
    bad = sum(l.startswith("not ok") for l in lines)
    skip = sum("# SKIP" in l for l in lines)
    if not bad and test["result"] not in ("OK", "EXPECTEDFAIL", "SKIP"):
        bad = 1  # died, timed out or printed nothing
    failed += bad
    skipped += skip
    passed += sum(l.startswith("ok") for l in lines) - skip
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(1 if failed or not passed else 0)
PY
[ -z "${failed-}" ]
