// SPDX-License-Identifier: Apache-2.0
static_assert(sizeof(char) == 2, "bytes are small");
