// SPDX-License-Identifier: Apache-2.0
// The functions of a guest without MPI, whose ranks are threads: arrays are whole. Calls that do not fit give a status
// and a sentence. What is written for C and Fortran, and names that they do not take.
// passes: start-up
#include "meshtensor/run/guest.hpp"

#include <doctest/doctest.h>

#include <cctype>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "meshtensor/meshtensor.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct z : mt::dim<"z"> {} z;
inline constexpr struct y : mt::dim<"y"> {} y;
inline constexpr struct x : mt::dim<"x", 3> {} x;
inline constexpr struct only_learnt : mt::dim<"only_learnt"> {} only_learnt;
inline constexpr struct up : mt::axis<"up"> {} up;
inline constexpr struct twin : mt::axis<"twin", 2> {} twin;  // ranks with the same parts
struct mesh : mt::mesh<up, twin> {};
struct slabs : mt::layout<mt::shard<z, up>> {};

struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto field = s.input("field", mt::f32, z, y, x);
    auto weight = s.parameter("weight", only_learnt, mt::ones);
    s.update(weight, weight + s.number("rate", 1));
    s.output("sum", sum(field) * s.input("scale", mt::f32));
    s.output("next", field * s.number("rate", 1));
  }
};
struct ask {
  constexpr void operator()(mt::scope auto s) const { s.output("flags", s.input("index", mt::i32, z) > 1); }
};
struct both : mt::programs<learn, ask> {};
template <class Program>
using program = mt::executable<both, Program, mesh, slabs, mt::reference_device>;
using model = mt::guest<program<learn>, program<ask>>;

mt::guest_functions const& call = *model::functions();

bool refused(int status, std::string_view words) {
  bool const right = status == 1 && std::string_view(call.error()).find(words) != std::string_view::npos;
  if (!right) MESSAGE(status << ": " << call.error());
  return right;
}

std::int64_t made() {
  std::int64_t guest = 0;
  std::int64_t const extents[] = {5, 2, 4, 3};
  int const status = call.create(&guest, 0, extents, mt::checksum_of(model::interface()));
  INFO(call.error());
  REQUIRE(status == 0);
  return guest;
}

template <mt::dtype T>
struct scaled {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::dtype_constant<T>{}, x) * 2); }
};
template <mt::dtype T>
struct summed {
  constexpr void operator()(mt::scope auto s) const { s.output("y", sum(s.input("x", mt::dtype_constant<T>{}, x))); }
};

std::string sentence_of(std::string const& name, mt::guest_interface const& all) {
  try {
    (void)mt::c_header(name, all);
  } catch (mt::error const& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("what callers see") {
  mt::guest_interface const& all = model::interface();
  CHECK(all.dims == std::vector<std::string>{"z", "y", "only_learnt"});
  CHECK(all.axes == std::vector<std::string>{"up"});
  CHECK(all.numbers == std::vector<std::string>{"rate"});
  REQUIRE(all.programs.size() == 2);
  CHECK(all.programs[0].word == "learn");
  REQUIRE(all.programs[0].inputs.size() == 2);
  CHECK(all.programs[0].inputs[0].dims == std::vector<std::string>{"z", "y", "x"});
  CHECK(all.programs[1].outputs[0].type == mt::dtype::boolean);
  std::string const header = mt::c_header("solver", all), module = mt::fortran_module("solver", all);
  for (char const* part : {"int64_t z, int64_t y, int64_t only_learnt, int64_t up) {",
                           "solver_learn_set_field(solver guest,\n    float const* from, int64_t const extents[3]",
                           "solver_learn_set_scale(solver guest,\n    float value)", "/* output flags: bool[z] */"})
    CHECK(header.find(part) != header.npos);
  // The dims of Fortran are in reverse order: the first extent is that of the last dim.
  for (char const* part :
       {"! real(c_float), field(x, y, z)", "extents(1) = size(a, 3, c_int64_t)",
        "strides(1) = apart(at, c_loc(a(1,1,2)), bytes)", "strides(3) = apart(at, c_loc(a(2,1,1)), bytes)"})
    CHECK(module.find(part) != module.npos);
}

TEST_CASE("programs that are templates") {
  mt::guest_interface all;
  auto const add = [&]<class Program>() {
    mt::module const m = mt::trace<Program>();
    mt::add_program(all, m, 0, mesh::shape);
  };
  add.operator()<scaled<mt::dtype::f32>>();
  add.operator()<summed<mt::dtype::f32>>();
  add.operator()<scaled<mt::dtype::f64>>();
  REQUIRE(all.programs.size() == 3);
  CHECK(all.programs[0].word == "scaled");
  CHECK(all.programs[1].word == "summed");
  CHECK(all.programs[2].word == "scaled_f64");
  CHECK(mt::c_header("solver", all).find("solver_scaled_f64_step") != std::string::npos);
}

TEST_CASE("whole arrays of a process that holds all ranks") {
  std::int64_t guest = made();
  std::vector<float> field(30), next(5 * 24, -1);
  std::iota(field.begin(), field.end(), 0.F);
  float const scale = 2;
  float sum = 0;
  std::int64_t const extents[] = {5, 2, 3}, strides[] = {1, 60, 20};  // z varies fastest
  CHECK(call.feed(guest, 0, 0, field.data(), extents, nullptr) == 0);
  CHECK(call.feed(guest, 0, 1, &scale, nullptr, nullptr) == 0);
  CHECK(call.set(guest, 0, 3) == 0);
  CHECK(call.fetch(guest, 0, 1, next.data(), extents, strides) == 0);
  CHECK(call.step(guest, 0) == 0);
  for (std::size_t i = 0; i < 30; ++i) REQUIRE(next[i / 6 + i / 3 % 2 * 60 + i % 3 * 20] == 3 * field[i]);
  CHECK(std::ranges::count(next, -1.F) == 120 - 30);
  CHECK(call.get(guest, 0, 0, &sum, nullptr, nullptr) == 0);
  CHECK(sum == 2 * 435);
  // Arrays are read anew in each step.
  std::ranges::fill(field, 1.F);
  std::ranges::fill(next, -1.F);
  CHECK(call.step(guest, 0) == 0);
  CHECK(std::ranges::count(next, -1.F) == 120);  // the fetch was for one step
  CHECK(call.get(guest, 0, 1, next.data(), extents, nullptr) == 0);
  CHECK(std::ranges::count(next, 3.F) == 30);
  std::int64_t first[3] = {}, count[3] = {};
  CHECK(call.part(guest, 0, 1, 1, first, count) == 0);
  CHECK(count[0] == 5);
  CHECK(model::use(guest, [](mt::store& weights) { CHECK(weights.get<float>("weight").data()[3] == 7); }) == 0);
  CHECK(model::use(guest, [](mt::store&) { throw 1; }) == 1);
  CHECK(call.destroy(&guest) == 0);
}

TEST_CASE("a step that is refused leaves what was named for the next one") {
  std::int64_t guest = made();
  std::vector<float> field(30, 2), next(30, -1);
  float const scale = 2;
  std::int64_t const extents[] = {5, 2, 3};
  CHECK(call.feed(guest, 0, 0, field.data(), extents, nullptr) == 0);
  CHECK(call.fetch(guest, 0, 1, next.data(), extents, nullptr) == 0);
  CHECK(refused(call.step(guest, 0), "R02: the input 'scale' was not fed"));
  CHECK(call.feed(guest, 0, 1, &scale, nullptr, nullptr) == 0);
  CHECK(call.step(guest, 0) == 0);
  CHECK(std::ranges::count(next, 2.F) == 30);
  CHECK(call.destroy(&guest) == 0);
}

TEST_CASE("calls that do not fit") {
  std::int64_t guest = 0;
  std::int64_t const extents[] = {5, 2, 4, 3}, none[] = {0, 2, 4, 3};
  auto const checksum = mt::checksum_of(model::interface());
  CHECK(refused(call.step(0, 0), "R35: the guest has not been created"));
  CHECK(refused(call.create(&guest, 0, extents, checksum + 1), "R46: the C header or the Fortran module"));
  CHECK(refused(call.create(&guest, 0, none, checksum), "S10"));
  CHECK(guest == 0);
  guest = made();
  std::int64_t const wrong[] = {5, 2, 4}, right[] = {5, 2, 3}, far[] = {std::int64_t{1} << 62, 3, 1};
  std::vector<float> field(40), next(40);
  CHECK(refused(call.step(guest, 0), "R02: the input 'field' was not fed"));
  CHECK(refused(call.step(guest, 2), "R46: a guest has no program 2"));
  CHECK(refused(call.feed(guest, 0, 7, field.data(), right, nullptr), "R46: a guest has no port 7"));
  CHECK(refused(call.set(guest, 1, 0), "R46: a guest has no number 1"));
  CHECK(refused(call.feed(guest, 0, 0, field.data(), wrong, nullptr), "R11: this rank's part of the input 'field' is"));
  CHECK(refused(call.feed(guest, 0, 0, nullptr, right, nullptr), "R39: the address"));
  CHECK(refused(call.feed(guest, 0, 1, nullptr, nullptr, nullptr), "R39: the address"));
  CHECK(refused(call.feed(guest, 0, 0, field.data(), right, far), "R44: two elements"));
  std::int64_t const still[] = {0, 3, 1};
  CHECK(refused(call.fetch(guest, 0, 1, next.data(), right, still),
                "R45: all elements of the array for 'next' along 'z' are in one place"));
  CHECK(call.feed(guest, 0, 0, field.data(), right, still) == 0);
  CHECK(refused(call.feed(guest, 0, 0, field.data(), nullptr, nullptr),
                "R39: the extents of the array for 'field' are null"));
  CHECK(refused(call.part(guest, 0, 1, 1, nullptr, nullptr), "R39: a part has a first element"));
  CHECK(refused(call.create(&guest, 0, extents, checksum), "R47: this guest was created already"));
  CHECK(refused(call.create(nullptr, 0, extents, checksum), "R39: create needs the address"));
  CHECK(refused(call.destroy(nullptr), "R39: destroy needs the address"));
  CHECK(
      refused(call.get(guest, 0, 1, next.data(), right, nullptr), "R37: the output 'next' is asked for, but no step"));
  float const scale = 1;
  CHECK(call.feed(guest, 0, 0, field.data(), right, nullptr) == 0);
  CHECK(call.feed(guest, 0, 1, &scale, nullptr, nullptr) == 0);
  CHECK(call.fetch(guest, 0, 1, next.data(), right, nullptr) == 0);
  CHECK(call.step(guest, 0) == 0);
  CHECK(refused(call.get(guest, 0, 1, next.data(), right, nullptr),
                "R38: the output 'next' is asked for, but the last step wrote it"));
  CHECK(refused(call.step(guest, 1), "R02: the input 'index'"));
  CHECK(model::use(guest, [&](mt::store&) { CHECK(refused(call.step(guest, 0), "R27")); }) == 0);
  std::int64_t const before = guest;
  CHECK(call.destroy(&guest) == 0);
  CHECK(guest == 0);
  CHECK(refused(call.step(before, 0), "R35: the guest was destroyed"));
  CHECK(refused(call.destroy(&guest), "R35"));
  CHECK(made() != before);
}

TEST_CASE("names that C or Fortran does not take") {
  mt::guest_interface all = model::interface();
  CHECK(sentence_of("1st", all).starts_with("meshtensor R36: '1st' cannot be the name of a guest"));
  CHECK(sentence_of("a-b", all).starts_with("meshtensor R36"));
  CHECK(sentence_of(std::string(60, 'a'), all).find("but Fortran takes 63") != std::string::npos);
  CHECK(sentence_of("fine", all).empty());
  all.programs[0].inputs[1].word = "FIELD";  // one name in Fortran
  CHECK(sentence_of("fine", all).find("would be called fine_learn_input_part_field") != std::string::npos);
  for (char const* reserved : {"int", "xor", "Check", "find_table"})
    CHECK(sentence_of(reserved, model::interface()) == "meshtensor R36: '" + std::string(reserved) +
                                                           "' cannot be the name of a guest, because C or Fortran uses "
                                                           "it: choose another one");
}

namespace {
std::vector<std::string> arguments_for(std::vector<std::string> const& dims, std::vector<std::string> const& axes) {
  mt::guest_interface all = model::interface();
  all.dims = dims, all.axes = axes;
  return mt::extent_arguments({"solver", all}, all);
}
/// The identifiers from one text up to another, without comments of Fortran.
std::set<std::string> identifiers(std::string const& text, std::string const& begin, std::string const& end) {
  std::size_t const first = text.find(begin), last = text.find(end, first);
  REQUIRE(last != text.npos);
  std::set<std::string> found;
  for (std::size_t at = first; at < last;) {
    std::size_t count = 0;
    while (std::isalnum(static_cast<unsigned char>(text[at + count])) != 0 || text[at + count] == '_') ++count;
    if (std::isalpha(static_cast<unsigned char>(text[at])) != 0) found.insert(text.substr(at, count));
    at = text[at] == '!' ? text.find('\n', at) : at + std::max<std::size_t>(1, count);
  }
  return found;
}
}  // namespace

TEST_CASE("dims and axes whose names C or Fortran uses") {
  using names = std::vector<std::string>;
  CHECK(arguments_for({"int", "y"}, {"status"}) == names{"int_", "y", "status_"});
  CHECK(arguments_for({"N", "n", "Status"}, {"n_", "asm"}) == names{"N", "n_", "Status_", "n__", "asm_"});
  mt::guest_interface all = model::interface();
  all.dims.clear(), all.axes.clear(), all.with_communicator = true;
  // Fortran has no reserved words, and members of structures do not clash with arguments.
  std::set<std::string> const allowed{"call",    "create",    "end",    "id",         "in",
                                      "inout",   "integer",   "intent", "optional",   "out",
                                      "pointer", "procedure", "solver", "subroutine", "type"};
  auto used = identifiers(mt::fortran_module("solver", all), "subroutine solver_create", "end subroutine");
  used.merge(identifiers(mt::c_header("solver", all), "static inline int solver_create", "}"));
  CHECK(used.size() > 25);
  for (std::string const& word : used) {
    CAPTURE(word);
    if (!allowed.contains(word)) CHECK(arguments_for({word}, {}) == names{word + "_"});
  }
}
