// SPDX-License-Identifier: Apache-2.0
// One file for all: what a store exports, Python's safetensors package reads, and the other way round.
// passes: start-up
// needs: io
#include <doctest/doctest.h>

#include <cstdlib>
#include <numeric>

#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/file.hpp"
#include "meshtensor/io/safetensors.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/python.hpp"
#include "support/source_path.hpp"

namespace mt = meshtensor;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;

namespace {

inline constexpr struct rows : mt::dim<"rows", 4> {} rows;
inline constexpr struct columns : mt::dim<"columns", 6> {} columns;
inline constexpr struct model : mt::axis<"model"> {} model;
struct mesh : mt::mesh<model> {};
struct by_rows : mt::layout<mt::shard<rows, model>> {};
struct by_columns : mt::layout<mt::shard<columns, model>> {};

inline constexpr mt::layer values = [](mt::scope auto s) {
  s.output("sum", sum(s.parameter("f32", rows, columns)) + s.parameter("one"));
  auto const keep = [&](auto x) { s.update(x, x); };
  keep(s.state("f64", mt::f64, rows, columns));
  keep(s.state("bf16", mt::bf16, rows, columns));
  keep(s.state("i32", mt::i32, rows, columns));
  keep(s.state("i64", mt::i64, rows, columns));
  keep(s.state("u8", mt::u8, rows, columns));
  keep(s.state("bool", mt::boolean, rows, columns));
};
struct program {
  constexpr void operator()(mt::scope auto s) const { values(s / "values"); }
};

template <class T>
std::vector<T> numbers(double add, double times = 1) {
  std::vector<T> all;
  for (int i = 0; i < 24; ++i) all.push_back(static_cast<T>(static_cast<float>(i * times + add)));
  return all;
}
mt::any_array<bool> every_third(bool is) {
  mt::any_array<bool> a({rows(4), columns(6)});
  for (int i = 0; bool& e : a) e = (i++ % 3 == 0) == is;
  return a;
}
struct held {
  explicit held(int processors) : step(weights, model(processors)) {}
  void set_all() {
    weights.set("values/f32", numbers<float>(0, 0.5));
    weights.set("values/one", std::vector<float>{2.5f});
    weights.set("values/f64", numbers<double>(0));
    weights.set("values/bf16", numbers<mt::bf16_t>(0));
    weights.set("values/i32", numbers<std::int32_t>(0));
    weights.set("values/i64", numbers<std::int64_t>(0));
    weights.set("values/u8", numbers<std::uint8_t>(0));
    weights.set("values/bool", every_third(true));
  }
  template <class T>
  bool is(std::string const& name, std::vector<T> const& wanted) {
    auto const found = weights.get<T>("values/" + name);
    return std::equal(wanted.begin(), wanted.end(), found.begin(), found.end());
  }

  mt::job job = mt::job::in_lockstep();
  mt::store weights{job};
  mt::executable<program, mesh, by_rows, mt::reference_device> step;
};

mt::tensor_names const transposed{{"values/f32", "lm_head.weight", {"columns", "rows"}}};
bool f32_only(std::string const& name) { return name == "values/f32"; }

}  // namespace

TEST_CASE("what is exported is imported, on another mesh") {
  own_folder const folder;
  held one(4), other(2);
  one.set_all();
  mt::export_safetensors(one.weights, folder / "m", {.names = transposed});
  auto const found = mt::import_safetensors(other.weights, folder / "m", {.names = transposed});
  found.require_all();
  for (auto const& name : one.weights.names()) {
    std::string a(200, ' '), b(200, ' ');
    one.weights.copy_out(name, a.data()), other.weights.copy_out(name, b.data());
    CHECK(a == b);
  }
  // Its dims stand in the file, so the order need not be said; a program that comes later has them its own way.
  mt::store later(one.job);
  mt::import_safetensors(later, folder / "m", {.names = {{"values/f32", "lm_head.weight"}}});
  mt::executable<program, mesh, by_columns, mt::reference_device> step(later, model(3));
  CHECK(later.get<float>("values/f32") == one.weights.get<float>("values/f32"));
  CHECK(later.get<bool>("values/bool") == every_third(true));
}

TEST_CASE("a value that is a tensor for each index of a dim") {
  own_folder const folder;
  held one(4), other(2);
  one.set_all();
  one.weights.set("values/i32", numbers<std::int32_t>(5));
  auto const both = [](std::string const& name) { return name == "values/f32" || name == "values/i32"; };
  for (auto const& [along, left] : {std::pair("rows", "columns"), std::pair("columns", "rows")}) {
    mt::tensor_names const split{{"values/f32", "layer.{}.weight", {left}, along, 1},
                                 {"values/i32", "layer.{}.ids", {left}, along, 8}};
    mt::export_safetensors(one.weights, folder / along, {.names = split, .only = both});
    auto const header = mt::io::read_safetensors(mt::io::open_file(folder / along));
    std::int64_t const parts = along == std::string("rows") ? 4 : 6;
    CHECK(static_cast<std::int64_t>(header.tensors.size()) == 2 * parts);
    CHECK(!header.tensors.contains("layer.0.weight"));
    for (std::int64_t i = 1; i <= parts; ++i) {
      std::string const tensor = "layer." + std::to_string(i) + ".weight";
      REQUIRE(header.tensors.contains(tensor));
      CHECK(header.tensors.at(tensor).extents == std::vector<std::int64_t>{24 / parts});
    }
    other.weights.set("values/f32", std::vector<float>(24, 0.0f));
    other.weights.set("values/i32", std::vector<std::int32_t>(24, 0));
    mt::import_safetensors(other.weights, folder / along, {.names = split, .only = both});
    CHECK(other.is("f32", numbers<float>(0, 0.5)));
    CHECK(other.is("i32", numbers<std::int32_t>(5)));
  }
  auto const refused = [&](mt::tensor_name const& n) {
    return sentence([&] { mt::export_safetensors(one.weights, folder / "m", {.names = {n}, .only = f32_only}); });
  };
  CHECK(refused({"values/f32", "a{}", {}, "other"}).ends_with("it lacks the dim along which it is to be split"));
  CHECK(refused({"values/f32", "a", {}, "rows"}).ends_with("the name of its parts has no {} for their numbers"));
  CHECK(refused({"values/f32", "a{}", {"rows"}, "rows"}).starts_with("meshtensor C08"));
  mt::tensor_name const one_row{"values/f32", "layer.{}.weight", {"columns"}, "rows", 4};
  CHECK(sentence([&] {
          mt::import_safetensors(other.weights, folder / "rows", {.names = {one_row}, .only = f32_only});
        }).starts_with("meshtensor C08"));
}

TEST_CASE("what waits from a checkpoint is not lost to a file that lacks it") {
  own_folder const folder;
  held one(2);
  one.set_all();
  mt::save(one.weights, folder / "run");
  one.weights.set("values/f32", numbers<float>(3));
  mt::export_safetensors(one.weights, folder / "m", {.only = f32_only});
  for (bool const by_name : {false, true}) {
    mt::store later(one.job);
    auto const first = mt::load(later, folder / "run");
    mt::import_options const how = {.begin_missing = !by_name,
                                    .only = by_name ? std::function<bool(std::string const&)>(f32_only) : nullptr};
    auto const second = mt::import_safetensors(later, folder / "m", how);
    mt::executable<program, mesh, by_columns, mt::reference_device> const step(later, model(3));
    auto const is = [&](char const* label, auto const& wanted) {
      auto const found = later.get<typename std::remove_cvref_t<decltype(wanted)>::value_type>(label);
      return std::equal(wanted.begin(), wanted.end(), found.begin(), found.end());
    };
    CHECK(is("values/f32", numbers<float>(3)));
    CHECK(is("values/f64", numbers<double>(0)));
    CHECK(is("values/one", std::vector<float>{2.5f}));
    CHECK(is("values/i64", numbers<std::int64_t>(0)));
    CHECK(first.left() == std::vector<std::string>{"values/f32"});
    CHECK(second.left().empty());
  }
}

TEST_CASE("what an eager scope has read waits further") {
  own_folder const folder;
  held one(2);
  one.set_all();
  mt::save(one.weights, folder / "run");
  mt::export_safetensors(one.weights, folder / "m", {.only = f32_only});
  mt::store later(one.job);
  auto const found = mt::load(later, folder / "run");
  auto const all = found.left();
  {
    mt::eager s(later);
    s.run(program{});
  }
  CHECK(found.left() == all);
  mt::import_safetensors(later, folder / "m", {.begin_missing = true});
  mt::executable<program, mesh, by_columns, mt::reference_device> const step(later, model(3));
  auto const wanted = numbers<double>(0);
  auto const now = later.get<double>("values/f64");
  CHECK(std::equal(wanted.begin(), wanted.end(), now.begin(), now.end()));
}

TEST_CASE("what waits from a checkpoint is not lost to two files that lack it") {
  own_folder const folder;
  held one(2);
  one.set_all();
  mt::save(one.weights, folder / "run");
  mt::export_safetensors(one.weights, folder / "m", {.only = f32_only});
  mt::store later(one.job);
  mt::load(later, folder / "run");
  for (int i = 0; i < 2; ++i) mt::import_safetensors(later, folder / "m", {.begin_missing = true});
  mt::executable<program, mesh, by_columns, mt::reference_device> const step(later, model(3));
  auto const found = later.get<double>("values/f64");
  auto const wanted = numbers<double>(0);
  CHECK(std::equal(wanted.begin(), wanted.end(), found.begin(), found.end()));
}

TEST_CASE("a part of it") {
  own_folder const folder;
  held one(2), other(1);
  one.set_all();
  mt::export_safetensors(one.weights, folder / "m", {.only = f32_only});
  std::string const said = sentence([&] { mt::import_safetensors(other.weights, folder / "m"); });
  INFO(said);
  CHECK(
      said.starts_with("meshtensor C07: '" + (folder / "m") + "' has no value 'values/bf16', bf16[rows=4, columns=6]"));
  mt::import_safetensors(other.weights, folder / "m", {.only = f32_only});
  CHECK(other.is("f32", numbers<float>(0, 0.5)));
  mt::import_safetensors(other.weights, folder / "m", {.begin_missing = true});
}

TEST_CASE("names of tensors that a file lacks, of values that may be missing or are not read") {
  own_folder const folder;
  held one(2), other(1);
  one.set_all();
  mt::export_safetensors(one.weights, folder / "m", {.only = f32_only});
  auto const before = other.weights.get<double>("values/f64");
  auto const refusal = [&](std::vector<std::string> const& kept) {
    mt::import_options how{.names = {{"values/f64", "head"}, {"values/one", "layer.{}.head", {}, "rows"}}};
    how.only = [&](std::string const& name) { return std::ranges::count(kept, name) > 0; };
    return sentence([&] { mt::import_safetensors(other.weights, folder / "m", how); });
  };
  CHECK(refusal({"values/f32", "values/f64"}) == "meshtensor C07: '" + (folder / "m") + "' has no tensor 'head'");
  CHECK(refusal({"values/f32", "values/one"}) ==
        "meshtensor C07: '" + (folder / "m") + "' has no tensor 'layer.0.head'");
  CHECK(refusal({"values/f32"}) == "");
  CHECK(other.is("f32", numbers<float>(0, 0.5)));
  one.weights.set("values/f32", numbers<float>(3));
  mt::export_safetensors(one.weights, folder / "m", {.only = f32_only});
  mt::import_safetensors(other.weights, folder / "m", {.names = {{"values/f64", "head"}}, .begin_missing = true});
  CHECK(other.is("f32", numbers<float>(3)));
  CHECK(other.weights.get<double>("values/f64") == before);
}

namespace {

inline constexpr struct others : mt::dim<"others", 4> {} others;
struct square_program {
  constexpr void operator()(mt::scope auto s) const { s.output("sum", sum(s.parameter("square", rows, others))); }
};

}  // namespace

TEST_CASE("a dim that is named twice is refused, though all extents fit") {
  own_folder const folder;
  mt::job const job = mt::job::in_lockstep();
  mt::store weights(job);
  mt::executable<square_program, mesh, by_rows, mt::reference_device> const step(weights, model(2));
  mt::export_safetensors(weights, folder / "m");
  auto const before = weights.get<float>("square");
  for (char const* both : {"rows", "others"})
    CHECK(sentence([&] {
            mt::import_safetensors(weights, folder / "m", {.names = {{"square", "square", {both, both}}}});
          }).starts_with("meshtensor C08"));
  mt::import_safetensors(weights, folder / "m", {.names = {{"square", "square", {"rows", "others"}}}});
  CHECK(weights.get<float>("square") == before);
}

TEST_CASE("what does not fit") {
  own_folder const folder;
  held one(2);
  one.set_all();
  std::string const path = folder / "m";
  auto const refused = [&](mt::export_options const& how) {
    std::string const said = sentence([&] { mt::export_safetensors(one.weights, path, how); });
    CHECK(!std::filesystem::exists(path));
    return said;
  };
  CHECK(refused({.names = {{"values/f23", "a"}}}) ==
        "meshtensor C07: the store has no value 'values/f23' to export; did you mean 'values/f32'?");
  for (std::vector<std::string> const& dims :
       {std::vector<std::string>{"rows"}, {"rows", "rows"}, {"rows", "other"}, {"rows", "columns", "rows"}})
    CHECK(refused({.names = {{"values/f32", "a", dims}}}).starts_with("meshtensor C08: 'values/f32' is "));
  CHECK(refused({.names = {{"values/f32", "values/f64"}}}) ==
        "meshtensor C14: '" + path + "' cannot be written: two values would be called 'values/f64'");
  CHECK(refused({.names = {{"values/f32", "\xff"}}}).starts_with("meshtensor C13: '" + path));
  one.weights.set("values/f32", std::vector<float>(24, std::nanf("")));
  CHECK(refused({}) == "meshtensor C09: '" + path + "' is not written: 'values/f32' has NaN, first as element 0");
  mt::export_safetensors(one.weights, path, {.nan = true});

  held other(2);
  auto const before = other.weights.get<double>("values/f64");
  auto const not_taken = [&](mt::import_options const& how) {
    std::string const said = sentence([&] { mt::import_safetensors(other.weights, path, how); });
    CHECK(other.weights.get<double>("values/f64") == before);
    return said;
  };
  CHECK(not_taken({}).find("' has NaN in 'values/f32', first as element 0") != std::string::npos);
  one.set_all();
  mt::export_safetensors(one.weights, path);
  CHECK(not_taken({.names = {{"values/f32", "values/f23"}}}) ==
        "meshtensor C07: '" + path + "' has no tensor 'values/f23'; did you mean 'values/f32'?");
  CHECK(not_taken({.names = {{"values/f32", "values/f64"}}}) ==
        "meshtensor C08: '" + path +
            "' has 'values/f32' as f64[rows=4, columns=6], but the program has "
            "f32[rows=4/model=2, columns=6]");
  CHECK(not_taken({.names = {{"values/f32", "values/f32", {"rows"}}}}).starts_with("meshtensor C08"));
  CHECK(not_taken({.names = {{"values/f32", "values/f32", {"columns", "rows"}}}}) ==
        "meshtensor C08: '" + path +
            "' has 'values/f32' as f32[columns=4, rows=6], but the program has "
            "f32[rows=4/model=2, columns=6]");
  // A bool is 0 or 1 to C++; a file may say otherwise.
  std::string bytes = meshtensor_test::content(path);
  bytes[bytes.size() - 25] = 2;  // the last of its 24 elements; those of u8 follow
  meshtensor_test::set_content(path, bytes);
  CHECK(not_taken({}).ends_with("of 'values/bool', are not all 0 or 1, true or false"));
  for (std::size_t size = 0; size + 1 < bytes.size(); size += 7) {
    meshtensor_test::set_content(path, bytes.substr(0, size));
    CHECK(not_taken({}).starts_with("meshtensor C03"));
  }
}

TEST_CASE("dtypes that are not known stand beside what is wanted") {
  own_folder const folder;
  held one(2);
  one.set_all();
  mt::export_safetensors(one.weights, folder / "m");
  std::string const exported = meshtensor_test::content(folder / "m");
  std::size_t length = 0;
  for (std::size_t i = 8; i-- > 0;) length = length << 8 | static_cast<unsigned char>(exported[i]);
  std::size_t const begin = exported.find_first_not_of(' ', 8), end = exported.rfind('}', 8 + length - 1);
  /// The exported file with `first` and `last` in its header, and `bytes` behind its tensors.
  auto const write = [&](std::string const& first, std::string const& last, std::size_t bytes) {
    std::string header = "{" + first + exported.substr(begin + 1, end - begin - 1) + last + "}";
    std::string all;
    for (int i = 0; i < 8; ++i) all += static_cast<char>(header.size() >> (8 * i) & 0xff);
    meshtensor_test::set_content(folder / "f", all + header + exported.substr(8 + length) + std::string(bytes, 'x'));
  };
  std::size_t const elements = exported.size() - 8 - length;
  auto const tensor = [&](std::string const& name, std::string const& dtype, std::string const& shape,
                          std::size_t bytes) {
    return ",\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape + ",\"data_offsets\":[" +
           std::to_string(elements) + "," + std::to_string(elements + bytes) + "]}";
  };
  for (int processors : {1, 2, 4})
    for (std::string const dtype : {"F8_E4M3", "F4", "F6_E2M3", "F6_E3M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F99"}) {
      CAPTURE(dtype);
      write("",
            tensor("z", dtype, "[4]",
                   dtype == "F4"             ? 2
                   : dtype.starts_with("F6") ? 3
                                             : 4),
            dtype == "F4"             ? 2
            : dtype.starts_with("F6") ? 3
                                      : 4);
      for (bool all : {true, false}) {
        held other(processors);
        mt::import_options how;
        if (!all) how.only = f32_only;
        auto const found = mt::import_safetensors(other.weights, folder / "f", how);
        CHECK(other.is("f32", numbers<float>(0, 0.5)));
        CHECK(std::ranges::count(found.left(), "z") == 1);
      }
      // Wanted under another name, or as a part of a stack.
      held other(processors);
      auto const refusal = [&](mt::import_options const& how) {
        return sentence([&] { mt::import_safetensors(other.weights, folder / "f", how); });
      };
      std::string const said = refusal({.names = {{"values/one", "z"}}});
      std::string const known = dtype + "[4]";
      CHECK(said ==
            "meshtensor C08: '" + (folder / "f") + "' has 'values/one' as " + known + ", but the program has f32[]");
      CHECK(refusal({.names = {{"values/f32", "z", {"columns"}, "rows"}}})
                .starts_with("meshtensor C08: '" + (folder / "f") + "' has 'values/f32' as " + dtype +
                             "[rows=1, columns=4]"));
      CHECK(refusal({.names = {{"values/one", "z"}}, .only = f32_only}) == "");
    }
  // Without metadata dims are matched by position.
  std::string text = exported.substr(begin, end + 1 - begin);
  std::size_t const notes = text.find("{", 1);
  text.replace(notes, text.find('}') + 1 - notes, "null");
  text.resize(length, ' ');
  meshtensor_test::set_content(folder / "f", exported.substr(0, 8) + text + exported.substr(8 + length));
  held other(2);
  mt::import_safetensors(other.weights, folder / "f");
  CHECK(other.is("f32", numbers<float>(0, 0.5)));
}

TEST_CASE("with Python's safetensors") {
  std::string const python = meshtensor_test::python();
  if (std::system((python + " -c 'import numpy, safetensors' 2> /dev/null").c_str()) != 0)
    return meshtensor_test::skip_without_package("this Python has no safetensors: pip install safetensors numpy");
  own_folder const folder;
  held one(2), other(4);
  one.set_all();
  mt::export_safetensors(one.weights, folder / "exported", {.names = transposed});
  std::string const script = meshtensor_test::source_path(__FILE__).replace_extension(".py");
  REQUIRE(std::system(
              (python + " '" + script + "' '" + (folder / "exported") + "' '" + (folder / "theirs") + "'").c_str()) ==
          0);
  auto const found = mt::import_safetensors(other.weights, folder / "theirs",
                                            {.names = {{"values/f32", "model.f32.weight", {"columns", "rows"}}},
                                             .only = [](std::string const& name) { return name != "values/bf16"; }});
  CHECK(found.left() == std::vector<std::string>{"rotary.cached"});
  CHECK(other.is("f32", numbers<float>(100, 0.5)));
  CHECK(other.is("one", std::vector<float>{-0.5f}));
  CHECK(other.is("f64", numbers<double>(100)));
  CHECK(other.is("i32", numbers<std::int32_t>(100)));
  CHECK(other.is("i64", numbers<std::int64_t>(100)));
  CHECK(other.is("u8", numbers<std::uint8_t>(100)));
  CHECK(other.weights.get<bool>("values/bool") == every_third(false));
  mt::import_safetensors(other.weights, folder / "theirs.bf16", {.begin_missing = true});
  bool same = true;
  for (int i = 0; mt::bf16_t const e : other.weights.get<mt::bf16_t>("values/bf16")) same = same && e == i++ + 100;
  CHECK(same);
}
