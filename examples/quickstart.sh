#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh system to a Transformer that learns: installs what is missing, builds the example, runs it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(dirname "$here")
log=$project/build/quickstart.log

usage() {
  cat <<'HELP'
Usage: examples/quickstart.sh [--help] [OPTIONS of the example]

Installs what is missing (with apt-get, as root or through sudo), builds examples/transformer into build/quickstart, and
trains a byte-level Transformer on a mesh of 2 x 2 threads. It prints which rank holds what, a curve of the loss, and one
prompt continued before, at half and after the training. On two cores this takes 3 minutes after the installation.

The text is the King James Bible of Debian's package bible-kjv-text; where that is not there, the library's own headers
and documentation. The output of apt-get, cmake and the compiler goes to build/quickstart.log.

Options of the example, for example (build/quickstart/examples/transformer --help lists all):
  --text FILE            learn from another text
  --prompt TEXT          continue another prompt
  --steps N              train longer or shorter (1000), or --minutes T
  --mesh data=4,model=1  shard over another mesh

Environment: JOBS (compilers at a time, 2), MESHTENSOR_INSTALL=no (print what is missing, install nothing).
HELP
}

has_option() {  # has_option NAME ARGUMENTS...: whether NAME or NAME=VALUE is among them
  local name=$1 word
  shift
  for word; do [[ "$word" != "$name" && "$word" != "$name="* ]] || return 0; done
  return 1
}

run() {  # run WORDS COMMAND...: says what it does and how long it took; the command's output goes to the log
  local words=$1 begin=$SECONDS code=0
  shift
  printf '%s ...' "$words"
  "$@" >>"$log" 2>&1 || code=$?
  if [ "$code" -ne 0 ]; then
    printf ' failed\n'
    echo "quickstart: exit code $code; the last lines of ${log#"$PWD"/}:" >&2
    tail -n 20 "$log" >&2
    exit "$code"
  fi
  printf ' %d s\n' $((SECONDS - begin))
}

install_packages() {  # install_packages [GROUP]: the needed ones, and if possible those of a further group
  meshtensor_install build library examples "$@" || meshtensor_install build library examples
}

write_bible() {  # write_bible FILE: one verse a line, without its number
  bible -f gen1:1-rev22:21 </dev/null | cut -d ' ' -f 2- >"$1.new" && mv "$1.new" "$1"
}

if has_option --help "$@" || has_option -h "$@"; then
  usage
  exit 0
fi
source "$project/cmake/dependencies.sh"
source "$project/cmake/environment.sh"
from=$PWD build=$project/build/quickstart
mkdir -p "$build"
: >"$log"

group=text
! has_option --text "$@" || group=
run 'install  what is missing' install_packages ${group:+"$group"}
cd "$project"
if [ -z "${CMAKE_GENERATOR:-}" ] && [ ! -e "$build/CMakeCache.txt" ] && command -v ninja >/dev/null 2>&1; then
  export CMAKE_GENERATOR=Ninja
fi
run 'configure' cmake --preset quickstart
run 'build    the example (about 90 s on two cores)' cmake --build "$build" --parallel "${JOBS:-2}" --target transformer
cd "$from"

defaults=(--evaluations 2) text='your text'
bible=$build/king_james_bible.txt
if ! has_option --text "$@"; then
  [ -s "$bible" ] || ! command -v bible >/dev/null 2>&1 || write_bible "$bible" 2>>"$log" || rm -f "$bible"
  if [ -s "$bible" ]; then
    text="the King James Bible of Debian's bible-kjv-text"
    defaults+=(--text "${bible#"$PWD"/}" --prompt 'And God said, ' --temperature 0.5)
  else
    text="the library's own headers and documentation, because the program 'bible' is not installed"
  fi
fi
has_option --minutes "$@" || defaults+=(--steps 1000)
printf 'train    on %s (1000 steps take about 60 s on two cores)\n\n' "$text"
program=$build/examples/transformer
exec "${program#"$PWD"/}" "${defaults[@]}" "$@"
