#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What mt::cuda_device does on the GPU of this machine: the device tests on the card, a Transformer, with attention as
# one kernel and without, and ResNet-50, and compute-sanitizer's memcheck, initcheck, racecheck and synccheck. Each part
# takes at most 120 s (attention 180), fails alone, and says what it found as soon as it ends; the parts that tell most
# come first. Lines of tables are those of docs/devices.md.
#
#   bench/on_gpu.sh [PART...]                      builds, then runs: attention devices lm memcheck racecheck long
#                                                  catalogue windows resnet initcheck synccheck
#   bench/on_gpu.sh --build-into FOLDER            builds alone, and puts what is needed into FOLDER, for another machine
#   bench/on_gpu.sh --binaries FOLDER [PART...]    runs what was built so
#   bench/on_gpu.sh --seconds N …                  takes N seconds at most for all parts, and says which it left out
#   bench/on_gpu.sh --keep FOLDER …                keeps the output of all programs in FOLDER
#   bench/on_gpu.sh --dry-run …                    says what it would run
#
# Programs need the driver, NVRTC and cuBLASLt; MESHTENSOR_SAMPLE=N (8) takes one program of the catalogue in N.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

most=120 most_in_all=''  # seconds of a part, and of all
all=(attention devices lm memcheck racecheck long catalogue windows resnet initcheck synccheck)
folder='' build_alone='' dry='' kept=''
while [[ ${1:-} == --* ]]; do
  case $1 in
    --build-into) folder=${2:?a folder} build_alone=yes && shift ;;
    --binaries) folder=${2:?a folder} && shift ;;
    --seconds) most_in_all=${2:?a number of seconds} && shift ;;
    --keep) kept=${2:?a folder} && shift ;;
    --dry-run) dry=yes ;;
    *) sed -n 's/^#   //p' "$0" >&2 && exit 2 ;;
  esac
  shift
done
parts=("$@")
[ $# != 0 ] || parts=("${all[@]}")
for part in "${parts[@]}"; do
  [[ " ${all[*]} " == *" $part "* ]] || { echo "there is no part '$part'; parts: ${all[*]}" >&2 && exit 2; }
done

programs=(tests/unit/device/attention_cuda.test tests/property/windows_cuda.test tests/property/programs_cuda.test
  tests/unit/run/one_source_cuda.test tests/unit/run/cuda_epilogues.test tests/unit/run/cuda_experts.test
  tests/unit/run/cuda_blocks.test
  bench/run/lm_on_cuda bench/run/lm_on_cuda_without_attention bench/run/resnet_on_cuda)
build() {  # without this machine's own instructions, so that others can run it
  local targets=()
  for program in "${programs[@]}"; do
    local name=${program#tests/}
    [ "$name" == "$program" ] || name=test_$name
    name=${name%.test} && targets+=("${name//\//_}")
  done
  cmake --preset release -B build/on_gpu -DMESHTENSOR_BENCH=ON -DMESHTENSOR_JOINED=OFF >/dev/null
  cmake --build build/on_gpu --target "${targets[@]}" -j "${JOBS:-2}" >/dev/null
}
put_into() {  # with the libraries that another machine may not have
  mkdir -p "$1/lib"
  for program in "${programs[@]}"; do
    cp "build/on_gpu/$program" "$1"
    ldd "build/on_gpu/$program" |
      awk '/=> \// && $3 !~ /\/lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so/ { print $3 }' | xargs -r cp -Lut "$1/lib"
  done
}

if [ -z "$folder" ] || [ -n "$build_alone" ]; then
  if [ -n "$dry" ]; then
    echo "builds ${programs[*]} in build/on_gpu${folder:+ and copies them to $folder}"
  else
    build
    [ -z "$build_alone" ] || put_into "$folder"
  fi
fi
[ -z "$build_alone" ] || exit 0
[ -z "$folder" ] || export LD_LIBRARY_PATH="$folder/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
at() { if [ -n "$folder" ]; then echo "$folder/${1##*/}"; else echo "build/on_gpu/$1"; fi; }

if [ -n "$kept" ] && [ -z "$dry" ]; then
  mkdir -p "$kept"
  work=$(cd "$kept" && pwd)
  rm -f "$work"/*.log
else
  work=$(mktemp -d)
  trap 'rm -r "$work"' EXIT
fi
SECONDS=0
ends_at=0 failed=''
# Runs a command within what is left of its part; its output is in $work/PART.log.
within() {
  local part=$1 && shift
  if [ -n "$dry" ]; then echo "$part: $*" && return; fi
  local left=$((ends_at - SECONDS)) result=0
  ((left > 0)) || { echo "$part: no time was left for: $*" && failed=yes && return; }
  timeout -k 5 "$left" "$@" >"$work/last" 2>&1 || result=$?
  { echo "\$ $*" && cat "$work/last"; } >>"$work/$part.log"
  case $result in
    0) ;;
    124 | 137) echo "$part: stopped, its time was over: $*" && tail -n 10 "$work/last" && failed=yes ;;
    77) echo "$part: skipped: $*" && tail -n 3 "$work/last" ;;
    *) echo "$part: ends with $result: $*" && tail -n 20 "$work/last" && failed=yes ;;
  esac
}
checked() {  # by compute-sanitizer
  local part=$1 tool=$2 && shift 2
  within "$part" compute-sanitizer --tool "$tool" --error-exitcode 9 "$@"
}
on_card=(env MESHTENSOR_ON_CARD=1 "MESHTENSOR_SAMPLE=${MESHTENSOR_SAMPLE:-8}" "MESHTENSOR_SEED=${MESHTENSOR_SEED:-0}")

value() { sed -n "s/.*\"$1\": \"\{0,1\}\([^,\"}]*\).*/\1/p" <<<"$2"; }
head_of_table='| device, workload | step, ms | a second | compilation, s | first step, s | losses |
|---|---|---|---|---|---|'
# Says what a part found; nothing, where it was stopped before.
tell() {
  local log=$work/$1.log line rate images
  [ -f "$log" ] || return 0
  grep -hE 'test cases:|assertions:|programs refused|(ERROR|RACECHECK) SUMMARY' "$log" | sed "s/^/$1: /" || true
  while read -r line; do
    [ -z "$head_of_table" ] || echo "$head_of_table"
    head_of_table=''
    rate=$(value gflops "$line") images=$(value images_per_s "$line")
    echo "| $(value peer "$line"), $(value workload "$line"), $(value dtype "$line") | $(value step_ms "$line") |" \
      "${rate:+$rate Gflop}${images:+$images images} | $(value compile_s "$line") | $(value first_step_s "$line") |" \
      "$(value loss_first "$line") to $(value loss_last "$line") |"
  done < <(grep '^{' "$log" || true)
}

[ -n "$dry" ] || nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader || true
for part in "${parts[@]}"; do
  ends_at=$((SECONDS + most)) began=$SECONDS
  [ "$part" != attention ] || ends_at=$((ends_at + 60))
  if [ -n "$most_in_all" ] && [ -z "$dry" ]; then
    ((SECONDS < most_in_all)) || { echo "$part: left out, $most_in_all s are over" && failed=yes && continue; }
    ((ends_at <= most_in_all)) || ends_at=$most_in_all
  fi
  case $part in
    attention) within attention env MESHTENSOR_ON_CARD=1 "$(at tests/unit/device/attention_cuda.test)" ;;
    windows) within windows env MESHTENSOR_ON_CARD=1 "$(at tests/property/windows_cuda.test)" ;;
    catalogue) within catalogue "${on_card[@]}" "$(at tests/property/programs_cuda.test)" ;;
    devices)
      within devices env MESHTENSOR_ON_CARD=1 "$(at tests/unit/run/one_source_cuda.test)"
      within devices env MESHTENSOR_ON_CARD=1 "$(at tests/unit/run/cuda_blocks.test)"
      within devices env MESHTENSOR_ON_CARD=1 "$(at tests/unit/run/cuda_experts.test)"
      within devices env MESHTENSOR_ON_CARD=1 "$(at tests/unit/run/cuda_epilogues.test)" '--test-case=a bias*'
      ;;
    lm)
      within lm "$(at bench/run/lm_on_cuda)" --size tiny --steps 60
      for program in lm_on_cuda lm_on_cuda_without_attention; do
        within lm "$(at bench/run/$program)" --size lm --dtype bf16 --steps 60
        within lm "$(at bench/run/$program)" --size lm --steps 60
        within lm "$(at bench/run/$program)" --size lm_base --dtype bf16 --steps 60
      done
      ;;
    long)  # texts for which attention decides
      for program in lm_on_cuda lm_on_cuda_without_attention; do
        within long "$(at bench/run/$program)" --size lm_base --dtype bf16 --batch 2 --length 2048 --steps 20
        within long "$(at bench/run/$program)" --size lm_base --batch 1 --length 2048 --steps 10
      done
      ;;
    resnet)
      within resnet "$(at bench/run/resnet_on_cuda)" --dtype bf16 --batch 64 --steps 20
      within resnet "$(at bench/run/resnet_on_cuda)" --batch 32 --steps 10
      ;;
    racecheck | synccheck)  # what threads of a block do to each other
      checked "$part" "$part" "$(at bench/run/lm_on_cuda)" --size tiny --steps 1
      checked "$part" "$part" "$(at bench/run/lm_on_cuda)" --size tiny --dtype bf16 --length 100 --steps 1
      ;;
    memcheck | initcheck)
      checked "$part" "$part" "$(at bench/run/lm_on_cuda)" --size tiny --steps 2
      checked "$part" "$part" "$(at bench/run/lm_on_cuda)" --size tiny --dtype bf16 --length 100 --steps 1
      checked "$part" "$part" "$(at bench/run/resnet_on_cuda)" --size 32 --width 8 --batch 2 --classes 10 --steps 1
      ;;
  esac
  [ -n "$dry" ] || { tell "$part" && echo "$part: $((SECONDS - began)) s"; }
done
[ -n "$dry" ] || rm -f "$work/last"
[ -z "$failed" ]
