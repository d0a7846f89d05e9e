#!/bin/sh
# Runs those tests of the Python package that need pyarrow, in an environment of their own: test-arrow.sh BUILD FOLDER
# make test skips them; make test-python has them among all others.
# Exits with 77 where pyarrow cannot be installed; FOLDER/log says more.
set -eu
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$2"
folder=$(cd "$2" && pwd)
python=$folder/python/bin/python
"$python" -c "import duckdb, pandas, pyarrow" 2>"$folder/log" || {
    { python3 -m venv "$folder/python" && "$folder/python/bin/pip" install duckdb pandas pyarrow; } >"$folder/log" 2>&1 || {
        echo "test-arrow.sh: skipped: pyarrow cannot be installed here (is there a network, and python3-venv?): $folder/log" >&2
        exit 77
    }
}
export GPUT_SOURCE="$source" GPUT_BUILD="$build" GPUT_COMMAND="$build/gpu-tracker" PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1
status=0
for test in $(grep -l pyarrow "$source"/tests/python/test_*.py); do
    "$python" "$test" || { status=1; echo "failed: $test" >&2; }
done >"$folder/log" 2>&1
grep -A 30 -e '^not ok' -e '^failed: ' "$folder/log" || true
if grep -E 'SKIP (needs pyarrow|pyarrow is not)' "$folder/log"; then
    status=1
fi
echo "$(grep -v SKIP "$folder/log" | grep -c '^ok') passed, $(grep -c '^not ok' "$folder/log") failed"
exit $status
