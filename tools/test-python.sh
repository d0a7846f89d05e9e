#!/bin/sh
# Runs the tests of the Python package with everything that it works together with: test-python.sh BUILD
# The environment is kept below BUILD.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
environment=$build/python-environment
[ -x "$environment/bin/python" ] || python3 -m venv "$environment"
"$environment/bin/pip" install --quiet pandas ipython ipykernel nbclient nbformat pexpect pytest pytest-xdist pyarrow polars duckdb mypy \
    matplotlib pytest-mock deepdiff sqlalchemy

export GPUT_SOURCE="$source" GPUT_BUILD="$build" GPUT_COMMAND="$build/gpu-tracker" PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
status=0
for test in "$source"/tests/python/test_*.py; do
    "$environment/bin/python" "$test" >>"$log" 2>&1 || { status=1; echo "failed: $test" >&2; }
done

# The old package's own tests of what both packages have.
old=$environment/gpu_tracker-5.0.1
[ -d "$old" ] || {
    "$environment/bin/pip" download --quiet --no-deps --no-binary gpu-tracker --dest "$environment" gpu-tracker==5.0.1
    tar -xzf "$old.tar.gz" -C "$environment"
}
(cd "$old" && PYTHONPATH="$PYTHONPATH:$source/tests/python:tests" "$environment/bin/python" -m pytest -q -p old_package \
    -p no:cacheprovider tests/test_sub_tracker.py tests/test_tracker.py \
    -k "analysis or combine or comparison or errors or overwrite or state or formatting") || status=1

grep -A 30 '^not ok' "$log" || true
echo "$(grep -c '^ok' "$log") passed, $(grep -c '^not ok' "$log") failed, $(grep -c '^ok.*# SKIP' "$log") skipped"
exit $status
