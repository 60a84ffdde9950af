// SPDX-License-Identifier: Apache-2.0
#include "speaking.hpp"

#include "../common/built_devices.hpp"
#include "speaking_on.hpp"

namespace translation {

speaking::speaking(mt::store& weights, options const& o, std::int64_t pieces,
                   mt::datasets::special_tokens const& special)
    : all_(examples::on_device(o.device, [&]<class Device>(std::type_identity<Device>) -> std::unique_ptr<translator> {
        return std::make_unique<programs_on<Device>>(weights, o, pieces, special);
      })) {}
speaking::~speaking() = default;

std::vector<sentence> speaking::translate(std::span<std::span<std::int32_t const> const> sources) {
  return all_->translate(sources);
}
std::string speaking::profile() const { return all_->profile(); }

}  // namespace translation
