#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What mt::cuda_device does on the GPU of this machine: the device tests on the card, also as two ranks of MPI, a
# Transformer, with attention as one kernel and without, and ResNet-50, and compute-sanitizer's memcheck, initcheck,
# racecheck and synccheck. Each part takes at most 120 s (attention and devices 180), and all take 600 s; a part fails
# alone, and says what it found as soon as it ends; the parts that tell most come first, and the last line sums up.
# Lines of tables are those of docs/devices.md.
#
#   bench/on_gpu.sh [PART...]                      builds, then runs: devices attention windows catalogue ranks lm
#                                                  resnet long memcheck racecheck initcheck synccheck
#   bench/on_gpu.sh --build-into FOLDER            builds alone, and puts what is needed into FOLDER, for another machine
#   bench/on_gpu.sh --binaries FOLDER [PART...]    runs what was built so
#   bench/on_gpu.sh --seconds N …                  takes N seconds at most for all parts, 0: no limit
#   bench/on_gpu.sh --keep FOLDER …                keeps the output of all programs in FOLDER
#   bench/on_gpu.sh --dry-run …                    says what it would run
#
# Programs need the driver, NVRTC and cuBLASLt; MESHTENSOR_SAMPLE=N (8) takes one program of the catalogue in N.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

most=120 most_in_all=600  # seconds of a part, and of all
all=(devices attention windows catalogue ranks lm resnet long memcheck racecheck initcheck synccheck)
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
with_mpi=tests/mpi/on_cuda.test
build() {  # without this machine's own instructions, so that others can run it
  local targets=()
  for program in "${programs[@]}"; do
    local name=${program#tests/}
    [ "$name" == "$program" ] || name=test_$name
    name=${name%.test} && targets+=("${name//\//_}")
  done
  cmake --preset release -B build/on_gpu -DMESHTENSOR_BENCH=ON -DMESHTENSOR_JOINED=OFF >/dev/null
  cmake --build build/on_gpu --target "${targets[@]}" -j "${JOBS:-2}" >/dev/null
  cmake --build build/on_gpu --target test_mpi_on_cuda -j "${JOBS:-2}" >/dev/null || echo "without MPI, no ranks"
}
put_into() {  # with the libraries that another machine may not have
  mkdir -p "$1/lib"
  for program in "${programs[@]}" "$with_mpi"; do
    [ -f "build/on_gpu/$program" ] || continue
    cp "build/on_gpu/$program" "$1"
    ldd "build/on_gpu/$program" |
      awk '/=> \// && $3 !~ /\/lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so/ { print $3 }' | xargs -r cp -Lut "$1/lib"
  done
}

if [ -z "$folder" ] || [ -n "$build_alone" ]; then
  if [ -n "$dry" ]; then
    echo "builds ${programs[*]} $with_mpi in build/on_gpu${folder:+ and copies them to $folder}"
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
ends_at=0 state=''
fails() { state=failed; }
skips() {
  echo "$1: skipped, $2" && [ "$state" == failed ] || state=skipped
}
# Runs a command within what is left of its part; its output is in $work/PART.log.
within() {
  local part=$1 && shift
  if [ -n "$dry" ]; then echo "$part: $*" && return; fi
  local left=$((ends_at - SECONDS)) result=0
  ((left <= each)) || left=$each
  ((left > 0)) || { echo "$part: no time was left for: $*" && fails && return; }
  timeout -k 5 "$left" "$@" >"$work/last" 2>&1 || result=$?
  { echo "\$ $*" && cat "$work/last"; } >>"$work/$part.log"
  case $result in
    0) ;;
    124 | 137) echo "$part: stopped, its time was over: $*" && tail -n 10 "$work/last" && fails ;;
    77) skips "$part" "$*" && tail -n 3 "$work/last" ;;
    *) echo "$part: ends with $result: $*" && tail -n 20 "$work/last" && fails ;;
  esac
}
checked() {  # by compute-sanitizer
  local part=$1 tool=$2 && shift 2
  if [ -z "$dry" ] && ! command -v compute-sanitizer >/dev/null; then
    [ "$state" == skipped ] || skips "$part" "there is no compute-sanitizer"
    return 0
  fi
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
declare -A of_state=([passed]='' [failed]='' [skipped]='' ['left out']='')
for part in "${parts[@]}"; do
  ends_at=$((SECONDS + most)) began=$SECONDS state=passed each=$most
  case $part in
    attention) ends_at=$((ends_at + 60)) each=180 ;;
    devices) ends_at=$((ends_at + 60)) each=60 ;;  # programs that have nothing to do with each other
  esac
  if ((most_in_all > 0)) && [ -z "$dry" ]; then
    ((SECONDS < most_in_all)) || { of_state['left out']+=" $part" && continue; }
    ((ends_at <= most_in_all)) || ends_at=$most_in_all
  fi
  case $part in
    attention) within attention env MESHTENSOR_ON_CARD=1 "$(at tests/unit/device/attention_cuda.test)" ;;
    windows) within windows env MESHTENSOR_ON_CARD=1 "$(at tests/property/windows_cuda.test)" ;;
    catalogue) within catalogue "${on_card[@]}" "$(at tests/property/programs_cuda.test)" ;;
    ranks)  # each with a GPU of its own, if there are two
      if [ -z "$dry" ] && ! command -v mpirun >/dev/null; then
        skips ranks "there is no mpirun"
      elif [ -z "$dry" ] && [ ! -f "$(at $with_mpi)" ]; then
        skips ranks "it was built without MPI"
      else
        shared=(-x MESHTENSOR_ON_CARD=1)
        (($(nvidia-smi -L 2>/dev/null | grep -c ^GPU || true) > 1)) || shared+=(-x MESHTENSOR_CUDA_GPU=0)
        within ranks mpirun --allow-run-as-root --oversubscribe -n 2 "${shared[@]}" "$(at $with_mpi)"
      fi
      ;;
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
  [ -n "$dry" ] || { tell "$part" && echo "$part: $state, $((SECONDS - began)) s"; }
  of_state[$state]+=" $part"
done
[ -z "$dry" ] || exit 0
rm -f "$work/last"
sum="in $SECONDS s"
for state in passed failed skipped 'left out'; do
  [ -z "${of_state[$state]}" ] || sum+="; $state:${of_state[$state]}"
done
echo "$sum"
[ -z "${of_state[failed]}${of_state['left out']}" ]
