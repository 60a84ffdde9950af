// SPDX-License-Identifier: Apache-2.0
// The same training, compiled for another instruction set.
#include "support/level_program.hpp"

std::vector<float> losses_of_other_level() { return level_program::losses(); }
char const* level_of_other_file() { return text_of(meshtensor::cpu::compiled_level); }
