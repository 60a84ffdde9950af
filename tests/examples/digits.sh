#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Reads handwritten digits after two epochs, with the same losses under three layouts: digits.sh PART PROGRAM [PYTHON]
#
#   learns    on the first device of PROGRAM; says what is wrong with a command line
#   replicas  replicas of the network learn, with a loss that does not depend on the number of ranks
#   on_pjrt   PROGRAM, built for PJRT plugins, on the plugin for processors
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
source "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"
part=$1 program=$2
device=()
if [ "$part" = on_pjrt ]; then
  find_plugin "$3"
  device=(--device "pjrt:$plugin")
fi
folder="${MESHTENSOR_DATA:-}/mnist"
[ -e "$folder/t10k-labels-idx1-ubyte.gz" ] ||
  { echo "skipped: there is no $folder/t10k-labels-idx1-ubyte.gz; MESHTENSOR_DATA names a folder of data sets"; exit 77; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT

files=("$folder/t10k-images-idx3-ubyte.gz" "$folder/t10k-labels-idx1-ubyte.gz")
if [ "$part" = replicas ]; then
  "$program" "${files[@]}" 2 --regime stochastic_gradient_push --replicas 4 | tee "$out"
  grep -q '^regime stochastic_gradient_push over .*, 4 replicas, each .*; each learns from 50 of the 200 images' "$out" ||
    { echo 'FAILED: no policy'; exit 1; }
  awk '/epoch  2/ && $(NF - 5) >= 90 {good = 1} END {exit !good}' "$out" || { echo 'FAILED: it does not learn'; exit 1; }
  "$program" "${files[@]}" --regime federated_averaging --clients 3 --period 4 --replicas 4 --steps 4 | tee "$out"
  grep -q '^regime federated_averaging of 4 steps and 3 clients, 4 replicas' "$out" || { echo 'FAILED: no clients'; exit 1; }
  for mistake in '--regime sgp --replicas 4' '--regime local_sgd' '--replicas 4' '--topology ring' '--seed x' \
    '--regime synchronous --replicas 0' '--regime synchronous --replicas 2 --period 4' \
    '--regime synchronous,sgp --replicas 4 --network 10gbit' '--regime synchronous,local_sgd --replicas 4' \
    '--regime local_sgd,local_sgd --replicas 4 --network 10gbit' '--regime local_sgd, --replicas 4 --network 10gbit' \
    '--regime synchronous,local_sgd --replicas 4 --network 10gbit --topology ring' '--curves x.svg' '--batch 4' \
    '--regime local_sgd --replicas 4 --curves x.svg' '--regime local_sgd --replicas 4 --batch 0' \
    '--regime local_sgd --replicas 4 --steps 1x' '--regime local_sgd --replicas 4 --network 10gbit --rates 3' \
    '--regime local_sgd --replicas 512 --batch 50' '--regime local_sgd --replicas 2 --period 0' \
    '--regime federated_averaging --replicas 2 --clients 0' '--regime federated_averaging --replicas 2 --clients 3' \
    '--regime local_sgd --replicas 2 --clients 1' '--clients 2'; do
    code=0
    # shellcheck disable=SC2086
    "$program" "${files[@]}" $mistake 2>"$out" || code=$?
    [ "$code" -eq 2 ] && [ "$(wc -l <"$out")" -eq 1 ] || { echo "FAILED: '$mistake' ends with $code: $(cat "$out")"; exit 1; }
  done
  compared=(--regime synchronous,stochastic_gradient_push,local_sgd --period 4 --replicas 4 --network 10gbit --pauses 1%
    --steps 40 --batch 4 --rates flops=1e11,memory=1e10)
  folder=$(mktemp -d)
  "$program" "${files[@]}" "${compared[@]}" --curves "$folder/losses.svg" | tee "$out"
  [ "$(grep -c '^| .* % |$' "$out")" -eq 3 ] || { echo 'FAILED: no table of three policies'; exit 1; }
  grep -qE 'is below .* from .* s on|do not cross' "$out" || { echo 'FAILED: no word of crossings'; exit 1; }
  for text in '>synchronous<' '>stochastic_gradient_push<' '>local_sgd<' '>simulated time (s)<' '</svg>'; do
    grep -q "$text" "$folder/losses.svg" || { echo "FAILED: no $text in the picture"; exit 1; }
  done
  rm -r "$folder"
  ! "$program" "${files[@]}" "${compared[@]}" --curves "$folder/losses.svg" 2>"$out" >/dev/null ||
    { echo 'FAILED: a picture in no folder is no mistake'; exit 1; }
  grep -q "R17: '$folder/losses.svg' cannot be written" "$out" || { echo "FAILED: no R17: $(cat "$out")"; exit 1; }
  exit 0
fi

if [ "$part" = on_pjrt ]; then  # StableHLO has no unequal parts, so the second layout is refused: 7 rows on 2 ranks
  "$program" "${files[@]}" 2 "${device[@]}" >"$out" 2>&1 && { echo 'FAILED: unequal parts are no mistake'; exit 1; }
  cat "$out"
  grep -q 'epoch  2: loss 0\.[12]' "$out" || { echo 'FAILED: the losses have not fallen'; exit 1; }
  grep -q 'meshtensor S02: .* is cut into unequal parts by 2 ranks' "$out" || { echo 'FAILED: no S02'; exit 1; }
  exit 0
fi
"$program" "${files[@]}" 2 "${device[@]}" | tee "$out"
[ "$(grep -c 'epoch  2: loss 0\.[12]' "$out")" -eq 3 ] || { echo 'FAILED: the losses have not fallen'; exit 1; }
awk '/epoch  2/ && $(NF - 5) < 97 {exit 1}' "$out" || { echo 'FAILED: it reads less than 97 % of the digits'; exit 1; }
[ "$part" = learns ] || exit 0
! "$program" 2>"$out" || { echo 'FAILED: no files are no mistake'; exit 1; }
grep -q 'arguments are missing; digits --help shows' "$out" || { echo 'FAILED: no advice for missing files'; exit 1; }
for epochs in 0 -1 2x; do
  code=0
  "$program" "$out" "$out" "$epochs" 2>/dev/null || code=$?
  [ "$code" -eq 2 ] || { echo "FAILED: '$epochs' epochs end with $code"; exit 1; }
done
{ "$program" "$out" "$out" 2>&1 || true; } | grep -q 'meshtensor R64: .* is not an IDX file' || { echo 'FAILED: no R64'; exit 1; }
