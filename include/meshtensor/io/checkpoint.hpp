// SPDX-License-Identifier: Apache-2.0
// Checkpoints, and files that other libraries read and write: all of this folder that a program calls.
#pragma once

#include "meshtensor/io/checkpoints.hpp"
#include "meshtensor/io/export.hpp"
#include "meshtensor/io/import.hpp"
