// SPDX-License-Identifier: Apache-2.0
// Trains a byte-level Transformer on a mesh of processors, threads or MPI ranks, and prints text that it generates.
#include "transformer.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <meshtensor/device/default.hpp>
#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/job/main.hpp>

#include "common/devices.hpp"
#include "transformer/command_line.hpp"
#include "transformer/devices.hpp"
#include "transformer/training.hpp"

namespace {

using namespace transformer;

// ---- the training text ----

#ifndef MESHTENSOR_SOURCE_DIR
#  define MESHTENSOR_SOURCE_DIR ""
#endif

/// The library's headers and documentation: from the source folder of the build, else from a folder above this program.
std::vector<std::uint8_t> own_text() {
  namespace fs = std::filesystem;
  std::error_code problem;
  fs::path root = MESHTENSOR_SOURCE_DIR;
  for (fs::path at = fs::read_symlink("/proc/self/exe", problem);
       !fs::exists(root / "include/meshtensor") && at.has_relative_path(); at = at.parent_path())
    root = at.parent_path();
  auto all = mt::read_texts(root / "include", {".hpp"});
  auto const docs = mt::read_texts(root / "docs", {".md"});
  all.insert(all.end(), docs.begin(), docs.end());
  if (all.empty())
    throw mt::error("R40", "the library's headers are not where they were: name a text with --text FILE");
  return all;
}

// ---- defaults of sizes ----

/// Completes the mesh: open axes follow from the number of ranks; without ranks they have two processors each.
void complete_mesh(options& o, int ranks) {
  auto const given = [&](char const* axis) { return o.mesh.count(axis) != 0; };
  auto const rest = [&](char const* other) {
    if (ranks == 0) return std::int64_t{2};
    if (ranks % o.mesh[other] != 0)
      throw mt::error("R05", {ranks, " ranks were started, which is not a multiple of ", other, " = ", o.mesh[other],
                              ": start as many ranks as the mesh has processors"});
    return ranks / o.mesh[other];
  };
  if (!given("data") && !given("model")) o.mesh["model"] = ranks == 0 || ranks % 2 == 0 ? 2 : 1;
  if (!given("data")) o.mesh["data"] = rest("model");
  else if (!given("model")) o.mesh["model"] = rest("data");
}

/// Completes the sizes of the model: small, but so that the mesh divides them.
void complete_sizes(options& o) {
  auto const up = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
  if (o.batch == 0) o.batch = up(16, o.mesh["data"]);
  if (o.heads == 0) o.heads = up(4, o.mesh["model"]);
  if (o.d_head == 0) o.d_head = std::max<std::int64_t>(1, o.d_model / o.heads);
  if (o.d_ff == 0) o.d_ff = 4 * o.d_model;
}

int show_plan(mt::job const& job, options const& o) {
  auto const plan = made<mt::draft<trainer<mt::default_device>::training>>(sizes(o, o.batch));
  if (o.explain == "plan") mt::print(job, "{}\n{}", mt::explain(plan), mt::pictures(plan));
  else if (!o.explain.empty()) mt::print(job, "{}", mt::instructions(plan));
  if (o.dot.empty() || !job.is_root()) return 0;
  std::ofstream file(o.dot);
  if (!(file << mt::graphviz(plan.graph())).flush())
    throw mt::error("R43", {"the graph cannot be written to '", o.dot, "'"});
  return 0;
}

examples::devices<decltype(&run<mt::default_device>)> const devices{
    {examples::default_device_name, &run<mt::default_device>},
#if MESHTENSOR_EXAMPLE_REFERENCE
    {"reference", &run_on_reference},
#endif
#if MESHTENSOR_EXAMPLE_CUDA
    {"cuda", &run_on_cuda},
#endif
#if MESHTENSOR_EXAMPLE_PJRT
    {"pjrt", &run_on_pjrt},
#endif
};

}  // namespace

int main(int argc, char** argv) {
  return mt::run_main(argc, argv, [&](mt::job const& job) {
    options o;
    if (auto const ending = read_command_line(argc, argv, o)) {
      if (ending->code == 0) mt::print(job, "{}", ending->words);
      else mt::progress(job, "{}", ending->words);
      return ending->code;
    }
    if (o.device == "list") return mt::print(job, "{}", examples::list_of_devices(examples::names_of(devices))), 0;
    complete_mesh(o, o.plan_only() ? 0 : job.get().size());
    complete_sizes(o);
    if (o.threads != 0) setenv("MESHTENSOR_THREADS", std::to_string(o.threads).c_str(), 1);
    if (o.plan_only()) return show_plan(job, o);
    auto const run_on = examples::chosen(o.device, devices);
    mt::text_windows const windows(o.text.empty() ? own_text() : mt::read_text(o.text), o.length);
    return run_on(job, o, windows);
  });
}
