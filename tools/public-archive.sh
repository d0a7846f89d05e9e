#!/bin/sh
# Makes a static library in which only the exported (gput_) names are global, so that it cannot clash
# with the names of a program that links it: public-archive.sh OBJCOPY INPUT.a OUTPUT.a LINKER [OPTION…]
set -eu
objcopy=$1 input=$2 output=$3
shift 3
object=$output.o
"$@" "$input" -o "$object"
"$objcopy" --localize-hidden "$object"
rm -f "$output"
"${AR:-ar}" rcs "$output" "$object"
rm -f "$object"
