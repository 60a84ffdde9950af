#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs under Slurm, as docs/running.md starts them: jobs.sh PART FIRST TRANSFORMER SOURCE MPIRUN
#
#   starts             FIRST, the program of the README, and TRANSFORMER by srun, and by srun and mpirun in job scripts:
#                      the same losses as by mpirun alone; each rank has the cores that the page's scripts ask for
#   refuses            each row of the page's table of errors
#   requeue_by_srun    the page's job script meets its time limit, is queued again, and ends with the losses of a run that
#   requeue_by_mpirun  was left alone
#   requeue_after_preemption   the same when a job of a partition with more priority takes its nodes
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/../../cmake/environment.sh"
source "$here/start.sh"
unset OMPI_MCA_rmaps_base_oversubscribe PRTE_MCA_rmaps_default_mapping_policy  # so that mpirun counts as a user's does
part=$1 first=$2 transformer=$3 source=$4 mpirun=$5
page=$source/docs/running.md

folder=$(mktemp -d)
clean_up() {
  stop_slurm
  [ "$failed" -eq 0 ] || tail -n 40 "$folder"/slurm/*.log
  rm -rf "$folder"
}
failed=0
trap clean_up EXIT
cd "$folder" || exit 1

fail() {
  echo "FAILED: $*"
  failed=1
}

start_slurm "$folder/slurm" || exit
mkdir work
cd work || exit 1

for ((i = 0; i < 300; ++i)); do printf abacabadabacabaeabacabadabacabaf; done >text
small=(--text text --layers 1 --d-model 16 --heads 2 --length 16 --batch 4 --warmup 10 --learning-rate 0.01 --sample-bytes 0)

# job NAME LINES OPTION...: a job script of these lines; returns its exit code, and leaves its output in NAME.
job() {
  local name=$1 lines=$2
  shift 2
  printf '#!/bin/sh\n%s\n' "$lines" >"$name.sh"
  rm -f "$name"
  timeout 300 sbatch --wait --output="$name" --time=5 "$@" "$name.sh" >/dev/null
}
# losses NAME: of the output of a run.
losses() { grep -E '^step +[0-9]+(:| +loss)|^held-out loss' "$1"; }

# same NAME: its losses are those of `alone`.
same() {
  [ -s "$1" ] && cmp <(losses alone) <(losses "$1") || fail "$1: other losses than those of mpirun: $(cat "$1")"
}

# The page's script that has these words; `./transformer` in it is what the caller makes.
script_of_page() { python3 "$here/fence.py" "$page" "$1" >"$2" || fail "no script with '$1'"; }
by_srun='srun --mpi=pmix --cpu-bind=cores ./transformer'
by_mpirun='mpirun --map-by ppr:2:node'

case $part in
  starts)
    four=(--nodes=2 --ntasks-per-node=2)
    for program in first transformer; do
      ln -sf "${!program}" ./train
      arguments=()
      [ $program = first ] || arguments=("${small[@]}" --mesh data=2,model=2 --steps 100 --evaluations 10)
      "$mpirun" --oversubscribe -n 4 ./train "${arguments[@]}" >alone 2>err || fail "mpirun: exit code $?: $(cat err)"
      [ "$(losses alone | wc -l)" -ge 3 ] || fail "mpirun: no losses: $(cat alone err)"
      losses alone
      timeout 120 srun --mpi=pmix -n 4 ./train "${arguments[@]}" >srun 2>err || fail "srun: exit code $?: $(cat err)"
      same srun
      timeout 120 srun --overcommit --mpi=pmix --nodes=1 -n 4 ./train "${arguments[@]}" >shared 2>err ||
        fail "srun on one node: exit code $?: $(cat err)"
      same shared
      SLURM_MPI_TYPE=pmix timeout 120 srun -n 4 ./train "${arguments[@]}" >by_variable 2>err ||
        fail "SLURM_MPI_TYPE: exit code $?: $(cat err)"
      same by_variable
      for starts in 'srun --mpi=pmix' mpirun 'mpirun -n 4 --map-by ppr:2:node'; do
        job "job of ${starts%% *}" "$starts ./train ${arguments[*]}" "${four[@]}" || fail "$starts in a job: exit code $?"
        same "job of ${starts%% *}"
      done
    done
    # Cores of each rank, under the page's own scripts.
    printf '#!/bin/sh\nnproc >>cores\n' >transformer
    chmod +x transformer
    script_of_page "$by_srun" with_srun
    script_of_page "$by_mpirun" with_mpirun
    sed 's/ppr:2/ppr:1/' with_mpirun >with_mpirun_of_two
    for each in with_srun:2:1:1,1,1,1 with_mpirun:2:1:1,1,1,1 with_srun:1:2:2,2 with_mpirun_of_two:1:2:2,2; do
      IFS=: read -r script tasks cores expected <<<"$each"
      [ "$(nproc)" -ge "$cores" ] || continue
      rm -f cores
      timeout 120 sbatch --wait --output=out --ntasks-per-node="$tasks" --cpus-per-task="$cores" "$script" >/dev/null ||
        fail "$script: exit code $?: $(cat out)"
      [ "$(paste -sd , cores)" = "$expected" ] || fail "$script, $cores cores a task: $(paste -sd , cores): $(cat out)"
    done
    ;;
  refuses)
    ln -s "$first" train
    # said NAME WORDS: the page has these words, too, in one line
    said() {
      grep -qF -- "$2" <(tr -s '\n ' ' ' <"$1") || fail "$1: no '$2' in: $(cat "$1")"
      grep -qF -- "$2" "$page" || fail "docs/running.md does not say '$2'"
    }
    pmi='The application appears to have been direct launched using "srun", but OMPI was not built with SLURM'"'"'s PMI support'
    for type in none pmi2; do
      timeout 120 srun --mpi=$type -n 4 ./train >$type 2>&1 && fail "srun --mpi=$type: exit code 0"
      said $type "$pmi"
    done
    job alone ./train -n 4 && fail './train in a job: exit code 0'
    said alone 'R18: this process runs alone inside of a Slurm job of 4 tasks'
    job threads 'SLURM_NTASKS=1 ./train' -n 4 || fail "SLURM_NTASKS=1: $(cat threads)"
    job one ./train -n 1 || fail "a job of one task: $(cat one)"
    job many 'srun --mpi=pmix -n 8 ./train' -n 4 && fail 'srun -n 8: exit code 0'
    said many 'srun: error: Unable to create step for job'
    said many 'More processors requested than permitted'
    job many_shared 'srun --mpi=pmix --overcommit -n 8 ./train' -n 4 || fail "--overcommit: $(cat many_shared)"
    job slots 'mpirun -n 8 ./train' -n 4 && fail 'mpirun -n 8: exit code 0'
    said slots 'There are not enough slots available in the system to satisfy the 8 slots'
    job slots_shared 'mpirun -n 8 --oversubscribe ./train' -n 4 || fail "--oversubscribe: $(cat slots_shared)"
    for name in threads one many_shared slots_shared; do grep '^step 100: ' $name || fail "$name: $(cat $name)"; done
    ;;
  requeue_*)
    words=$by_srun
    [ $part != requeue_by_mpirun ] || words=$by_mpirun
    script_of_page "$words" job.sh
    grep -q -- '--mesh data=2,model=2 --steps 100000 --save run --resume' job.sh || fail "another command: $(cat job.sh)"
    signal=$(sed -n 's/^#SBATCH --signal=\(.*USR1@\)120.*/\1/p' job.sh)
    [ -n "$signal" ] || fail "no signal: $(cat job.sh)"
    cat >transformer <<SCRIPT
#!/bin/sh
exec "$transformer" "\$@" ${small[*]} --evaluations 20 --every 1000000 --steps \$(cat steps)
SCRIPT
    chmod +x transformer
    echo 150 >steps
    if [ $part != requeue_after_preemption ]; then  # so many steps as take longer than the job may
      begun=$EPOCHREALTIME
      # Not by `sbatch --wait`, which may notice the end half a minute late.
      timeout 300 srun --mpi=pmix --nodes=2 -n 4 ./transformer --mesh data=2,model=2 >measured 2>&1 ||
        fail "$(cat steps) steps: $(cat measured)"
      awk -v begun="$begun" -v now="$EPOCHREALTIME" 'BEGIN {print int(150 / (now - begun) * 80)}' >steps.long
      mv steps.long steps
    fi
    echo "$(cat steps) steps"
    number=$(sbatch --parsable --output=out --cpus-per-task=1 --time=1 --signal="${signal}20" job.sh)
    named=SIGUSR1
    if [ $part = requeue_after_preemption ]; then
      until_it 60 grep 'step 1/' out || fail "it does not begin: $(cat out)"
      timeout 120 sbatch --wait --output=urgent --partition=urgent --nodes=2 --ntasks=4 --wrap='echo done' >/dev/null
      grep -q '^done$' urgent || fail "the urgent job did not run: $(cat urgent out)"
      named=SIGTERM
    fi
    limit=$((SECONDS + 420)) state= restarts=
    until [[ $state =~ COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL ]]; do
      sleep 1
      [ $SECONDS -lt $limit ] || { fail "it does not end: $(cat out)"; break; }
      state=$(scontrol show job "$number" | grep -Eo '(JobState|Reason|Restarts)=\S+' | paste -sd ' ')
      [[ $state =~ PENDING && $state =~ BeginTime && $state =~ Restarts=([0-9]+) ]] || continue
      [ "${BASH_REMATCH[1]}" != "$restarts" ] || continue
      restarts=${BASH_REMATCH[1]}
      # Sooner than after the two minutes that Slurm waits, but in another second than that of the last run's end: else
      # slurmd says that the job's credential is revoked.
      scontrol update JobId="$number" StartTime=now+4
    done
    echo "$state"
    grep -E '^resumed|has ended the training' out
    [[ $state =~ COMPLETED ]] || fail "not completed: $(cat out)"
    [[ $state =~ Restarts=[1-9] ]] || fail "it was never queued again: $(cat out)"
    grep -q "^$named has ended the training after step" out || fail "no word of $named: $(cat out)"
    [ "$(grep -c ' has ended the training after step' out)" = "$(grep -c '^resumed run/' out)" ] ||
      fail "not as many ends as new beginnings: $(cat out)"
    "$mpirun" --oversubscribe -n 4 ./transformer --mesh data=2,model=2 >alone 2>err || fail "mpirun: exit code $?: $(cat err)"
    same out
    losses out | tail -n 2
    ;;
  *)
    echo "jobs.sh: there is no part '$part'"
    exit 2
    ;;
esac
exit $failed
