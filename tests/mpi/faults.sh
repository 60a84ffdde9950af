#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What goes wrong on one of three ranks, or between two machines, and how the job ends: a sentence that says which rank
# and why, an exit code that is not 0, no process left. Prints how long each took to be noticed.
#
#   faults.sh PART PROGRAM TWIN MPIRUN FLAG [MORE FLAGS]     FLAG: before the number of ranks
#
#   stopped    a rank gets SIGSTOP          computes   a rank comes back no more
#   throws     an exception in a rank, or an infinite value, which the program catches or not
#   refuses    a feed that a rank alone gives, and that does not fit
#   leaves     a rank ends its program, after a refusal, too, or makes fewer jobs than the others
#   memory     a rank has less than the plan needs
#   dies       a rank gets SIGKILL, faults, aborts, exits, and does not even tell MPI; one of four replicas dies, too, and
#              the checkpoint goes on with three, then with two and with four: the mean of the replicas stays
#   survives   … as guests, whose launcher leaves the others be: they are told
#   facts      a rank has other arguments   builds     a rank runs a program that was compiled otherwise
#   cut        the link between two machines goes down; as root, with Open MPI
#   slow       … or carries little: nothing goes wrong
#   preempted  SIGTERM to one rank, SIGUSR1 to mpirun, SIGTERM to mpirun: a checkpoint of that step, exit code 75; started
#              again it ends with the bits of a run that was left alone
#   soak       harm by chance, again and again, with those bits at the end and nothing left over;
#              MESHTENSOR_SOAK_STEPS and MESHTENSOR_SOAK_SEED: how long, and which
set -uo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../cmake/environment.sh"
part=$1 program=$2 twin=$3 mpirun=$4 flag=$5
shift 5
more=("$@")

folder=$(mktemp -d)
mark=mark=$$  # an argument of every rank, by which those that are left are found
hosts=()
clean_up() {
  for host in "${hosts[@]}"; do ip netns del "$host" 2>/dev/null; done
  rm -rf "$folder"
}
trap clean_up EXIT
cd "$folder" || exit 1

failed=0 may_end_well=0
fail() {
  echo "FAILED: $*"
  failed=1
}
seconds_since() { awk -v now="$EPOCHREALTIME" -v then="$1" 'BEGIN {printf "%.1f", now - then}'; }

# ranks ARGUMENTS...: three ranks, or one more than `others`, of which the last has these arguments, in the background.
ranks() {
  : >err
  "$mpirun" "${more[@]}" "$flag" "${others:-2}" "$program" "$mark" "${common[@]}" : "$flag" 1 "${last:-$program}" "$mark" "${common[@]}" "$@" \
    >out 2>err &
  job=$!
}
common=()

# wait_for WORDS: until they are on standard error.
wait_for() {
  for ((i = 0; i < 600; ++i)); do
    grep -Eq "$1" err && return
    kill -0 "$job" 2>/dev/null || break
    sleep 0.1
  done
  grep -Eq "$1" err && return  # said at the very end
  fail "nobody said '$1': $(cat err)"
}

# ends SECONDS WORDS...: within so many seconds of the harm, more on a busy machine, not well, having said these words, and leaving no process.
ends() {
  local within=$(($1 + 10 * slow)) words
  shift
  for ((i = 0; i < 10 * within; ++i)); do kill -0 "$job" 2>/dev/null && sleep 0.1 || break; done
  local took
  took=$(seconds_since "${harm:-$(sed -n 's/^.*harm at //p' err | tail -n 1)}")
  if kill -0 "$job" 2>/dev/null; then
    kill -KILL "$job"
    fail "$part: still running after $took s"
  fi
  wait "$job"
  local code=$?
  [ $code -ne 0 ] || [ $may_end_well = 1 ] || fail "$part: exit code 0"  # survivors may end well
  for words in "$@"; do grep -Eq -- "$words" err out || fail "$part: no '$words'"; done
  for ((i = 0; i < 50; ++i)); do pgrep -f "$mark" >left || break; sleep 0.1; done
  [ ! -s left ] || fail "$part: ranks are left: $(pgrep -fa "$mark")"
  for ((i = 0; i < 600 && ${#hosts[@]} != 0; ++i)); do  # mpirun's own, on the other host
    ip netns pids "${hosts[1]}" >left 2>/dev/null
    [ -s left ] && sleep 0.1 || break
  done
  [ ! -s left ] || fail "$part: processes are left on the other host: $(xargs ps -o pid,args -p <left)"
  [ $failed -eq 0 ] || cat err
  echo "$part: the job ended $took s after the harm, exit code $code: $(grep -Ehom1 '(R2[124]|^rank [0-9]+:).*' err | head -c 300)"
}

is_open_mpi() { [[ $("$mpirun" --version 2>&1) =~ Open\ ?(MPI|RTE) ]]; }
# said_by WORDS: what a rank has to say. MPICH's launcher kills the others at once, and says itself who was killed, by the
# number of the process, but nothing of one that exits.
said_by() {
  if is_open_mpi; then echo "$1"
  elif [[ $1 == *exited* ]]; then echo .
  else echo "$1|BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES"
  fi
}

# Two machines of one: network namespaces with a wire between them. Skips the test where that is not possible.
two_hosts() {
  is_open_mpi || skip 'ranks on two hosts are started by Open MPI only'
  command -v ip >/dev/null && command -v tc >/dev/null || skip 'there is no ip and tc (iproute2)'
  local host
  for host in "mt-fault-$$-0" "mt-fault-$$-1"; do
    ip netns add "$host" 2>/dev/null || skip 'network namespaces are not permitted here'
    hosts+=("$host")
  done
  ip -n "${hosts[0]}" link add wire type veth peer name wire netns "${hosts[1]}" 2>/dev/null ||
    skip 'pairs of network devices are not permitted here'
  for n in 0 1; do
    ip -n "${hosts[n]}" addr add "10.77.0.$((n + 1))/24" dev wire
    ip -n "${hosts[n]}" link set lo up
    ip -n "${hosts[n]}" link set wire up
    # mpirun itself notices as late as the system does: in half a minute instead of a quarter of an hour
    ip netns exec "${hosts[n]}" sysctl -qw net.ipv4.tcp_retries2=5
  done
  # What mpirun takes for a remote shell: the other host.
  printf '#!/bin/bash\nshift\nexec ip netns exec %s unshare -u bash -c "hostname %s; $*"\n' "${hosts[1]}" "${hosts[1]}" >shell
  chmod +x shell
}
skip() {
  echo "skipped: $*"
  exit 77
}
on_two_hosts() {
  ip netns exec "${hosts[0]}" unshare -u bash -c "hostname ${hosts[0]}; exec \"\$@\"" x \
    "$mpirun" -H 10.77.0.1:1,10.77.0.2:1 -np 2 --bind-to none -mca plm_rsh_agent "$folder/shell" -mca pml ob1 \
    -mca btl tcp,self -mca btl_tcp_if_include 10.77.0.0/24 -mca oob_tcp_if_include 10.77.0.0/24 \
    -x MESHTENSOR_WARN_SECONDS -x MESHTENSOR_WAIT_SECONDS "$program" "$mark" "$@" >out 2>err &
  job=$!
}

# left_alone: what ranks print at the end of a run that nothing happens to.
left_alone() {
  ranks
  wait "$job" && grep -q '^at the end: ' out || fail "$part: no end: $(cat err)"
  mv out whole
  rm -rf run
}
# again: the same command until it has come to its end, whose bits are those of `whole`.
again() {
  local tries
  for ((tries = 0; tries < 20; ++tries)); do
    ranks
    wait "$job" && break
  done
  cmp out whole || fail "$part: other bits than those of a run that was left alone: $(cat out err)"
}
# left CODE WORDS: the job ends by itself with this code, having said these words.
left() {
  wait "$job"
  local code=$?
  [ $code -eq "$1" ] || fail "$part: exit code $code, not $1: $(cat err)"
  grep -Eq -- "$2" err || fail "$part: no '$2' in: $(cat err)"
  echo "$part: $(seconds_since "$harm") s after the signal: $(grep -Ehom1 -- "$2" err)"
}

# Seconds that a busy machine takes longer: a few times what it needs to start and end three processes.
begun=$EPOCHREALTIME
"$mpirun" "${more[@]}" "$flag" 3 true
slow=$(awk -v took="$(seconds_since "$begun")" 'BEGIN {print int(4 * took)}')
warn=$((1 + slow)) limit=$((4 * warn))
export MESHTENSOR_WARN_SECONDS=$warn MESHTENSOR_WAIT_SECONDS=$limit
line='\(faults.cpp:[0-9]+\)'
case $part in
  stopped)
    ranks
    wait_for 'rank 2 is process'
    victim=$(sed -n 's/^.*rank 2 is process //p' err)
    kill -STOP "$victim"
    harm=$EPOCHREALTIME
    named="for collective [0-9]+ of ranks 0 to 2: all_reduce sum f32\[[0-9]*\] $line; rank 2 did not come to it \(process $victim on .*, which is stopped by a signal\)"
    ends 30 "meshtensor warning R22: rank 0: it waited $warn s $named; after $limit s the job ends" \
      "meshtensor R22: rank 0 failed: it waited $limit s $named"
    ;;
  computes)
    ranks computes
    wait_for 'harm at'
    ends 30 "meshtensor R22: rank 0 failed: it waited $limit s for .* $line; rank 2 did not come to it \(process [0-9]+ on .*, which computes\)"
    ;;
  throws)
    for where in '' inside; do
      ranks throws $where
      wait_for 'harm at'
      ends 10 '^rank 2: the disk is full'
    done
    ranks throws_number
    wait_for 'harm at'
    ends 10 '^rank 2: an exception of unknown type'
    may_end_well=1
    said="meshtensor R32: .* $line gives f32\\[batch/data, width\\]: 1 of 48 elements are not finite, the first is inf, at batch=8, width=0 on rank 2 in step 20"
    for how in 'catches' 'catches rethrows' 'guest'; do
      # the arguments are words
      # shellcheck disable=SC2206
      common=(numerics $how)
      ranks infinite
      wait_for 'harm at'
      ends 10 "^rank 0 has caught: meshtensor R21: rank 2 failed: $said" "^rank 1 has caught: meshtensor R21: rank 2 failed: $said" \
        "^rank 2 has caught: $said"
      grep -Eq 'R22|must make the same' err && fail "$how: a wait had to end: $(cat err)"
      [[ $how != *rethrows ]] || grep -Eq "^rank 2: $said" err || fail "$how: rank 2 does not say why: $(cat err)"
    done
    ;;
  refuses)
    ranks refuses
    wait_for 'harm at'
    ends 10 "^rank 2: meshtensor R11: the input 'x' is .*, but 7 elements were fed"
    ;;
  leaves)
    ranks leaves
    wait_for 'harm at'
    ends 10 "meshtensor R22: rank 0 failed: .* $line; rank 2 waits for something else, the end of the job"
    ranks gives_up
    wait_for 'harm at'
    ends 10 "rank 2 waits for something else, the end of the job of .*, after: meshtensor R11: the input 'x' is .*, but 7"
    ranks idle
    wait_for 'harm at'
    ends 10 "meshtensor R22: rank 0 failed: .*\(start of an executable\); rank 2 waits for something else, the end of the job"
    common=(guest)
    for how in leaves idle gives_up; do
      ranks $how
      wait_for 'harm at'
      ends 10 '^rank 0 has caught: meshtensor R22: .*; rank 2 waits for something else, the end of the job' \
        '^rank 1 has caught: meshtensor R2[12]: .*; rank 2 waits for something else, the end of the job'
    done
    common=(jobs=3 steps=30)
    ranks
    wait "$job" || fail "three jobs: exit code $?: $(cat err)"
    "$program" "$mark" "${common[@]}" >>out 2>>err || fail "three jobs, alone: $(cat err)"
    [ "$(grep -c ' is over$' out)" -eq 6 ] || fail "not three jobs twice: $(cat out err)"
    [ "$(awk '/^30 steps/ {printf "%.4f\n", $NF}' err | sort | uniq -c | awk '{print $1}')" = 6 ] || fail "the losses differ: $(cat err)"
    echo "$part: $(grep -h '^30 steps' err | head -n 1)"
    harm=$EPOCHREALTIME
    ranks jobs=1
    ends 10 'meshtensor R22: rank 0 failed: it makes a job, but rank 2 has left the program: all ranks must make the same jobs, in one order'
    harm=$EPOCHREALTIME
    ranks jobs=4
    ends 10 'meshtensor R22: rank 2 failed: it makes a job, but rank 0 has left the program'
    ;;
  dies)
    for where in '' inside; do
      while IFS='|' read -r how why <&3; do
        # the arguments are words
        # shellcheck disable=SC2086
        ranks $how $where
        wait_for 'harm at'
        ends 10 "$(said_by "meshtensor R21: rank 2 failed: $why")"
        [ "$(grep -c 'meshtensor R21' err)" -le 1 ] || fail "$how: said more than once: $(cat err)"
      done 3<<'END'
kills|process [0-9]+ on .* (was killed by SIGKILL|is gone)
exits|process [0-9]+ on .* (exited with code 3|is gone)
faults|SIGSEGV
aborts|SIGABRT
terminates|the disk is full, which nothing caught
ends|it called exit before the end of the job
END
    done
    common=(late)
    for where in '' inside; do
      ranks kills $where
      wait_for 'harm at'
      ends 10 "$(said_by 'meshtensor R21: rank 2 failed: process [0-9]+ on .* (was killed by SIGKILL|is gone)')"
    done
    ranks throws inside
    wait_for 'harm at'
    ends 10 '^rank 2: .*the disk is full'
    common=(replicas)
    others=3
    ranks kills
    wait_for 'harm at'
    ends 10 "$(said_by 'meshtensor R21: rank 3 failed: process [0-9]+ on .* (was killed by SIGKILL|is gone)')"
    before=4 steps=20
    for count in 3 2 4; do
      others=$((count - 1))
      steps=$((steps + 15))
      common=(replicas "steps=$steps")
      ranks
      wait "$job" || fail "$part: $count replicas: exit code $?: $(cat err)"
      said="meshtensor warning C18: the $before replicas of the checkpoint 'run/[0-9]{4}-step-$((steps - 15))' became $count: .* whose sum goes from $before to $count,? "
      grep -Eq "$said" err || fail "$part: no '$said' in: $(cat err)"
      grep -Eq "^at the end: $count replicas" out || fail "$part: no end: $(cat out err)"
      echo "$part: $(grep -Eho 'C18: .*' err)"
      before=$count
    done
    ;;
  survives)
    export MESHTENSOR_WAIT_SECONDS=0 MESHTENSOR_WARN_SECONDS=0
    deaths=(exits ends)
    if is_open_mpi; then more+=(--enable-recovery) deaths+=(kills faults)
    else more+=(-disable-auto-cleanup)  # MPICH's ends by itself with a rank that a signal ends
    fi
    common=(guest) may_end_well=1
    for where in '' inside; do
      for how in "${deaths[@]}"; do
        ranks $how $where
        wait_for 'harm at'
        ends 10 "^rank 0 has caught: meshtensor R21: rank 2 failed: process [0-9]+ on .* (was killed by SIG|exited with code|is gone)" \
          "^rank 1 has caught: meshtensor R21: rank 2 failed: process " \
          "^rank 0 is told again: meshtensor R21: rank 2 failed: process " "^rank 1 is told again: meshtensor R21: rank 2 failed: process "
      done
      ranks throws_number $where
      wait_for 'harm at'
      said='it left the job by an exception'
      [ -z "$where" ] || said='an exception of unknown type'
      ends 10 "^rank 0 has caught: meshtensor R21: rank 2 failed: $said" "^rank 1 has caught: meshtensor R21: rank 2 failed: $said" \
        '^rank 2 has caught a number'
    done
    ;;
  memory)
    common=(large)
    ranks memory=100
    wait_for 'harm at'
    ends 10 'rank 2( failed)?: meshtensor M10: this rank needs 512 MB .* but the system has [0-9.]{1,5} [kMG]B left'
    ;;
  facts)
    common=(steps=40)
    ranks
    wait "$job" || fail "three alike: exit code $?: $(cat err)"
    grep -Eh '^made in|^40 steps' err
    harm=$EPOCHREALTIME
    ranks batch=24
    ends 10 "R24: the ranks differ in the extents: 'batch = 12' on ranks 0, 1, 'batch = 24' on rank 2"
    harm=$EPOCHREALTIME
    ranks seed=7
    ends 10 "R24: the ranks differ in the store's seed: '1' on ranks 0, 1, '7' on rank 2"
    ;;
  builds)
    last=$twin
    harm=$EPOCHREALTIME
    ranks
    ends 10 "R24: the ranks differ in the build: 'strict arithmetic' on ranks 0, 1, 'loose arithmetic \(.*\)' on rank 2"
    ;;
  cut)
    two_hosts
    on_two_hosts
    wait_for 'rank 1 is process'
    ip -n "${hosts[0]}" link set wire down
    harm=$EPOCHREALTIME
    wait_for 'meshtensor R22|lost communication'
    echo "$part: noticed after $(seconds_since "$harm") s"
    ends 90 "meshtensor R22: rank 0 failed: it waited $limit s for .* $line; rank 1 did not come to it \(process [0-9]+ on ${hosts[1]}"
    ;;
  slow)
    two_hosts
    for rate in 1gbit 200kbit; do
      for host in "${hosts[@]}"; do
        ip netns exec "$host" tc qdisc replace dev wire root tbf rate $rate burst 16kb latency 500ms 2>/dev/null ||
          skip 'the rate of a link cannot be limited here'
      done
      on_two_hosts steps=300
      wait "$job" || fail "a link of $rate: exit code $?: $(cat err)"
      echo "a link of $rate: $(grep -h '^300 steps' err)"
      sed -n 's/^300 steps.*, loss/loss/p' err >"loss.$rate"
    done
    cmp loss.1gbit loss.200kbit || fail 'the losses differ'
    [ -s loss.1gbit ] || fail 'there is no loss'
    ;;
  preempted)
    export OMPI_MCA_odls_base_sigkill_timeout=$((1 + slow))  # seconds between SIGTERM and SIGKILL
    common=(keeps steps=60)
    left_alone
    common=(keeps steps=60 pace=15)
    ranks
    wait_for 'rank 2 is process'
    harm=$EPOCHREALTIME
    kill -TERM "$(sed -n 's/^.*rank 2 is process //p' err)"
    left 75 'rank 0 leaves after step [0-9]+ for SIGTERM'
    [ "$(grep -Eo 'leaves after step [0-9]+' err | sort -u | wc -l)" -eq 1 ] || fail "not at one step: $(cat err)"
    again
    if is_open_mpi; then
      for signal in USR1 TERM; do
        rm -rf run
        ranks
        wait_for 'rank 2 is process'
        harm=$EPOCHREALTIME
        kill -$signal "$job"
        if [ $signal = USR1 ]; then left 75 'rank 0 leaves after step [0-9]+ for SIGUSR1'
        else wait "$job"; fi
        [ -d run ] || fail "SIG$signal: nothing was saved: $(cat err)"
        again
        grep -Eq 'begins at step ([7-9]|[1-9][0-9])' err || fail "SIG$signal: it began anew: $(cat err)"
      done
    fi
    ;;
  soak)
    steps=${MESHTENSOR_SOAK_STEPS:-60}
    RANDOM=${MESHTENSOR_SOAK_SEED:-1}
    mkdir shm
    export OMPI_MCA_orte_tmpdir_base=$folder/shm OMPI_MCA_btl_vader_backing_directory=$folder/shm
    common=(keeps steps="$steps")
    left_alone
    common=(keeps steps="$steps" pace=8)
    declare -A harms=()
    damaged=0 starts=0
    begun=$EPOCHREALTIME
    while :; do
      ranks
      wait_for 'begins at step'
      sleep "0.$((RANDOM % 40 + 10))"
      mapfile -t victims < <(pgrep -f "^$program $mark")
      if [ ${#victims[@]} -gt 0 ]; then
        victim=${victims[RANDOM % ${#victims[@]}]}
        case $((RANDOM % 4)) in
          0) signal=KILL ;;
          1) signal=TERM ;;
          2) signal=USR1 ;;
          3) signal=damage ;;
        esac
        if [ $signal != damage ]; then kill -$signal "$victim" 2>/dev/null
        else  # what a crash of the machine may leave
          newest=$(ls -d run/*-step-* 2>/dev/null | tail -n 1) number=${newest:4:4}
          if [ -n "$newest" ] && ((10#$number > damaged + 2)); then  # of the two that are kept one is whole
            damaged=$((10#$number))
            printf x | dd of="$(ls "$newest"/* | head -n 1)" bs=1 seek=$((RANDOM % 200)) conv=notrunc status=none
          fi
          kill -KILL "$victim" 2>/dev/null
        fi
        harms[$signal]=$((${harms[$signal]:-0} + 1))
      fi
      wait "$job" && break
      ((++starts > 50 * steps)) && fail 'it never ends' && break
    done
    cmp out whole || fail "other bits than those of a run that was left alone: $(cat out err)"
    echo "$part: $steps steps in $(seconds_since "$begun") s, $starts starts anew, $(for h in "${!harms[@]}"; do echo -n "$h ${harms[$h]} "; done)"
    [ $starts -gt 0 ] || fail 'nothing was harmed'
    for ((i = 0; i < 50; ++i)); do pgrep -f "$mark" >left || break; sleep 0.1; done
    [ ! -s left ] || fail "ranks are left: $(pgrep -fa "$mark")"
    [ -z "$(find shm -type f)" ] || fail "files of the launcher are left: $(find shm -type f)"
    ;;
  *)
    echo "faults.sh: there is no part '$part'"
    exit 2
    ;;
esac
exit $failed
