#!/bin/sh
# Installs what is built, and says where it is and what else is needed to use it: install.sh BUILD PREFIX LIBDIR
# As root the run-time linker learns of the library. With DESTDIR, for packages, nothing outside of that folder changes.
set -eu
build=$1 prefix=$2 libdir=$3
grep -qxF "prefix=$prefix" "$build/meson-private/gputracker.pc" && grep -qxF "libdir=\${prefix}/$libdir" "$build/meson-private/gputracker.pc" || {
    meson configure "$build" --prefix="$prefix" --libdir="$libdir"
    "$(dirname "$0")/compile.sh" "$build" product
}
meson install -C "$build" --no-rebuild --quiet --tags runtime,devel,man
[ -z "${DESTDIR:-}" ] || exit 0

case :$PATH: in
*:"$prefix/bin":*) echo "Installed $prefix/bin/gpu-tracker. Try: gpu-tracker run -- make" ;;
*) echo "Installed $prefix/bin/gpu-tracker. Add $prefix/bin to your PATH." ;;
esac
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" -ne 0 ] || ldconfig
ldconfig -p | grep -q "$prefix/$libdir/libgputracker\.so\.1\$" ||
    echo "C programs that link the library find it by LD_LIBRARY_PATH=$prefix/$libdir and PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig."
