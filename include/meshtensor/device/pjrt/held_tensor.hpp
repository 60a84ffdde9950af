// SPDX-License-Identifier: Apache-2.0
// A tensor in the memory of a device of a PJRT client, with its type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/device/pjrt/plugin.hpp"
#include "meshtensor/device/pjrt/zeroed.hpp"

namespace meshtensor::pjrt {

/// The type of an argument or a result on one device. It is dense, and its last dim varies fastest.
struct tensor_type {
  element type;
  std::vector<std::int64_t> dims;
  std::size_t bytes;
};
using shared_type = std::shared_ptr<tensor_type const>;
constexpr element element_of(dtype t) {
  constexpr element all[] = {element::f64, element::f32, element::bf16,   element::i32,
                             element::i64, element::u8,  element::boolean};
  return all[static_cast<int>(t)];
}

/// A tensor on a device.
class held_tensor {
 public:
  held_tensor(plugin const& p, shared_type t, buffer* b) : plugin_(&p), type_(std::move(t)), handle_(b) {}
  held_tensor(held_tensor&& from) noexcept
      : plugin_(from.plugin_), type_(std::move(from.type_)), handle_(std::exchange(from.handle_, nullptr)) {}
  held_tensor& operator=(held_tensor&& from) noexcept {
    std::swap(plugin_, from.plugin_), std::swap(type_, from.type_), std::swap(handle_, from.handle_);
    return *this;
  }
  ~held_tensor() {
    if (handle_ == nullptr) return;
    zeroed<buffer_arguments> a;
    a->which = handle_;
    plugin_->release(slot::buffer_destroy, a);
  }
  buffer* handle() const { return handle_; }
  /// Whether a run has taken the tensor's memory for a result, or nothing if the plugin does not tell.
  std::optional<bool> is_taken() const {
    zeroed<is_deleted_arguments> a;
    a->which = handle_;
    if (!plugin_->asks(slot::buffer_is_deleted, a)) return {};
    return a->is_deleted;
  }

  /// Copies the tensor into memory of the host. errors R72
  void copy_to(void* host) const {
    std::vector<std::int64_t> order;
    for (std::size_t i = type_->dims.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
    zeroed<memory_layout> dense;
    dense->tiled.head.size = sizeof(tiled_layout);
    dense->tiled.minor_to_major = order.data(), dense->tiled.dim_count = order.size();
    zeroed<to_host_arguments> a;
    a->which = handle_, a->layout = &*dense, a->to = host, a->bytes = type_->bytes;
    plugin_->call(slot::buffer_to_host, a);
    plugin_->await(a->is_written);
  }

 private:
  plugin const* plugin_;
  shared_type type_;
  buffer* handle_;
};

}  // namespace meshtensor::pjrt
