// SPDX-License-Identifier: Apache-2.0
// Mixture of experts: a router sends each token to its best experts. Each expert has room for a number of tokens, or
// serves all tokens that choose it.
#pragma once

#include "meshtensor/nn/experts/choose_experts.hpp"
#include "meshtensor/nn/experts/dropless_mixture_of_experts.hpp"
#include "meshtensor/nn/experts/mixture_of_experts.hpp"
#include "meshtensor/nn/experts/route.hpp"
