#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The common options of a program alone and under a launcher: options.sh PROGRAM LAUNCHER...
#
# Text comes once for all ranks. A mistake is one line and exit code 2, and a mesh that does not fit is one line and 1.
set -uo pipefail
program=$1
shift
out=$(mktemp)
trap 'rm -f "$out" "$out".*' EXIT
failed=0
fail() {
  echo "FAILED: $*"
  cat "$out" "$out.err"
  failed=1
}
# says CODE FILE PATTERN COMMAND...: the exit code, and one line of the file that matches.
says() {
  local code=$1 file=$2 pattern=$3
  shift 3
  "$@" >"$out" 2>"$out.err"
  local got=$?
  [ $got -eq "$code" ] || fail "$*: exit code $got, not $code"
  [ "$(grep -c -- "$pattern" "$file")" -eq 1 ] || fail "$*: not one line with '$pattern'"
}

name=$(basename "$program")
for launcher in '' "$*"; do
  says 0 "$out" "^usage: $name \[options\]$" $launcher "$program" --help
  says 0 "$out" '^meshtensor [0-9.]*$' $launcher "$program" --version
  says 2 "$out.err" "^$name: it has no option '--mehs'; did you mean '--mesh'?; $name --help lists the options$" $launcher "$program" --mehs data=2
  says 1 "$out.err" 'meshtensor S04: .*the mesh has no such axis; it has: data, model; --mesh or MESHTENSOR_MESH asks for it' $launcher "$program" --mesh lines=2
done
exit $failed
