// SPDX-License-Identifier: Apache-2.0
// Small programs after every pass, for tests/gdb/modules.py: each is printed, and then shown to a debugger.
#include <cstdio>

#include "meshtensor/emit/print.hpp"
#include "meshtensor/pass/lower.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;

namespace {

/// A debugger stops here.
[[gnu::noinline]] void debug_module(mt::module const& m) { std::printf("%s====\n", mt::text_of(m).c_str()); }

[[gnu::noinline]] void debug_values(mt::module const& m, mt::node const& n, mt::value const& v, mt::name const& label,
                                    mt::placement const& layout, mt::view const& numbers, mt::diagnostic const& found) {
  std::printf("%d %d %d %zu %d %d %d\n", m.node_count, n.operands.count, v.index, label.size(), layout.axes_of(0),
              numbers.count, found.size);
}

class each_module final : public mt::pass_observer {
 public:
  void ends(char const*, mt::module const& m) override { debug_module(m); }
};

template <class Program>
void lower(mt::layout_rules const& rules) {
  auto const mesh = mt::mesh_shape{}.add("ax", 2).add("by", 2);
  auto const traced = mt::on_heap([] { return mt::trace<mt::precision<Program, mt::f32>>(); });
  debug_module(*traced);
  each_module seen;
  mt::lower(*traced, mt::entry_name<Program>(), mesh, rules, {}, {.fuses = true}, &seen);
}

void show_values() {
  auto const m = mt::on_heap([] { return mt::trace<programs::contractions>(); });
  mt::placement layout{};
  layout.shard(1, 0), layout.shard(1, 2), layout.set_part(1, mt::reduction::sum),
      layout.set_part(3, mt::reduction::max);
  float const elements[] = {0.5f, 1, 1.5f, 2, 2.5f, 3};
  mt::view numbers{};
  numbers.data = const_cast<float*>(elements), numbers.type = mt::dtype::f32, numbers.count = 2;
  numbers.dim[0] = 4, numbers.dim[1] = 1, numbers.extent[0] = 3, numbers.extent[1] = 2;
  numbers.stride[0] = 1, numbers.stride[1] = 3, numbers.origin[0] = 3, numbers.total[0] = 6, numbers.total[1] = 2;
  mt::diagnostic found{};
  found << "S02 no reason";
  debug_values(*m, m->nodes[3], m->values[3], mt::name("batch"), layout, numbers, found);
}

}  // namespace

int main() {
  lower<programs::movements>(mt::layout_rules{}.shard("batch", {"ax"}));
  lower<programs::lookups>(mt::layout_rules{}.shard("vocab", {"by"}));
  lower<programs::noise>(mt::layout_rules{}.shard("batch", {"ax"}));
  lower<programs::asked>({});
  lower<programs::recurrent>(mt::layout_rules{}.shard("batch", {"by", "ax"}));
  lower<programs::choosing>({});
  lower<programs::attending>(mt::layout_rules{}.shard("heads", {"by"}).shard("batch", {"ax"}));
  show_values();
}
