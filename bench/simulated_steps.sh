#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Steps of replicas under several policies on a simulated network (SimGrid's SMPI: libsimgrid-dev), beside the times of
# mt::predict and the bytes and messages of the plan. The program and its messages are real; devices sleep in simulated
# time. Each host has 50 us and 100 Mbit/s to one switch.
#
#   bench/simulated_steps.sh [RANKS, 64] [ARGUMENTS of regime_steps]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source bench/simulated/hosts.sh
ranks=${1:-64}
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

describe_hosts "$work" "$ranks" 12.5MBps 50us
# Ranks have variables of their own only if the linker does not make those of inline functions unique.
smpicxx -std=c++20 -O1 -fno-gnu-unique -ffp-contract=off -fconstexpr-ops-limit=2000000000 -DMESHTENSOR_EARLY=0 \
  -DMESHTENSOR_WITH_MPI=1 -I include bench/simulated/regime_steps.cpp -lfmt -o "$work/regime_steps"
# Bytes travel at the rate of the link, as in a prediction. A poll takes 0.01 ms, and not longer each time.
simulate "$work" "$ranks" --cfg=network/model:CM02 --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 \
  --cfg=network/crosstraffic:0 --cfg=smpi/grow-injected-times:no --cfg=smpi/test:1e-5 \
  "$work/regime_steps" --mbit 100 --latency 100e-6 "${@:2}"
