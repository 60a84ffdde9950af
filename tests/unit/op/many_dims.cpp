// SPDX-License-Identifier: Apache-2.0
// Tensors of ten dims beside the same numbers in two dims of 32 elements, and parameters of which loops and an each add
// nine dims. Operands of more than ten dims together, of which the result has at most ten.
// passes: start-up
#include "meshtensor/meshtensor.hpp"
#include "meshtensor/pass/fuse/read_kernel.hpp"
#include "meshtensor/pass/lower.hpp"

#include "unit/op/trial.hpp"

namespace mt = meshtensor;
using mt::to, trial::numbers_of, trial::program;

namespace {

template <mt::name Name, int Extent = 2>
struct of : mt::dim<Name, Extent> {};
inline constexpr of<"a"> a;
inline constexpr of<"b"> b;
inline constexpr of<"c"> c;
inline constexpr of<"d"> d;
inline constexpr of<"e"> e;
inline constexpr of<"f"> f;
inline constexpr of<"g"> g;
inline constexpr of<"h"> h;
inline constexpr of<"i"> i;
inline constexpr of<"j"> j;
inline constexpr of<"k"> k;
inline constexpr of<"l"> l;
inline constexpr of<"groups", 3> groups;
inline constexpr of<"rows", 32> rows;
inline constexpr of<"columns", 32> columns;
inline constexpr of<"other", 32> other;
inline constexpr of<"out", 3> out;

using numbers = std::vector<double>;

/// Ten dims of two elements each, as ten dims or as two.
template <bool Merged>
struct products {
  constexpr void operator()(mt::scope auto s) const {
    if constexpr (Merged) {
      auto const x = s.input("x", mt::f64, rows, columns), y = tanh(x * 0.75);
      s.output("turned", transpose(y, to(columns, rows)));
      s.output("sum of rows", sum(y, rows));
      s.output("product", einsum(x, rename(y, columns, other), to(columns, other)));
      s.output("slope", gradient(sum(y * x), x));
      s.output("softmax", mt::softmax(x, columns));
      auto const w = s.input("w", mt::f64, columns, out);
      auto const narrow = einsum(y, w, to(out, rows));
      auto const wide = einsum(y, w, to(rows, out));
      auto const [by_x, by_w] = gradient(sum(narrow * narrow) + sum(wide * narrow), x, w);
      s.output("by x", by_x), s.output("by w", by_w), s.output("narrow", narrow);
    } else {
      auto const x = s.input("x", mt::f64, a, b, c, d, e, f, g, h, i, j), y = tanh(x * 0.75);
      s.output("turned", transpose(y, to(f, g, h, i, j, a, b, c, d, e)));
      s.output("sum of rows", sum(sum(y, a, b, c), d, e));
      auto const flat = merge(y, to(f, g, h, i, j), other);
      s.output("product", einsum(x, flat, to(f, g, h, i, j, other)));
      s.output("slope", gradient(sum(y * x), x));
      auto const greatest = max(max(x, f, g, h), i, j);
      auto const shifted = exp(x - greatest);
      s.output("softmax", shifted / sum(sum(shifted, f, g, h), i, j));
      // Eleven dims in one einsum.
      auto const w = s.input("w", mt::f64, f, g, h, i, j, out);
      auto const narrow = einsum(y, w, to(out, a, b, c, d, e));
      auto const wide = einsum(y, w, to(a, b, c, d, e, out));
      auto const [by_x, by_w] = gradient(sum(narrow * narrow) + sum(wide * narrow), x, w);
      s.output("by x", by_x), s.output("by w", by_w), s.output("narrow", narrow);
    }
  }
};

/// The gradient of a norm along the last of two or of ten dims.
template <bool Few>
struct normed {
  constexpr void operator()(mt::scope auto s) const {
    auto const hold = [&](auto x) {
      auto const y = x - max(x, j);
      s.output("along", y / sum(y * y, j));
      s.output("over", sum(x * y, a, i));
      s.output("over first", max(x * 3, a));
      s.output("over last", sum(x * 5, i));
      s.output("rows", exp(sum(x * x, j)));
    };
    if constexpr (Few) hold(s.input("x", mt::f64, a, i, j));
    else hold(s.input("x", mt::f64, a, b, c, d, e, f, g, h, i, j));
  }
};
template <class Program>
int kernels_of() {
  auto const traced = mt::on_heap([] { return mt::trace<Program>(); });
  return mt::count_kernels(mt::lower(*traced, mt::entry_name<Program>(), {}, {}, {}, {.fuses = true})->graph);
}

/// Eight loops around an each, which starts all its indices with the same numbers or does not.
template <bool Equal>
struct starts {
  template <int Left>
  static constexpr auto within(mt::scope auto s, auto x) {
    if constexpr (Left == 0) {
      auto const all = mt::each(
          s / "members", j, [](mt::scope auto m) { return m.parameter("weight", i, mt::normal(1.0)); },
          Equal ? mt::start_equal : mt::each_start::apart);
      return x + sum(all);
    } else {
      return repeat(s / "deeper", of<mt::name::of(std::string_view("abcdefgh").substr(Left - 1, 1))>{}, x,
                    [](mt::scope auto r, auto y) { return within<Left - 1>(r, y); });
    }
  }
  constexpr void operator()(mt::scope auto s) const { s.output("y", within<8>(s, s.input("x", mt::f32))); }
};

/// The sum of products along `a`.
struct products_along_a {
  static constexpr auto whole = to(a);
  static void run(std::span<double const> x, std::span<double const> y, std::span<double> sum) {
    sum[0] = x[0] * y[0] + x[1] * y[1];
  }
};
struct calls_of_eleven_dims {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, a, b, c, d, e, f, g, h, i, j);
    auto const y = s.input("y", mt::f64, a, k);
    s.output("wanted", einsum(x, y, to(b, c, d, e, f, g, h, i, j, k)));
    s.output("typed", mt::call<products_along_a>(x, y));
    s.output("any", mt::call<products_along_a>(mt::any_tensor<mt::f64>(x), mt::any_tensor<mt::f64>(y)));
  }
};
struct call_of_an_eleventh_dim {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, a, b, c, d, e, f, g, h, i, j);
    auto const y = s.input("y", mt::f64, a, k, l);
    s.output("y", mt::call<products_along_a>(mt::any_tensor<mt::f64>(x), mt::any_tensor<mt::f64>(y)));
  }
};

/// Twelve dims are summed, of which each operand has ten at most.
struct sum_over_twelve_dims {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, a, b, c, d, e, f, g, h, i, j);
    auto const y = s.input("y", mt::f64, a, b, c, d, e, k, l);
    auto const z = s.input("z", mt::f64, f, g, h, i, j, k, l);
    s.output("y", einsum(x, y, z, to()));
  }
};

/// Rows of eight dims by the matrix of their group, twelve dims together: at once, in a map over rows, or by a gather.
enum class way { whole, mapped, gathered };
template <way Way>
struct groups_of_twelve_dims {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, a, b, c, d, e, f, g, h);
    auto const w = s.input("w", mt::f64, groups, h, i, j, k);
    auto const index = iota(s, a, mt::i32) + 1;
    auto const y = [&] {
      if constexpr (Way == way::whole) return grouped_einsum(x, w, index, groups, to(a, i, j, k));
      else if constexpr (Way == way::mapped)
        return mt::map(s, a, std::tuple(x, index), [&](mt::scope auto, auto row, auto group) {
          return grouped_einsum(row, w, group, groups, to(i, j, k));
        });
      else return einsum(sum(sum(x, b, c, d), e, f, g), gather(w, index, groups), to(a, i, j, k));
    }();
    auto const [by_x, by_w] = gradient(sum(y * y * y), x, w);
    s.output("y", y), s.output("by x", by_x), s.output("by w", by_w);
  }
};
template <way Way>
mt::blocks results_of_groups() {
  program p = program::of<groups_of_twelve_dims<Way>>();
  p.fill_at_random(-1, 1);
  return p.run();
}

void check_equal(numbers const& got, numbers const& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (std::size_t at = 0; at < got.size(); ++at) REQUIRE(got[at] == doctest::Approx(wanted[at]).epsilon(1e-12));
}

}  // namespace

TEST_CASE("a call keeps ten of the dims of its operands") {
  program p = program::of<calls_of_eleven_dims>();
  p.fill_at_random(-1, 1);
  mt::blocks const got = p.run();
  check_equal(numbers_of(got.at("typed")), numbers_of(got.at("wanted")));
  check_equal(numbers_of(got.at("any")), numbers_of(got.at("wanted")));
  CHECK_THROWS_WITH_AS(program::of<call_of_an_eleventh_dim>(), doctest::Contains("T07: a tensor has more than 10 dims"),
                       mt::error);
}

TEST_CASE("a shape with too many dims stays so") {
  constexpr mt::shape many = [] {
    mt::shape all{};
    for (int n = 0; n < 11; ++n) all.add(n);
    return all;
  }();
  CHECK(!many.fits());
  for (mt::shape const& another : {many, mt::shape{}.add(0).add(1), mt::shape{}.add(20)}) {
    CHECK(!without(many, another).fits());
    CHECK(!united(many, another).fits());
    CHECK(!united(another, many).fits());
    CHECK(!united(another, without(many, another)).fits());
  }
  CHECK(!expanded(many, 0, {}).fits());
  CHECK(!led_by(0, many).fits());
  CHECK(!led_by(0, without(many, mt::shape{}.add(1))).fits());
}

TEST_CASE("a grouped einsum has operands of twelve dims together") {
  mt::blocks const wanted = results_of_groups<way::gathered>();
  for (mt::blocks const& got : {results_of_groups<way::whole>(), results_of_groups<way::mapped>()})
    for (auto const& [label, block] : wanted) {
      CAPTURE(label);
      check_equal(numbers_of(got.at(label)), numbers_of(block));
    }
}

TEST_CASE("more dims are summed than a tensor has, and all are printed") {
  program p = program::of<sum_over_twelve_dims>();
  std::string const text = mt::text_of(p.graph());
  INFO(text);
  CHECK(text.find(" over a, b, c, d, e, f, g, h, i, j, k, l  # ") != std::string::npos);
}

TEST_CASE("ten dims hold the numbers of two") {
  program many = program::of<products<false>>(), two = program::of<products<true>>();
  many.fill_at_random(-1, 1), two.fill_at_random(-1, 1);
  mt::blocks const got = many.run(), wanted = two.run();
  for (auto const& [label, block] : wanted) {
    CAPTURE(label);
    numbers const mine = numbers_of(got.at(label)), others = numbers_of(block);
    REQUIRE(mine.size() == others.size());
    for (std::size_t at = 0; at < mine.size(); ++at) REQUIRE(mine[at] == doctest::Approx(others[at]).epsilon(1e-12));
  }
}

TEST_CASE("operations on ten dims share as many kernels as on three") {
  int const few = kernels_of<normed<true>>();
  CHECK(few > 0);
  CHECK(kernels_of<normed<false>>() == few);
}

TEST_CASE("the indices of an each start equal, or apart, inside of eight loops") {
  program apart = program::of<starts<false>>(), equal = program::of<starts<true>>();
  for (program* p : {&apart, &equal}) {
    p->fill("x", {0});
    p->run();
    auto const& [path, kept] = *p->variables.begin();
    CAPTURE(path);
    numbers const all = numbers_of(kept);  // [a, …, h, j, i]
    REQUIRE(all.size() == 1024);
    int same = 0;
    for (std::size_t at = 0; at < 1024; at += 4) same += all[at] == all[at + 2] && all[at + 1] == all[at + 3];
    CHECK(same == (p == &equal ? 256 : 0));
    CHECK(all[0] != all[4]);
  }
}
