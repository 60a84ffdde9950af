// SPDX-License-Identifier: Apache-2.0
// Small programs made at random that train in loops, branches and eaches: what the same statements give on plain
// numbers, alone, in a further each and under layouts made at random.
// passes: start-up
// timeout: 300
#include "property/control_fuzzer.hpp"
#include "property/in_each.hpp"
#include "property/program.hpp"
#include "property/seeds.hpp"

using namespace property;

namespace {

/// A sentence about the first step that plain numbers do otherwise, or nothing.
std::string difference_to_numbers(control_fuzzer const& a, mt::module const& m) {
  auto const whole = mt::on_heap([&] { return mt::differentiate(mt::widen(m)); });
  mt::raise(mt::verify(*whole));
  auto const numbers = mt::on_heap([&] { return mt::bind(*whole, mt::mesh_shape{}, {}); });
  mt::interpreter together(*whole, *numbers);
  control_fuzzer::values all{};
  mt::blocks inputs, variables;
  inputs["x"] = mt::block(mt::f64, mt::shape{}, *numbers);
  for (int step = 0; step < 3; ++step) {
    double const x = 0.75 - 0.5 * step;
    inputs.at("x").set(0, x);
    mt::settings s;
    s.step = static_cast<std::uint64_t>(step);
    double const got = together.run(0, inputs, variables, s).at("y").number_at(0), wanted = a.run(x, all);
    auto const differs = [](double p, double q) { return !(std::abs(p - q) <= 1e-9 * std::max(1.0, std::abs(q))); };
    if (differs(got, wanted))
      return "step " + std::to_string(step) + ": y is " + std::to_string(got) + ", not " + std::to_string(wanted);
    for (std::size_t slot = 0; slot < all.size(); ++slot) {
      auto const [path, element] = control_fuzzer::place_of(slot);
      auto const found = variables.find(path);
      if (found == variables.end() || !differs(found->second.number_at(element), all[slot])) continue;
      return "step " + std::to_string(step) + ": " + path + " is " + std::to_string(found->second.number_at(element)) +
             ", not " + std::to_string(all[slot]);
    }
  }
  return "";
}

}  // namespace

TEST_CASE("programs that train in loops, branches and eaches do what their statements do on plain numbers") {
  long tried = 0, loops = 0, branches = 0, eaches = 0, gradients = 0, amends = 0;
  each_seed(7000001, 1500, [&](std::uint64_t seed) {
    control_fuzzer const a(seed);
    std::string found;
    try {
      found = difference_to_numbers(a, a.graph());
    } catch (mt::error const& e) { found = e.what(); }
    CHECK_MESSAGE(found == "", mt::text_of(a.graph()));
    ++tried, loops += a.count("loops"), branches += a.count("branches"), eaches += a.count("eaches");
    gradients += a.count("gradients"), amends += a.count("amends");
  });
  MESSAGE(tried << " programs with " << loops << " loops, " << branches << " branches, " << eaches << " eaches, "
                << gradients << " gradients, " << amends << " amends");
  at_least(1500, tried);
  if (tried > 60) CHECK(std::min({loops, branches, eaches, gradients, amends}) * 8 > tried);
}

TEST_CASE("programs that train give for every index of a further each what they give alone") {
  long tried = 0;
  each_seed(7100001, 300, [&](std::uint64_t seed) {
    control_fuzzer const a(seed);
    std::string found;
    try {
      found = difference_in_each(a.graph(), control_fuzzer::entry(), {.extent = 1 + static_cast<long>(seed % 3)});
    } catch (mt::error const& e) { found = e.what(); }
    CHECK(found == "");
    ++tried;
  });
  at_least(300, tried);
}

TEST_CASE("programs that train do the same under random layouts") {
  static auto const meshes = meshtensor_test::meshes();
  tally t;
  each_seed(7200001, 150, [&](std::uint64_t seed) {
    control_fuzzer const a(seed);
    in_each const each(a.graph(), 2 + static_cast<long>(seed % 2));
    rng c{seed + 1};
    auto const& mesh = meshes[static_cast<std::size_t>(c.below(static_cast<int>(meshes.size())))];
    subject s(*each.graph, control_fuzzer::entry(), {});
    s.steps = 2, s.tolerance = 1e-9;
    s.fill(fill_kind::reals, c, -1, 1, 3);
    s.expect();
    std::vector<mt::name> dims{"index"};
    if (a.count("eaches") != 0) dims.push_back("member");
    for (int i = 0; i < 3; ++i) s.check_layout(mesh, meshtensor_test::drawn_layout(dims, {"members"}, mesh, c), t);
  });
  t.say("programs that train");
  at_least(150, t.tried);
}
