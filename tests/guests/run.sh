#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Callers of guests in C and Fortran: run.sh PART SOURCE FOLDER COMPARED LAUNCHER...
#
#   c        solver.c prints what solver.cpp prints, and calls.c finds its calls right, on several numbers of ranks
#   fortran  the same of examples/in_fortran_solver and calls.f90
#   refused  Fortran's compiler refuses arrays that do not live until the step
#
# FOLDER has the guests' libraries and their bindings; COMPARED is solver.cpp, compiled. MPICC and MPIF90 compile.
set -euo pipefail
part=$1 source=$2 folder=$3 compared=$4
launcher=("${@:5}")  # without the number of ranks
source "$source/cmake/environment.sh"
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
cd "$built"

link=(-L"$folder" "-Wl,-rpath,$folder")
# build PROGRAM GUEST FILE...
build_c() {
  "$MPICC" -std=c99 -Wall -Wextra -Werror -I"$folder/$2_bindings" "${@:3}" -o "$1" "${link[@]}" "-l$2"
}
build_fortran() {
  "$MPIF90" -std=f2008 -Wall -Wextra -Werror "$folder/$2_bindings/$2.f90" "${@:3}" -o "$1" "${link[@]}" "-l$2"
}

case $part in
  c) build_c solver solver_model "$source/tests/guests/solver.c" && build_c calls token_model "$source/tests/guests/calls.c" ;;
  fortran)
    build_fortran solver solver_model "$source/examples/in_fortran_solver/solver.f90"
    build_fortran calls token_model "$source/tests/guests/calls.f90"
    ;;
  refused)
    "$MPIF90" -c "$folder/token_model_bindings/token_model.f90"
    for what in 'integer(c_int32_t) :: a(3, 5)|a' 'integer(c_int32_t), target :: a(3, 5)|a + 1' \
      'integer(c_int64_t), target :: a(3, 5)|a' 'integer(c_int32_t), target :: a(15)|a'; do
      printf '%s\n' 'subroutine s(m)' 'use token_model' 'use iso_c_binding' 'type(token_model_t), intent(in) :: m' \
        "${what%|*}" "call token_model_set_text(m, ${what#*|})" 'end subroutine' >refused.f90
      ! "$MPIF90" -c refused.f90 2>errors || { echo "compiles: $what" && exit 1; }
    done
    printf '%s\n' 'subroutine s(m, a)' 'use token_model' 'use iso_c_binding' 'type(token_model_t), intent(in) :: m' \
      'integer(c_int32_t), intent(in), target :: a(:, :)' 'call token_model_set_text(m, a)' 'end subroutine' >fits.f90
    "$MPIF90" -Wall -Werror -c fits.f90
    exit 0
    ;;
esac

./solver >alone  # without a launcher
"$compared" >expected
cmp expected alone
for ranks in 1 4; do
  "${launcher[@]}" "$ranks" ./solver >"$ranks"
  cmp expected "$ranks"
done
cat expected
awk 'NR == 1 {first = $2} $1 == 100 {last = $2} END {exit !(last > 0 && last < first / 100)}' expected
for ranks in 1 2 4 6; do "${launcher[@]}" "$ranks" ./calls; done  # 5 rows: the sixth rank has none
