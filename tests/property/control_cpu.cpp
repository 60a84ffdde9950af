// SPDX-License-Identifier: Apache-2.0
// Loops that end early and branches on the cpu device, under layouts made at random.
// needs: cpu
// passes: start-up
// timeout: 300
#include "meshtensor/device/cpu/device.hpp"
#include "property/control_forms.hpp"
#include "property/program.hpp"
#include "property/under_layout.hpp"

using namespace control_forms;

TEST_CASE("on the cpu device, every form under some layouts") {
  long runs = 0;
  std::uint64_t number = 0;
  rng c{3 + sample_number()};
  for (tried const& p : forms_of_programs())
    for (sizes const& of : {sizes{12, 12, 6}, sizes{7, 5, 3}}) {
      if (!is_in_even_sample(number++)) continue;
      INFO(std::string(p.label) << ", batch of " << of.batch);
      mt::module const& m = of.batch == 12 ? *p.as_loop : *p.recomputed;
      auto const given = extents(m, of);
      subject s(m, p.entry, given);
      s.steps = 2, s.tolerance = 1e-9;
      fill(s);
      s.expect();
      auto const dims = dims_in_use(s.graph()), scopes = scopes_of(s.graph());
      for (auto const& mesh : meshtensor_test::meshes())
        for (int k = 0; k < 3; ++k) {
          auto const rules = k == 0 ? mt::layout_rules{} : meshtensor_test::drawn_layout(dims, scopes, mesh, c);
          INFO(meshtensor_test::text_of(mesh) << ", " << meshtensor_test::text_of(rules));
          auto const o = under<mt::cpu_device>(s, m, p.entry, given, mesh, rules);
          CHECK(o.fault == "");
          CHECK(o.refusal == "");
          runs += o.runs();
        }
    }
  MESSAGE(runs << " runs");
  at_least(500, runs);
}
