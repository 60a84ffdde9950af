// SPDX-License-Identifier: Apache-2.0
// What doctest's header names, for programs with a main of their own that take headers which were read with it.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
