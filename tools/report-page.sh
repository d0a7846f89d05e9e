#!/bin/sh
# Builds the page of HTML reports (web/) with Node.js 18 or newer and npm: report-page.sh [FILE]
# FILE is web/dist/report.html if not given. What was installed below web/ is kept and used again.
set -eu
web=$(cd "$(dirname "$0")/../web" && pwd)
"$(dirname "$0")/web-packages.sh"
exec node "$web/build.mjs" "${1:-$web/dist/report.html}"
