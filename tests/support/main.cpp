// SPDX-License-Identifier: Apache-2.0
// The main function of every test that runs in one process; compiled once.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "support/skip.hpp"

int main(int argc, char** argv) { return meshtensor_test::status(doctest::Context(argc, argv).run()); }
