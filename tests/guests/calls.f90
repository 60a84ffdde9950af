! SPDX-License-Identifier: Apache-2.0
! Calls of a guest from Fortran: sections with strides and other bounds, the dtypes of tokens and images, and failures.
program calls
  use, intrinsic :: iso_c_binding
  use mpi
  use token_model
  implicit none
  type cell
    real(c_double) :: other
    integer(c_int32_t) :: token, next
  end type
  integer, parameter :: whole = 5
  type(token_model_t) :: model, copy
  integer :: rank, ranks, first, n, i, status, ierr, failed
  integer(c_int32_t), allocatable, target :: text(:, :), next(:, :)
  integer(c_int8_t), allocatable, target :: pixels(:, :, :)
  integer(c_int64_t), allocatable :: wide(:, :)
  logical(c_bool), allocatable :: is_long(:, :)
  real(c_float), allocatable :: rows(:, :)
  type(cell), allocatable, target :: cells(:, :)
  integer(c_int32_t), pointer :: nobody(:, :), component(:, :)
  integer(c_int64_t) :: from(2), extents(2), steps

  failed = 0
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  n = whole/ranks
  first = n*rank + min(rank, modulo(whole, ranks))
  if (rank < modulo(whole, ranks)) n = n + 1

  call token_model_step(model, status)
  call refused('R35: the guest has not been created')
  call token_model_create(model, MPI_COMM_WORLD, whole, 0)
  call token_model_input_part_text(model, from, extents)
  call require(all(from == [1, first + 1]) .and. all(extents == [3, n]))

  ! text(length, batch): every second element of a larger array whose bounds begin at -1.
  allocate (text(-1:4, 2*n), next(0:4, 0:n + 1), pixels(4, 2, n), wide(3, n), is_long(3, n), rows(2, n), cells(3, n))
  text = -7
  next = -1
  do i = 1, 3*n
    text(2*modulo(i - 1, 3) - 1, 2*((i - 1)/3) + 1) = int(3*first + i - 1, c_int32_t)
  end do
  pixels = 3_c_int8_t
  nobody => null()
  call token_model_set_text(model, nobody, status)
  call refused('R11')
  call token_model_set_text(model, text, status)
  call refused("R11: this rank's part of the input 'text' is [batch=")
  call token_model_set_text(model, text(-1:4:2, 1:2*n:2))
  call token_model_step(model, status)
  call refused("R02: the input 'pixels' was not fed")
  call token_model_set_pixels(model, pixels)
  call token_model_set_brightness(model, 0.5_c_double)
  call token_model_get_steps(model, steps, status)
  call refused('no step has been made')
  call token_model_fetch_next(model, next(1:3, 1:n))
  call token_model_step(model)
  call require(all(next(1:3, 1:n) == text(-1:4:2, 1:2*n:2) + 1))
  call require(all(next(0, :) == -1) .and. all(next(4, :) == -1) .and. all(next(:, 0) == -1) .and. all(next(:, n + 1) == -1))
  call token_model_get_wide(model, wide)
  call require(all(wide == 1000000007_c_int64_t*text(-1:4:2, 1:2*n:2)))
  call token_model_get_is_long(model, is_long)
  call require(all(is_long .eqv. text(-1:4:2, 1:2*n:2) > 5))
  call token_model_get_rows(model, rows)
  call require(all(abs(rows - 6) < 0.001))
  rows = 0
  call token_model_get_rows(model, rows(:, n:1:-1))
  call require(all(abs(rows - 6) < 0.001))

  ! Components of an array of structures, by pointers: gfortran 12 hands on the address of another component else.
  cells%token = text(-1:4:2, 1:2*n:2)
  cells%next = -1
  component => cells%token
  call token_model_set_text(model, component)
  component => cells%next
  call token_model_fetch_next(model, component)
  call token_model_step(model)
  call require(all(cells%next == cells%token + 1))
  call token_model_get_steps(model, steps)
  call require(steps == 1)

  copy = model
  call token_model_destroy(model)
  call token_model_step(model, status)
  call refused('or it was destroyed')
  call token_model_step(copy, status)
  call refused('the guest was destroyed')
  if (failed /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierr)
  call MPI_Finalize(ierr)

contains
  subroutine refused(words)
    character(*), intent(in) :: words
    if (status == 1 .and. index(token_model_error(), words) > 0) return
    print '(a, i0, 4a)', 'status ', status, ': ', token_model_error(), ', not: ', words
    failed = failed + 1
  end subroutine
  subroutine require(holds)
    logical, intent(in) :: holds
    integer, save :: number = 0
    number = number + 1
    if (holds) return
    print '(a, i0, a, i0, a)', 'requirement ', number, ' does not hold on rank ', rank, ''
    failed = failed + 1
  end subroutine
end program
