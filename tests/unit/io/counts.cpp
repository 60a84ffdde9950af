// SPDX-License-Identifier: Apache-2.0
// What a checkpoint has of counts: programs that shared a store go on as those with stores of their own, on another
// mesh too; an optimizer that is not loaded begins anew; a checkpoint of before gives its one step to all.
//
// passes: start-up
// needs: io
#include "meshtensor/io/checkpoint.hpp"

#include <doctest/doctest.h>

#include <optional>

#include "property/one_store.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::own_folder;

namespace {

mt::job const& turns() {
  static mt::job const job = mt::job::in_lockstep();
  return job;
}

/// A program on a store, lowered for a mesh.
template <class Program>
struct running {
  explicit running(mt::store& values, mt::mesh_shape const& mesh = {}, mt::layout_rules const& rules = {})
      : low(mt::lower(*mt::on_heap([] { return mt::trace<Program>(); }), mt::entry_name<Program>(), mesh, rules, {})),
        session(values, low->graph, low->planned, mesh, low->entry, {}, [] {}, mt::counted_name<Program>()) {}
  std::unique_ptr<mt::lowering> low;
  mt::session<mt::reference_device> session;
};

using first = mt::precision<one_store::learner<2>, mt::f64>;
using second = mt::precision<one_store::learner<4>, mt::f64>;

struct pair {
  explicit pair(std::size_t spread, std::uint64_t seed = 5) : values(turns(), seed), a(of(spread)), b(of(spread)) {
    std::vector<double> x;
    for (int i = 0; i < 24 * 12; ++i) x.push_back(0.01 * (i % 97) - 0.4);
    a.session.feed("x", x.data()), b.session.feed("x", x.data());
  }
  /// Three steps of the one, one of the other, one of the first.
  void go(bool with_first, bool with_second) {
    for (int const which : {0, 0, 0, 1, 0})
      if (which == 0 ? with_first : with_second) (which == 0 ? a.session : b.session).step();
  }
  mt::store values;
  running<first> a;
  running<second> b;

 private:
  struct spread_of {
    pair& p;
    std::size_t number;
    template <class Program>
    operator running<Program>() const {  // NOLINT: one for each member
      auto const [mesh, rules] = one_store::all_spreads()[number];
      return running<Program>(p.values, mesh, rules);
    }
  };
  spread_of of(std::size_t number) { return {*this, number}; }
};

}  // namespace

TEST_CASE("programs of one store go on by themselves, on any mesh") {
  own_folder const run;
  pair together(1), of_first(1), of_second(1);
  together.go(true, true), of_first.go(true, false), of_second.go(false, true);
  mt::save(together.values, run.path());
  of_first.go(true, false), of_second.go(false, true);
  for (std::size_t const spread : {1, 0, 3, 4}) {
    pair later(spread, 1);
    later.go(true, true);  // which is forgotten
    mt::load(later.values, run.path());
    CHECK(later.values.counts().steps == together.values.counts().steps);
    CHECK(later.values.counts().updates == together.values.counts().updates);
    later.go(true, true);
    for (std::string const& label : later.values.names()) {
      pair& own = label.find("third") != label.npos ? of_first : of_second;
      auto const x = later.values.get<double>(label), y = own.values.get<double>(label);
      double apart = 0;
      for (std::int64_t i = 0; i < x.size(); ++i) apart = std::max(apart, std::abs(x.data()[i] - y.data()[i]));
      INFO(label << " on mesh " << spread);
      CHECK(apart <= (spread == 1 ? 0 : 1e-9));
    }
  }
}

TEST_CASE("an optimizer that is not loaded begins anew, programs go on") {
  own_folder const run;
  pair trained(0);
  trained.go(true, true);
  mt::save(trained.values, run.path());
  for (bool const before : {false, true}) {
    mt::store values(turns());
    auto const load = [&] {
      mt::load(values, run.path(), {.only = [](std::string const& name) { return name.starts_with("third"); }});
    };
    if (before) load();
    running<first> step(values);
    if (!before) load();
    auto const& updates = values.counts().updates;
    CHECK(updates.at("optimizer/third/up/weight") == 0);
    CHECK(updates.at("third/average/up/weight") == 4);
    CHECK(values.steps_of(mt::counted_name<first>()) == 4);
    CHECK(values.steps_of(mt::counted_name<second>()) == 1);
    CHECK(values.step() == 5);
  }
}

TEST_CASE("of some values the counts are saved with them") {
  own_folder const run;
  pair trained(0);
  trained.go(true, true);
  mt::save(trained.values, run.path(), {},
           {.only = [](std::string const& name) { return name.find("fifth") == name.npos; }});
  pair later(0);
  mt::load(later.values, run.path(), {.begin_missing = true});
  CHECK(later.values.counts().updates.at("optimizer/third/up/weight") == 4);
  CHECK(later.values.counts().updates.at("optimizer/fifth/up/weight") == 0);
}

TEST_CASE("counts stay with the values that they count") {
  own_folder const run;
  auto const is_of_network = [](std::string const& name) { return !name.starts_with("optimizer/"); };
  {
    pair trained(0);
    trained.go(true, true);
    mt::save(trained.values, run / "full");
    trained.go(true, true);
    mt::save(trained.values, run / "best", {}, {.only = is_of_network});
  }
  char const* const path = "optimizer/third/up/weight";
  auto const moments = [&](mt::store& values) { return values.get<double>(std::string(path) + "/m"); };
  for (bool const before : {false, true}) {
    mt::store values(turns()), full(turns());
    std::optional<running<first>> step;
    running<first> const other(full);
    if (!before) step.emplace(values);
    mt::load(full, run / "full");
    mt::load(values, run / "full");
    mt::load(values, run / "best", {.begin_missing = true});
    if (before) step.emplace(values);
    CHECK(moments(values) == moments(full));
    CHECK(values.updates_of(path) == 4);
    CHECK(values.updates_of("third/average/up/weight") == 8);
  }
  // A training keeps the moments that the file lacks, and their counts, even if an earlier load has other ones.
  mt::store values(turns());
  mt::load(values, run / "full");
  running<first> step(values);
  std::vector<double> const x(24 * 12, 0.5);
  step.session.feed("x", x.data());
  step.session.step();
  auto const kept = moments(values);
  mt::load(values, run / "best", {.begin_missing = true});
  CHECK(values.source()->before != nullptr);  // moments of the second program wait there
  CHECK(moments(values) == kept);
  CHECK(values.updates_of(path) == 5);
  mt::save(values, run / "moments", {}, {.only = [](std::string const& name) { return name.ends_with("/m"); }});
  mt::load(values, run / "moments", {.begin_missing = true});
  CHECK(values.updates_of(path) == 0);  // the file has moments without a count
}

// ---- version 1, as it was written before there were counts ----

namespace {

constexpr struct rows_dim : mt::dim<"rows", 4> {} rows;
constexpr mt::layer network = [](mt::scope auto s) { return s.parameter("w", rows, mt::ones); };
struct learn {
  constexpr void operator()(mt::scope auto s) const {
    auto x = s.input("x", mt::f32, rows);
    auto w = network(s / "network");
    auto loss = mean((w - x) * (w - x));
    mt::adam{.learning_rate = mt::nn::warmup_linear(s, 0.1, 2, 20)}.minimize(s / "optimizer", loss);
    mt::moving_average{.decay = 0.75}.follow(s / "average", s / "network");
    s.output("step", w * 0 + s.step());
  }
};
struct another : learn {};

constexpr char const* index_of_before = R"({
"format": "meshtensor checkpoint",
"version": 1,
"step": 3,
"seed": 11,
"notes": {},
"files": [
{"bytes": 536, "header": "30419c1edc96f201"}],
"values": {
"average/w": {"dtype": "F32", "dims": [{"name": "rows", "extent": 4, "over": "", "parts": [4]}], "files": [0]},
"network/w": {"dtype": "F32", "dims": [{"name": "rows", "extent": 4, "over": "", "parts": [4]}], "files": [0]},
"optimizer/network/w/m": {"dtype": "F32", "dims": )"
                                        R"([{"name": "rows", "extent": 4, "over": "", "parts": [4]}], "files": [0]},
"optimizer/network/w/v": {"dtype": "F32", "dims": )"
                                        R"([{"name": "rows", "extent": 4, "over": "", "parts": [4]}], "files": [0]}},
"checksum": "5b0cf55669929c0e"
}
)";
std::string values_of_before() {
  std::string const head =
      R"({"__metadata__":{"xxh3:average/w":"ba75d73079e5f131","xxh3:network/w":"dd3a439e4211f3f5","xxh3:optimizer/)"
      R"(network/w/m":"9ea5789da6b66da4","xxh3:optimizer/network/w/v":"6b94763f525ff2bc"},"average/w":{"dtype":"F32",)"
      R"("shape":[4],"data_offsets":[0,16]},"network/w":{"dtype":"F32","shape":[4],"data_offsets":[16,32]},"optimizer/)"
      R"(network/w/m":{"dtype":"F32","shape":[4],"data_offsets":[32,48]},"optimizer/network/w/v":{"dtype":"F32",)"
      R"("shape":[4],"data_offsets":[48,64]}}   )";
  constexpr std::uint32_t words[] = {0x3f61c993, 0x3f61a102, 0x3f8f2a69, 0x3f61ab2c, 0x3f40aba4, 0x3f4019ff,
                                     0x3f9fe0f0, 0x3f403e1f, 0x3d6da704, 0x3e85c30b, 0xbe00c6cb, 0x3e00c6ca,
                                     0x39169fd9, 0x3b37b8ba, 0x3a2bdc44, 0x3a2bdc43};
  std::string all = {static_cast<char>(0xd0), 1, 0, 0, 0, 0, 0, 0};
  all += head;
  for (std::uint32_t const w : words)
    for (int i = 0; i < 32; i += 8) all += static_cast<char>(w >> i & 0xff);
  return all;
}

}  // namespace

TEST_CASE("a checkpoint of before gives its one step to all, and goes on with the same bits") {
  own_folder const run;
  std::filesystem::create_directories(run / "0001-step-3");
  meshtensor_test::set_content(run / "0001-step-3/index.json", index_of_before);
  meshtensor_test::set_content(run / "0001-step-3/rank-0000-of-0001.safetensors", values_of_before());
  for (bool const before : {false, true}) {
    mt::store values(turns());
    if (before) mt::load(values, run.path());
    running<learn> step(values);
    if (!before) mt::load(values, run.path());
    CHECK(values.counts().updates == mt::counts_by_name{{"average/w", 3}, {"optimizer/network/w", 3}});
    CHECK(values.steps_of(mt::counted_name<another>()) == 3);
    float const x[] = {0.5f, -1, 2, 0};
    step.session.feed("x", x);
    step.session.step();
    CHECK(*step.session.local("step").as<float>() == 3);
    step.session.step();
    // What the program of before came to.
    auto const is = [&](char const* label, std::vector<float> const& wanted) {
      auto const all = values.get<float>(label);
      CHECK(std::vector<float>(all.begin(), all.end()) == wanted);
    };
    is("average/w", {0x1.887edp-1, 0x1.85ae24p-1, 0x1.3cd824p+0, 0x1.864fb6p-1});
    is("network/w", {0x1.2b28b8p-1, 0x1.233ed4p-1, 0x1.6d8284p+0, 0x1.24faf8p-1});
    is("optimizer/network/w/m", {0x1.108b18p-4, 0x1.7e2c04p-2, -0x1.593a1ep-3, 0x1.593a1cp-3});
    is("optimizer/network/w/v", {0x1.5c15a2p-13, 0x1.1677acp-8, 0x1.d9a96p-11, 0x1.d9a95ep-11});
  }
  mt::store values(turns());
  mt::load(values, run.path(), {.only = [](std::string const& name) { return !name.starts_with("optimizer"); }});
  running<learn> step(values);
  CHECK(values.counts().updates == mt::counts_by_name{{"average/w", 3}, {"optimizer/network/w", 0}});
}
