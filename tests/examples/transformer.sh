#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Transformer example as its users meet it: transformer.sh PART PROGRAM [LAUNCHER...]
#
#   learns      beats the bigram model on a text that this model cannot know, and says so; repeats itself byte for byte;
#               shows the layout, a curve and three samples; the command to try next has the promised loss
#   literature  the same on a megabyte of Shakespeare, if MESHTENSOR_DATA has it
#   uneven      20 losses are the same on nine meshes that divide neither batch, length, heads, width nor vocabulary
#   resume      killed while it trains and saves, it goes on from the newest checkpoint, and ends as if it had not been
#   ranks       standard output is that of one process, byte for byte; LAUNCHER starts four ranks
#   lost        a rank that throws, or is killed, ends the job
#   replicas    synchronous replicas have the losses of one model; each policy has the same losses on two meshes, and goes
#               on from a checkpoint; predicts less time for gossip than for an all_reduce; says what is wrong with the
#               options of replicas
#   plan        --explain and --dot for meshes that are not here
#   devices     PROGRAM says what it was not built for; OTHER, built for PJRT plugins, learns on one as on the cpu,
#               and each goes on from the other's checkpoint, on another mesh, too: devices PROGRAM OTHER PYTHON
#   errors      one sentence on standard error, exit code 1, or 2 for the command line
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
source "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"
part=$1 program=$2
shift 2
launcher=("$@")
reader=$(cd "$(dirname "${BASH_SOURCE[0]}")/../unit/train" && pwd)/tensorboard_reader.py

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1

failed=0
fail() {
  echo "FAILED: $*"
  failed=1
}

# A text whose next byte depends on many before it.
for ((i = 0; i < 300; ++i)); do printf abacabadabacabaeabacabadabacabaf; done >text
small=(--text text --layers 1 --d-model 16 --heads 2 --length 16 --batch 4 --warmup 10 --learning-rate 0.01)

learn() {  # learn NAME COMMAND...: standard output in NAME.out
  local name=$1
  shift
  "$@" "${small[@]}" --steps 100 --evaluations 4 --sample-bytes 48 >"$name.out" 2>"$name.err"
  local code=$?
  [ $code -eq 0 ] || fail "$name: exit code $code, $(cat "$name.err")"
}

# same COMMAND...: of the two commands that it prints to try next, the first has the loss that is promised
same() {
  "$@" --sample-bytes 0 >first.out 2>first.err
  local loss next
  loss=$(awk '/^held-out loss/ {print $3}' first.out)
  next=$(grep -A 1 '^try next, for the same loss' first.out | tail -n 1)
  grep -q "^try next, for the same loss, $(printf %.3f "$loss"):\$" first.out || fail "$*: the loss is not $loss: $(cat first.out first.err)"
  [ "$(sed '1,/^try next/d' first.out | wc -l)" -eq 2 ] || fail "$*: not two commands"
  eval "$next" >next.out 2>next.err
  awk -v loss="$loss" '/^held-out loss/ {d = $3 - loss; good = d < 2e-4 && d > -2e-4} END {exit !good}' next.out ||
    fail "$next: not the loss $loss: $(cat next.out next.err)"
  [ "$(grep '^mesh' first.out)" != "$(grep '^mesh' next.out)" ] || fail "$next: the same mesh"
}

# refused CODE WORDS COMMAND...: ends with this code and one line on standard error that has these words.
refused() {
  local code=$1 words=$2 got
  shift 2
  "$@" >out 2>err </dev/null
  got=$?
  [ $got -eq "$code" ] || fail "$*: exit code $got, not $code"
  [ "$(wc -l <err)" -eq 1 ] || fail "$*: not one line: $(cat err)"
  grep -qF -- "$words" err || fail "$*: no '$words' in: $(cat err)"
  [ ! -s out ] || fail "$*: standard output: $(cat out)"
}

case $part in
  devices)
    other=${launcher[0]} python=${launcher[1]}
    refused 2 "'gpu' is none of cpu, reference, cuda, pjrt, pjrt:PATH and list" "$program" --device gpu
    refused 1 "R76: this program was not built for the device 'cuda': configure with" "$other" --device cuda
    refused 1 "R70: the PJRT plugin '/absent.so' cannot be loaded" "$other" "${small[@]}" --device pjrt:/absent.so
    "$other" --device list >list || fail 'no list'
    for device in cpu reference cuda pjrt; do grep -q "^$device " list || fail "no $device in: $(cat list)"; done
    grep -q '^cuda .*not built for it' list || fail "cuda is said to be there: $(cat list)"
    [ $failed -eq 0 ] || exit 1
    find_plugin "$python"
    MESHTENSOR_PJRT=$plugin "$other" --device list >list
    grep -q '^pjrt  *1 found:$' list && grep -q 'device 3: cpu' list || fail "not four devices: $(cat list)"
    run() { "$other" "${small[@]}" --mesh "$1" --evaluations 4 --sample-bytes 0 "${@:2}" 2>err || fail "$*: $(cat err)"; }
    for mesh in data=1,model=1 data=4,model=1 data=1,model=2 data=2,model=2; do
      run "$mesh" --steps 100 >cpu.all
      run "$mesh" --steps 100 --device "pjrt:$plugin" >pjrt.all
      for name in cpu pjrt; do grep -E '^(step|held-out|bigram)' $name.all >$name.out; done
      [ "$(wc -l <cpu.out)" -eq 5 ] && [ "$(wc -l <pjrt.out)" -eq 5 ] || fail "$mesh: not five lines of losses"
      # losses have four digits, and the last one may be rounded to either side
      awk 'NR == FNR {for (i = 1; i <= NF; ++i) was[FNR, i] = $i; next}
           {for (i = 1; i <= NF; ++i) if ($i != was[FNR, i] && ($i - was[FNR, i] > 2e-4 || was[FNR, i] - $i > 2e-4)) exit 1}' \
        cpu.out pjrt.out || fail "$mesh: $(diff cpu.out pjrt.out)"
    done
    for from in cpu "pjrt:$plugin"; do
      to=cpu
      [ $from != cpu ] || to=pjrt:$plugin
      rm -rf kept
      run data=2,model=2 --steps 100 --save kept --every 50 --device "$from" >whole.out
      for mesh in data=2,model=2 data=4,model=1; do
        rm -r kept/*100*  # as if it had been stopped before
        run "$mesh" --steps 100 --save kept --every 50 --resume --device "$to" >again.out
        grep -q 'at step 50$' again.out || fail "not resumed from $from on $mesh: $(cat again.out)"
        paste <(grep '^held-out' whole.out) <(grep '^held-out' again.out) |
          awk '{d = $3 - $9; exit !(NF == 12 && d < 2e-4 && d > -2e-4)}' ||
          fail "from $from to $to on $mesh: $(diff whole.out again.out)"
      done
    done
    ;;
  learns)
    learn once "$program"
    learn again "$program"
    cmp once.out again.out || fail 'a second run differs'
    awk '/^held-out loss/ {loss = $3} /^bigram model/ {bigram = $3} END {exit !(loss > 0 && loss < bigram && bigram < 1)}' \
      once.out || fail 'the losses are not those of a model that has learnt'
    [ "$(grep -c '^step .* held out' once.out)" -eq 3 ] || fail 'not three looks at held-out text'
    for when in 'before training' 'after 50 steps' 'after training'; do  # the text has seven letters
      letters=$(sed -n "/^$when: The /,/^\$/p" once.out | sed "s/^$when: The //" | tr -cd a-g | wc -c)
      if [ "$when" = 'before training' ]; then [ "$letters" -lt 30 ]; else [ "$letters" -ge 40 ] && [ "$letters" -le 48 ]; fi ||
        fail "$letters letters of the text in what it writes $when"
    done
    [ "$(grep -A 2 '^text, next \[batch/data, length\]$' once.out | grep -c 'batch (4) over data = 2')" -eq 1 ] || fail 'no picture of the text'
    [ "$(grep -A 3 '^model.*attention/query' once.out | grep -c 'held by rank .*0,2.*1,3')" -eq 1 ] || fail 'no picture of the heads'
    # The curve: ten lines, sixty marks, the first of them six lines above the last one at least.
    grep -E '^ +[0-9.]+ \|' once.out >curve
    awk -F '|' '{n += gsub(/\*/, "*", $2)} substr($2, 1, 1) == "*" {first = NR} substr($2, 60, 1) == "*" {last = NR}
      END {exit !(NR == 10 && n == 60 && first > 0 && last - first >= 6)}' curve || fail "not the curve: $(cat curve)"
    grep -q '^ *0 .* 100  step$' once.out || fail 'the curve has no steps'
    same "$program" "${small[@]}" --steps 100
    cp text "it's a text"
    same "$program" --text "it's a text" --layers 1 --d-model 48 --length 16 --warmup 5 --steps 20 --mesh data=3,model=1
    same "$program" --text text --layers 1 --d-model 48 --length 16 --warmup 5 --steps 20 --mesh data=1,model=3
    grep -q 'tokens/s.* left' once.err || fail 'no progress'
    learn timed "$program" --profile --trace steps.json
    cmp once.out timed.out || fail 'a run that is timed differs'
    awk '/^profile:/ {of = 1} of && length($0) > 130 {exit 1}' timed.err || fail "a wide profile: $(cat timed.err)"
    grep -q '^profile: .* mean of 20 steps' timed.err || fail "no profile: $(cat timed.err)"
    python3 - <<'PYTHON' || fail 'the trace is not as it should be'
import json
events = json.load(open("steps.json"))["traceEvents"]
bars, begins, ends = ([e for e in events if e["ph"] == phase] for phase in "Xsf")
assert {e["tid"] for e in bars} == {1, 2, 3, 4} and all(e["dur"] >= 0 and e["ts"] >= 0 for e in bars)
assert min(e["ts"] for e in bars) == 0
rows = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
assert rows == {r + 1: f"rank {r} · data {r // 2}, model {r % 2}" for r in range(4)}, rows
assert begins and {e["id"]: e["name"] for e in begins} == {e["id"]: e["name"] for e in ends}
assert any(e["name"].endswith(", backward") for e in bars) and any(e["name"].endswith(", optimizer") for e in bars)
PYTHON
    learn curves "$program" --tensorboard curves
    cmp once.out curves.out || fail 'a run that writes curves differs'
    python3 "$reader" curves >curves.txt || fail "the curves cannot be read: $(cat curves.txt)"
    for tag in train/loss train/learning_rate; do
      [ "$(grep -c " $tag [0-9.e-]*$" curves.txt)" -eq 100 ] || fail "not 100 of $tag: $(cat curves.txt)"
    done
    [ "$(grep -c ' held_out/loss ' curves.txt)" -eq 3 ] || fail "not each look at held-out text: $(cat curves.txt)"
    "$program" "${small[@]}" --minutes 0.03 >timed.out 2>timed.err
    grep -q '^held-out loss' timed.out || fail "--minutes: $(cat timed.err)"
    grep -q '^try next, for a loss near ' timed.out || fail '--minutes: the same loss is promised'
    [ "$(grep -cE '^(before training|after [0-9]+ steps|after training): The ' timed.out)" -eq 3 ] || fail '--minutes: not three samples'
    "$program" "${small[@]}" --check --dropout 0.1 >check.out 2>check.err || fail "--check: $(cat check.out check.err)"
    grep -Eq '^all [0-9]{3} values agree with the reference$' check.out || fail "--check: $(cat check.out)"
    "$program" "${small[@]}" --steps 1 >one.out 2>one.err
    [ $? -eq 1 ] || fail 'one step is enough to beat the bigram model'
    grep -q 'is not below that of a bigram model' one.err || fail 'no word about the bigram model'
    "$program" "${small[@]}" --steps 200 --learning-rate 1e9 >far.out 2>far.err
    [ $? -eq 1 ] || fail 'a loss that is not a number is not exit code 1'
    grep -q 'meshtensor R42: the loss of step' far.err || fail "no word about a loss that is not a number: $(cat far.err)"
    cat once.out
    ;;
  uneven)
    odd=(--text text --layers 2 --d-model 20 --heads 5 --d-ff 100 --length 33 --batch 10 --warmup 5 --learning-rate 0.01)
    for mesh in data=1,model=1 data=2,model=1 data=3,model=1 data=4,model=1 data=2,model=2 data=1,model=6 data=2,model=3 \
      data=8,model=1 data=2,model=4; do
      "$program" "${odd[@]}" --steps 20 --evaluations 20 --sample-bytes 0 --mesh "$mesh" >out 2>err
      grep -q '^held-out loss' out || fail "$mesh: $(cat err)"
      grep '^step ' out | awk '{print $4, $7}' >"$mesh"
      [ "$(wc -l <"$mesh")" -ge 19 ] || fail "$mesh: not twenty losses: $(cat out)"
      paste data=1,model=1 "$mesh" | awk '{a = $1 - $3; b = $2 - $4; if (a * a > 4e-8 || b * b > 4e-8) exit 1}' ||
        fail "$mesh: other losses than one rank's: $(paste data=1,model=1 "$mesh")"
    done
    awk 'NR == 1 {first = $1} {last = $1} END {exit !(last < 0.9 * first)}' ./data=1,model=1 || fail "they do not fall: $(cat data=1,model=1)"
    cat data=1,model=1
    ;;
  resume)
    long=(--steps 1500 --evaluations 3 --sample-bytes 48 --dropout 0.1)
    "$program" "${small[@]}" "${long[@]}" >whole.out 2>whole.err || fail "exit code $?: $(cat whole.err)"
    for ((i = 0; i < 3; ++i)); do
      "$program" "${small[@]}" "${long[@]}" --save run --every 20 --resume >out 2>err &
      job=$!
      before=$(ls -d run/*/index.json 2>/dev/null | tail -n 1)  # without index: it was killed while it saved
      for ((k = 0; k < 15000; ++k)); do
        newest=$(ls -d run/*/index.json 2>/dev/null | tail -n 1)
        [ -n "$newest" ] && [ "$newest" != "$before" ] && break || sleep 0.02
      done
      kill -KILL "$job" 2>/dev/null
      wait "$job" 2>/dev/null
      grep meshtensor err | grep -v R19 && fail 'a run that is killed says something'
      [ "$i" -eq 0 ] || grep -Eq '^resumed run/[0-9]{4}-step-[0-9]+ at step [0-9]+$' out || fail "it does not go on: $(cat out)"
    done
    cp -r run other
    "$program" "${small[@]}" "${long[@]}" --save run --every 20 --resume >out 2>err || fail "exit code $?: $(cat err)"
    grep -q '^resumed run/' out || fail "it does not go on: $(cat out)"
    cmp <(sed -n '/^held-out/,$p' whole.out) <(sed -n '/^held-out/,$p' out) || fail 'it ends otherwise than a run that was not killed'
    [ "$(ls run | wc -l)" -eq 3 ] || fail "not three checkpoints: $(ls run)"
    ls run | tail -n 1 | grep -q -- '-step-1500$' || fail "not the last step: $(ls run)"
    "$program" "${small[@]}" "${long[@]}" --mesh data=1,model=1 --save other --resume >out 2>err || fail "another mesh: $(cat err)"
    grep -q '^resumed other/' out || fail "another mesh: $(cat out)"
    truncate -s 100 run/*-step-1500/rank-0001-of-0004.safetensors
    "$program" "${small[@]}" "${long[@]}" --save run --resume >out 2>err || fail "a damaged checkpoint: $(cat err)"
    grep -q 'meshtensor warning C06: the checkpoint .*-step-1500. is passed over: .*rank-0001-of-0004.safetensors. is damaged' err ||
      fail "no word of a damaged checkpoint: $(cat err)"
    cat whole.out
    ;;
  literature)
    plays="${MESHTENSOR_DATA:-}/text/tinyshakespeare.txt.gz"
    [ -e "$plays" ] || { echo "skipped: there is no $plays; MESHTENSOR_DATA names a folder of data sets"; exit 77; }
    gunzip -c "$plays" >plays
    "$program" --text plays --steps 600 --layers 2 --d-model 64 --evaluations 2 --sample-bytes 80 >out 2>err ||
      fail "exit code $?: $(cat err)"
    awk '/^held-out loss/ {loss = $3} /^bigram model/ {bigram = $3} END {exit !(loss > 1 && loss < bigram - 0.1)}' out ||
      fail 'the losses are not those of a model that has learnt'
    cat out
    ;;
  ranks)
    learn alone "$program"
    learn ranks "${launcher[@]}" "$program"
    cmp alone.out ranks.out || fail 'ranks say something else than threads'
    next=$(tail -n 1 alone.out)  # a command that starts ranks
    [[ "$next" == *' -n 4 '* ]] || fail "not a command that starts ranks: $next"
    eval "'${launcher[0]}' ${next#*mpi* }" >next.out 2>next.err
    cmp <(grep -E '^(mesh|held-out|bigram)' alone.out) <(grep -E '^(mesh|held-out|bigram)' next.out) ||
      fail "$next: not the same loss: $(cat next.err)"
    learn saves "$program" --save run --every 60
    rm -r run/*-step-100
    learn resumed "${launcher[@]}" "$program" --save run --resume
    grep -q '^resumed run/0001-step-60 at step 60$' resumed.out || fail "ranks do not go on: $(cat resumed.out)"
    cmp <(sed -n '/^held-out/,$p' alone.out) <(sed -n '/^held-out/,$p' resumed.out) || fail 'ranks go on otherwise than threads'
    "${launcher[@]}" "$program" --text absent >out 2>err
    [ $? -eq 1 ] || fail 'ranks: a missing text is not exit code 1'
    [ "$(grep -c 'meshtensor R40' err)" -eq 1 ] || fail "ranks: a missing text is not said once: $(cat err)"
    "${launcher[@]}" "$program" "${small[@]}" --batch 6 --mesh data=3,model=1 >out 2>err
    [ $? -eq 1 ] || fail 'ranks: a mesh of another size is not exit code 1'
    grep -q 'meshtensor R05: the mesh has 3 ranks, but 4 were started' err || fail "ranks: $(cat err)"
    ;;
  lost)
    mpirun=("${launcher[0]}" "${launcher[@]:3}")  # without the number of ranks
    timeout 300 "${mpirun[@]}" -n 3 "$program" "${small[@]}" --steps 100000000 : -n 1 "$program" --text absent >out 2>err
    code=$?
    [ $code -ne 0 ] && [ $code -ne 124 ] || fail "one rank throws: exit code $code"
    grep -q 'meshtensor R40' err || fail "one rank throws: no word of why: $(cat err)"

    "${mpirun[@]}" -n 4 "$program" "${small[@]}" --steps 100000000 --save run --every 3 >out 2>err &
    job=$!
    for ((i = 0; i < 3000; ++i)); do grep -q 'step [0-9]' err && ls run/*/index.json >/dev/null 2>&1 && break || sleep 0.1; done
    victim=$(pgrep -P "$job" | tail -n 1)
    kill -KILL "$victim" || fail "there is no rank to kill: $(cat err)"
    for ((i = 0; i < 3000; ++i)); do kill -0 "$job" 2>/dev/null && sleep 0.1 || break; done
    kill -KILL "$job" 2>/dev/null && fail 'one rank is killed: the others are waiting for it'
    wait "$job"
    code=$?
    [ $code -ne 0 ] || fail "one rank is killed: exit code $code"
    "${mpirun[@]}" -n 2 "$program" "${small[@]}" --minutes 0.02 --save run --resume >out 2>err
    grep -q '^resumed run/' out || fail "after one rank was killed, others do not go on: $(cat out err)"
    ;;
  plan)
    "$program" --explain --mesh data=64,model=8 >plan 2>err || fail "exit code $?: $(cat err)"
    for words in 'data = 64, model = 8: 512 ranks' 'model/decoder/layers/attention/query' \
      'f32[layers, d_model, heads/model, d_head]' 'all_reduce sum  over data' 'transformer.hpp:' 'flop a step' 'fullest at'; do
      grep -qF "$words" plan || fail "no '$words' in the plan"
    done
    "$program" --explain=html --mesh data=64,model=8 >page.html 2>err || fail "exit code $?: $(cat err)"
    grep -q 'data-ranks="512"' page.html || fail 'the page does not have 512 ranks'
    grep -qE '<td>arithmetic</td>.*(measured|assumed)' page.html || fail 'the page does not say where its rates come from'
    "$program" --explain=html --mesh data=64,model=8 --rates flops=2e14,memory=2e12,network=25e9,latency=5e-6 >given.html 2>err ||
      fail "exit code $?: $(cat err)"
    for words in '200 Tflop/s</td><td>given' '2.00 TB/s</td><td>given' '25.0 GB/s, 5.00 µs a message</td><td>given'; do
      grep -qF "$words" given.html || fail "no '$words' on the page"
    done
    [ "$(wc -c <page.html)" -lt 1000000 ] || fail "the page has $(wc -c <page.html) bytes"
    "$program" --explain=instructions --mesh data=64,model=8 >list 2>err || fail "exit code $?: $(cat err)"
    for words in 'begin_loop layers, 4 times, reversed' 'start all_reduce' 'copy_to_output' 'bind_variable model/decoder/tokens'; do
      grep -qF "$words" list || fail "no '$words' in the list of instructions"
    done
    "$program" --dot graph >out 2>err || fail "exit code $?: $(cat err)"
    [ "$(head -n 1 graph)" = 'digraph module {' ] || fail 'no graph'
    [ ! -s out ] || fail 'the graph is also on standard output'
    grep -qF 'repeat layers, 4 times: body' graph || fail 'the graph does not say how often layers run'
    "$program" --dot nodes --dot-nodes 2>err || fail "exit code $?: $(cat err)"
    [ "$(grep -c ' -> ' nodes)" -gt $((5 * $(grep -c ' -> ' graph))) ] || fail 'the graph has no single nodes'
    if command -v dot >/dev/null; then
      timeout 300 dot -Tsvg -o graph.svg graph 2>err && [ ! -s err ] || fail "Graphviz refuses the graph: $(head -c 300 err)"
    fi
    ;;
  replicas)
    run() {  # run NAME ARGUMENTS...: a short training; standard output in NAME.out
      "$program" "${small[@]}" --steps 20 --evaluations 2 --sample-bytes 0 "${@:2}" >"$1.out" 2>"$1.err"
      grep -q '^held-out loss' "$1.out" || fail "$*: $(cat "$1.err")"
    }
    same_losses() {  # same_losses NAME OTHER: the losses on the way and at the end
      paste <(grep -E '^(step|held-out)' "$1.out") <(grep -E '^(step|held-out)' "$2.out") |
        awk '{n = $1 == "step" ? 4 : 3; d = $n - $(NF / 2 + n); if (d > 2e-4 || d < -2e-4) exit 1} END {exit NR < 2}' ||
        fail "$1 and $2 differ: $(cat "$1.out" "$2.out")"
    }
    run one --mesh data=1,model=1
    for policy in synchronous stochastic_gradient_push overlapped_gradient_push decentralized_sgd local_sgd slow_momentum diloco federated_averaging; do
      replicas=(--regime $policy --replicas 4)
      case $policy in local_sgd | slow_momentum | diloco | federated_averaging) replicas+=(--period 3) ;; esac
      run $policy --mesh data=1,model=1 "${replicas[@]}" --save kept_$policy --every 10
      grep -q "^regime  $policy.*, 4 replicas, each of which sends .* in a step" $policy.out || fail "no policy in: $(cat $policy.out)"
      grep -q 'each learns from 1 of the 4 windows of a step, with the learning rate 0.01$' $policy.out ||
        fail "no batch in: $(cat $policy.out)"
      run other --mesh data=2,model=2 "${replicas[@]}"
      same_losses $policy other
      rm -r kept_$policy/*-20  # as if it had been stopped before
      run other --mesh data=4,model=1 "${replicas[@]}" --save kept_$policy --resume
      grep -q 'at step 10$' other.out || fail "$policy is not resumed: $(cat other.out)"
      paste <(grep '^held-out' $policy.out) <(grep '^held-out' other.out) |
        awk '{d = $3 - $9; exit !(NF == 12 && d < 2e-4 && d > -2e-4)}' || fail "$policy resumes otherwise: $(cat other.out)"
    done
    same_losses one synchronous
    for topology in bipartite_exponential ring directed_ring torus base_graph_1 base_graph_2 random_matching random_out_degrees; do
      run push --mesh data=2,model=1 --regime stochastic_gradient_push --replicas 4 --topology $topology
      grep -q "push over $topology, 4 replicas" push.out || fail "no topology in: $(cat push.out)"
    done
    "$program" "${small[@]}" --mesh data=2,model=1 --regime local_sgd --replicas 4 --check >out 2>err &&
      grep -q ' values agree with the reference' out || fail "--check: $(cat out err)"
    "$program" "${small[@]}" --mesh data=2,model=1 --regime diloco --replicas 4 --explain >out 2>err
    head -n 1 out | grep -q '^regime  diloco of 16 steps, 4 replicas, each of which sends .* in a step on average$' ||
      fail "--explain: $(cat out err)"
    grep -q '^layout *replica over data$' out || fail "--explain has another layout: $(cat out)"
    for policy in synchronous overlapped_gradient_push; do
      run $policy --mesh data=1,model=1 --regime $policy --replicas 4 --network 1gbit --pauses 50% --rates flops=1e11,memory=1e11
      grep -q '^times   those of 4 ranks on 1gbit with pauses of 50%, as predicted$' $policy.out ||
        fail "no prediction in: $(cat $policy.out)"
    done
    cat synchronous.out overlapped_gradient_push.out | sed -n 's/^held-out loss .* nats a byte  after \([0-9.]*\) ms$/\1/p' >times
    awk '{at[NR] = $1} END {exit !(NR == 2 && at[2] < 0.9 * at[1])}' times || fail "gossip is not faster: $(cat times)"
    refused 2 '--pauses requires --network' "$program" --regime local_sgd --replicas 4 --pauses 1%
    refused 2 "'one' is not like 1%" "$program" --regime local_sgd --replicas 4 --network 10gbit --pauses one
    refused 2 '--regime requires --replicas' "$program" --regime local_sgd
    refused 2 '--replicas requires --regime' "$program" --replicas 4
    refused 2 'a batch of 4 windows has no 3 equal parts' "$program" "${small[@]}" --regime local_sgd --replicas 3
    refused 2 'it has no topology' "$program" --regime local_sgd --replicas 4 --topology ring
    refused 2 'it has no period' "$program" --regime synchronous --replicas 4 --period 4
    refused 2 'all replicas take part' "$program" --regime local_sgd --replicas 4 --clients 2
    refused 2 '5 of 4 replicas cannot take part' "$program" --regime federated_averaging --replicas 4 --clients 5
    refused 2 '--regime: sgp not in {synchronous,' "$program" --regime sgp --replicas 4
    ;;
  errors)
    : >empty
    printf short >short
    refused 1 "meshtensor R40: the text 'absent' cannot be read: No such file or directory" "$program" --text absent
    printf 'pa\0cked' >packed
    refused 1 "meshtensor R40: the text 'packed' is no text, for byte 2 is zero" "$program" --text packed
    refused 1 "meshtensor R40: the text 'empty' is empty" "$program" --text empty
    refused 1 "meshtensor R40: the text '.' is a folder" "$program" --text .
    refused 1 'meshtensor R41: the text has 5 bytes' "$program" --text short
    refused 1 'meshtensor R43' "$program" --dot ./absent/graph
    refused 2 '--resume requires --save' "$program" --resume
    "$program" "${small[@]}" --steps 2 --save text >out 2>err
    [ $? -eq 1 ] && grep -q "meshtensor C01: 'text' cannot be written: Not a directory" err || fail "--save text: $(cat err)"
    refused 2 "'data=0' is not like data=2,model=2" "$program" --mesh data=0
    refused 2 "'rows=2' is not like data=2,model=2" "$program" --mesh rows=2
    refused 2 '--nonsense' "$program" --nonsense
    for rates in '' flops flops=0 flops=-1 flops=inf flops=2e14x flop=1 flops=1,flops=2 latency=1 flops=1,,memory=1; do
      refused 2 "--rates" "$program" --explain=html --rates "$rates"
    done
    for option in --check --profile --trace=file; do
      refused 2 "${option%%=*}: it looks at single operations, but the device pjrt runs programs whole" "$program" $option --device pjrt
    done
    refused 2 "'many' is not a number" "$program" --steps many
    refused 2 "'0' is not a number from 1" "$program" --layers 0
    ;;
  *)
    echo "transformer.sh: there is no part '$part'"
    exit 2
    ;;
esac
exit $failed
