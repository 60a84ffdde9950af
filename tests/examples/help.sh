#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `--help` of an example: help.sh PROGRAM SOURCES WORDS...
#
# Ends with 0 and nothing on standard error. Names every option that SOURCES declare, and has WORDS. `--version` is a line.
set -uo pipefail
program=$1 sources=$2
shift 2
out=$(mktemp)
trap 'rm -f "$out" "$out".*' EXIT
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}

"$program" --help >"$out" 2>"$out.err"
code=$?
[ $code -eq 0 ] || fail "exit code $code"
grep -v 'warning R19' "$out.err" && fail 'standard error has more than the warning R19'
for words in "$(basename "$program")" "$@"; do
  grep -qF -- "$words" "$out" || fail "no '$words'"
done
options=$(grep -hoE '"--[a-z-]+' "$sources"/*.cpp 2>/dev/null | tr -d '"' | sort -u)
for option in $options; do
  grep -qE -- "(^|[ ,])$option\b" "$out" || fail "no option $option"
done
[[ $("$program" --version 2>/dev/null) =~ ^meshtensor\ [0-9]+\.[0-9]+\.[0-9]+$ ]] || fail '--version prints no version'
[ "$failed" -eq 0 ] || cat "$out"
exit $failed
