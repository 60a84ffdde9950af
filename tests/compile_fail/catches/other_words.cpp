// SPDX-License-Identifier: Apache-2.0
// expect: a sentence that no compiler prints
static_assert(sizeof(char) == 2, "bytes are small");
