#!/bin/sh
# Makes the documentation site in FOLDER/site with mkdocs, of PyPI; a link that leads nowhere is an error: make-site.sh FOLDER
# Exits with 77 where mkdocs cannot be installed; FOLDER/log says more.
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
[ -x "$folder/python/bin/mkdocs" ] || {
    { python3 -m venv "$folder/python" && "$folder/python/bin/pip" install mkdocs==1.6.1 mkdocs-material==9.8.1; } >"$folder/log" 2>&1 || {
        echo "make-site.sh: skipped: mkdocs cannot be installed here (is there a network, and python3-venv?): $folder/log" >&2
        exit 77
    }
}
python3 "$source/tools/make-site.py" "$folder"
NO_MKDOCS_2_WARNING=1 "$folder/python/bin/mkdocs" build --quiet --strict --config-file "$folder/mkdocs.yml"
echo "$folder/site/index.html"
