// SPDX-License-Identifier: Apache-2.0
// Writes the subroutines of a Fortran module that hand on one array, one number or the place of a part.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "meshtensor/emit/fortran_module/port_types.hpp"
#include "meshtensor/emit/guest_interface.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// Writes subroutines, each of which calls one function of the guest's table.
class fortran_procedure_writer {
 protected:
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

  std::string text_;
  std::vector<std::string> public_;  // the names of all procedures
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
