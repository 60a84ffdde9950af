// SPDX-License-Identifier: Apache-2.0
// Each rank's block of an output is written straight into an array of the caller, whatever its order of dims, its halos
// and its dtype: it holds what the results say, and no other element changes.
// passes: start-up
// ranks: 1 2 3 4 6
// sanitize: yes
#include <doctest/doctest.h>

#include <numeric>

#include "meshtensor/meshtensor.hpp"
#include "ranks.hpp"

namespace mt = meshtensor;

namespace {

inline constexpr struct layers_dim : mt::dim<"layers", 3> {} layers;
inline constexpr struct rows_dim : mt::dim<"rows", 7> {} rows;
inline constexpr struct columns_dim : mt::dim<"columns", 5> {} columns;
inline constexpr struct data_axis : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct by_rows : mt::layout<mt::shard<rows, data>> {};  // 7 rows: uneven on 2, 3, 4 and 6 ranks
struct replicated : mt::layout<> {};

struct answer {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f64, layers, rows, columns);
    s.output("same", x + 1);
    s.output("sum", sum(x, rows));  // whole on every rank
    s.output("mean", mean(x));
    s.output("f32", cast(x, mt::f32)), s.output("bf16", cast(x, mt::bf16)), s.output("i32", cast(x, mt::i32));
    s.output("i64", cast(x, mt::i64)), s.output("u8", cast(x, mt::u8)), s.output("bool", x > 9);
  }
};

/// The first of this rank's rows, and their number: the first ranks have one more.
std::int64_t begin(std::int64_t rank) {
  return 7 / ranks::count() * rank + std::min<std::int64_t>(rank, 7 % ranks::count());
}
std::int64_t first() { return begin(ranks::rank()); }
std::int64_t count() { return begin(ranks::rank() + 1) - first(); }
double element(std::int64_t l, std::int64_t r, std::int64_t c) { return static_cast<double>(l * 35 + r * 5 + c) / 2; }

std::vector<double> part(std::int64_t from, std::int64_t n) {
  std::vector<double> all;
  for (std::int64_t l = 0; l < 3; ++l)
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t c = 0; c < 5; ++c) all.push_back(element(l, from + r, c));
  return all;
}

/// Memory with a border of -1 around `n` rows, its dims in the order columns, rows, layers with the first varying
/// fastest, as in Fortran.
template <class T>
struct bordered {
  std::int64_t n;
  std::vector<T> memory = std::vector<T>(static_cast<std::size_t>(7 * (n + 2) * 5), static_cast<T>(-1));
  T* at(std::int64_t l, std::int64_t r, std::int64_t c) {
    return memory.data() + ((l + 1) * (n + 2) + r + 1) * 7 + c + 1;
  }
  mt::array_view<T> inside() {
    return mt::in_memory(at(0, 0, 0), mt::apart(columns(5), 1), mt::apart(rows(n), 7),
                         mt::apart(layers(3), 7 * (n + 2)));
  }
  /// The number of elements that were written.
  std::int64_t changed() const {
    return std::ranges::count_if(memory, [](T const& e) { return e != static_cast<T>(-1); });
  }
};

template <class Layout>
struct run {
  mt::job job{0, nullptr};
  mt::store weights{job};
  mt::executable<answer, mesh, Layout, mt::reference_device> step{weights};
};

template <mt::name Label, class T, class Step, class Of>
void check_dtype(Step& step, std::vector<double> const& x, Of of) {
  auto const n = count();
  std::vector<T> to(static_cast<std::size_t>(15 * n));
  auto const result = step(mt::feed_local<"x">(x), mt::fetch_local<Label>(std::span<T>(to)));
  for (std::int64_t l = 0, i = 0; l < 3; ++l)
    for (std::int64_t r = 0; r < n; ++r)
      for (std::int64_t c = 0; c < 5; ++c, ++i)
        REQUIRE(to[static_cast<std::size_t>(i)] == of(element(l, first() + r, c)));
  CHECK(result.template get<Label>().gather().size() == 105);
}

template <class Call>
std::string sentence(Call call) {
  try {
    call();
  } catch (mt::error const& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("a block goes into an array with a border, in another order of dims") {
  run<by_rows> r;
  auto const x = part(first(), count());
  for (int t = 0; t < 2; ++t) {
    bordered<double> to{count()};
    std::vector<double> sums(15, -1);
    auto const result =
        r.step(mt::feed_local<"x">(x), mt::fetch_local<"same">(to.inside()), mt::fetch_local<"sum">(sums));
    for (std::int64_t l = 0; l < 3; ++l)
      for (std::int64_t k = 0; k < count(); ++k)
        for (std::int64_t c = 0; c < 5; ++c) REQUIRE(*to.at(l, k, c) == element(l, first() + k, c) + 1);
    CHECK(to.changed() == 15 * count());
    CHECK(sums[14] == 7 * (70 + 15 + 4) / 2.0);  // seven times the middle row
    // Results read the same memory.
    auto const local = result.get<"same">().local();
    CHECK(local.first(rows) == first());
    CHECK(local.extent(rows) == count());
    if (count() != 0) CHECK(local(layers(2), rows(0), columns(4)) == element(2, first(), 4) + 1);
    if (count() != 0) CHECK(result.get<"same">().view()(layers(1), rows(0), columns(3)) == *to.at(1, 0, 3));
    auto const whole = result.get<"same">().gather();
    for (std::int64_t k = 0; k < 7; ++k) REQUIRE(whole(layers(1), rows(k), columns(2)) == element(1, k, 2) + 1);
    CHECK(result.get<"mean">() == doctest::Approx(26));
  }
  // The next step writes into memory of its own again.
  bordered<double> before{count()};
  r.step(mt::feed_local<"x">(x), mt::fetch_local<"same">(before.inside()));
  std::ranges::fill(before.memory, -1);
  auto const result = r.step(mt::feed_local<"x">(x));
  CHECK(before.changed() == 0);
  CHECK(result.get<"same">().gather()(layers(2), rows(6), columns(4)) == 53);
}

TEST_CASE("an array may be fed and fetched in one step") {
  run<by_rows> r;
  auto x = part(first(), count());
  double const before = x.empty() ? 0 : x.back();
  for (int t = 1; t <= 3; ++t) {
    auto const result = r.step(mt::feed_local<"x">(x), mt::fetch_local<"same">(x));
    if (!x.empty()) CHECK(x.back() == before + t);
    CHECK(result.get<"mean">() == doctest::Approx(26 + t - 1));  // was computed from what was fed
    CHECK(result.get<"same">().gather()(layers(2), rows(6), columns(4)) == 52 + t);
  }
}

TEST_CASE("every dtype") {
  run<by_rows> r;
  auto const x = part(first(), count());
  check_dtype<"f32", float>(r.step, x, [](double e) { return static_cast<float>(e); });
  check_dtype<"bf16", mt::bf16_t>(r.step, x, [](double e) { return mt::bf16_t(static_cast<float>(e)); });
  check_dtype<"i32", std::int32_t>(r.step, x, [](double e) { return static_cast<std::int32_t>(e); });
  check_dtype<"i64", std::int64_t>(r.step, x, [](double e) { return static_cast<std::int64_t>(e); });
  check_dtype<"u8", std::uint8_t>(r.step, x, [](double e) { return static_cast<std::uint8_t>(e); });
  auto const n = static_cast<std::size_t>(15 * count());
  auto const is = std::make_unique<bool[]>(n + 1);
  r.step(mt::feed_local<"x">(x), mt::fetch_local<"bool">(std::span<bool>(is.get(), n)));
  for (std::size_t i = 0; i < n; ++i) REQUIRE(is[i] == (x[i] > 9));
}

TEST_CASE("replicated outputs, and numbers") {
  run<replicated> r;
  auto const x = part(0, 7);
  bordered<double> to{7};
  double mean = -1;
  r.step(mt::feed_local<"x">(x), mt::fetch_local<"same">(to.inside()), mt::fetch_local<"mean">(&mean));
  CHECK(to.changed() == 105);
  CHECK(*to.at(2, 6, 4) == 53);
  CHECK(mean == doctest::Approx(26));
}

TEST_CASE("another part is refused on the rank that named it, and nothing is lost") {
  run<by_rows> r;
  auto const x = part(first(), count());
  auto const result = r.step(mt::feed_local<"x">(x));
  std::vector<double> more(x.size() + 1), whole(105);
  bordered<double> to{count() + 1};
  auto const n = std::to_string(count());
  if (ranks::rank() == ranks::count() - 1) {
    CHECK(sentence([&] { r.step(mt::fetch_local<"same">(more)); }) ==
          "meshtensor R11: this rank's part of the output 'same' has " + std::to_string(x.size()) +
              " elements, but there is memory for " + std::to_string(x.size() + 1));
    CHECK(sentence([&] { r.step(mt::fetch_local<"mean">(whole.data()), mt::fetch_local<"same">(to.inside())); }) ==
          "meshtensor R11: this rank's part of the output 'same' is [layers=3, rows=" + n +
              ", columns=5], but it is fetched into a view [columns=5, rows=" + std::to_string(count() + 1) +
              ", layers=3]");
  }
  CHECK(result.get<"mean">() == doctest::Approx(26));  // of the last step that ran
  CHECK(result.get<"same">().gather()(layers(0), rows(6), columns(4)) == 18);
  CHECK(r.step(mt::feed_local<"x">(x)).get<"mean">() ==
        doctest::Approx(26));  // the fetch of the refused step is forgotten
  CHECK(std::ranges::count(whole, 0.0) == 105);
}
