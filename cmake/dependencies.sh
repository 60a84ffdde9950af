#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The one list of what meshtensor needs from the system, and how to get it. Sourced by scripts; cmake/components.cmake
# reads the rows too, to name the package that is missing.
#
# A row: name | Debian packages | how to see that it is there | conda-forge | Spack | group

meshtensor_dependencies='
compiler     | g++                        | command c++                     | gxx             | gcc              | build
cmake        | cmake                      | command cmake                   | cmake           | cmake            | build
ninja        | ninja-build                | command ninja                   | ninja           | ninja            | build
fmt          | libfmt-dev                 | header fmt/core.h               | fmt             | fmt              | library
xtensor      | libxtensor-dev             | either xtensor/xarray.hpp xtensor/containers/xarray.hpp | xtensor | xtensor | library
xsimd        | libxsimd-dev               | header xsimd/xsimd.hpp          | xsimd           | xsimd            | library
tbb          | libtbb-dev                 | header tbb/parallel_for.h       | tbb-devel       | intel-tbb        | library
onednn       | libdnnl-dev                | header oneapi/dnnl/dnnl.hpp     | onednn-cpu-omp  | onednn           | library
cblas        | libopenblas-dev            | library openblas                | openblas        | openblas         | library
zlib         | zlib1g-dev                 | header zlib.h                   | zlib            | zlib             | library
jpeg         | libjpeg62-turbo-dev        | header jpeglib.h               | libjpeg-turbo   | libjpeg-turbo    | library
png          | libpng-dev                 | header png.h                    | libpng          | libpng           | library
sentencepiece | libsentencepiece-dev      | header sentencepiece_trainer.h  | libsentencepiece | sentencepiece   | library
xxhash       | libxxhash-dev              | header xxhash.h                 | xxhash          | xxhash           | library
mpi          | libopenmpi-dev openmpi-bin | command mpicxx mpirun           | openmpi         | openmpi          | library
mpich        | libmpich-dev mpich         | command mpicxx.mpich mpiexec.mpich | mpich       | mpich            | mpich
cli11        | libcli11-dev               | header CLI/CLI.hpp              | cli11           | cli11            | examples
doctest      | doctest-dev                | header doctest/doctest.h        | doctest         | doctest          | tests
benchmark    | libbenchmark-dev           | header benchmark/benchmark.h    | benchmark       | benchmark        | all
python       | python3                    | command python3                 | python          | python           | tests
doxygen      | doxygen                    | command doxygen                 | doxygen         | doxygen          | tests
venv         | python3-venv               | module venv ensurepip           | python          | python           | tests
clang        | clang-19                   | command clang++-19              | clangxx=19      | llvm@19          | all
sanitizers   | libclang-rt-19-dev         | links fuzzer address            | compiler-rt=19  | llvm@19          | all
kjv          | bible-kjv bible-kjv-text    | command bible                   | -               | -                | text
fortran      | gfortran                   | command gfortran                | gfortran        | gcc              | tests
chromium     | chromium                   | command chromium                | -               | -                | browser
graphviz     | graphviz                   | command dot                     | graphviz        | graphviz         | browser
gdb          | gdb                        | command gdb                     | gdb             | gdb              | ci
iproute2     | iproute2                   | command ip tc                   | iproute2        | iproute2         | ci
slurm        | slurmctld slurmd slurm-client munge | command slurmctld slurmd srun munged | -      | slurm munge      | slurm
'

# Field NUMBER of the table's ROW, without the blanks around it.
meshtensor_field() { cut -d '|' -f "$2" <<<"$1" | sed 's/^ *//; s/ *$//'; }

meshtensor_is_there() {
  local kind=$1 one
  shift
  if [ "$kind" = either ]; then  # headers of which one is enough
    for one in "$@"; do ! meshtensor_is_there header "$one" || return 0; done
    return 1
  fi
  for one in "$@"; do
    # flags may hold several words
    # shellcheck disable=SC2086
    case $kind in
      command) PATH=$PATH:/usr/sbin:/sbin command -v "$one" >/dev/null 2>&1 || return 1 ;;  # a daemon, too
      header) ${CXX:-c++} ${CPPFLAGS:-} ${CXXFLAGS:-} -x c++ -E -include "$one" - </dev/null >/dev/null 2>&1 || return 1 ;;
      module) python3 -c "import $one" >/dev/null 2>&1 || return 1 ;;
      library) ${CXX:-c++} ${LDFLAGS:-} -shared -o /dev/null "-l$one" >/dev/null 2>&1 || return 1 ;;
      links)  # the second compiler, with a sanitizer of this name
        clang++-19 -fsanitize="$one" -x c++ - -o /dev/null >/dev/null 2>&1 \
          <<<'extern "C" int LLVMFuzzerTestOneInput(unsigned char const*, unsigned long) { return 0; }
              int main(int, char**) __attribute__((weak)); int main(int, char**) { return 0; }' || return 1
        ;;
    esac
  done
}

# The rows of the given groups of which something is missing.
meshtensor_missing() {
  local row probe
  while IFS= read -r row; do
    [ -n "$row" ] || continue
    [[ " $* " == *" $(meshtensor_field "$row" 6) "* ]] || continue
    read -ra probe <<<"$(meshtensor_field "$row" 3)"
    meshtensor_is_there "${probe[@]}" || printf '%s\n' "$row"
  done <<<"$meshtensor_dependencies"
}

meshtensor_print_missing() {
  local row
  printf '  %-28s %-18s %s\n' 'Debian' 'conda-forge' 'Spack' >&2
  while IFS= read -r row; do
    printf '  %-28s %-18s %s\n' "$(meshtensor_field "$row" 2)" "$(meshtensor_field "$row" 4)" \
      "$(meshtensor_field "$row" 5)" >&2
  done <<<"$1"
}

# Installs what is missing of the given groups with apt-get, as root or through sudo, without asking. Where that is not
# possible it prints the list and fails. MESHTENSOR_INSTALL=no only ever prints.
meshtensor_install() {
  local missing row names packages=() root=()
  missing=$(meshtensor_missing "$@")
  [ -n "$missing" ] || return 0
  while IFS= read -r row; do
    read -ra names <<<"$(meshtensor_field "$row" 2)"
    packages+=("${names[@]}")
  done <<<"$missing"

  if [ "${MESHTENSOR_INSTALL:-yes}" = no ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "meshtensor: please install these packages, then run this again:" >&2
    meshtensor_print_missing "$missing"
    return 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
      echo "meshtensor: there is no sudo; please run as root: apt-get install ${packages[*]}" >&2
      return 1
    fi
    root=(sudo)
    [ -t 0 ] || root=(sudo -n)  # without a terminal nobody could type a password
  fi
  echo "meshtensor: installing ${packages[*]}" >&2
  local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update >&2 || echo "meshtensor: the package lists could not be refreshed; trying with those at hand" >&2
  if ! "${apt[@]}" install -y --no-install-recommends "${packages[@]}" </dev/null >&2; then
    echo "meshtensor: apt-get could not install ${packages[*]}; please install these, then run this again:" >&2
    meshtensor_print_missing "$missing"
    return 1
  fi
  hash -r
  missing=$(meshtensor_missing "$@")
  if [ -n "$missing" ]; then
    echo "meshtensor: still missing after the installation:" >&2
    meshtensor_print_missing "$missing"
    return 1
  fi
}
