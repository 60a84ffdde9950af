// Programs that are declared together share their parameters: one path, one set of dims.
// quick
// expect: G03: one name is declared twice with different dims or dtypes: give one of them another name
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;

constexpr auto traced = mt::trace<mt::programs<grow, other_dims>>();

int main() { return traced.node_count; }
