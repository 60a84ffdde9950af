// SPDX-License-Identifier: Apache-2.0
// The error of a topology is printed where a program asks for it.
// expect: G49 the topology onward of 4 replicas: period(4) is 1, but replica 0 has other messages in round 1
#include "meshtensor/regime/regime.hpp"

namespace mt = meshtensor;

namespace {
struct onward {
  static constexpr int period(int) { return 1; }
  static constexpr int slots(int) { return 1; }
  static constexpr mt::edge incoming(int n, std::int64_t round, int replica, int) {
    return {(replica + 1 + static_cast<int>(round % 2)) % n, 0.5};
  }
  static constexpr double kept(int, std::int64_t, int) { return 0.5; }
};
constexpr mt::diagnostic of_4 = mt::check_topology<onward>(4);
static_assert(mt::is_valid<of_4>);
}  // namespace

int main() {}
