#!/bin/sh
# Runs a command and shows its output only if it fails.
output=$("$@" 2>&1) && exit
status=$?
printf '%s\n' "$output" >&2
exit "$status"
