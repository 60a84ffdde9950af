// SPDX-License-Identifier: Apache-2.0
// The text that all Fortran modules of guests share. `@` stands for the guest's name.
#pragma once

#include <string>
#include <vector>

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The interface of a C function.
inline std::string fortran_interface_of(std::string const& name, std::string const& arguments,
                                        std::vector<std::string> const& lines,
                                        std::string const& result = "integer(c_int)") {
  std::string text = "    function " + name + "(" + arguments + ") bind(c) result(code)\n";
  text += "      import :: c_double, c_int, c_int32_t, c_int64_t, c_ptr\n";
  for (std::string const& l : lines) text += "      " + l + "\n";
  return text + "      " + result + " :: code\n    end function\n";
}

/// The types of a guest and the interfaces of the functions in its table.
inline std::string fortran_declarations() {
  std::string const guest = "integer(c_int64_t), value :: guest",
                    changed = "integer(c_int64_t), intent(inout) :: guest";
  return R"(
  type, bind(c) :: @_t
    private
    integer(c_int64_t) :: id = 0
  end type

  type, bind(c) :: @_table
    type(c_funptr) :: create, destroy, feed, fetch, get, part, set, step, error, write
  end type

  abstract interface
)" +
         fortran_interface_of(
             "create_function", "guest, communicator, extents, checksum",
             {changed, "integer(c_int), value :: communicator", "integer(c_int64_t), intent(in) :: extents(*)",
              "integer(c_int32_t), value :: checksum"}) +
         fortran_interface_of("destroy_function", "guest", {changed}) +
         fortran_interface_of("array_function", "guest, program, port, at, extents, strides",
                              {guest, "integer(c_int), value :: program, port", "type(c_ptr), value :: at",
                               "integer(c_int64_t), intent(in) :: extents(*), strides(*)"}) +
         fortran_interface_of("part_function", "guest, program, is_output, port, first, extents",
                              {guest, "integer(c_int), value :: program, is_output, port",
                               "integer(c_int64_t), intent(inout) :: first(*), extents(*)"}) +
         fortran_interface_of("set_function", "guest, number, to",
                              {guest, "integer(c_int), value :: number", "real(c_double), value :: to"}) +
         fortran_interface_of("step_function", "guest, program", {guest, "integer(c_int), value :: program"}) +
         fortran_interface_of("error_function", "", {}, "type(c_ptr)") + R"(  end interface

  interface
    function @_functions() bind(c, name="@_functions") result(at)
)" + "      import :: c_ptr\n      type(c_ptr) :: at\n    end function\n  end interface\n\n";
}

/// The procedures that all others call.
inline std::string fortran_helpers() {
  return R"(
  function @_error() result(text)
    character(:), allocatable :: text
    procedure(error_function), pointer :: call_it
    character(kind=c_char), pointer :: letters(:)
    type(@_table), pointer :: table
    type(c_ptr) :: sentence
    integer :: i
    call find_table(table)
    call c_f_procpointer(table%error, call_it)
    sentence = call_it()
    call c_f_pointer(sentence, letters, [65536])
    text = ''
    do i = 1, 65536
      if (letters(i) == c_null_char) exit
      text = text // letters(i)
    end do
  end function

  subroutine find_table(table)
    type(@_table), pointer, intent(out) :: table
    type(c_ptr) :: at
    at = @_functions()
    call c_f_pointer(at, table)
  end subroutine

  subroutine check(code, status)
    integer(c_int), intent(in) :: code
    integer, intent(out), optional :: status
    if (present(status)) then
      status = int(code)
    else if (code /= 0) then
      write (error_unit, '(a)') @_error()
      error stop 1
    end if
  end subroutine

  ! The distance of two elements in elements; huge if it is no whole number of them.
  pure function apart(from, to, bytes) result(distance)
    type(c_ptr), intent(in) :: from, to
    integer, intent(in) :: bytes
    integer(c_int64_t) :: distance
    distance = int(transfer(to, 0_c_intptr_t), c_int64_t) - int(transfer(from, 0_c_intptr_t), c_int64_t)
    if (mod(distance, int(bytes, c_int64_t)) /= 0) then
      distance = huge(distance)
    else
      distance = distance / bytes
    end if
  end function
)";
}

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
