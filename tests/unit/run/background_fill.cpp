// SPDX-License-Identifier: Apache-2.0
// New values of a store are filled by several threads while a program is compiled: the bits of one thread's loops, and
// what a failure of either leaves behind.
// passes: start-up
#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "meshtensor/device/cpu/fill_part.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/late_machine.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;
using meshtensor_test::late_device;
using meshtensor_test::late_here;
using meshtensor_test::sentence;

namespace {

struct part {
  std::vector<std::int64_t> extent, origin, total;
};
/// A dense block of zeros with room behind it, which nothing may write to.
struct block {
  std::vector<std::byte> memory;
  mt::view where{};

  block(mt::dtype type, part const& p) {
    where.type = type, where.count = static_cast<int>(p.extent.size());
    for (std::size_t i = 0; i < p.extent.size(); ++i)
      where.extent[i] = p.extent[i], where.origin[i] = p.origin[i], where.total[i] = p.total[i];
    where.densify();
    memory.resize(static_cast<std::size_t>(where.bytes()) + 64);
    where.data = memory.data();
  }
};
part whole(std::vector<std::int64_t> const& extent) {
  return {extent, std::vector<std::int64_t>(extent.size()), extent};
}

std::vector<part> const parts = {
    whole({}),
    whole({1}),
    whole({0, 5}),
    whole({2'003}),
    whole({2, 1'001}),
    whole({1'001, 2}),
    whole({7, 311, 1}),
    whole({3, 5, 7, 11}),
    {{701}, {33}, {1'402}},
    {{40, 17}, {120, 17}, {160, 34}},
    {{3, 40, 9}, {0, 40, 0}, {3, 80, 9}},
};
std::vector<mt::initial_value> const beginnings = {
    {mt::initializer_kind::constant, 1, {1, 2, 0}},
    {mt::initializer_kind::normal, 0.02, {1, 3, 0}},
    {mt::initializer_kind::uniform, 1.5, {7, 1ull << 60, 0}},
};
constexpr mt::dtype types[] = {mt::dtype::f64, mt::dtype::f32, mt::dtype::bf16, mt::dtype::i32, mt::dtype::boolean};

void same_as_loops(mt::background_fill::function fill, int threads, std::int64_t grain) {
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job);
  std::vector<block> ours, wanted;
  mt::background_fill later(values, fill, grain);
  for (mt::dtype const type : types)
    for (part const& p : parts)
      for (mt::initial_value const& first : beginnings) {
        if (first.is_random() && !mt::is_float(type)) continue;
        for (int processor = 0; processor < 2; ++processor) later.add(ours.emplace_back(type, p).where, first);
        wanted.emplace_back(type, p);
        if (wanted.back().where.size() > 0) mt::fill(wanted.back().where, first);
      }
  later.begin(threads);
  later.finish();
  for (std::size_t i = 0; i < ours.size(); ++i) {
    CAPTURE(i);
    CHECK(ours[i].memory == wanted[i / 2].memory);
  }
}

struct by_model : mt::layout<mt::shard<programs::inner, programs::ax>> {};
struct mesh : mt::mesh<programs::ax> {};
using classifier = mt::precision<programs::classifier, mt::f32>;
template <class Device>
using step_on = mt::executable<classifier, mesh, by_model, Device>;

/// A device whose fill fails at one of its calls.
struct failing_fill : late_device {
  static inline std::atomic<int> left = 0;
  static void fill(mt::view const& where, mt::initial_value const& first) {
    if (--left < 0) throw std::bad_alloc();
    mt::fill(where, first);
  }
};
/// A device that does not compile.
struct refused_program : late_device {
  struct recorded_program : late_device::recorded_program {
    template <class... Given>
    explicit recorded_program(Given&&... given) : late_device::recorded_program(std::forward<Given>(given)...) {
      throw mt::error("R84", {"not here"});
    }
  };
};

std::vector<float> loaded(mt::store& values) {
  std::vector<float> all;
  for (std::string const& label : values.names()) {
    auto const each = values.get<float>(label);
    all.insert(all.end(), each.data(), each.data() + each.size());
  }
  return all;
}
template <class Device>
std::vector<float> begun() {
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job, 5);
  step_on<Device> const step(values, programs::ax(2));
  return loaded(values);
}

}  // namespace

TEST_CASE("boxes cover a block once, each in one run of memory") {
  for (part const& p : parts)
    for (std::int64_t const grain : {1, 2, 7, 100, 1'000, 1'000'000}) {
      block counted(mt::dtype::u8, p);
      if (counted.where.size() == 0) continue;
      mt::detail::boxes_of_block const boxes(counted.where, grain);
      std::int64_t last_size = 0;
      for (std::int64_t i = 0; i < boxes.count; ++i) {
        mt::view const box = boxes.box(i);
        last_size = box.size();
        if (last_size > grain) FAIL("box " << i);
        for (std::int64_t k = 0; k < last_size; ++k) ++box.as<std::uint8_t>()[k];
      }
      CHECK(last_size > 0);
      for (std::int64_t k = 0; k < counted.where.size(); ++k)
        if (counted.where.as<std::uint8_t>()[k] != 1) FAIL_CHECK("element " << k);
    }
}

TEST_CASE("every kind of number, dtype and part: the bits of one thread's loops") {
  auto* const loops = +[](mt::view const& v, mt::initial_value const& first) { mt::fill(v, first); };
  auto* const registers = +[](mt::view const& v, mt::initial_value const& first) { mt::cpu::fill_part(v, first); };
  for (int const threads : {0, 1, 3})
    for (std::int64_t const grain : {100, 601, 65'536}) {
      same_as_loops(loops, threads, grain);
      same_as_loops(registers, threads, grain);
    }
}

TEST_CASE("a program's values: those of a host's device") {
  late_here here;
  auto const wanted = begun<mt::reference_device>();
  CHECK(wanted.size() > 1000);
  CHECK(begun<late_device>() == wanted);
  failing_fill::left = 1'000;
  CHECK(begun<failing_fill>() == wanted);
}

TEST_CASE("memory that is short while values are filled: one sentence, and the store is as before") {
  late_here here;
  failing_fill::left = 1'000;
  begun<failing_fill>();
  int const calls = 1'000 - failing_fill::left;
  CHECK(calls > 3);
  for (int failed = 0; failed < calls; ++failed) {
    mt::job const job = mt::job::in_lockstep();
    mt::store values(job, 5);
    failing_fill::left = failed;
    auto const said = sentence([&] { step_on<failing_fill> const step(values, programs::ax(2)); });
    CAPTURE(said);
    CHECK(said.starts_with("meshtensor M10: "));
    for (auto const& [label, value] : values.values()) CHECK(value.start.kind == mt::initializer_kind::constant);
    step_on<late_device> const step(values, programs::ax(2));
    CHECK(loaded(values) == begun<mt::reference_device>());
  }
}

TEST_CASE("a program that does not compile while values are filled") {
  late_here here;
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job, 5);
  auto const said = sentence([&] { step_on<refused_program> const step(values, programs::ax(2)); });
  CHECK(said == "meshtensor R84: not here");
  step_on<late_device> const step(values, programs::ax(2));
  CHECK(loaded(values) == begun<mt::reference_device>());
}

namespace {

inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;
inline constexpr struct twin_dim : mt::dim<"twin", 2> {} twin;
inline constexpr struct width_dim : mt::dim<"width", 4> {} width;

/// Members that start equal, with layers in a loop: the members' dim is stored between the dims of one array.
struct twins {
  constexpr void operator()(mt::scope auto s) const {
    auto const all = mt::each(
        s / "twins", twin,
        [](mt::scope auto m) {
          return mt::repeat(m / "layers", layers, mt::full(m, 0, mt::f32),
                            [](mt::scope auto l, auto x) { return x + sum(l.parameter("w", width, mt::normal(1))); });
        },
        mt::start_equal);
    s.output("y", all);
  }
};
template <class Device>
std::vector<float> start_of_twins() {
  mt::job const job = mt::job::in_lockstep();
  mt::store values(job, 5);
  mt::executable<twins, mesh, mt::layout<>, Device> const step(values, programs::ax(1));
  auto const w = values.get<float>("twins/layers/w");
  return {w.data(), w.data() + w.size()};
}

}  // namespace

TEST_CASE("members that start equal do so inside a loop, too") {
  late_here here;
  auto const wanted = start_of_twins<mt::reference_device>();
  REQUIRE(wanted.size() == 24);
  for (std::size_t layer = 0; layer < 3; ++layer)
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(wanted[8 * layer + i] == wanted[8 * layer + 4 + i]);
      CHECK(wanted[8 * layer + i] != wanted[(8 * layer + 8) % 24 + i]);
    }
  CHECK(start_of_twins<late_device>() == wanted);
}
