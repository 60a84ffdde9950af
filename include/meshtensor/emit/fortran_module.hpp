// SPDX-License-Identifier: Apache-2.0
// Writes the Fortran module of a guest: one typed subroutine for each input, output and number.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "meshtensor/emit/fortran_module/fixed_text.hpp"
#include "meshtensor/emit/fortran_module/procedures.hpp"
#include "meshtensor/emit/guest_interface.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {

class fortran_module_writer : fortran_procedure_writer {
 public:
  fortran_module_writer(std::string const& name, guest_interface const& all) : all_(all), names_(name, all) {}

  std::string text() {
    text_ = R"(! Calls @ from Fortran. Written by meshtensor from its inputs and outputs.
!
! The dims of an array are in reverse order of the program's, so that the first one varies fastest in both. Arrays may
! be sections of larger ones, for example without their halos; nothing is copied to pass them on. They have the extents
! of this rank's part, or of the whole if this process holds all ranks.
!
! set: each step reads the input from there, until another array is set, so the array is a target that lives until then.
! fetch: the next step writes the output there. get: copies an output of the last step. status: 0; 1, the call was
! refused and may be made again; 2, a rank failed and the job is over. @_error() is a sentence about the last failure.
! Without the argument status, a failure prints this sentence and stops the program.
)";
    text_ +=
        "module @\n  use, intrinsic :: iso_c_binding\n  use, intrinsic :: iso_fortran_env, only: error_unit\n"
        "  implicit none\n  private\n";
    std::string body;
    body.swap(text_);
    procedures();
    body.swap(text_);
    for (std::string const& name : public_) text_ += "  public :: " + name + "\n";
    text_ += fortran_declarations();
    text_ += "contains\n" + body + fortran_helpers() + "end module @\n";
    for (auto at = text_.find('@'); at != text_.npos; at = text_.find('@')) text_.replace(at, 1, names_.name());
    return text_;
  }

 private:
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
    std::vector<std::string> const names = extent_arguments(names_, all_);
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

  guest_interface const& all_;
  guest_names names_;
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
