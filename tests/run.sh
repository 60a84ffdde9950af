#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs the tests. The summary of ctest comes last, and the exit code says the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/dependencies.sh
source cmake/environment.sh
source tests/python.sh

usage() {
  cat <<'END'
tests/run.sh [--whole] [--all | --with PART... | --part PART[:K/N]] [FILTER] [-- CTEST ARGUMENTS]

Installs what is missing (apt-get, as root or through sudo; pip, in build/python), builds in build/release, and runs the
tests. Of the products of programs, layouts, meshes and random numbers one case in six is tried. Where CI=true, a test
that is skipped fails, unless tests/skips.txt has the reason.

  FILTER        the tests whose names match, those of the parts from `native` on too, after building what they run:
                tests/run.sh unit/op/top_k
  --whole       every case of the products
  --all         the tests and all parts
  --with PART   the tests and this part
  --install     only installs what the tests need, with --all or --with what these parts need
  --part PART   this part alone; PART:2/6 is the second of six pieces of a part from clang to compile-fail:
    clang         every file through clang 19, a sample of the tests run
    sanitize      the tests of one process, lessons apart, and some of several, under the address and undefined-behaviour
                  sanitizers
    threads       the thread sanitizer over processors that are threads
    fuzz          readers of files, each fuzzed for 12 seconds under the sanitizers
    mpich         the tests of several processes with MPICH instead of Open MPI; `--mpi mpich` is the same
    compile-fail  programs that must not compile, with both compilers
    package       every header alone; small projects that use the library: installed, included, without CMake; kernels
                  of nvcc, where it is
    native        tests of the cpu device once more, compiled for this very processor; for two at once; without libraries
    translate     the example translate, and the example transformer on a megabyte of text; pages of plans in a browser
    images        the examples resnet, digits and ppo
    tpu           training steps through the compiler of TPUs, which is installed in build/libtpu
    cuda          programs on the cuda device, the host's compiler and processors in place of a GPU; kernels through
                  NVRTC, which is installed in build/nvrtc
    pjrt          programs and examples on a PJRT plugin for processors, and texts of StableHLO through XLA
    onnx          the cases that ONNX's package has for its nodes, as programs
    compiled      steps that the compiler writes out and plans, large ones and a Transformer; what programs cost it
    faults        jobs of three ranks of which one stops, dies, leaves or differs; two machines whose link goes down
    slurm         programs and the job scripts of docs/running.md under Slurm, which the tests start themselves
    defects       a sample of the seeded defects of tests/mutations.txt, each of which a test must catch

JOBS=4 tests/run.sh uses four processors instead of two. MESHTENSOR_INSTALL=no installs nothing. MESHTENSOR_DATA names a
folder of data sets; tests that need one are skipped without it. MESHTENSOR_SAMPLE=20 tries one case in twenty,
MESHTENSOR_SEED=7 others.
END
}

all_parts=(clang sanitize threads fuzz mpich compile-fail package native translate images tpu cuda pjrt onnx compiled faults slurm defects)
splits=(clang sanitize threads fuzz mpich compile-fail)  # those that run in pieces, by the hash of each test's name
on_request=(native translate images tpu cuda pjrt onnx compiled faults slurm)  # those whose programs are targets of the build: part_NAME
labels=(main)
alone='' own_build='' piece='' filter='' only_install=''

checked() {
  [[ " ${all_parts[*]} " == *" ${1:-} "* ]] || { echo "tests/run.sh: the parts are ${all_parts[*]}" >&2; exit 2; }
  printf '%s' "$1"
}
# The piece K/N in PART:K/N; nothing of a whole part.
checked_piece() {
  [[ ${1:-} == *:* ]] || return 0
  [[ ${1#*:} =~ ^([1-9][0-9]*)/([1-9][0-9]*)$ && ${BASH_REMATCH[1]} -le ${BASH_REMATCH[2]} ]] ||
    { echo "tests/run.sh: a piece of ${1%%:*} is written ${1%%:*}:2/6" >&2; exit 2; }
  [[ " ${splits[*]} " == *" ${1%%:*} "* ]] ||
    { echo "tests/run.sh: pieces are made of ${splits[*]}" >&2; exit 2; }
  printf '%s' "${1#*:}"
}
while [ $# -gt 0 ]; do
  case $1 in
    --whole) export MESHTENSOR_SAMPLE=1 ;;
    --all) labels+=("${all_parts[@]}") ;;
    --with) labels+=("$(checked "${2:-}")"); shift ;;
    --part | --mpi) named=${2:-}; alone=$(checked "${named%%:*}"); piece=$(checked_piece "$named"); shift ;;
    --build) named=${2:-}; own_build=$(checked "${named%%:*}"); piece=$(checked_piece "$named"); shift ;;  # of part/PART
    --install) only_install=yes ;;
    --help | -h) usage; exit 0 ;;
    --) shift; break ;;
    -*) usage >&2; exit 2 ;;
    *) [ -z "$filter" ] || { usage >&2; exit 2; }; filter=$1 ;;
  esac
  shift
done

[ -z "$filter" ] || labels+=("${on_request[@]}")
jobs=${JOBS:-2}
export MESHTENSOR_SAMPLE=${MESHTENSOR_SAMPLE:-6}
[ -n "${CMAKE_GENERATOR:-}" ] || ! command -v ninja >/dev/null 2>&1 || export CMAKE_GENERATOR=Ninja

# Files of tests are compiled several as one, unless some are asked for.
joined=OFF
[ -n "$filter" ] || joined=ON

configure() {
  cmake --preset "$1" "-DMESHTENSOR_PIECE=$piece" "-DMESHTENSOR_JOINED=$joined" \
    "-DMESHTENSOR_FUZZ_SEED=$((10#${MESHTENSOR_SEED:-0} % 2147483647))" \
    ${meshtensor_python:+"-DPython3_EXECUTABLE=$meshtensor_python"}
}

# What the tests that match the filter start, as files of the build; nothing where the build tool builds no single files.
started() {
  [ -e "build/$1/build.ninja" ] || return 0
  local folder=$PWD/build/$1
  find "$folder" -name CTestTestfile.cmake -exec grep -h '^add_test(' {} + |
    awk -v filter="$filter" -v folder="$folder/" '{
      split($0, part, /\[=\[|\]=\]/)
      if (part[2] !~ filter) next
      for (rest = $0; match(rest, /"[^"]*"/); rest = substr(rest, RSTART + RLENGTH)) {
        word = substr(rest, RSTART + 1, RLENGTH - 2)
        if (index(word, folder) == 1) print substr(word, length(folder) + 1)
      }
    }' | sort -u | grep -Fx -f <(ninja -C "$folder" -t targets all | sed 's/: [^:]*$//') || true
}

# What the tests with these labels start, as targets.
targets_of() {
  local label
  for label; do
    [ "$label" != main ] || echo all
    [[ " ${on_request[*]} " != *" $label "* ]] || echo "part_$label"
  done
}

# build PRESET LABEL... : everything that can be built, so that one broken file does not hide the rest. Tests that start
# nothing of the build need none.
build() {
  local preset=$1 keep_going=-k targets=()
  shift
  mapfile -t targets < <(targets_of "$@")
  if [ -e "build/$preset/build.ninja" ]; then
    keep_going=-k0
    [ -z "$filter" ] || mapfile -t targets < <(started "$preset")
    [ -z "$filter" ] || [ "${#targets[@]}" -ne 0 ] || return 0
  fi
  cmake --build "build/$preset" --parallel "$jobs" --target "${targets[@]}" -- "$keep_going"
}

# count PRESET LABELS: how many tests with one of these labels match the filter.
count() { ctest --test-dir "build/$1" -N -L "^($2)\$" -R "$filter" | sed -n 's/^Total Tests: //p'; }

# elsewhere PRESET LABEL... : whether the filter matches tests of other parts alone; says of which.
elsewhere() {
  local preset=$1 part found=
  shift
  [ -n "$filter" ] && [ "$(count "$preset" "$(IFS='|'; echo "$*")")" = 0 ] || return 1
  for part in "${all_parts[@]}"; do
    [ "$(count "$preset" "$part")" = 0 ] || found+="${found:+ and }--part $part"
  done
  [ -n "$found" ] || return 1
  echo "tests/run.sh: no test of $* matches $filter: it is in $found" >&2
}

# run PRESET LABEL... : the tests with one of these labels. What each came to is written into the folder of results.
run() {
  local preset=$1 pattern failed=0 results
  shift
  pattern=$(IFS='|'; echo "$*")
  mkdir -p "${MESHTENSOR_RESULTS:-build/results}"
  results=$(cd "${MESHTENSOR_RESULTS:-build/results}" && pwd)/$preset.xml
  rm -f "$results"
  ctest --test-dir "build/$preset" --output-on-failure --no-label-summary --no-tests=error --parallel "$jobs" \
    --output-junit "$results" -L "^($pattern)\$" ${filter:+-R "$filter"} ${alone:+-E '^part/'} "${ctest_arguments[@]}" ||
    failed=$?
  if [ "${CI:-}" = true ] && [ -e "$results" ]; then
    python3 tests/results.py "$results" "${own_build:-${alone:-main}}" || failed=1
  fi
  return "$failed"
}

build_and_run() {
  local built=0
  configure "$1"
  ! elsewhere "$@" || return
  build "$@" || built=$?
  [ "$built" -eq 0 ] || echo "tests/run.sh: the build failed; the tests that were built run all the same" >&2
  run "$@" || return
  return "$built"
}

ctest_arguments=("$@")
groups=(build library examples tests)
[[ "${labels[*]} $alone" =~ clang|sanitize|threads|fuzz|compile-fail ]] && groups+=(all)
[[ "${labels[*]} $alone" =~ mpich ]] && groups+=(mpich)
[[ " ${labels[*]} $alone " != *" slurm "* || ( -n $filter && $filter != *slurm* ) ]] || groups+=(slurm)
[[ " ${labels[*]} $alone " != *" translate "* || ( -n $filter && $filter != *browser* ) ]] || groups+=(browser)
[ -z "$only_install" ] || groups+=(ci)
[ -n "$own_build" ] || meshtensor_install "${groups[@]}"
meshtensor_python=
meshtensor_make_python
if [[ " ${labels[*]} $alone " == *" tpu "* && ( -z $filter || $filter == *tpu* ) ]]; then meshtensor_find_libtpu; fi
if [[ " ${labels[*]} $alone " == *" cuda "* && ( -z $filter || property/kernels_cuda =~ $filter ) ]]; then
  meshtensor_find_nvrtc
fi
[ -z "$only_install" ] || exit 0

case $own_build$alone in
  '') build_and_run release "${labels[@]}" ;;
  clang) build_and_run clang main ;;
  sanitize) build_and_run asan main ;;
  threads) build_and_run tsan main ;;
  fuzz) build_and_run fuzz main ;;
  mpich) build_and_run mpich main ;;
  package | defects) configure release && run release "$alone" ;;
  compile-fail)
    failed=0
    [ -n "$own_build" ] || { configure release && run release compile-fail; } || failed=$?
    { configure clang && run clang compile-fail; } || failed=$?
    exit "$failed"
    ;;
  *) build_and_run release "$alone" ;;
esac
