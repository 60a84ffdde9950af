#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Seeds the defects of tests/mutations.txt one after another and sees that tests catch them.
#
#   tests/mutate.sh [--jobs 2] [--check] [WORD...]     those whose description has one of the words; all without any
#
# --check only looks whether each text is there, once. Takes about half a minute a defect and job; the copies and their builds
# lie in build/mutate. The exit code says whether every defect was caught.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source cmake/environment.sh
exec python3 tests/mutate.py "$@"
