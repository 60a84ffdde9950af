// SPDX-License-Identifier: Apache-2.0
// Writes the C header of a guest: one typed function for each input, output and number.
#pragma once

#include <string>

#include "meshtensor/emit/guest_interface.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

inline char const* c_type_of(dtype t) {
  constexpr char const* names[] = {"double", "float", "uint16_t", "int32_t", "int64_t", "uint8_t", "bool"};
  return names[static_cast<int>(t)];
}
/// `f64[y, x]`
inline std::string dims_text(guest_port const& p) {
  return std::string(text_of(p.type)) + (p.dims.empty() ? "" : "[" + listed(p.dims) + "]");
}

class c_header_writer {
 public:
  c_header_writer(std::string const& name, guest_interface const& all) : all_(all), names_(name, all) {}

  std::string text() {
    std::string guard = names_.of("h");
    for (char& c : guard) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    text_ = "/* Calls " + names_.name() + " from C and C++. Written by meshtensor from its inputs and outputs.\n" +
            R"( *
 * Every function returns 0, or a status: 1, the call was refused and may be made again; 2, a rank failed and the job is
 * over. Then @_error() is a sentence about the last failure of this thread.
 *
 * extents: of this rank's part, or of the whole if this process holds all ranks. strides: in elements, for each dim;
 * null: dense, the last dim varying fastest. set: each step reads the input from there, until another array is set, so
 * keep its memory until then. fetch: the next step writes the output there. get: copies an output of the last step.
 */
)" + "#ifndef " +
            guard + "\n#define " + guard + "\n\n" + (all_.with_communicator ? "#include <mpi.h>\n" : "") +
            "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n" + R"(
#ifdef __cplusplus
extern "C" {
#endif

enum { @_refused = 1, @_lost = 2 };

/* A guest; {0} is none. */
typedef struct {
  int64_t id;
} @;

struct @_table {
  int (*create)(int64_t* guest, int communicator, int64_t const* extents, int32_t checksum);
  int (*destroy)(int64_t* guest);
  int (*feed)(int64_t guest, int program, int input, void const* from, int64_t const* extents, int64_t const* strides);
  int (*fetch)(int64_t guest, int program, int output, void* to, int64_t const* extents, int64_t const* strides);
  int (*get)(int64_t guest, int program, int output, void* to, int64_t const* extents, int64_t const* strides);
  int (*part)(int64_t guest, int program, int is_output, int port, int64_t* first, int64_t* extents);
  int (*set)(int64_t guest, int number, double value);
  int (*step)(int64_t guest, int program);
  char const* (*error)(void);
  int (*write)(char const* name, char const* header, char const* module);
};
struct @_table const* @_functions(void);

static inline char const* @_error(void) { return @_functions()->error(); }

)";
    create();
    for (std::size_t i = 0; i < all_.numbers.size(); ++i)
      function(names_.of("set", word_of(all_.numbers[i])), "double value",
               "set(guest.id, " + std::to_string(i) + ", value)");
    for (std::size_t p = 0; p < all_.programs.size(); ++p) program(all_.programs[p], std::to_string(p));
    text_ += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    for (auto at = text_.find('@'); at != text_.npos; at = text_.find('@')) text_.replace(at, 1, names_.name());
    return text_;
  }

 private:
  void create() {
    std::string arguments = "@* guest", extents, comment;
    if (all_.with_communicator) arguments += ", MPI_Comm communicator";
    for (std::string const& n : extent_arguments(names_, all_)) arguments += ", int64_t " + n, extents += n + ", ";
    if (!all_.dims.empty()) comment += " Whole extents of " + listed(all_.dims) + ".";
    if (!all_.axes.empty()) comment += " Mesh axes " + listed(all_.axes) + ": 0, the ranks that are left.";
    text_ += "/* Collective." + comment + " */\n" + "static inline int @_create(" + arguments + ") {\n" +
             "  int64_t const extents[] = {" + extents + "0};\n" +
             (all_.with_communicator ? "  int ready = 0, handle = 0;\n  MPI_Initialized(&ready);\n"
                                       "  if (ready) handle = (int)MPI_Comm_c2f(communicator);\n"
                                     : "  int const handle = 0;\n") +
             "  return @_functions()->create(&guest->id, handle, extents, " + std::to_string(checksum_of(all_)) +
             ");\n}\n" + "/* Collective, before MPI_Finalize. */\n" +
             "static inline int @_destroy(@* guest) { return @_functions()->destroy(&guest->id); }\n\n";
  }
  void function(std::string const& name, std::string const& arguments, std::string const& called) {
    text_ += "static inline int " + name + "(@ guest" + (arguments.empty() ? "" : ",\n    " + arguments) + ") {\n" +
             "  return @_functions()->" + called + ";\n}\n";
  }
  void program(guest_program const& p, std::string const& number) {
    text_ += "\n/* ---- " + p.word + " ---- */\n\n";
    function(names_.of(p, "step"), "", "step(guest.id, " + number + ")");
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      guest_port const& in = p.inputs[i];
      std::string const at = "guest.id, " + number + ", " + std::to_string(i) + ", ";
      comment("input", in);
      if (in.dims.empty()) {
        function(names_.of(p, "set", in.word), std::string(c_type_of(in.type)) + " value",
                 "feed(" + at + "&value, NULL, NULL)");
        continue;
      }
      function(names_.of(p, "set", in.word), std::string(c_type_of(in.type)) + " const* from, " + of_dims(in),
               "feed(" + at + "from, extents, strides)");
      part(p, "input_part", in, number, i);
    }
    for (std::size_t i = 0; i < p.outputs.size(); ++i) {
      guest_port const& out = p.outputs[i];
      std::string const at = "guest.id, " + number + ", " + std::to_string(i) + ", ", type = c_type_of(out.type);
      comment("output", out);
      if (out.dims.empty()) {
        function(names_.of(p, "get", out.word), type + "* value", "get(" + at + "value, NULL, NULL)");
        continue;
      }
      for (char const* verb : {"fetch", "get"})
        function(names_.of(p, verb, out.word), type + "* to, " + of_dims(out),
                 verb + ("(" + at) + "to, extents, strides)");
      part(p, "output_part", out, number, i);
    }
  }
  void comment(char const* what, guest_port const& p) {
    text_ += std::string("/* ") + what + " " + p.label + ": " + dims_text(p) +
             (p.type == dtype::bf16 ? ", the upper 16 bits of a float" : "") + " */\n";
  }
  void part(guest_program const& p, char const* verb, guest_port const& port, std::string const& number,
            std::size_t index) {
    std::string const n = std::to_string(port.dims.size());
    function(names_.of(p, verb, port.word), "int64_t first[" + n + "], int64_t extents[" + n + "]",
             "part(guest.id, " + number + (verb[0] == 'o' ? ", 1, " : ", 0, ") + std::to_string(index) +
                 ", first, extents)");
  }
  static std::string of_dims(guest_port const& p) {
    std::string const n = "[" + std::to_string(p.dims.size()) + "]";
    return "int64_t const extents" + n + ", int64_t const* strides";
  }

  guest_interface const& all_;
  guest_names names_;
  std::string text_;
};

}  // namespace detail

/// The text of a C header (C99 and C++) with the functions of a guest. Their names begin with `name_`.
///
/// errors  R36 a function would have no valid name
inline std::string c_header(std::string const& name, guest_interface const& all) {
  return detail::c_header_writer(name, all).text();
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
