// SPDX-License-Identifier: Apache-2.0
// expect: the sixth
static_assert(sizeof(char) == 2, "the first");
static_assert(sizeof(char) == 3, "the second");
static_assert(sizeof(char) == 4, "the third");
static_assert(sizeof(char) == 5, "the fourth");
static_assert(sizeof(char) == 6, "the fifth");
static_assert(sizeof(char) == 7, "the sixth");
