#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The translating example as its users meet it: translate.sh PART PROGRAM [LAUNCHER...]
#
#   learns    translates sentences that it has not seen, of two languages made up here; repeats itself byte for byte
#   meshes    the same curve on other meshes, threads and ranks; LAUNCHER starts ranks, if given
#   ways      microbatches, bf16 and adafactor learn, too
#   base      a model of the size `base` takes a step and translates
#   speaks    exports, loads, translates what is typed, draws
#   resumes   goes on after a kill with the losses of a run that was left alone, also on another mesh
#   signals   a signal and the time limit end a training that the same command takes up again
#   numerics  the first value that is no number has a line
#   full      a full disk ends nothing
#   errors    one sentence on standard error, exit code 1, or 2 for the command line
#   kills     as many as the first word of LAUNCHER says, at moments drawn from SEED (1), each taken up again by the
#             same command, every tenth on another mesh; LAUNCHER starts four ranks; not among the tests, for a hundred
#             take minutes
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

# Of a run that was taken up again, each epoch as it was said last.
curve_of() { grep ^epoch "$1.out" | tac | awk '!seen[$2]++' | tac; }
# The validation loss of each epoch of a curve is that of another to the third digit.
same_curve() {
  paste <(curve_of "$1") <(curve_of "$2") |
    awk '{d = $8 - $18; if (d < -0.004 || d > 0.004) {print "  epoch " $2 ": " $8 " and " $18; wrong = 1}} END {exit wrong || NR == 0}' ||
    fail "the curves of $1 and $2 differ"
}

epochs=2
begin() {  # begin NAME COMMAND...: these epochs, with checkpoints, beside this script; their process is `job`
  local name=$1
  shift
  "$@" "${small[@]}" --epochs "$epochs" --average 2 --keep "$name" --save "$name/save" --every 7 --resume >>"$name.out" \
    2>>"$name.err" &
  job=$!
}
small_runs() {  # the same, to its end
  begin "$@"
  wait "$job"
}
await_checkpoint() {  # of NAME
  for ((i = 0; i < 6000; ++i)); do [ -z "$(steps_of "$1")" ] || return; sleep 0.05; done
  fail "$1: there is no checkpoint: $(cat "$1.err")"
}
# The epochs of a run that was interrupted are those of one that was left alone, byte for byte.
same_epochs() {
  cmp <(grep -E '^(epoch|mean|test)' "$1.out" | sort -u) <(grep -E '^(epoch|mean|test)' "$2.out" | sort -u) ||
    fail "$2 is not what $1 is: $(cat "$2.out" "$2.err")"
}
# The step of the newest checkpoint, which its index makes one.
steps_of() { ls "$1"/save/*/index.json 2>/dev/null | sed -n 's/.*-step-\([0-9]*\).*/\1/p' | sort -n | tail -n 1; }

case $part in
  learns)
    learn once 24 "$program"
    awk '/^test/ {found = 1; if ($4 < 60) {print "  BLEU " $4; exit 1}} END {exit !found}' once.out || fail "it has not learnt: $(cat once.out)"
    [ "$(wc -l <once/test.de)" -eq 60 ] || fail 'not a translation for each sentence'
    ls once/events/events.out.tfevents.* >once.files 2>&1 || fail 'no event file'
    learn two 2 "$program" --score-every 1
    learn again 2 "$program" --score-every 1
    cmp two.out again.out || fail 'a second run differs'
    [ "$(grep -c '^val .*BLEU' two.out)" -eq 2 ] || fail "the validation part is not scored: $(cat two.out)"
    ;;
  ways)
    small+=(--dropout 0)  # which drops others in each part
    learn whole 3 "$program"
    learn parts 3 "$program" --microbatches 2
    same_curve whole parts
    for way in '--dtype bf16' '--optimizer adafactor --learning-rate 0.1' '--clip-norm 0' '--mesh data=2 --microbatches 2'; do
      # shellcheck disable=SC2086
      learn way 4 "$program" $way
      awk '/^epoch/ {if (first == "") first = $6; last = $6} END {exit !(last < first - 0.5)}' way.out || fail "$way does not learn: $(cat way.out)"
    done
    ;;
  base)
    sentences 0 2 few
    small+=(--train few --valid few --test few --size base --pieces 40 --buckets 1 --longest 64 --limit 4 --beam 1)
    "$program" "${small[@]}" --epochs 1 --average 1 --keep base >base.out 2>base.err || fail "base: $(cat base.err)"
    awk '/^epoch/ {if ($6 > 0 && $6 < 20) found = 1} END {exit !found}' base.out || fail "no loss that can be: $(cat base.out)"
    ;;
  speaks)
    learn once 12 "$program" --export weights.safetensors
    vocabulary=$(ls once/*.model)
    say=("$program" --size toy --load weights.safetensors --vocabulary "$vocabulary" --longest 32 --limit 24 --beam 3)
    "${say[@]}" --data . --test test --sentences 16 --keep again >again.out 2>again.err || fail "$(cat again.err)"
    cmp <(tail -n 1 once.out) again.out || fail "what was loaded says something else: $(cat once.out again.out)"
    cmp once/test.de again/test.de || fail 'what was loaded translates otherwise'
    head -n 5 test.en | "${say[@]}" --interactive >typed 2>typed.err || fail "$(cat typed.err)"
    [ "$(wc -l <typed)" -eq 5 ] || fail "not a line for each line: $(cat typed)"
    cmp <(head -n 5 again/test.de) typed || fail "what is typed is translated otherwise: $(cat typed)"
    drawn=("${say[@]}" --data . --test test --sentences 16 --sample)
    "${drawn[@]}" --top-k 1 --keep greedy_1 >/dev/null 2>err || fail "$(cat err)"
    "${say[@]}" --data . --test test --sentences 16 --beam 1 --keep greedy_2 >/dev/null 2>err || fail "$(cat err)"
    cmp greedy_1/test.de greedy_2/test.de || fail 'the likeliest word alone is not what is drawn from one'
    "${drawn[@]}" --temperature 1.5 --keep drawn_1 >/dev/null 2>err || fail "$(cat err)"
    "${drawn[@]}" --temperature 1.5 --keep drawn_2 >/dev/null 2>err || fail "$(cat err)"
    cmp drawn_1/test.de drawn_2/test.de || fail 'one seed draws two things'
    "${drawn[@]}" --temperature 1.5 --seed 2 --keep drawn_3 >/dev/null 2>err || fail "$(cat err)"
    cmp -s drawn_1/test.de drawn_3/test.de && fail 'two seeds draw one thing'
    "${drawn[@]}" --temperature 1.5 --top-p 0.0001 --keep drawn_4 >/dev/null 2>err || fail "$(cat err)"
    cmp greedy_1/test.de drawn_4/test.de || fail 'no probability leaves more than the likeliest word'
    if [ ${#launcher[@]} -ne 0 ]; then
      head -n 3 test.en | "${launcher[@]}" 2 "${say[@]}" --mesh model=2 --interactive >typed 2>typed.err || fail "$(cat typed.err)"
      cmp <(head -n 3 again/test.de) typed || fail "ranks translate otherwise: $(cat typed)"
    fi
    ;;
  resumes)
    small_runs whole "$program" || fail "$(cat whole.err)"
    for at in 3 9 17; do
      name=killed_$at
      begin "$name" "$program"
      while kill -0 "$job" 2>/dev/null; do
        step=$(steps_of "$name")
        [ "${step:-0}" -lt "$at" ] || kill -KILL "$job"
        sleep 0.02
      done
      wait "$job" 2>/dev/null
      small_runs "$name" "$program" || fail "$name: $(cat "$name.err")"
      same_epochs whole "$name"
    done
    grep -q '^resumed ' killed_9.out || fail "it began anew: $(cat killed_9.out)"
    cp -r killed_9 other && rm -rf other/save/*-step-"$(steps_of other)"
    small_runs other "$program" --mesh data=2 || fail "another mesh: $(cat other.err)"
    grep -q '^resumed ' other.out || fail "another mesh: $(cat other.out)"
    paste <(grep '^epoch   2' whole.out) <(grep '^epoch   2' other.out) | awk '{d = $8 - $18; exit !(d > -0.004 && d < 0.004)}' ||
      fail "another mesh ends otherwise: $(cat whole.out other.out)"
    if [ ${#launcher[@]} -ne 0 ]; then
      epochs=10  # long enough that they are killed before the end
      begin ranks "${launcher[@]}" 2 "$program" --mesh data=2
      await_checkpoint ranks
      pkill -KILL -P "$job" || fail 'there is no rank to kill'
      wait "$job" 2>/dev/null
      small_runs ranks "${launcher[@]}" 2 "$program" --mesh data=2 || fail "ranks: $(cat ranks.err)"
      grep -q '^resumed ' ranks.out || fail "ranks begin anew: $(cat ranks.out)"
      paste <(grep '^epoch   2' whole.out) <(grep '^epoch   2' ranks.out | tail -n 1) |
        awk '{d = $8 - $18; exit !(d > -0.004 && d < 0.004)}' || fail "ranks end otherwise: $(cat whole.out ranks.out)"
    fi
    ;;
  signals)
    epochs=10  # long enough that a signal comes before the end
    small_runs whole "$program" || fail "$(cat whole.err)"
    for signal in INT TERM USR1; do
      begin "$signal" env --default-signal=INT "$program"  # which a shell has its jobs ignore
      await_checkpoint "$signal"
      kill -"$signal" "$job"
      wait "$job"
      code=$?
      [ $code -eq 75 ] || fail "$signal: exit code $code: $(cat "$signal.err")"
      grep -q "^SIG$signal has ended the training after step" "$signal.err" || fail "$signal: $(cat "$signal.err")"
      small_runs "$signal" "$program" || fail "$signal: $(cat "$signal.err")"
      same_epochs whole "$signal"
    done
    small_runs late "$program" --time-limit 0.001
    code=$?
    [ $code -eq 75 ] || fail "the time limit: exit code $code: $(cat late.err)"
    small_runs late "$program" || fail "$(cat late.err)"
    same_epochs whole late
    ;;
  numerics)
    for flag in '' --check-numerics; do
      # shellcheck disable=SC2086
      "$program" "${small[@]}" --epochs 1 --learning-rate 1e9 --warmup 1 --clip-norm 0 $flag >out 2>err
      code=$?
      [ $code -eq 1 ] || fail "a loss that is no number: exit code $code: $(cat err)"
      if [ -z "$flag" ]; then grep -q '^meshtensor R42: step ' err || fail "no word of the loss: $(cat err)"
      else grep -q '^meshtensor R32: .*translate.hpp:[0-9]' err || fail "no line of the program: $(cat err)"; fi
    done
    ;;
  full)
    learn whole 2 "$program"
    mkdir full && mount -t tmpfs -o size=600k none full 2>/dev/null || { echo 'skipped: no small disk can be made here'; exit 77; }
    trap 'umount full; cd /; rm -rf "$folder"' EXIT
    "$program" "${small[@]}" --epochs 2 --keep whole --save full/save --every 7 >full.out 2>full.err || fail "$(cat full.err)"
    cmp <(grep ^epoch whole.out) <(grep ^epoch full.out) || fail "a full disk changes the training: $(cat full.out)"
    grep -q 'C01' full.err || fail "no word of a full disk: $(cat full.err)"
    ;;
  kills)
    count=${launcher[0]}
    launcher=("${launcher[@]:1}")
    own=() other=(--mesh data=2)
    [ ${#launcher[@]} -eq 0 ] || own=(--mesh 'data=2,model=2') other=(--mesh data=4)  # of four ranks
    since=$(date +%s%N)
    small_runs whole "${launcher[@]}" "$program" "${own[@]}" || fail "$(cat whole.err)"
    took=$((($(date +%s%N) - since) / 1000000))
    RANDOM=${SEED:-1}
    echo "seed ${SEED:-1}"
    for ((n = 0; n < count; ++n)); do
      rm -rf killed killed.out killed.err
      begin killed "${launcher[@]}" "$program" "${own[@]}"
      sleep "$(awk -v r=$RANDOM -v took="$took" 'BEGIN {print took / 1000 * r / 32768}')"
      if [ ${#launcher[@]} -ne 0 ]; then pkill -KILL -P "$job"; else kill -KILL "$job"; fi 2>/dev/null
      wait "$job" 2>/dev/null
      if ((n % 10 == 9)); then
        small_runs killed "${launcher[@]}" "$program" "${other[@]}" || fail "$n: $(cat killed.err)"
        same_curve whole killed
      else
        small_runs killed "${launcher[@]}" "$program" "${own[@]}" || fail "$n: $(cat killed.err)"
        same_epochs whole killed
      fi
    done
    echo "$count kills"
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
    refused 2 'a folder of texts is required'
    refused 2 '--resume requires --save' --data . --resume
    refused 2 '--time-limit requires --save' --data . --time-limit 1
    for option in --check --check-numerics --profile; do
      refused 2 "$option: it looks at single operations, but the device pjrt runs programs whole" --data . $option --device pjrt
    done
    refused 2 '--save excludes --load' --data . --load x --save y
    refused 2 'bf16 goes with --optimizer adam' --data . --dtype bf16 --optimizer adafactor
    refused 2 'gradients are summed up' --data . --microbatches 2 --dtype bf16
    refused 1 'C02' --data . --test test --size toy --pieces 80 --load absent
    refused 1 'R40' --data . --vocabulary absent
    : >empty
    refused 1 'C03' --data . --test test --size toy --pieces 80 --load empty
    refused 2 "'data=two' is not like data=2,model=2" --data . --mesh data=two
    refused 1 'R50' --data nowhere
    sentences 0 10 short
    head -n 9 short.de >short.cut && mv short.cut short.de
    refused 1 'R50' --data . --train short
    ;;
  *) fail "no part $part" ;;
esac
exit $failed
