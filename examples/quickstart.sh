#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh system to a Transformer that learns: installs what is missing, builds the example, runs it.
# Arguments go to the example: examples/quickstart.sh --help
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(dirname "$here")
source "$project/cmake/dependencies.sh"
source "$project/cmake/environment.sh"

meshtensor_install build library examples

[ -n "${CMAKE_GENERATOR:-}" ] || ! command -v ninja >/dev/null 2>&1 || export CMAKE_GENERATOR=Ninja
(cd "$project" && cmake --preset quickstart && cmake --build build/quickstart --parallel "${JOBS:-2}" --target transformer) >&2
exec "$project/build/quickstart/examples/transformer" "$@"
