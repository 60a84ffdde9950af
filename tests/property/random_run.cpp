// SPDX-License-Identifier: Apache-2.0
// Compiled once for all tests of random programs.
#include "property/random_run.hpp"

#include <chrono>
#include <cstdlib>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/emit/print.hpp"
#include "support/late_runner.hpp"

namespace property {

namespace {

constexpr int layouts_each = 6;

long number_from(char const* variable, long otherwise) {
  char const* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}
std::uint64_t seed_of_the_day() {
  auto const since = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::hours>(since).count() / 24) * 1000000;
}

}  // namespace

random_run::random_run(long count, std::uint64_t offset, program_maker make)
    : seed_(static_cast<std::uint64_t>(number_from("MESHTENSOR_SEED", static_cast<long>(seed_of_the_day() + offset)))),
      make_(make),
      count_(number_from("MESHTENSOR_COUNT", share_of(count))) {}

void random_run::each(std::vector<mt::mesh_shape> const& meshes, trial_fault const& fault,
                      mt::device_capabilities const& capabilities) {
  bool const talks = number_from("MESHTENSOR_TALKS", 0) != 0;
  for (std::uint64_t seed = seed_; counted_ < count_ && failures_ < 5; ++seed, ++programs_) {
    again_ = "again by MESHTENSOR_SEED=" + std::to_string(seed) + " MESHTENSOR_COUNT=" + std::to_string(layouts_each);
    INFO(again_);
    if (talks) std::fprintf(stderr, "seed %lu, %ld of %ld\n", static_cast<unsigned long>(seed), counted_, count_);
    whole_programs const programs = make_(seed);
    rng c{seed};
    for (int i = 0; i < layouts_each && counted_ < count_; ++i) {
      auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
      bool const even = c.one_in(2);
      try_layout(programs, random_spread(programs, mesh, c.next(), even), fault, capabilities);
    }
  }
}

void random_run::each_layout(whole_programs const& programs, std::vector<mt::mesh_shape> const& meshes,
                             trial_fault const& fault) {
  again_ = "again by MESHTENSOR_SEED=" + std::to_string(seed_);
  rng c{seed_};
  programs_ = 1;
  for (long tried = 0; counted_ < count_ && failures_ < 5; ++tried) {
    REQUIRE_MESSAGE(tried < 60 * count_, "too few layouts are legal: " << counted_ << " of " << tried);
    auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
    bool const even = c.one_in(2);
    try_layout(programs, random_spread(programs, mesh, c.next(), even), fault, {});
  }
}

void random_run::try_layout(whole_programs const& programs, random_spread const& spread, trial_fault const& fault,
                            mt::device_capabilities const& capabilities) {
  INFO(spread.text(programs));
  context_ = again_ + "\n" + spread.text(programs);
  auto const trial = legal(programs, spread, capabilities);
  if (!trial) return;
  if (std::string const wrong = fault(*trial); !wrong.empty()) {
    ++failures_;
    FAIL_CHECK(wrong << "\n" << mt::text_of(programs.traced()));
  }
  ++(trial->in_flight() != 0 ? counted_ : alone_);
}

std::string fault_on_threads(layout_trial const& trial) {
  static mt::job const threads = mt::job::as_threads();
  static mt::job const late(std::make_unique<meshtensor_test::late_runner>());
  mt::reference_device const device;
  held_bytes const wanted = trial.run(mt::job::in_lockstep(), device);
  if (std::string const d = trial.compare(wanted); !d.empty()) return "in lockstep: " + d;
  for (mt::collective_timing const timing : {mt::collective_timing::results_late, mt::collective_timing::operands_late})
    if (std::string const d = first_difference(trial.run(mt::job::in_lockstep(timing), device), wanted); !d.empty())
      return std::string("in lockstep ") + mt::text_of(timing) + ": " + d;
  if (std::string const d = first_difference(trial.run(threads, device), wanted); !d.empty()) return "as threads: " + d;
  if (std::string const d = first_difference(trial.run(late, device), wanted); !d.empty())
    return "as late threads: " + d;
  return "";
}

std::unique_ptr<layout_trial> random_run::legal(whole_programs const& programs, random_spread const& spread,
                                                mt::device_capabilities const& capabilities) {
  try {
    return std::make_unique<layout_trial>(programs, spread, capabilities);
  } catch (mt::error const& e) {
    std::string const code(e.code());
    if (code != "S05" && code != "R04") throw;
    ++refused_[code];
    return nullptr;
  }
}

void random_run::say() const {
  std::string text;
  for (auto const& [code, number] : refused_) text += ", " + std::to_string(number) + " refused by " + code;
  MESSAGE("from MESHTENSOR_SEED=" << seed_ << ": " << programs_ << " programs, " << counted_ << " runs, " << alone_
                                  << " without anything under way" << text);
}

std::vector<mt::mesh_shape> random_meshes(std::int64_t size) {
  auto all = meshtensor_test::meshes();
  constexpr int shapes[][3] = {{2, 1, 1}, {1, 3, 1}, {1, 4, 1}, {2, 1, 2}, {6, 1, 1}, {1, 2, 4}};
  for (auto const& s : shapes) all.push_back(mt::mesh_shape{}.add("ax", s[0]).add("by", s[1]).add("cz", s[2]));
  std::erase_if(all, [&](mt::mesh_shape const& m) { return size != 0 && m.size() != size; });
  return all;
}

std::string first_difference(held_bytes const& got, held_bytes const& wanted) {
  for (auto const& [label, bytes] : got) {
    auto const found = wanted.find(label);
    if (found == wanted.end()) return "step, value and rank '" + label + "' is not there otherwise";
    if (found->second != bytes) return "step, value and rank '" + label + "' has other bits";
  }
  return got.size() == wanted.size() ? "" : "some values are missing";
}

}  // namespace property
