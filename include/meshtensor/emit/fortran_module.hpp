// SPDX-License-Identifier: Apache-2.0
// Writes the Fortran module of a guest: one typed subroutine for each input, output and number.
#pragma once

#include <string>

#include "meshtensor/emit/guest_interface.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

inline char const* fortran_type_of(dtype t) {
  constexpr char const* names[] = {"real(c_double)",     "real(c_float)",      "integer(c_int16_t)",
                                   "integer(c_int32_t)", "integer(c_int64_t)", "integer(c_int8_t)",
                                   "logical(c_bool)"};
  return names[static_cast<int>(t)];
}
/// `real(c_double), field(x, y)`: the dims in the order of Fortran.
inline std::string fortran_text(guest_port const& p) {
  std::vector<std::string> const back(p.dims.rbegin(), p.dims.rend());
  char const* const note = p.type == dtype::bf16 ? ", the upper 16 bits of reals"
                           : p.type == dtype::u8 ? ", the bits of unsigned bytes"
                                                 : "";
  return std::string(fortran_type_of(p.type)) + ", " + p.word + (back.empty() ? "" : "(" + listed(back) + ")") + note;
}

class fortran_module_writer {
 public:
  fortran_module_writer(std::string const& name, guest_interface const& all) : all_(all), names_(name, all) {}

  std::string text() {
    text_ = R"(! Calls @ from Fortran. Written by meshtensor from its inputs and outputs.
!
! The dims of an array are in reverse order of the program's, so that the first one varies fastest in both. Arrays may
! be sections of larger ones, for example without their halos; nothing is copied to pass them on. They have the extents
! of this rank's part, or of the whole if this process holds all ranks.
!
! set: an input is read when a step runs, so its array is a target that lives until then. fetch: the next step writes
! the output there. get: copies an output of the last step. status: 0; 1, the call was refused and may be made again; 2,
! a rank failed and the job is over. @_error() is a sentence about the last failure. Without the argument status, a
! failure prints this sentence and stops the program.
)";
    text_ +=
        "module @\n  use, intrinsic :: iso_c_binding\n  use, intrinsic :: iso_fortran_env, only: error_unit\n"
        "  implicit none\n  private\n";
    std::string body;
    body.swap(text_);
    procedures();
    body.swap(text_);
    for (std::string const& name : public_) text_ += "  public :: " + name + "\n";
    text_ += declarations();
    text_ += "contains\n" + body + helpers() + "end module @\n";
    for (auto at = text_.find('@'); at != text_.npos; at = text_.find('@')) text_.replace(at, 1, names_.name());
    return text_;
  }

 private:
  /// The interface of a C function.
  static std::string interface_of(std::string const& name, std::string const& arguments,
                                  std::vector<std::string> const& lines, std::string const& result = "integer(c_int)") {
    std::string text = "    function " + name + "(" + arguments + ") bind(c) result(code)\n";
    text += "      import :: c_double, c_int, c_int32_t, c_int64_t, c_ptr\n";
    for (std::string const& l : lines) text += "      " + l + "\n";
    return text + "      " + result + " :: code\n    end function\n";
  }
  static std::string declarations() {
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
           interface_of("create_function", "guest, communicator, extents, checksum",
                        {changed, "integer(c_int), value :: communicator",
                         "integer(c_int64_t), intent(in) :: extents(*)", "integer(c_int32_t), value :: checksum"}) +
           interface_of("destroy_function", "guest", {changed}) +
           interface_of("array_function", "guest, program, port, at, extents, strides",
                        {guest, "integer(c_int), value :: program, port", "type(c_ptr), value :: at",
                         "integer(c_int64_t), intent(in) :: extents(*), strides(*)"}) +
           interface_of("part_function", "guest, program, is_output, port, first, extents",
                        {guest, "integer(c_int), value :: program, is_output, port",
                         "integer(c_int64_t), intent(inout) :: first(*), extents(*)"}) +
           interface_of("set_function", "guest, number, to",
                        {guest, "integer(c_int), value :: number", "real(c_double), value :: to"}) +
           interface_of("step_function", "guest, program", {guest, "integer(c_int), value :: program"}) +
           interface_of("error_function", "", {}, "type(c_ptr)") + R"(  end interface

  interface
    function @_functions() bind(c, name="@_functions") result(at)
)" + "      import :: c_ptr\n      type(c_ptr) :: at\n    end function\n  end interface\n\n";
  }
  static std::string helpers() {
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

  void line(std::string const& text) { text_ += "    " + text + "\n"; }
  /// Begins a procedure. Each argument between `guest` and `status` stands on a line of its own.
  void begin(std::string const& name, std::vector<std::string> const& arguments) {
    public_.push_back(name);
    text_ += "\n  subroutine " + name + "(guest, ";
    for (std::string const& a : arguments) text_ += "&\n      " + a + ", ";
    text_ += "status)\n";
  }
  void locals(char const* kind) {
    line("integer, intent(out), optional :: status");
    line(std::string("procedure(") + kind + "_function), pointer :: call_it");
    line("type(@_table), pointer :: table");
  }
  void call(char const* member, std::string const& arguments) {
    line("call find_table(table)");
    line(std::string("call c_f_procpointer(table%") + member + ", call_it)");
    line("call check(call_it(" + arguments + "), status)");
    text_ += "  end subroutine\n";
  }
  static std::string number(std::size_t i) { return std::to_string(i) + "_c_int"; }

  void procedures() {
    create();
    begin("@_destroy", {});
    line("type(@_t), intent(inout) :: guest");
    locals("destroy");
    call("destroy", "guest%id");
    public_.push_back("@_error");
    public_.push_back("@_t");
    for (std::size_t i = 0; i < all_.numbers.size(); ++i) {
      begin(names_.of("set", word_of(all_.numbers[i])), {"value"});
      line("type(@_t), intent(in) :: guest");
      line("real(c_double), intent(in) :: value");
      locals("set");
      call("set", "guest%id, " + number(i) + ", value");
    }
    for (std::size_t p = 0; p < all_.programs.size(); ++p) program(all_.programs[p], p);
  }
  void create() {
    std::vector<std::string> const names = extent_arguments(all_);
    std::vector<std::string> arguments = names;
    if (all_.with_communicator) arguments.insert(arguments.begin(), "communicator");
    begin("@_create", arguments);
    line("type(@_t), intent(inout) :: guest");
    if (all_.with_communicator) line("integer, intent(in) :: communicator");
    for (std::size_t i = 0; i < names.size(); ++i)
      line(i < all_.dims.size() ? "integer, intent(in) :: " + names[i] + "  ! the whole extent"
                                : "integer, intent(in) :: " + names[i] + "  ! of the mesh; 0: the ranks that are left");
    locals("create");
    line("integer(c_int64_t) :: extents(" + std::to_string(names.size() + 1) + ")");
    line("extents = 0");
    for (std::size_t i = 0; i < names.size(); ++i)
      line("extents(" + std::to_string(i + 1) + ") = int(" + names[i] + ", c_int64_t)");
    call("create", "guest%id, " + std::string(all_.with_communicator ? "int(communicator, c_int)" : "0_c_int") +
                       ", extents, " + std::to_string(checksum_of(all_)) + "_c_int32_t");
  }
  void program(guest_program const& p, std::size_t number_of_p) {
    begin(names_.of(p, "step"), {});
    line("type(@_t), intent(in) :: guest");
    locals("step");
    call("step", "guest%id, " + number(number_of_p));
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      array(names_.of(p, "set", p.inputs[i].word), "feed", p.inputs[i], number_of_p, i, "pointer, intent(in)");
      if (!p.inputs[i].dims.empty())
        part(names_.of(p, "input_part", p.inputs[i].word), p.inputs[i], number_of_p, i, "0");
    }
    for (std::size_t i = 0; i < p.outputs.size(); ++i) {
      guest_port const& out = p.outputs[i];
      array(names_.of(p, "get", out.word), "get", out, number_of_p, i, "target, intent(inout)");
      if (out.dims.empty()) continue;
      array(names_.of(p, "fetch", out.word), "fetch", out, number_of_p, i, "pointer, intent(in)");
      part(names_.of(p, "output_part", out.word), out, number_of_p, i, "1");
    }
  }
  /// A subroutine that hands on an array or one number.
  void array(std::string const& name, char const* member, guest_port const& p, std::size_t of_program,
             std::size_t index, std::string const& how) {
    std::size_t const n = p.dims.size();
    std::string const type = fortran_type_of(p.type), at = "guest%id, " + number(of_program) + ", " + number(index);
    begin(name, {n == 0 ? "value" : "array"});
    line("! " + fortran_text(p));
    line("type(@_t), intent(in) :: guest");
    if (n == 0) {
      line(type + ", target, intent(" + (member[0] == 'f' ? "in" : "inout") + ") :: value");
      locals("array");
      line("integer(c_int64_t) :: none(1)");
      line("none = 0");
      call(member, at + ", c_loc(value), none, none");
      return;
    }
    std::string colons, bounds, first;
    for (std::size_t k = 0; k < n; ++k) {
      colons += k == 0 ? ":" : ",:", bounds += k == 0 ? "1:" : ",1:", first += k == 0 ? "1" : ",1";
    }
    std::string const count = std::to_string(n);
    line(type + ", " + how + " :: array(" + colons + ")");
    locals("array");
    line(type + ", pointer :: a(" + colons + ")");
    line("type(c_ptr) :: at");
    line("integer(c_int64_t) :: extents(" + count + "), strides(" + count + ")");
    line("integer :: bytes");
    line("at = c_null_ptr");
    line("extents = 0");
    line("strides = 1");
    bool const is_pointer = how[0] == 'p';
    std::string const in = is_pointer ? "  " : "";
    if (is_pointer) line("if (associated(array)) then");
    line(in + "a(" + bounds + ") => array");
    for (std::size_t k = 0; k < n; ++k)
      line(in + "extents(" + std::to_string(k + 1) + ") = size(a, " + std::to_string(n - k) + ", c_int64_t)");
    line(in + "if (size(a) > 0) then");
    line(in + "  bytes = storage_size(a) / 8");
    line(in + "  at = c_loc(a(" + first + "))");
    for (std::size_t k = 0; k < n; ++k) {
      std::size_t const dim = n - k;  // of the Fortran array
      std::string second = first;
      second[2 * (dim - 1)] = '2';
      line(in + "  if (extents(" + std::to_string(k + 1) + ") > 1) &");
      line(in + "    strides(" + std::to_string(k + 1) + ") = apart(at, c_loc(a(" + second + ")), bytes)");
    }
    line(in + "end if");
    if (is_pointer) line("end if");
    call(member, at + ", at, extents, strides");
  }
  void part(std::string const& name, guest_port const& p, std::size_t of_program, std::size_t index,
            char const* is_output) {
    std::string const n = std::to_string(p.dims.size());
    begin(name, {"first", "extents"});
    line("! The indices in the whole of this part's first element, from 1 on, and its extents.");
    line("type(@_t), intent(in) :: guest");
    line("integer(c_int64_t), intent(out) :: first(" + n + "), extents(" + n + ")");
    line("integer, intent(out), optional :: status");
    line("procedure(part_function), pointer :: call_it");
    line("type(@_table), pointer :: table");
    line("integer(c_int64_t) :: from(" + n + "), count(" + n + ")");
    line("integer(c_int) :: code");
    line("from = 0");
    line("count = 0");
    line("call find_table(table)");
    line("call c_f_procpointer(table%part, call_it)");
    line("code = call_it(guest%id, " + number(of_program) + ", " + is_output + "_c_int, " + number(index) +
         ", from, count)");
    line("first = from(" + n + ":1:-1) + 1");
    line("extents = count(" + n + ":1:-1)");
    line("call check(code, status)");
    text_ += "  end subroutine\n";
  }

  guest_interface const& all_;
  guest_names names_;
  std::string text_;
  std::vector<std::string> public_;
};

}  // namespace detail

/// The text of a Fortran 2008 module with the functions of a guest. Their names begin with `name_`. It needs no other
/// file.
///
/// errors  R36 a function would have no valid name
inline std::string fortran_module(std::string const& name, guest_interface const& all) {
  return detail::fortran_module_writer(name, all).text();
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
