#!/bin/sh
# Runs one test of the page and prints TAP: run.sh FILE.test.mjs, or run.sh types. Skipped, with the way out, where
# Node.js, Chromium or the packages of the tests are missing. run.sh --bench runs the benchmark instead.
set -eu
cd "$(dirname "$0")/.."

skip() {
    echo "1..0 # SKIP $1: make report-test-deps installs it"
    exit 0
}

command -v node >/dev/null || skip "no Node.js"
[ -d node_modules/playwright-core ] && [ -d node_modules/axe-core ] && [ -d node_modules/typescript ] || skip "no npm packages of the tests"

if [ "$1" = types ]; then
    echo 1..1
    # With what it found the last time it checks only what has changed, and what that changes.
    if report=$(node node_modules/typescript/bin/tsc --noEmit --incremental --tsBuildInfoFile "${GPUT_BUILD:?}/web-types.tsbuildinfo" 2>&1); then
        echo "ok 1 - checks the types of the page"
    else
        echo "not ok 1 - checks the types of the page"
        echo "$report" | sed 's/^/# /'
    fi
    exit 0
fi

[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || skip "no Chromium"
# The page as its sources are now, whatever was built before.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export GPUT_REPORT_PAGE="$folder/report.html"
node build.mjs "$GPUT_REPORT_PAGE"
if [ "$1" = --bench ]; then
    node tests/bench.mjs
else
    node --test-reporter=tap "tests/$1"
fi
