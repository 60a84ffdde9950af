#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The translating example as its users meet it: translate.sh PART PROGRAM [LAUNCHER...]
#
#   learns   translates sentences that it has not seen, of two languages made up here; repeats itself byte for byte
#   meshes   the same curve on other meshes, threads and ranks; LAUNCHER starts ranks, if given
#   errors   one sentence on standard error, exit code 1, or 2 for the command line
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

# Who does what to whom; the other language has the verb at the end, and one word for two of ours.
sentences() {  # sentences FIRST COUNT NAME
  awk -v first="$1" -v count="$2" -v name="$3" 'BEGIN {
    split("dog cat bird child horse fish", who); split("hund katze vogel kind pferd fisch", wer)
    split("red big old young", how); split("rot gross alt jung", wie)
    split("sees hears finds likes", does); split("sieht hoert findet mag", tut)
    for (i = first; i < first + count; ++i) {
      n = (i * 7919 + 13) % 2304
      a = n % 6 + 1; b = int(n / 6) % 6 + 1; c = int(n / 36) % 4 + 1; d = int(n / 144) % 4 + 1; e = int(n / 576) % 4 + 1
      print "the " how[c] " " who[a] " " does[e] " the " how[d] " " who[b] > (name ".en")
      print "das " wie[c] "e " wer[a] " das " wie[d] "e " wer[b] " " tut[e] > (name ".de")
    }
  }'
}
sentences 0 600 train
sentences 600 60 val
sentences 660 60 test
small=(--data . --test test --size toy --pieces 80 --batch-tokens 1024 --buckets 2 --longest 32 --dropout 0.1
  --warmup 60 --learning-rate 0.004 --sentences 16 --limit 24 --beam 3)

learn() {  # learn NAME EPOCHS COMMAND...: standard output in NAME.out
  local name=$1 epochs=$2
  shift 2
  "$@" "${small[@]}" --epochs "$epochs" --keep "$name" >"$name.out" 2>"$name.err"
  local code=$?
  [ $code -eq 0 ] || fail "$name: exit code $code, $(cat "$name.err")"
}

# refused CODE WORDS ARGUMENTS...: ends with this code and one line on standard error that has these words.
refused() {
  local code=$1 words=$2 got
  shift 2
  "$program" "$@" >out 2>err </dev/null
  got=$?
  [ $got -eq "$code" ] || fail "$*: exit code $got, not $code"
  [ "$(wc -l <err)" -eq 1 ] || fail "$*: not one line: $(cat err)"
  grep -qF -- "$words" err || fail "$*: no '$words' in: $(cat err)"
  [ ! -s out ] || fail "$*: standard output: $(cat out)"
}

# The validation loss of each epoch of a curve is that of another to the third digit.
same_curve() {
  paste <(grep ^epoch "$1.out") <(grep ^epoch "$2.out") |
    awk '{d = $8 - $18; if (d < -0.004 || d > 0.004) {print "  epoch " $2 ": " $8 " and " $18; wrong = 1}} END {exit wrong || NR == 0}' ||
    fail "the curves of $1 and $2 differ"
}

case $part in
  learns)
    learn once 24 "$program"
    awk '/^test/ {found = 1; if ($4 < 60) {print "  BLEU " $4; exit 1}} END {exit !found}' once.out || fail "it has not learnt: $(cat once.out)"
    [ "$(wc -l <once/test.de)" -eq 60 ] || fail 'not a translation for each sentence'
    ls once/events/events.out.tfevents.* >once.files 2>&1 || fail 'no event file'
    learn two 2 "$program"
    learn again 2 "$program"
    cmp two.out again.out || fail 'a second run differs'
    ;;
  meshes)
    learn one 3 "$program"
    learn data 3 "$program" --mesh data=2
    learn model 3 "$program" --mesh model=2
    same_curve one data
    same_curve one model
    if [ ${#launcher[@]} -ne 0 ]; then
      learn ranks 3 "${launcher[@]}" 4 "$program" --mesh data=2,model=2
      same_curve one ranks
    fi
    ;;
  errors)
    refused 2 '--data is required'
    refused 2 "'data=two' is not like data=2,model=2" --data . --mesh data=two
    refused 1 'R50' --data nowhere
    sentences 0 10 short
    head -n 9 short.de >short.cut && mv short.cut short.de
    refused 1 'R50' --data . --train short
    ;;
  *) fail "no part $part" ;;
esac
exit $failed
