#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fuzzes the readers for long, one after the other on one core, and counts.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() {
  cat <<'END'
tests/fuzz/long.sh [--runs N] [--seconds S] [--folder F] [READER...]

Builds the readers of tests/fuzz that are named, or all, with the preset fuzz, and gives each N inputs (a million), or as
many as there is time for. Prints how many each has had in this run and in all runs that share the folder.

  --runs N      inputs for each reader
  --seconds S   no longer than this for each reader
  --folder F    where inputs worth keeping, findings and counts lie; the system's folder for temporary files otherwise.
                A later run goes on from there: F/READER/inputs, F/READER/findings, F/READER/counted, F/READER/log

Behind each run only the fewest inputs that reach what all of them did are kept. The exit code is 1
where a reader broke a promise: the input is in F/READER/findings, and READER.test FILE shows it again. Everything runs
at the lowest priority. Stacks are not looked at after a function has returned (ASAN_OPTIONS says otherwise): that takes
most of the time, and `tests/run.sh --part fuzz` does it.
END
}

runs=1000000 seconds=0 folder=${TMPDIR:-/tmp}/meshtensor-fuzz readers=()
while [ $# -gt 0 ]; do
  case $1 in
    --runs) runs=${2:?--runs takes a number}; shift ;;
    --seconds) seconds=${2:?--seconds takes a number}; shift ;;
    --folder) folder=${2:?--folder takes a folder}; shift ;;
    --help | -h) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) readers+=("$1") ;;
  esac
  shift
done
all=()
for file in tests/fuzz/corpus/*/; do all+=("$(basename "$file")"); done
[ ${#readers[@]} -gt 0 ] || readers=("${all[@]}")
for reader in "${readers[@]}"; do
  [[ " ${all[*]} " == *" $reader "* ]] || { echo "tests/fuzz/long.sh: the readers are ${all[*]}" >&2; exit 2; }
done

[ -n "${CMAKE_GENERATOR:-}" ] || ! command -v ninja >/dev/null 2>&1 || export CMAKE_GENERATOR=Ninja
cmake --preset fuzz >/dev/null
nice -n 19 cmake --build build/fuzz -j 1 --target "${readers[@]/#/test_fuzz_}" >/dev/null
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0:malloc_context_size=4:quarantine_size_mb=16}

# The number behind `stat::NAME:` in a log; 0 where a reader ended before it could say it.
stat_of() { awk -v name="stat::$1:" '$1 == name { n = $2 } END { print n + 0 }' "$2"; }

row='%-14s %12s %14s %10s %8s %10s\n'
# the row is the format
# shellcheck disable=SC2059
printf "$row" reader inputs 'inputs in all' inputs/s kept findings
sum=0 sum_of_all=0 broken=0
for reader in "${readers[@]}"; do
  mine=$folder/$reader
  mkdir -p "$mine/inputs" "$mine/findings"
  program=build/fuzz/tests/fuzz/$reader.test
  begin=$(date +%s%N)
  nice -n 19 "$program" "$mine/inputs" "tests/fuzz/corpus/$reader" -dict=tests/fuzz/words.dict -max_len=2048 \
    -runs="$runs" -max_total_time="$seconds" -print_final_stats=1 "-artifact_prefix=$mine/findings/" \
    >"$mine/log" 2>&1 || broken=1
  took=$(( ($(date +%s%N) - begin) / 1000000 ))
  inputs=$(stat_of number_of_executed_units "$mine/log")
  counted=$(( $(cat "$mine/counted" 2>/dev/null || echo 0) + inputs ))
  echo "$counted" >"$mine/counted"

  rm -rf "$mine/minimal"
  mkdir "$mine/minimal"
  if nice -n 19 "$program" -merge=1 "$mine/minimal" "tests/fuzz/corpus/$reader" "$mine/inputs" >"$mine/merge_log" 2>&1; then
    rm -rf "$mine/inputs"
    mv "$mine/minimal" "$mine/inputs"
  fi
  kept=("$mine"/inputs/*) findings=("$mine"/findings/*)
  [ -e "${findings[0]}" ] || findings=()
  [ -e "${kept[0]}" ] || kept=()
  # shellcheck disable=SC2059
  printf "$row" "$reader" "$inputs" "$counted" $((inputs * 1000 / (took + 1))) ${#kept[@]} ${#findings[@]}
  sum=$((sum + inputs)) sum_of_all=$((sum_of_all + counted))
done
# shellcheck disable=SC2059
printf "$row" 'all of these' "$sum" "$sum_of_all" '' '' ''
exit "$broken"
