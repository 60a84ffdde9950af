# SPDX-License-Identifier: Apache-2.0
# Functions for scripts that run programs on simulated hosts (SimGrid's SMPI: libsimgrid-dev). To be sourced.

# describe_hosts FOLDER RANKS RATE LATENCY: writes FOLDER/network.xml and FOLDER/hosts, in which each host has a link of
# RATE in each direction to one switch, which carries everything.
describe_hosts() {
  cat >"$1/network.xml" <<END
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="all" prefix="host-" suffix="" radical="0-$(($2 - 1))" speed="1Gf" bw="$3" lat="$4"/>
</platform>
END
  for ((i = 0; i < $2; ++i)); do echo "host-$i"; done >"$1/hosts"
}

# simulate FOLDER RANKS ARGUMENTS OF SMPIRUN...: runs a program on these hosts. Its own computing takes no time.
# SMPI's own all_gather, by which ranks meet at the start, would take hours for 512 hosts: another one is chosen.
simulate() {
  local folder=$1 ranks=$2
  shift 2
  MESHTENSOR_PIN=no MESHTENSOR_PROGRESS=polls MESHTENSOR_WARN_SECONDS=0 MESHTENSOR_WAIT_SECONDS=0 MESHTENSOR_THREADS=1 \
    smpirun -np "$ranks" -platform "$folder/network.xml" -hostfile "$folder/hosts" \
    --cfg=smpi/simulate-computation:no --cfg=smpi/allgather:rdb --log=root.thresh:critical "$@"
}
