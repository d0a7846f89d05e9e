#!/bin/sh
# Makes a static library in which only the exported (gput_) names are global, so that it cannot clash
# with the names of a program that links it: public-archive.sh LD OBJCOPY INPUT.a OUTPUT.a
set -eu
linker=$1 objcopy=$2 input=$3 output=$4
object=$output.o
"$linker" -r --whole-archive "$input" -o "$object"
"$objcopy" --localize-hidden "$object"
rm -f "$output"
"${AR:-ar}" rcs "$output" "$object"
rm -f "$object"
