#!/bin/sh
# Builds the page of HTML reports (web/) with Node.js 18 or newer and npm: report-page.sh [FILE]
# FILE is web/dist/report.html if not given. What was installed below web/ is kept and used again.
set -eu
web=$(cd "$(dirname "$0")/../web" && pwd)
target=${1:-$web/dist/report.html}

command -v node >/dev/null && command -v npm >/dev/null || {
    echo "The page of HTML reports needs Node.js and npm: tools/install-deps.sh --report installs them." >&2
    exit 1
}
[ "$(node -p 'parseInt(process.versions.node)')" -ge 18 ] || {
    echo "The page of HTML reports needs Node.js 18 or newer; this is $(node --version)." >&2
    exit 1
}
# The lock file that node_modules was made from is kept inside it.
if ! cmp -s "$web/package-lock.json" "$web/node_modules/.installed-from"; then
    # No script of a package runs: the bundler is a binary that comes with its package.
    npm ci --prefix "$web" --omit=dev --ignore-scripts --no-audit --no-fund --loglevel=error >&2
    cp "$web/package-lock.json" "$web/node_modules/.installed-from"
fi
exec node "$web/build.mjs" "$target"
