#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Learns, as threads and as ranks: own_kernel.sh ranks PROGRAM LAUNCHER...
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
program=$2
launcher=("${@:3}")  # without the number of ranks
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$program" >"$folder/threads"
for ranks in 2 4; do
  "${launcher[@]}" "$ranks" "$program" >"$folder/$ranks"
  awk '$1 == 600 {last = $2} END {exit !(last > 0 && last < 0.05)}' "$folder/$ranks"
done
cmp "$folder/threads" "$folder/2"  # one mesh, the same bits
cat "$folder/2"
