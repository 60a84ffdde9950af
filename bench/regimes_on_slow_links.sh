#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How long steps of replicas take on slow links: four ranks on as many hosts of one machine (network namespaces), each
# with a link of RATE Mbit/s to one switch. Devices sleep instead of computing, so few cores are enough. It runs our
# policies and PyTorch's DistributedDataParallel over gloo in turn, and prints medians with the range, beside the times
# that mt::predict gives. As root.
#
#   bench/regimes_on_slow_links.sh [--rates "50 100 200 1000"] [--rounds 3] [--ranks 4] [--program FILE]
#                                  [--python PYTHON with PyTorch, none: without it] [--eager BYTES]
#                                  [ARGUMENTS of regime_steps]
#
# Open MPI sends messages of up to BYTES (8388608, its own default is 65536) without asking the receiver first, so that
# both directions of a link are in use at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/environment.sh

rates='50 100 200 1000' rounds=3 ranks=4 python='' program='' eager=8388608
while [ $# -gt 0 ]; do
  case $1 in
    --rates) rates=$2 && shift 2 ;;
    --rounds) rounds=$2 && shift 2 ;;
    --ranks) ranks=$2 && shift 2 ;;
    --python) python=$2 && shift 2 ;;
    --program) program=$2 && shift 2 ;;
    --eager) eager=$2 && shift 2 ;;
    *) break ;;
  esac
done
if [ -z "$program" ]; then
  program=$PWD/build/quickstart/bench/run/regime_steps
  cmake --preset quickstart -DMESHTENSOR_BENCH=ON >/dev/null
  cmake --build build/quickstart --target bench_run_regime_steps -j 2 >/dev/null
fi

here=mt-bench-$$ work=$(mktemp -d)
clean_up() {
  for ((n = 0; n < ranks; ++n)); do ip netns del "${here}-$n" 2>/dev/null || true; done
  ip netns del "${here}-switch" 2>/dev/null || true
  rm -r "$work"
}
trap clean_up EXIT
ip netns add "${here}-switch"
ip -n "${here}-switch" link add name hub type bridge
ip -n "${here}-switch" link set hub up
for ((n = 0; n < ranks; ++n)); do
  ip netns add "${here}-$n"
  ip -n "${here}-$n" link add name wire type veth peer name "port$n" netns "${here}-switch"
  ip -n "${here}-$n" addr add "10.77.0.$((n + 1))/24" dev wire
  ip -n "${here}-$n" link set lo up
  ip -n "${here}-$n" link set wire up
  ip -n "${here}-switch" link set "port$n" master hub
  ip -n "${here}-switch" link set "port$n" up
done
limit() {  # both directions of each link
  local burst=$(($1 > 200 ? 256 : 32))kb
  for ((n = 0; n < ranks; ++n)); do
    ip netns exec "${here}-$n" tc qdisc replace dev wire root tbf rate "$1mbit" burst $burst latency 50ms
    ip netns exec "${here}-switch" tc qdisc replace dev "port$n" root tbf rate "$1mbit" burst $burst latency 50ms
  done
}

# What mpirun takes for a remote shell: the host with this address.
cat >"$work/shell" <<END
#!/bin/bash
n=\$((\${1##*.} - 1))
shift
exec ip netns exec ${here}-\$n unshare -u bash -c "hostname ${here}-\$n; \$*"
END
chmod +x "$work/shell"
hosts=$(for ((n = 1; n <= ranks; ++n)); do printf '10.77.0.%d:1,' "$n"; done)
ours() {  # The rate that TCP leaves of the wire's: 1448 bytes of 1514.
  ip netns exec "${here}-0" unshare -u bash -c "hostname ${here}-0; exec \"\$@\"" x \
    mpirun --allow-run-as-root -H "${hosts%,}" -np "$ranks" --bind-to none -mca plm_rsh_agent "$work/shell" -mca pml ob1 \
    -mca btl tcp,self -mca btl_tcp_eager_limit "$eager" -mca btl_tcp_if_include 10.77.0.0/24 -mca oob_tcp_if_include 10.77.0.0/24 \
    -x MESHTENSOR_THREADS=1 -x MESHTENSOR_PIN=no "$program" --mbit "$(awk -v r="$1" 'BEGIN { print r * 1448 / 1514 }')" "${@:2}" |
    sed "s/\"mbit\": [0-9.]*/\"mbit\": $1/"
}
theirs() {
  for ((n = 0; n < ranks; ++n)); do
    RANK=$n WORLD_SIZE=$ranks MASTER_ADDR=10.77.0.1 MASTER_PORT=29500 GLOO_SOCKET_IFNAME=wire OMP_NUM_THREADS=1 \
      ip netns exec "${here}-$n" "$python" bench/peers/torch_regime_steps.py --mbit "$1" "${@:2}" &
  done
  wait
}
for ((round = 0; round < rounds; ++round)); do
  for rate in $rates; do
    limit "$rate"
    ours "$rate" "$@"
    [ -z "$python" ] || theirs "$rate" "$@"
  done
done | grep --line-buffered '^{' | tee "$work/all" >&2
python3 - "$work/all" <<'END'
import json, statistics, sys
all = {}
for line in open(sys.argv[1]):
    one = json.loads(line)
    all.setdefault((one["mbit"], one["regime"]), []).append(one)
print("| Mbit/s | | ms a step | predicted | measured / predicted |\n|---|---|---|---|---|")
for (mbit, regime), found in sorted(all.items(), key=lambda x: x[0][0]):
    ms = [f["measured_ms"] for f in found]
    middle = statistics.median(ms)
    told = found[0].get("predicted_ms")
    beside = f"{told:.0f} | {middle / told:.2f}" if told else " | "
    print(f"| {mbit} | {regime} | {middle:.0f} ({min(ms):.0f} to {max(ms):.0f}) | {beside} |")
END
