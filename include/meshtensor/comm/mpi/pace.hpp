// SPDX-License-Identifier: Apache-2.0
// Pauses between the polls of a wait, which grow with the number of polls.
#pragma once

#include <chrono>
#include <thread>

namespace meshtensor::comm {

/// Pauses between two polls. The first pauses are short.
class pace {
 public:
  void pause() {
    if (++looks_ < 50) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(looks_ < 500 ? 200 : 2000));
  }

 private:
  int looks_ = 0;
};

/// Pauses of a wait that is a part of each step. They are shorter than those of `pace`.
struct short_pace {
  void pause() {
    if (++looks < 200) std::this_thread::yield();
    else std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  int looks = 0;
};

}  // namespace meshtensor::comm
