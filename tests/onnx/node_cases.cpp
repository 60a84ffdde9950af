// SPDX-License-Identifier: Apache-2.0
// Nodes of ONNX as programs, whose results are those that its package expects: on plain loops and on the cpu device, on
// one processor, and on two for each dim that they shard.
//
// generate.py writes the programs from the package's own cases; reasons.py says which cases it leaves out.
// needs: cpu io
// part: onnx
// passes: start-up
// sanitize: no
// alone
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "meshtensor/device/cpu/device.hpp"
#include "meshtensor/device/reference.hpp"
#include "meshtensor/io/safetensors.hpp"
#include "meshtensor/run/session.hpp"
#include "onnx/node_case.hpp"
#include "support/python.hpp"

using namespace onnx_cases;

namespace {

/// The tensors of all cases. Each is called by its case, what it is there, and its name.
class tensors_of_cases {
 public:
  tensors_of_cases() : file_(file_of_tensors()), header_(mt::io::read_safetensors(file_)) {}

  /// Calls f(name, its entry in the file, its elements) for each tensor of one kind.
  template <class F>
  void each(std::string const& label, char const* kind, F f) const {
    std::string const first = label + ":" + kind + ":";
    for (auto at = header_.tensors.lower_bound(first); at != header_.tensors.end(); ++at) {
      if (!at->first.starts_with(first)) return;
      mt::io::file_tensor const& t = at->second;
      auto const bytes = static_cast<std::size_t>(t.end - t.begin);
      std::vector<double> elements(bytes / sizeof(double) + 1);  // aligned for every dtype
      file_.read(header_.bytes + t.begin, std::as_writable_bytes(std::span(elements)).first(bytes));
      f(at->first.substr(first.size()), t, static_cast<void*>(elements.data()));
    }
  }

 private:
  mt::io::file file_;
  mt::io::safetensors_header header_;
};

/// The error that an element of a case may have, as a share of the greatest one.
double tolerance(mt::dtype type) {
  if (type == mt::dtype::bf16) return 1.0 / 64;
  return mt::is_float(type) ? 2e-6 : 0;
}

/// One sentence about the first element that is not as expected; empty: all are.
std::string difference(mt::block const& got, mt::io::file_tensor const& t, void const* elements) {
  if (got.type() != t.stored->type) return "has another dtype";
  double const share = tolerance(got.type());
  std::int64_t size = 1;
  for (std::int64_t const n : t.extents) size *= n;
  if (got.size() != size) return "has " + std::to_string(got.size()) + " elements";
  return mt::with_element(got.type(), [&]<class E>() -> std::string {
    E const *mine = got.as<E>(), *theirs = static_cast<E const*>(elements);
    double greatest = 0;
    for (std::int64_t i = 0; i < size; ++i)
      if (double const e = std::abs(static_cast<double>(theirs[i])); std::isfinite(e)) greatest = std::max(greatest, e);
    for (std::int64_t i = 0; i < size; ++i) {
      if (mine[i] == theirs[i]) continue;
      auto const a = static_cast<double>(mine[i]), b = static_cast<double>(theirs[i]);
      if ((std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= share * greatest) continue;
      char text[120];
      std::snprintf(text, sizeof(text), "element %lld is %.9g, but must be %.9g", static_cast<long long>(i), a, b);
      return text;
    }
    return "";
  });
}

/// What is wrong with the results of a case under a layout of a mesh; empty: nothing.
template <class Device>
std::string fault(node_case const& c, mt::module const& traced, mt::mesh_shape const& mesh,
                  mt::layout_rules const& rules) {
  static tensors_of_cases const tensors;
  try {
    auto const low = mt::lower(traced, c.entry, mesh, rules, {}, mt::capabilities_of<Device>);
    mt::job const job = mt::job::in_lockstep();
    mt::store values(job);
    mt::session<Device> run(values, low->graph, low->planned, mesh, low->entry);
    auto const keep = [&](std::string const& path, auto const&, void* data) { values.copy_in(path, data); };
    auto const feed = [&](std::string const& name, auto const&, void* data) { run.feed(name, data); };
    tensors.each(c.label, "variable", keep);
    tensors.each(c.label, "input", feed);
    run.step();
    std::string first;
    tensors.each(c.label, "output", [&](std::string const& name, mt::io::file_tensor const& t, void* data) {
      auto const d = difference(run.whole(name), t, data);
      if (first.empty() && !d.empty()) first = "'" + name + "': " + d;
    });
    return first;
  } catch (mt::error const& e) { return e.what(); }
}

/// Calls f(case) for each, or skips the test.
template <class F>
void each_case(F f) {
  auto const all = written_cases();
  if (all.empty())
    return meshtensor_test::skip_without_package("this Python has no onnx: pip install onnx numpy ml_dtypes");
  CHECK(all.size() == 847);  // of the version that tests/requirements.txt pins
  for (node_case const& c : all) f(c);
}
template <class Device>
void check_alone() {
  each_case([](node_case const& c) {
    std::string const wrong = fault<Device>(c, *c.trace(), {}, {});
    CHECK_MESSAGE(wrong.empty(), std::string(c.label) << ": " << wrong);
  });
}
template <class Device>
void check_sharded() {
  mt::mesh_shape mesh{};
  mesh.add(mt::name("ax"), 2);
  long tried = 0;
  each_case([&](node_case const& c) {
    auto const traced = c.trace();
    for (int d = 0; d < traced->dim_count; ++d, ++tried) {
      mt::layout_rules rules{};
      rules.shard(traced->dim_name(d), {mesh.axes[0].label});
      std::string const wrong = fault<Device>(c, *traced, mesh, rules);
      CHECK_MESSAGE(wrong.empty(), std::string(c.label)
                                       << " with " << traced->dim_name(d).text() << " sharded: " << wrong);
    }
  });
  if (tried != 0) CHECK(tried > 4000);
}

}  // namespace

TEST_CASE("node cases on plain loops") { check_alone<mt::reference_device>(); }
TEST_CASE("node cases on the cpu device") { check_alone<mt::cpu_device>(); }
TEST_CASE("node cases on two processors of plain loops") { check_sharded<mt::reference_device>(); }
TEST_CASE("node cases on two processors of the cpu device") { check_sharded<mt::cpu_device>(); }
