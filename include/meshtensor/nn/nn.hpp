// SPDX-License-Identifier: Apache-2.0
// Includes all layers, losses and optimizers, which are compositions of op/ only.
#pragma once

#include "meshtensor/nn/adafactor.hpp"
#include "meshtensor/nn/adam.hpp"
#include "meshtensor/nn/attention.hpp"
#include "meshtensor/nn/average.hpp"
#include "meshtensor/nn/batch_norm.hpp"
#include "meshtensor/nn/convolution.hpp"
#include "meshtensor/nn/dropout.hpp"
#include "meshtensor/nn/experts.hpp"
#include "meshtensor/nn/group_norm.hpp"
#include "meshtensor/nn/lars.hpp"
#include "meshtensor/nn/linear.hpp"
#include "meshtensor/nn/loss.hpp"
#include "meshtensor/nn/norm.hpp"
#include "meshtensor/nn/optimizer.hpp"
#include "meshtensor/nn/schedule.hpp"
#include "meshtensor/nn/sgd.hpp"
#include "meshtensor/nn/spectral_norm.hpp"
