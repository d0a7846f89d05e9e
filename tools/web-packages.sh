#!/bin/sh
# Installs the npm packages of web/ unless they are there: those that build the page, with --tests those of its tests too.
set -eu
web=$(cd "$(dirname "$0")/../web" && pwd)

command -v node >/dev/null && command -v npm >/dev/null || {
    echo "The page of HTML reports needs Node.js and npm: tools/install-deps.sh --report installs them." >&2
    exit 1
}
[ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || {
    echo "The page of HTML reports needs Node.js 18 or newer; this is $(node --version)." >&2
    exit 1
}
# A copy of the lock file inside node_modules says what is installed; the packages of the tests include the others.
with_tests="$web/node_modules/.with-tests"
without_tests="$web/node_modules/.without-tests"
cmp -s "$web/package-lock.json" "$with_tests" && exit 0
case "${1:-}" in
--tests) stamp=$with_tests omit= ;;
*) stamp=$without_tests omit=--omit=dev ;;
esac
cmp -s "$web/package-lock.json" "$stamp" && exit 0
# No script of a package runs: the bundler is a binary that comes with its package.
npm ci --prefix "$web" $omit --ignore-scripts --no-audit --no-fund --loglevel=error >&2
cp "$web/package-lock.json" "$stamp"
