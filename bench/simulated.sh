#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# An all_reduce on a simulated network (SimGrid's SMPI: libsimgrid-dev), each host 10 µs and 10 Gbit/s from one switch,
# beside SMPI's own algorithms; the last line is the ratio to the best of them. The arithmetic of the sums counts
# nothing on either side.
#
#   bench/simulated.sh [RANKS, 64] [BYTES, 1024]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/simulated/hosts.sh
ranks=${1:-64} bytes=${2:-1024}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

describe_hosts "$work" "$ranks" 1.25GBps 10us
smpicxx -std=c++20 -O1 -I include bench/simulated/all_reduce.cpp -lfmt -o "$work/all_reduce"

ours='' best=''
for algorithm in rdb redbcast lr rab rab1 rab2 rab_rdb smp_binomial smp_rdb smp_rsag smp_rsag_lr smp_rsag_rab mpich ompi impi; do
  line=$(simulate "$work" "$ranks" --cfg=smpi/allreduce:"$algorithm" \
    "$work/all_reduce" "$bytes" ${ours:+theirs} 2>&1) || { echo "$algorithm: fails"; continue; }
  [[ $line == *WRONG* ]] && { echo "$line" >&2; exit 1; }
  [ -n "$ours" ] || { ours=$(sed 's/.*ranks: \([0-9.]*\) s.*/\1/' <<<"$line"); echo "meshtensor: $ours s"; }
  theirs=$(sed 's/.*library \([0-9.]*\) s.*/\1/' <<<"$line")
  echo "$algorithm: $theirs s"
  best=$(awk -v a="$theirs" -v b="${best:-$theirs}" 'BEGIN { print a < b ? a : b }')
done
awk -v a="$ours" -v b="$best" 'BEGIN { printf "%.2f x the best\n", a / b }'
