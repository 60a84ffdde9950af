#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What a shell needs before it starts ranks; tests/CMakeLists.txt reads the same lines.

# Open MPI refuses to run as root, and to start more ranks than there are cores, unless it is told to.
export OMPI_ALLOW_RUN_AS_ROOT=1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
# Ranks of one machine need no network: to look for its libraries takes a fifth of a second at each start.
export OMPI_MCA_pml=ob1
# Containers forbid one process to read another's memory; Open MPI then complains at every message.
export OMPI_MCA_btl_vader_single_copy_mechanism=none
# OpenMP threads that spin while they wait take the cores away from the other ranks.
export OMP_WAIT_POLICY=passive
