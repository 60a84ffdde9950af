#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Learns to act in two environments: ppo.sh PART PROGRAM [LAUNCHER...]
#
#   learns    cart-pole reaches the score at which it counts as solved, and repeats itself byte for byte; the pendulum
#             is swung up
#   meshes    the same curves in f64 on other meshes, threads and ranks; LAUNCHER starts ranks, if given
#   resumes   goes on from a checkpoint, episodes included, with the curve of a run that was left alone
#   errors    one sentence on standard error, and exit code 2 for the command line
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
part=$1 program=$2
shift 2
launcher=("$@")

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}
# learn NAME COMMAND...: standard output in NAME.out, the curve in NAME.csv.
learn() {
  local name=$1 code
  shift
  "$@" --curve "$name.csv" >"$name.out" 2>"$name.err"
  code=$?
  [ $code -eq 0 ] || fail "$name: exit code $code: $(cat "$name.out" "$name.err")"
}
# The tables of two runs have the same episodes, and scores and losses within this share of each other.
same_curve() {
  paste -d, "$2.csv" "$3.csv" | awk -F, -v most="$1" -v rows="$4" '
    NR == 1 {next}
    function far(a, b) {return (a > b ? a - b : b - a) > most * (1 + (b > 0 ? b : -b))}
    $1 != $5 || $2 != $6 || far($3, $7) || far($4, $8) {print "update", $1, ":", $0; wrong = 1; exit}
    END {exit wrong || NR != rows + 1}' || fail "$2 and $3 differ, or have other updates than $4"
}

small=(--dtype f64 --environments 8 --steps 32 --updates 20 --episodes 8)
few=("${small[@]}" --updates 5)  # later, the last digits of sums in another order decide other actions
case $part in
  learns)
    learn cart_pole "$program" --goal 475 --print-every 30
    cat cart_pole.out
    learn again "$program" --goal 475 --print-every 30
    cmp cart_pole.csv again.csv || fail 'the same command has another curve'
    learn other "$program" --updates 1 --seed 2
    [ "$(sed -n 2p cart_pole.csv)" != "$(sed -n 2p other.csv)" ] || fail 'another seed has the same curve'
    learn pendulum "$program" --task pendulum --dtype f64 --updates 120 --goal -400 --print-every 40
    cat pendulum.out
    "$program" --updates 1 --goal 475 >out 2>&1
    [ $? -eq 1 ] || fail "a goal that was not reached: $(cat out)"
    ;;
  meshes)
    for task in cart_pole pendulum; do
      learn "$task" "$program" --task $task "${few[@]}" --mesh data=1
      for mesh in data=2 data=3 data=4 data=2,model=2; do
        learn $mesh "$program" --task $task "${few[@]}" --mesh $mesh
        same_curve 1e-12 $task $mesh 5
      done
      if [ ${#launcher[@]} -gt 0 ]; then
        learn ranks "${launcher[@]}" 4 "$program" --task $task "${few[@]}"
        same_curve 1e-12 $task ranks 5
      fi
    done
    ;;
  resumes)
    learn whole "$program" "${small[@]}" --save kept --every 7
    newest=$(ls -d kept/* | sort | tail -1)
    rm -r "$newest" || fail "no checkpoint of the last update: $(ls kept)"
    cp -r kept moved
    learn rest "$program" "${small[@]}" --save kept --resume
    learn elsewhere "$program" "${small[@]}" --save moved --resume --mesh data=2
    grep -q '^resumed .* at step 14$' rest.out elsewhere.out || fail "it does not go on: $(cat rest.out elsewhere.out)"
    { sed -n 1p whole.csv && tail -n 6 whole.csv; } >last.csv
    same_curve 0 last rest 6
    same_curve 1e-9 last elsewhere 6
    ;;
  errors)
    refused() {
      local words=$1 code
      shift
      "$program" "$@" >out 2>err </dev/null
      code=$?
      [ $code -eq 2 ] || fail "$*: exit code $code"
      grep -qF -- "$words" err || fail "$*: no '$words' in: $(cat err)"
      [ ! -s out ] || fail "$*: standard output: $(cat out)"
    }
    refused '128 steps have no 5 equal parts' --minibatches 5
    refused '--task' --task mountain_car
    refused "'data=two' is not like data=2,model=2" --mesh data=two
    refused '--resume requires --save' --resume
    refused '--gamma' --gamma 1.5
    ;;
  *) fail "no part $part" ;;
esac
exit $failed
