#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example of images as its users meet it: resnet.sh PART PROGRAM [LAUNCHER...]
#
#   counts    each depth has the parameters and the multiplications that are published for it
#   learns    classifies images that it has not seen, with each kind of block; repeats itself byte for byte
#   ways      microbatches, LARS, bf16, stairs and a moving average learn, too; a moving average that keeps nothing is
#             the network itself
#   meshes    the same losses and the same counts on other meshes, threads and ranks; LAUNCHER starts ranks, if given
#   layouts   ten losses of ResNet-50 at its full width on 1, 2, 3, 4, 6 and 8 processors, by batch, rows, rows x cols,
#             model and uneven parts; not among the tests, for it takes minutes
#   on_pjrt   PROGRAM, built for PJRT plugins, has the losses of its first device on the plugin for processors; PYTHON in
#             the place of LAUNCHER finds it
#   resumes   goes on from a checkpoint with the losses of a run that was left alone, also on another mesh
#   exports   what is exported has torchvision's names, and is evaluated as before
#   data      MNIST's and CIFAR's files
#   folder    JPEG files in folders by class: trains, is interrupted, goes on on another mesh, and evaluates what it has
#             learnt; names a damaged file
#   replicas  replicas learn, on another mesh with the same losses; what they export is evaluated as before, and is what
#             other replicas begin with
#   errors    one sentence on standard error, exit code 1, or 2 for the command line
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
source "$(dirname "${BASH_SOURCE[0]}")/plugin.sh"
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

small=(--width 4 --size 32 --count 96 --classes 4 --batch 16 --epochs 2 --warmup 0.5 --learning-rate 0.05 --print-every 1)

learn() {  # learn NAME COMMAND...: with the options of `small` before its own; standard output in NAME.out
  local name=$1 word
  local words=()
  shift
  for word in "$@"; do
    words+=("$word")
    [ "$word" != "$program" ] || words+=("${small[@]}")
  done
  "${words[@]}" --keep "$name" >"$name.out" 2>"$name.err"
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
  [ "$(grep -vc 'warning R19' err)" -eq 1 ] || fail "$*: not one line: $(cat err)"
  grep -qF -- "$words" err || fail "$*: no '$words' in: $(cat err)"
  [ ! -s out ] || fail "$*: standard output: $(cat out)"
}
# The losses of two runs are within DIGITS of each other, step by step.
same_losses() {  # same_losses DIGITS NAME OTHER
  paste <(grep '^step' "$2.out") <(grep '^step' "$3.out") |
    awk -v within="$1" '{d = $4 - $8; if ($2 != $6 || d < -within || d > within) {print "  step " $2 ": " $4 " and " $8; wrong = 1}} END {exit wrong || NR == 0}' ||
    fail "the losses of $2 and $3 differ"
}
falls() {  # the last three of NAME's losses are lower than the first three by a tenth
  awk '/^step/ {all[n++] = $4} END {exit !(n > 5 && all[n - 1] + all[n - 2] + all[n - 3] < 0.9 * (all[0] + all[1] + all[2]))}' "$1.out" ||
    fail "$1 does not learn: $(cat "$1.out")"
}

case $part in
  counts)
    while read -r depth parameters products; do
      "$program" --counts --depth "$depth" --classes 1000 >out 2>err || fail "$(cat err)"
      [ "$(cat out)" = "ResNet-$depth  parameters $parameters  multiplications $products" ] || fail "$(cat out)"
    done <<'END'
18 11689512 1814073344
34 21797672 3663761408
50 25557032 4089184256
101 44549160 7801405440
152 60192808 11513626624
END
    ;;
  learns)
    for depth in 18 50; do
      small+=(--depth "$depth")
      learn "net_$depth" "$program" --epochs 4
      falls "net_$depth"
      awk '/^epoch/ {first = $10} END {exit !(first > 0.5)}' "net_$depth.out" || fail "it guesses: $(cat "net_$depth.out")"
      grep -qE ' images/s  [0-9]+ % waiting for data  [0-9]+:[0-9]{2} left' "net_$depth.err" ||
        fail "no line of progress: $(cat "net_$depth.err")"
      grep -q '^epoch   4  updates     24 .* of 12)$' "net_$depth.out" || fail "not each image once: $(cat "net_$depth.out")"
    done
    learn again "$program" --epochs 4
    cmp net_50.out again.out || fail 'a second run differs'
    ls again/events/events.out.tfevents.* >/dev/null 2>&1 || fail 'no event file'
    ;;
  ways)
    small+=(--depth 50)
    for way in '--optimizer lars --learning-rate 0.1' '--dtype bf16' '--schedule stairs --falls 1,1.5,2.5' \
      '--microbatches 2' '--mesh data=2 --microbatches 2' '--average 0.5'; do
      # shellcheck disable=SC2086
      learn way "$program" --epochs 4 $way
      falls way
    done
    learn plain "$program" --epochs 1
    learn averaged "$program" --epochs 1 --average 0.000000001
    awk '/^epoch/ {if (n++ && ($8 - v > 0.001 || v - $8 > 0.001)) exit 1; v = $8}' plain.out averaged.out ||
      fail "the average that keeps nothing is another network: $(cat plain.out averaged.out)"
    ;;
  meshes)
    small+=(--depth 50 --steps 10)
    learn one "$program"
    falls one
    for mesh in data=2 rows=2 model=2 data=3 rows=2,cols=2; do
      learn "$mesh" "$program" --mesh "$mesh"
      same_losses 1e-4 one "$mesh"
      cmp <(sed -n 's/.*top-1.*(/(/p' one.out) <(sed -n 's/.*top-1.*(/(/p' "$mesh.out") || fail "$mesh counts others"
    done
    if [ ${#launcher[@]} -ne 0 ]; then
      learn ranks_2 "${launcher[@]}" 2 "$program" --mesh rows=2
      same_losses 1e-4 one ranks_2
      learn ranks_4 "${launcher[@]}" 4 "$program" --mesh data=2,cols=2
      same_losses 1e-4 one ranks_4
    fi
    ;;
  layouts)
    small=(--depth 50 --size 64 --count 60 --classes 10 --batch 10 --steps 10 --warmup 0 --learning-rate 0.001 --print-every 1)
    learn one "$program"
    falls one
    for mesh in data=2 rows=2 model=2 data=3 rows=3 data=4 rows=2,cols=2 data=2,model=2 data=3,rows=2 rows=3,cols=2 data=8 \
      data=2,rows=2,cols=2 data=2,rows=2,model=2; do
      learn "$mesh" "$program" --mesh "$mesh"
      same_losses 1e-4 one "$mesh"
      paste <(grep '^step' one.out) <(grep '^step' "$mesh.out") |
        awk -v mesh="$mesh" '{d = $4 - $8; if (d < 0) d = -d; if (d > most) most = d} END {printf "%-24s %.1e\n", mesh, most}'
    done
    ;;
  on_pjrt)
    find_plugin "${launcher[0]}"
    for depth in 18 50; do
      small+=(--depth "$depth" --steps 6)
      learn "cpu_$depth" "$program"
      learn "pjrt_$depth" "$program" --device "pjrt:$plugin"
      learn "pjrt_of_two_$depth" "$program" --device "pjrt:$plugin" --mesh data=2
      same_losses 1e-3 "cpu_$depth" "pjrt_$depth"
      same_losses 1e-3 "cpu_$depth" "pjrt_of_two_$depth"
    done
    ;;
  resumes)
    small+=(--depth 18 --average 0.9)
    learn whole "$program"
    save=(--save save --every 4 --resume)
    "$program" "${small[@]}" --keep cut "${save[@]}" --time-limit 0.00001 >cut.out 2>cut.err
    code=$?
    [ $code -eq 75 ] || fail "the time limit: exit code $code, $(cat cut.err)"
    grep -q 'has ended the training after step 1:' cut.err || fail "it has not stopped: $(cat cut.err)"
    cp -r save other
    "$program" "${small[@]}" --keep cut "${save[@]}" >>cut.out 2>cut.err || fail "$(cat cut.err)"
    grep -q '^resumed .* at step 1$' cut.out || fail "it began anew: $(cat cut.out)"
    cmp <(grep -E '^(step|epoch)' whole.out) <(grep -E '^(step|epoch)' cut.out) || fail "it goes on otherwise: $(cat cut.out)"
    save=(--save other --resume)
    "$program" "${small[@]}" --keep other_out "${save[@]}" --mesh data=2,rows=2 >other.out 2>other.err || fail "$(cat other.err)"
    grep -q '^resumed .* at step 1$' other.out || fail "another mesh begins anew: $(cat other.out)"
    grep '^step      1' whole.out | cat - other.out >joined.out
    same_losses 1e-4 whole joined
    ;;
  exports)
    for depth in 18 50; do
      small+=(--depth "$depth")
      learn once "$program" --export weights.safetensors
      learn again "$program" --evaluate --load weights.safetensors
      cmp <(sed -n 's/^epoch   2.*validation/validation/p' once.out) again.out || fail "ResNet-$depth: $(cat again.out)"
      grep -aq '"layer1.1.conv1.weight"' weights.safetensors || fail 'no name of torchvision'
    done
    learn average "$program" --average 0.9 --export weights.safetensors
    learn again "$program" --evaluate --load weights.safetensors
    cmp <(sed -n 's/^epoch   2.*validation/validation/p' average.out) again.out || fail "the average: $(cat again.out)"
    refused 1 'C08' "${small[@]}" --depth 101 --evaluate --load weights.safetensors
    ;;
  data)
    mkdir mnist cifar
    bytes() { awk -v n="$1" 'BEGIN {for (i = 0; i < n; ++i) printf "%c", 33 + (i * 7919) % 90}'; }
    for name in train t10k; do
      { printf '\0\0\10\3\0\0\0\20\0\0\0\34\0\0\0\34'; bytes $((16 * 28 * 28)); } >mnist/$name-images-idx3-ubyte
      { printf '\0\0\10\1\0\0\0\20'; printf '\0\1\2\3\4\5\6\7\0\1\2\3\4\5\6\11'; } | gzip >mnist/$name-labels-idx1-ubyte.gz
    done
    small+=(--depth 18 --epochs 1 --batch 8)
    learn mnist "$program" --data mnist
    grep -q ' of 16)$' mnist.out || fail "MNIST: $(cat mnist.out)"
    for name in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
      for label in 0 1 2 3; do printf "\\$label"; bytes 3072; done >cifar/$name.bin
    done
    learn cifar "$program" --data cifar
    grep -q '^20 images of 10 classes' cifar.out || fail "CIFAR: $(cat cifar.out)"
    ;;
  folder)
    python3 - <<'PYTHON' || fail 'no images were made'
# JPEG files whose blocks of 8 x 8 have one colour each, so that there is nothing to code but the means of blocks.
import os, random, struct

def segment(kind, data):
    return struct.pack('>BBH', 255, kind, len(data) + 2) + data

def jpeg(height, width, colour):
    across, down = (width + 7) // 8, (height + 7) // 8
    bits, before = [], [0, 0, 0]
    for _ in range(across * down):
        r, g, b = (min(255, max(0, c + random.randint(-40, 40))) for c in colour)
        y = 0.299 * r + 0.587 * g + 0.114 * b
        for i, mean in enumerate((y - 128, (b - y) * 0.564, (r - y) * 0.713)):
            change, before[i] = round(mean) - before[i], round(mean)
            size = abs(change).bit_length()
            bits.append(f'{size:04b}')  # the code of a size is the size
            if size: bits.append(f'{change if change > 0 else change + 2**size - 1:0{size}b}')
            bits.append('0')  # and nothing else in this block
    text = ''.join(bits)
    text += '1' * (-len(text) % 8)
    coded = int(text, 2).to_bytes(len(text) // 8, 'big').replace(b'\xff', b'\xff\0')
    parts = b''.join(bytes([i, 0x11, 0]) for i in (1, 2, 3))
    return (b'\xff\xd8' + segment(0xdb, b'\0' + b'\x08' * 64) + segment(0xc0, struct.pack('>BHHB', 8, height, width, 3) + parts)
            + segment(0xc4, b'\0' + bytes([0, 0, 0, 12] + [0] * 12) + bytes(range(12)))
            + segment(0xc4, b'\x10' + bytes([1] + [0] * 15) + b'\0')
            + segment(0xda, b'\3\1\0\2\0\3\0\0\x3f\0') + coded + b'\xff\xd9')

random.seed(1)
for part, count in (('train', 12), ('val', 5)):
    for name, colour in {'blue': (60, 60, 190), 'green': (60, 190, 60), 'grey': (120, 120, 120), 'red': (190, 60, 60)}.items():
        os.makedirs(f'photos/{part}/{name}')
        for i in range(count):
            with open(f'photos/{part}/{name}/{i:03}.jpg', 'wb') as file:
                file.write(jpeg(36 + 3 * i, 52 - 2 * i, colour))
PYTHON
    small+=(--depth 18 --data photos --epochs 6)
    learn whole "$program" --export weights.safetensors
    falls whole
    grep -q '^48 images of 4 classes' whole.out || fail "other images: $(head -1 whole.out)"
    awk '/^epoch   6/ {found = 1; wrong = !($10 > 0.7 && / of 20\)$/)} END {exit !found || wrong}' whole.out ||
      fail "it guesses: $(cat whole.out)"
    save=(--save save --resume)
    "$program" "${small[@]}" --keep cut "${save[@]}" --time-limit 0.00001 >cut.out 2>cut.err
    code=$?
    [ $code -eq 75 ] || fail "the time limit: exit code $code, $(cat cut.err)"
    "$program" "${small[@]}" --keep cut "${save[@]}" --mesh data=2,rows=2 >>cut.out 2>cut.err || fail "$(cat cut.err)"
    grep -q '^resumed .* at step 1$' cut.out || fail "another mesh begins anew: $(cat cut.out)"
    same_losses 1e-3 whole cut
    for mesh in data=1 data=3 rows=2,cols=2; do
      learn judged "$program" --evaluate --load weights.safetensors --mesh "$mesh"
      cmp <(sed -n 's/^epoch   6.*(\(.* of .*\))$/\1/p' whole.out) <(sed -n 's/^validation.*(\(.* of .*\))$/\1/p' judged.out) ||
        fail "evaluated on $mesh: $(cat judged.out)"
    done
    printf 'no image' >photos/train/red/005.jpg
    "$program" "${small[@]}" >out 2>err
    code=$?
    { [ $code -eq 1 ] && grep -q 'meshtensor R6.*005.jpg' err; } || fail "a damaged file: exit code $code, $(cat err)"
    learn skips "$program" --skip-damaged
    grep -q '005.jpg' skips.err || fail "a damaged file is not named: $(cat skips.err)"
    ;;
  replicas)
    for depth in 18 50; do
      small+=(--depth "$depth" --batch 16)
      for policy in stochastic_gradient_push 'local_sgd --period 4'; do
        # shellcheck disable=SC2086
        learn replicas "$program" --epochs 4 --regime $policy --replicas 2 --export weights.safetensors
        falls replicas
        grep -q '^regime .*, 2 replicas, each of which sends .*; each learns from 8 of the 16 images' replicas.out ||
          fail "no policy in: $(cat replicas.out)"
        learn again "$program" --evaluate --load weights.safetensors
        paste <(sed -n 's/^epoch   4.*validation/validation/p' replicas.out) again.out |
          awk '{d = $2 - $13; exit !(NF == 22 && d < 1e-3 && d > -1e-3)}' || fail "ResNet-$depth: $(cat replicas.out again.out)"
      done
      learn mean "$program" --evaluate --load weights.safetensors --regime local_sgd --replicas 4
      cmp again.out mean.out || fail "replicas begin with others: $(cat again.out mean.out)"
    done
    # Images of 32 x 32 have one place in the last layers, so a batch norm over 4 of them would magnify rounding.
    larger=(--size 64 --batch 32)
    learn two "$program" "${larger[@]}" --regime overlapped_gradient_push --replicas 4 --steps 4 --average 0.5 \
      --mesh data=2,model=2
    learn four "$program" "${larger[@]}" --regime overlapped_gradient_push --replicas 4 --steps 4 --average 0.5
    same_losses 1e-4 two four
    learn synchronous "$program" --regime synchronous --replicas 2 --steps 2
    grep -q "warning G54: the batch norm 'model/.* more of each replica uses" synchronous.err || fail "no warning: $(cat synchronous.err)"
    refused 2 'has no 3 equal parts' --batch 16 --regime local_sgd --replicas 3
    refused 2 '2 replicas do not divide evenly over data=4' --batch 16 --regime local_sgd --replicas 2 --mesh data=4
    refused 2 'replicas go with --dtype f32' --batch 16 --regime local_sgd --replicas 2 --microbatches 2
    ;;
  errors)
    refused 2 'there is nothing to evaluate' --evaluate
    refused 2 '--resume requires --save' --resume
    refused 2 "'data=two' is not like data=2,rows=2,cols=2,model=2" --mesh data=two
    refused 2 '--falls' --falls 30,20,80
    refused 2 '--depth' --depth 51
    for option in --check --check-numerics --profile; do
      refused 2 "$option: it looks at single operations, but the device pjrt runs programs whole" $option --device pjrt:/absent.so
    done
    refused 2 'has no 5 equal parts' --batch 16 --microbatches 5
    refused 2 'bf16 goes with --optimizer nesterov' --dtype bf16 --optimizer lars
    refused 2 'do not divide evenly over data=3' --batch 16 --microbatches 2 --mesh data=3
    refused 1 'C02' "${small[@]}" --depth 18 --evaluate --load absent
    : >empty
    refused 1 'C03' "${small[@]}" --depth 18 --evaluate --load empty
    refused 1 'R62' "${small[@]}" --depth 18 --data nowhere
    "$program" "${small[@]}" --depth 18 --learning-rate 1e9 --warmup 0 >out 2>err
    code=$?
    [ $code -eq 1 ] || fail "a loss that is no number: exit code $code"
    grep -q '^meshtensor R42: step ' err || fail "no word of the loss: $(cat err)"
    ;;
  *) fail "no part $part" ;;
esac
exit $failed
