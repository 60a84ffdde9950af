// SPDX-License-Identifier: Apache-2.0
// Reports a test that cannot run here as skipped, with a reason, not as passed.
#pragma once

namespace meshtensor_test {

/// Prints the reason. If no check of the process fails, ctest reports the whole file as skipped.
void skip(char const* reason);

/// The exit code of this process: that of the checks, or the one by which ctest knows a skipped test.
int status(int checks);

}  // namespace meshtensor_test
