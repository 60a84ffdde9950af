#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sourced by tests: a private Slurm of two nodes with two cores each, n1 and n2, which are both this machine. Its daemons
# run as the present user, without systemd, and keep all files in one folder.
#
#   start_slurm FOLDER     starts it; prints why and returns 77 where that is not possible
#   stop_slurm             ends its jobs and its daemons

slurm_daemons=()

# Ports of 127.0.0.1 to which nobody listens.
free_ports() {
  python3 - "$1" <<'PYTHON'
import socket, sys
sockets = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in sockets:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))
PYTHON
}

# until_it SECONDS COMMAND...: repeats the command until it succeeds.
until_it() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.2
  done
}

no_slurm() {
  tail -n 5 "$slurm"/*.log "$slurm"/*.err 2>/dev/null
  echo "skipped: $*"
  return 77
}
nodes_are_idle() { [ "$(sinfo -h -p main -o '%T %D')" = 'idle 2' ]; }

start_slurm() {
  slurm=$1
  local one ports user host on_host
  PATH=$PATH:/usr/sbin:/sbin
  for one in munged slurmctld slurmd srun sbatch scontrol; do
    command -v "$one" >/dev/null || no_slurm "there is no $one (Debian: slurmctld slurmd slurm-client munge)" || return
  done
  mkdir -p "$slurm"/{state,spool-n1,spool-n2,tmp-n1,tmp-n2} || return
  chmod 755 "$slurm"
  read -ra ports <<<"$(free_ports 3)"
  user=$(id -un) host=$(hostname)

  # It wants folders that nobody else may write to, unless it is forced.
  (umask 077 && head -c 128 /dev/urandom >"$slurm/munge.key")
  munged --foreground --force --key-file="$slurm/munge.key" --socket="$slurm/munge.socket" --pid-file="$slurm/munge.pid" \
    --seed-file="$slurm/munge.seed" --log-file="$slurm/munge.log" --num-threads=2 >/dev/null 2>"$slurm/munge.err" &
  slurm_daemons+=($!)
  until_it 20 munge -n -S "$slurm/munge.socket" || no_slurm 'munged does not start' || return

  # TmpFS: where the nodes' PMIx servers have their folders, which have equal names.
  cat >"$slurm/slurm.conf" <<CONFIGURATION
ClusterName=meshtensor
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports[0]}
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$slurm/munge.socket
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd-%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd-%n.log
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool-%n
TmpFS=$slurm/tmp-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,bf_interval=2
KillWait=20
ReturnToService=2
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=2 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=2 SocketsPerBoard=1 CoresPerSocket=2 ThreadsPerCore=1
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=60 State=UP PriorityTier=1 GraceTime=20
PartitionName=urgent Nodes=n1,n2 MaxTime=60 State=UP PriorityTier=2
CONFIGURATION
  export SLURM_CONF=$slurm/slurm.conf
  slurmctld -D -c >/dev/null 2>"$slurm/slurmctld.err" &
  slurm_daemons+=($!)
  # All nodes are this machine. Not by shared memory: Open MPI 4.1, started by srun, has not found its file once in some
  # 150 starts.
  export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo
  for one in n1 n2; do
    on_host=(unshare -u bash -c "hostname $one && exec \"\$@\"" bash)  # two names of hosts, where that is permitted
    "${on_host[@]}" true 2>/dev/null || on_host=()
    "${on_host[@]}" slurmd -D -N $one >/dev/null 2>"$slurm/slurmd-$one.err" &
    slurm_daemons+=($!)
  done
  until_it 60 nodes_are_idle || no_slurm 'the daemons of Slurm do not start'
}

stop_slurm() {
  [ ${#slurm_daemons[@]} -gt 0 ] || return 0
  if [ ${#slurm_daemons[@]} -gt 1 ] && [ -n "$(timeout 10 squeue -h 2>/dev/null)" ]; then
    timeout 10 scancel --user="$(id -un)"
    until_it 30 nodes_are_idle
  fi
  kill "${slurm_daemons[@]}" 2>/dev/null
  wait "${slurm_daemons[@]}" 2>/dev/null
  slurm_daemons=()
}
