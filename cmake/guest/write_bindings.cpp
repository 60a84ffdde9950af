// SPDX-License-Identifier: Apache-2.0
// Writes the C header and the Fortran module of the guest that MESHTENSOR_GUEST names: write_bindings [FOLDER]
#include <cstdio>
#include <string>

#include <meshtensor/run/guest/functions.hpp>

#define MESHTENSOR_JOIN_2(a, b) a##b
#define MESHTENSOR_JOIN(a, b) MESHTENSOR_JOIN_2(a, b)
#define MESHTENSOR_TEXT_2(a) #a
#define MESHTENSOR_TEXT(a) MESHTENSOR_TEXT_2(a)

extern "C" meshtensor::guest_functions const* MESHTENSOR_JOIN(MESHTENSOR_GUEST, _functions)();

int main(int argc, char** argv) {
  auto const* const functions = MESHTENSOR_JOIN(MESHTENSOR_GUEST, _functions)();
  std::string const name = MESHTENSOR_TEXT(MESHTENSOR_GUEST);
  std::string const path = (argc > 1 ? argv[1] + std::string("/") : std::string()) + name;
  int const status = functions->write(name.c_str(), (path + ".h").c_str(), (path + ".f90").c_str());
  if (status != 0) std::fprintf(stderr, "%s\n", functions->error());
  return status;
}
