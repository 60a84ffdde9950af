#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program of which the compiler has made everything: transformer_static.sh PART PROGRAM...
#
#   same PROGRAM OTHER       OTHER, for which every pass runs at start-up, gives the same losses, bit for bit; they fall
#   alone PROGRAM OTHER NM   the program has no pass, no planner, no interpreter, no list of instructions and no engine
#                            that reads one; OTHER has each of these
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
part=$1 program=$2 other=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

case $part in
  same)
    "$program" >"$folder/here"
    "$other" >"$folder/there"
    cmp "$folder/here" "$folder/there"
    cat "$folder/here"
    python3 - "$folder/here" <<'PYTHON'
import sys
losses = [float.fromhex(line) for line in open(sys.argv[1])]
assert len(losses) == 20 and 5 < losses[0] < 7 and losses[-1] < losses[0] / 2, losses
PYTHON
    ;;
  alone)
    "$4" -C "$program" >"$folder/here"
    "$4" -C "$other" >"$folder/there"
    passes='select|differentiate|save_or_recompute|simplify|partition|slice_collectives|inline_composites|fuse|overlap_collectives|schedule|plan_memory|lower|verify|verify_waits|verify_plan|check_early'
    words="meshtensor::($passes)(\\(|<)|meshtensor::detail::(partitioner|planner|grouping)|interpreter|block_run|block_translator"
    reader='list_instructions|instruction_lister|engine<.*>::(do_at|run_at)\('
    if grep -E "$words|$reader" "$folder/here"; then exit 1; fi
    grep -cE "$words" "$folder/there"
    for word in instruction_lister 'engine<.*>::do_at\(' 'engine<.*>::run_at\('; do grep -qE "$word" "$folder/there"; done
    grep -qE 'engine<meshtensor::device_of_code<.*>::run_body<' "$folder/here"
    ;;
esac
