// SPDX-License-Identifier: Apache-2.0
// Includes the public headers of this folder, for checkpoints and for files shared with other libraries.
#pragma once

#include "meshtensor/io/checkpoints.hpp"
#include "meshtensor/io/export.hpp"
#include "meshtensor/io/import.hpp"
