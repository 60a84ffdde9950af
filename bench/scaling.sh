#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How a training step scales: strongly (one batch for all) and weakly (a batch for each processor), on real ranks of
# this machine and, past it, on one processor of 8, 64 and 512 with a model of the network.
#
#   bench/scaling.sh [--ranks "1 2"] [--simulated "8 64 512"] [--gbit 25] [--latency 10] [ARGUMENTS of lm_step]
#   bench/scaling.sh --rounds 5 [ARGUMENTS of lm_step]    two ranks with a thread each beside one with two threads
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/environment.sh

build=build/quickstart
cmake --preset quickstart -DMESHTENSOR_BENCH=ON >/dev/null
cmake --build "$build" --target bench_run_lm_step -j 2 >/dev/null
exec python3 bench/scaling.py --program "$build/bench/run/lm_step" "$@"
