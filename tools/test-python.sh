#!/bin/sh
# Runs the tests of the Python package with everything that it works together with: test-python.sh BUILD
# The environment is kept below BUILD.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
environment=$build/python-environment
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/pip" install --quiet pandas ipython ipykernel nbclient nbformat pytest pyarrow polars duckdb mypy

export GPUT_SOURCE="$source" GPUT_BUILD="$build" GPUT_COMMAND="$build/gpu-tracker" PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
for test in "$source"/tests/python/test_*.py; do
    "$environment/bin/python" "$test" >>"$log" 2>&1 || { status=1; echo "failed: $test" >&2; }
done
"$environment/bin/mypy" --strict "$source/tests/python/typed.py" || status=1
grep -A 30 '^not ok' "$log" || true
echo "$(grep -c '^ok' "$log") passed, $(grep -c '^not ok' "$log") failed, $(grep -c '^ok.*# SKIP' "$log") skipped"
exit $status
