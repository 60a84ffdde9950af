#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `--device` of the examples that have no other option: devices.sh PART PROGRAM [PYTHON]
#
#   says      lists what is here; a device that PROGRAM was not built for, and what it does not understand, is one sentence
#   runs      PROGRAM, built for PJRT plugins, has the losses of its first device on the plugin for processors
#   on_pjrt   PROGRAM learns there what it checks itself
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
source "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"
part=$1 program=$2
err=$(mktemp)
trap 'rm -f "$err" "$err".*' EXIT
failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
# refused CODE WORDS ARGUMENTS...: ends with this code and one line on standard error that has these words.
refused() {
  local code=$1 words=$2 got
  shift 2
  "$program" "$@" >/dev/null 2>"$err"
  got=$?
  [ $got -eq "$code" ] || fail "$*: exit code $got, not $code"
  [ "$(grep -vc 'warning R19' "$err")" -eq 1 ] || fail "$*: not one line: $(cat "$err")"
  grep -qF -- "$words" "$err" || fail "$*: no '$words' in: $(cat "$err")"
}

case $part in
  says)
    words=()
    [ "$(basename "$program")" != digits ] || words=(images labels)
    refused 2 "--device: 'gpu' is none of cpu, reference, cuda, pjrt, pjrt:PATH and list" "${words[@]}" --device gpu
    refused 2 '--device needs a name' "${words[@]}" --device
    refused 2 "'--colour' is not understood" "${words[@]}" --colour red
    refused 1 "R76: this program was not built for the device 'cuda': configure with" "${words[@]}" --device=cuda
    "$program" --device list >"$err.list" 2>/dev/null || fail 'no list'
    for device in cpu reference cuda pjrt; do grep -q "^$device " "$err.list" || fail "no $device in: $(cat "$err.list")"; done
    grep -q '^cuda .*not built for it' "$err.list" || fail "cuda is said to be there: $(cat "$err.list")"
    "$program" --help | grep -q -- '--device NAME' || fail 'no help'
    ;;
  runs)
    find_plugin "$3"
    "$program" >"$err.first" 2>"$err" || fail "it fails by itself: $(cat "$err")"
    "$program" --device "pjrt:$plugin" >"$err.pjrt" 2>"$err" || fail "it fails on the plugin: $(cat "$err" "$err.pjrt")"
    # The same line of both: `2 ranks, step 39: loss 0.7012, …`. Losses are within 0.002 of each other.
    awk 'NR == FNR {if (match($0, /loss [0-9.]+/)) was[substr($0, 1, RSTART)] = substr($0, RSTART + 5, RLENGTH - 5); next}
         match($0, /loss [0-9.]+/) {d = substr($0, RSTART + 5, RLENGTH - 5) - was[substr($0, 1, RSTART)]; ++n; if (d > 0.002 || d < -0.002) {print; wrong = 1}}
         END {exit wrong || n < 4}' "$err.first" "$err.pjrt" || fail "other losses: $(cat "$err.first" "$err.pjrt")"
    ;;
  on_pjrt)
    find_plugin "$3"
    "$program" --device "pjrt:$plugin" >"$err.pjrt" 2>"$err" || fail "it fails on the plugin: $(cat "$err" "$err.pjrt")"
    cat "$err.pjrt"
    grep -q 'loss' "$err.pjrt" || fail 'no losses'
    ;;
esac
[ $failed -eq 0 ]
