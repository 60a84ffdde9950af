#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Ours and its peers in turn on this machine, medians and ratios in one table: bench/compare.sh --help.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/quickstart
cmake --preset quickstart -DMESHTENSOR_BENCH=ON >/dev/null
cmake --build "$build" --target bench_run_lm_step bench_run_attention -j 2 >/dev/null
exec python3 bench/compare.py --programs "$build/bench/run" --environment build/peers "$@"
