#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The solver with a guest says the same on 1, 2, 4, 5 and 6 ranks, learns, and copies nothing: in_solver.sh ranks PROGRAM LAUNCHER...
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
program=$2
launcher=("${@:3}")  # without the number of ranks
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for ranks in 1 2 4 5 6; do  # 5 do not divide the field
  "${launcher[@]}" "$ranks" "$program" >"$folder/$ranks"
  cmp "$folder/1" "$folder/$ranks"
done
cat "$folder/1"
awk 'NR == 1 {first = $2} $1 == 300 {last = $2} END {exit !(last > 0 && last < first / 1000)}' "$folder/1"
grep -qx '0 bytes of the fields were copied' "$folder/1"
