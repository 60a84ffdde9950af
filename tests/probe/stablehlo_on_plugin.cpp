// SPDX-License-Identifier: Apache-2.0
// Programs as StableHLO, run on a PJRT plugin by the library's own client, and compared with what was expected: some of
// the catalogue, or all that stablehlo.cpp has written to the folder MESHTENSOR_STABLEHLO_CASES. Programs for more
// devices than the plugin has are left out.
//
// part: pjrt
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <vector>

#include "meshtensor/device/pjrt/loaded_program.hpp"
#include "property/program.hpp"
#include "stablehlo_cases.hpp"
#include "support/folder.hpp"
#include "support/pjrt.hpp"

namespace {

namespace mt = meshtensor;
namespace fs = std::filesystem;

struct port {
  std::string type;
  mt::pjrt::shared_type shape;
  std::vector<char const*> parts;  // by replica
};
struct case_of {
  std::string text, data;
  std::size_t replicas = 0;
  std::vector<port> arguments, results;
};

std::string read(fs::path const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
std::pair<mt::pjrt::element, std::size_t> element_of(std::string const& type) {
  if (type == "u64") return {mt::pjrt::element::u64, 8};
  for (int t = 0; t <= static_cast<int>(mt::dtype::boolean); ++t)
    if (auto const d = static_cast<mt::dtype>(t); type == mt::text_of(d))
      return {mt::pjrt::element_of(d), mt::bytes_of(d)};
  throw std::runtime_error("unknown dtype " + type);
}
case_of read_case(fs::path path) {
  case_of c;
  c.text = read(path.replace_extension(".mlir")), c.data = read(path.replace_extension(".bin"));
  std::ifstream list(path.replace_extension(".txt"));
  std::string line, what;
  char const* at = c.data.data();
  while (std::getline(list, line)) {
    std::istringstream words(line);
    words >> what;
    if (what == "replicas") {
      words >> c.replicas;
      continue;
    }
    port& p = (what == "argument" ? c.arguments : c.results).emplace_back();
    words >> p.type;
    auto const [element, size] = element_of(p.type);
    mt::pjrt::tensor_type t{element, {}, size};
    for (std::int64_t n = 0; words >> n;) t.dims.push_back(n), t.bytes *= static_cast<std::size_t>(n);
    for (std::size_t k = 0; k < c.replicas; ++k, at += t.bytes) p.parts.push_back(at);
    p.shape = std::make_shared<mt::pjrt::tensor_type>(std::move(t));
  }
  if (at != c.data.data() + c.data.size()) throw std::runtime_error("the lengths of data and list differ");
  return c;
}

bool is_float(std::string const& type) { return type == "f64" || type == "f32" || type == "bf16"; }
double number_at(std::string const& type, char const* data, std::size_t i) {
  auto const as = [&]<class E>() {
    E e{};
    std::memcpy(&e, data + i * sizeof(E), sizeof(E));
    return static_cast<double>(e);
  };
  if (type == "f64") return as.operator()<double>();
  if (type == "f32") return as.operator()<float>();
  if (type == "bf16") return as.operator()<mt::bf16_t>();
  if (type == "i32") return as.operator()<std::int32_t>();
  if (type == "u8" || type == "bool") return as.operator()<std::uint8_t>();
  return static_cast<double>(as.operator()<std::int64_t>());
}
/// How far the worst element is off, in units of the greatest that was expected.
double difference(port const& p, char const* got, char const* wanted) {
  std::size_t const count = p.shape->bytes / element_of(p.type).second;
  double scale = 1e-30, worst = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (double const w = std::abs(number_at(p.type, wanted, i)); std::isfinite(w)) scale = std::max(scale, w);
  for (std::size_t i = 0; i < count; ++i) {
    double const a = number_at(p.type, got, i), b = number_at(p.type, wanted, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    double const off = std::abs(a - b) / scale;
    worst = std::isfinite(off) ? std::max(worst, off) : std::numeric_limits<double>::infinity();
  }
  return worst;
}
/// Of the greatest element; dtypes that are not floating are exact.
double tolerance_of(std::string const& type) { return type == "bf16" ? 1e-2 : type == "f32" ? 1e-5 : 1e-10; }

/// Runs a program once, and compares what it gives with what was expected.
void check(mt::pjrt::device_client& client, std::string const& name, case_of& c) {
  double allowed = 0;  // what is made from bf16 is no finer in f32
  std::vector<mt::pjrt::shared_type> arguments, results;
  for (auto const* all : {&c.arguments, &c.results})
    for (port const& p : *all) {
      (all == &c.arguments ? arguments : results).push_back(p.shape);
      if (is_float(p.type)) allowed = std::max(allowed, tolerance_of(p.type));
    }
  mt::pjrt::loaded_program const program(client, std::move(c.text), c.replicas, arguments, results);
  std::vector<std::vector<mt::pjrt::held_tensor>> held(c.replicas);
  std::vector<std::vector<mt::pjrt::buffer*>> given(c.replicas);
  for (std::size_t k = 0; k < c.replicas; ++k)
    for (std::size_t i = 0; i < c.arguments.size(); ++i)
      given[k].push_back(held[k].emplace_back(program.upload(i, k, c.arguments[i].parts[k])).handle());
  auto const made = program.run(given);
  double worst = 0;
  for (std::size_t i = 0; i < c.results.size(); ++i)
    for (std::size_t k = 0; k < c.replicas; ++k) {
      port const& p = c.results[i];
      std::vector<char> got(p.shape->bytes);
      made[k][i].copy_to(got.data());
      double const off = difference(p, got.data(), p.parts[k]);
      worst = std::max(worst, off);
      INFO("result ", i, " (", p.type, ") of replica ", k);
      CHECK(off <= (is_float(p.type) ? allowed : 0));
    }
  std::printf("%s: %zu replicas, %zu results, off by %.2g\n", name.c_str(), c.replicas, c.results.size(), worst);
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("programs on the library's own client give what the interpreter gives") {
  if (meshtensor_test::pjrt_plugin().empty()) return;
  auto& client = mt::pjrt::device_client::of_file(std::getenv("MESHTENSOR_PJRT"));
  meshtensor_test::own_folder const own;
  char const* const named = std::getenv("MESHTENSOR_STABLEHLO_CASES");
  fs::path const folder = named == nullptr ? fs::path(own.path()) : fs::path(named);
  if (named == nullptr)
    for (char const* label : {"mlp", "bf16 with parameters in f32", "images", "noise", "not_finite"}) {
      property::listed const& p = property::program_named(label);
      auto const traced = p.trace();
      CHECK(
          probe::stablehlo_cases(folder.string(), *traced, p.entry, {}).add(label, mt::mesh_shape{}.add("ax", 1), {}));
    }
  std::vector<fs::path> programs;
  for (auto const& file : fs::directory_iterator(folder))
    if (file.path().extension() == ".mlir") programs.push_back(file.path());
  std::sort(programs.begin(), programs.end());
  REQUIRE(programs.size() >= 5);
  std::printf("%zu devices, %s\n", client.devices().size(), client.kind(0).c_str());
  int run = 0;
  for (fs::path const& path : programs) {
    case_of c = read_case(path);
    if (c.replicas > client.devices().size()) continue;
    ++run;
    CAPTURE(path.stem().string());
    CHECK_NOTHROW(check(client, path.stem().string(), c));
  }
  CHECK(run >= 5);
}
