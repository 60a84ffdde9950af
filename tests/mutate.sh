#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Seeds the defects of tests/mutations.txt one after another and sees that a test fails. A defect that does not compile is
# an error of the list.
#
#   tests/mutate.sh [--jobs 2] [--check] [--list] [--minutes N] [--results FILE] [WORD...]
#
# WORD...          those defects whose description has one of the words; all without any
# --check          only looks whether each text is there, once
# --list           prints each with its file and its tests, and runs nothing
# --minutes N      a sample: in an order that MESHTENSOR_DEFECTS_SEED (or else the day) draws, none begun after N minutes
# --results FILE   what was found, below the hash of the tree: the same command goes on where it was ended, as long as
#                  the files are the same (build/mutate/results.txt, if not said)
#
# Takes about half a minute a defect and job; the copies and their builds lie in build/mutate. The exit code says whether
# every defect was caught.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/environment.sh
exec python3 tests/mutate.py "$@"
