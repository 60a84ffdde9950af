// SPDX-License-Identifier: Apache-2.0
// A test that cannot run here says why and is reported as skipped, not as passed.
#pragma once

namespace meshtensor_test {

/// Prints the reason. If no check of the process fails, ctest reports the whole file as skipped.
void skip(char const* reason);

/// The exit code of this process: that of the checks, or the one that ctest reads as skipped.
int status(int checks);

}  // namespace meshtensor_test
