#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The solver with a guest says the same on 1, 2, 4 and 6 ranks, learns, and copies nothing: in_solver.sh ranks PROGRAM LAUNCHER...
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
program=$2
launcher=("${@:3}")  # without the number of ranks
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for ranks in 1 2 4 6; do
  "${launcher[@]}" "$ranks" "$program" >"$folder/$ranks"
  cmp "$folder/1" "$folder/$ranks"
done
cat "$folder/1"
awk 'NR == 1 {first = $2} $1 == 300 {last = $2} END {exit !(last > 0 && last < first / 1000)}' "$folder/1"
grep -qx '0 bytes of the fields were copied' "$folder/1"

# A grid that does not divide the field is refused on all ranks.
if "${launcher[@]}" 5 "$program" >"$folder/out" 2>"$folder/err"; then exit 1; fi
grep -q "meshtensor S02: dim 'y' (48) is sharded over mesh axis 'down' (5 processors)" "$folder/err"
