! SPDX-License-Identifier: Apache-2.0
! A heat code in Fortran with its own MPI and its own arrays, which have halos, trains a network on its fields and asks
! it. Run it alone or with mpirun -n 4: the result is the same. docs/large-codes.md has the commands to build it.
program solver
  use, intrinsic :: iso_c_binding, only: c_double
  use mpi
  use solver_model
  implicit none
  integer, parameter :: nx = 8, ny = 6, nz = 10, steps = 100
  real(c_double), parameter :: time_step = 0.125_c_double
  integer :: rank, ranks, below, above, first, last, i, j, k, step, ierr
  ! Slabs of z with a halo; the first ranks have one plane more.
  real(c_double), allocatable, target :: temperature(:, :, :), laplacian(:, :, :), change(:, :, :), guess(:, :, :)
  real(c_double) :: loss, error, all_errors
  type(solver_model_t) :: model

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  first = begin_of(rank)
  last = begin_of(rank + 1) - 1
  below = modulo(rank - 1, ranks)
  above = modulo(rank + 1, ranks)
  allocate (temperature(0:nx + 1, 0:ny + 1, first - 1:last + 1))
  allocate (laplacian(nx, ny, first:last), change(nx, ny, first:last), guess(0:nx + 1, 0:ny + 1, first - 1:last + 1))
  do k = first, last
    do j = 1, ny
      do i = 1, nx
        temperature(i, j, k) = modulo(7*i + 5*j*j + 11*k, 16)/16.0_c_double
      end do
    end do
  end do
  guess = -1

  call solver_model_create(model, MPI_COMM_WORLD, nz, ny, nx, 0)
  do step = 1, steps
    call exchange_halos()
    do k = first, last
      do j = 1, ny
        do i = 1, nx
          laplacian(i, j, k) = temperature(i - 1, j, k) + temperature(i + 1, j, k) + temperature(i, j - 1, k) + &
                               temperature(i, j + 1, k) + temperature(i, j, k - 1) + temperature(i, j, k + 1) - &
                               6*temperature(i, j, k)
          change(i, j, k) = time_step*(0.25_c_double + temperature(i, j, k)*temperature(i, j, k))*laplacian(i, j, k)
        end do
      end do
    end do
    ! The inside of an array with a halo, and arrays without one.
    call solver_model_learn_set_temperature(model, temperature(1:nx, 1:ny, first:last))
    call solver_model_learn_set_laplacian(model, laplacian)
    call solver_model_learn_set_change(model, change)
    call solver_model_learn_set_time_step(model, time_step)
    call solver_model_learn_step(model)
    call solver_model_learn_get_loss(model, loss)
    if (rank == 0 .and. modulo(step, 20) == 0) write (*, '(i4, es20.12)') step, loss
    temperature(1:nx, 1:ny, first:last) = temperature(1:nx, 1:ny, first:last) + 0.25_c_double*change
  end do

  ! What the network says of the last step, written straight into an array with a halo.
  call solver_model_predict_set_temperature(model, temperature(1:nx, 1:ny, first:last))
  call solver_model_predict_set_laplacian(model, laplacian)
  call solver_model_predict_set_time_step(model, time_step)
  call solver_model_predict_fetch_change(model, guess(1:nx, 1:ny, first:last))
  call solver_model_predict_step(model)
  error = maxval(abs(guess(1:nx, 1:ny, first:last)))
  call MPI_Reduce(error, all_errors, 1, MPI_DOUBLE_PRECISION, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
  if (rank == 0) write (*, '(a, es20.12)') 'the largest predicted change: ', all_errors
  if (any(abs(guess(0, :, :) + 1) > 0) .or. any(abs(guess(:, :, last + 1) + 1) > 0)) error stop 'the halo was written'
  call solver_model_destroy(model)
  call MPI_Finalize(ierr)

contains
  integer function begin_of(part)
    integer, intent(in) :: part
    begin_of = 1 + nz/ranks*part + min(part, modulo(nz, ranks))
  end function

  subroutine exchange_halos()
    integer :: n
    n = (nx + 2)*(ny + 2)
    temperature(0, :, :) = temperature(nx, :, :)
    temperature(nx + 1, :, :) = temperature(1, :, :)
    temperature(:, 0, :) = temperature(:, ny, :)
    temperature(:, ny + 1, :) = temperature(:, 1, :)
    call MPI_Sendrecv(temperature(:, :, last), n, MPI_DOUBLE_PRECISION, above, 0, temperature(:, :, first - 1), n, &
                      MPI_DOUBLE_PRECISION, below, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Sendrecv(temperature(:, :, first), n, MPI_DOUBLE_PRECISION, below, 1, temperature(:, :, last + 1), n, &
                      MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine
end program
