// SPDX-License-Identifier: Apache-2.0
// Deletes each wait of six programs in turn, and puts commands on other queues: a device whose queues run as late as
// they may tells of each defect, unless the check for races proves that nothing depends on the wait.
// passes: start-up
// timeout: 300
#include <doctest/doctest.h>

#include <string>

#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"
#include "support/compare.hpp"
#include "support/early_loops.hpp"
#include "support/late_machine.hpp"
#include "support/programs.hpp"

namespace mt = meshtensor;
using meshtensor_test::late_device;
using meshtensor_test::late_here;

namespace {

mt::layout_rules spread() { return mt::layout_rules{}.shard("batch", {"data"}).shard("inner", {"model"}); }

struct counts {
  int waits = 0, redundant = 0, told = 0, moved = 0, moved_told = 0;
};

template <class Program>
struct trial {
  mt::mesh_shape mesh = mt::mesh_shape{}.add("data", 2).add("model", 1);
  std::unique_ptr<mt::module> traced = mt::on_heap([] { return mt::trace<mt::precision<Program, mt::f64>>(); });
  std::unique_ptr<mt::lowering> low = mt::lower(*traced, mt::entry_name<Program>(), mesh, spread(), {});
  mt::job job = mt::job::in_lockstep();
  late_here here{1, 3};
  mt::store values{job};
  mt::session<late_device> run{values, low->graph, low->planned, mesh, low->entry};
  counts seen;

  meshtensor_test::late_machine& machine() { return here.machine; }
  /// One step; what was said, if it failed.
  std::string step() {
    machine().begin_step();
    try {
      run.step();
      return "";
    } catch (mt::error const& e) { return e.what(); }
  }
  /// The queue of the first command of a race; -1: there is none.
  int queue_of_race() const {
    for (auto const& commands : here.machine.lists)
      if (auto const race = mt::find_race(commands)) return commands[static_cast<std::size_t>(race->first)].queue;
    return -1;
  }
  /// One step in which the queue of the first command of a race runs as late as it may.
  void must_tell(int queue, int& told) {
    machine().postponed = queue;
    std::string const said = step();
    machine().postponed = -1;
    CHECK(said.find("a wait is missing") != std::string::npos);
    CHECK(machine().is_idle());
    told += !said.empty();
  }
  void feed() {
    std::vector<double> const reals(24 * 12 * 24, 0.25);
    std::vector<std::int32_t> const words(24 * 12, 3);
    std::int64_t const number = 3;  // of iterations
    for (int i = 0; i < low->graph.node_count; ++i)
      if (mt::node const& n = low->graph.nodes[i]; n.kind == mt::primitive::input) {
        std::string const label = low->graph.names[mt::name_of(n)].text();
        mt::dtype const type = low->graph.values[low->graph.result(n)].type;
        run.feed(label, type == mt::dtype::f64   ? static_cast<void const*>(reals.data())
                        : type == mt::dtype::i64 ? static_cast<void const*>(&number)
                                                 : words.data());
      }
  }
  /// Tries all waits; of the commands, every `stride`-th on another queue.
  void hold(int stride) {
    feed();
    machine().keeps_lists = true;
    REQUIRE(step() == "");
    REQUIRE(step() == "");
    CHECK(machine().out_of_order > 0);
    int const commands = machine().placed;
    CHECK(queue_of_race() < 0);
    seen.waits = machine().waits;
    machine().computes = false;  // from now on it is the order alone that matters
    for (int w = 0; w < seen.waits; ++w) {
      machine().ignored_wait = w;
      machine().checks_order = false;
      REQUIRE(step() == "");
      machine().checks_order = true;
      if (int const queue = queue_of_race(); queue >= 0) must_tell(queue, seen.told);
      else ++seen.redundant;
    }
    machine().ignored_wait = -1;
    for (int t = 0; t < commands; t += stride) {
      machine().misplaced = t;
      machine().checks_order = false;
      REQUIRE(step() == "");
      machine().checks_order = true;
      if (int const queue = queue_of_race(); queue >= 0) ++seen.moved, must_tell(queue, seen.moved_told);
    }
    machine().misplaced = -1;
    CHECK(step() == "");
    CHECK(queue_of_race() < 0);
    CHECK(seen.told + seen.redundant == seen.waits);
    CHECK(seen.told > seen.waits / 2);
    CHECK(seen.moved > 0);
    CHECK(seen.moved_told == seen.moved);
    MESSAGE(commands << " commands in " << machine().lists.size() << " lists, " << seen.waits << " waits: " << seen.told
                     << " told of, " << seen.redundant << " redundant; " << seen.moved
                     << " commands on a wrong queue told of");
  }
};

}  // namespace

TEST_CASE("a network") { trial<programs::mlp>().hold(17); }
TEST_CASE("lookups") { trial<programs::lookups>().hold(5); }
TEST_CASE("attention") { trial<programs::attending>().hold(17); }
TEST_CASE("a classifier") { trial<programs::classifier>().hold(17); }
TEST_CASE("movements") { trial<programs::movements>().hold(5); }
TEST_CASE("loops that may end early, in each other") { trial<early_loops::nested>().hold(17); }
