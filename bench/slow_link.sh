#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How much of what two ranks exchange is hidden behind what they compute, where the link between them is slow: two hosts
# of one machine (network namespaces), joined by a link of RATE. As root.
#
#   bench/slow_link.sh [RATE, as tc writes it: 300mbit] [ARGUMENTS of lm_step: --size lm --steps 5]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/environment.sh

rate=${1:-300mbit}
shift || true
[ $# -gt 0 ] || set -- --size lm --steps 5
build=build/quickstart
cmake --preset quickstart -DMESHTENSOR_BENCH=ON >/dev/null
cmake --build "$build" --target bench_run_lm_step -j 2 >/dev/null

here=mt-bench-$$ work=$(mktemp -d)
clean_up() {
  ip netns del "${here}-0" 2>/dev/null || true
  ip netns del "${here}-1" 2>/dev/null || true
  rm -r "$work"
}
trap clean_up EXIT
for n in 0 1; do ip netns add "${here}-$n"; done
ip -n "${here}-0" link add wire type veth peer name wire netns "${here}-1"
for n in 0 1; do
  ip -n "${here}-$n" addr add "10.77.0.$((n + 1))/24" dev wire
  ip -n "${here}-$n" link set lo up
  ip -n "${here}-$n" link set wire up
  ip netns exec "${here}-$n" tc qdisc add dev wire root tbf rate "$rate" burst 128kb latency 50ms
done

# What mpirun takes for a remote shell: the other host.
printf '#!/bin/bash\nshift\nexec ip netns exec %s-1 unshare -u bash -c "hostname %s-1; $*"\n' "$here" "$here" >"$work/shell"
chmod +x "$work/shell"
for progress in thread polls; do
  echo "link of $rate, progress by $progress:"
  MESHTENSOR_PROGRESS=$progress ip netns exec "${here}-0" unshare -u bash -c "hostname ${here}-0; exec \"\$@\"" x \
    mpirun -H 10.77.0.1:1,10.77.0.2:1 -np 2 --bind-to none -mca plm_rsh_agent "$work/shell" -mca pml ob1 -mca btl tcp,self \
    -mca btl_tcp_if_include 10.77.0.0/24 -mca oob_tcp_if_include 10.77.0.0/24 \
    -x MESHTENSOR_PROGRESS -x OMP_WAIT_POLICY -x MESHTENSOR_THREADS=1 \
    "$PWD/$build/bench/run/lm_step" --data 2 "$@" |
    python3 -c '
import json, sys
line = [l for l in sys.stdin if l.startswith("{")][-1]
step = json.loads(line)
print("  a step {step_ms:.0f} ms, of which communication alone {exposed_ms:.0f}; {received_mb:.0f} MB received".format(**step))'
done
