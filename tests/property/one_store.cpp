// SPDX-License-Identifier: Apache-2.0
// Programs of one store, stepped in any order, in turns and as threads.
// timeout: 300
#include "property/one_store.hpp"

#include "property/sample.hpp"

TEST_CASE("in turns") { property::at_least(150, one_store::hold(meshtensor::job::in_lockstep(), 5, 1)); }
TEST_CASE("as threads") { property::at_least(60, one_store::hold(meshtensor::job::as_threads(), 2, 2)); }
