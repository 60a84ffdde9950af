// SPDX-License-Identifier: Apache-2.0
// A plugin's client: the devices that this process has.
#pragma once

#include <cstdlib>
#include <optional>
#include <vector>

#include "meshtensor/device/pjrt/create_options.hpp"
#include "meshtensor/device/pjrt/plugin.hpp"

namespace meshtensor::pjrt {

/// The devices of a plugin in this process. There is one client for each plugin: some hardware allows no second one.
class device_client {
 public:
  /// errors  R70, R71, R72 the plugin cannot be loaded, or finds no hardware
  static device_client& of_file(std::string const& path) {
    static std::mutex one_at_a_time;
    static auto& made = *new std::map<std::string, std::unique_ptr<device_client>>;
    std::lock_guard const lock(one_at_a_time);
    auto& one = made[path];
    if (!one) one.reset(new device_client(plugin::of_file(path)));
    return *one;
  }

  pjrt::plugin const& plugin() const { return plugin_; }
  client* handle() const { return handle_; }
  std::vector<device*> const& devices() const { return devices_; }

  /// `cpu`, `tpu`, `cuda`.
  std::string platform() const { return text_of(slot::client_platform_name); }
  /// The plugin's own version and that of what it drives, in its words.
  std::string platform_version() const { return text_of(slot::client_platform_version); }
  /// The bytes of a device that are free for programs; nothing, if the plugin does not say.
  std::optional<std::int64_t> free_bytes(std::size_t k) const {
    zeroed<device_memory_arguments> a;
    a->which = devices_[k];
    if (!plugin_.asks(slot::device_memory, a) || !a->limit.is_set) return {};
    return a->limit.bytes - a->in_use;
  }
  /// The bytes that programs may have on a device in all; nothing, if the plugin does not say.
  std::optional<std::int64_t> all_bytes(std::size_t k) const {
    zeroed<device_memory_arguments> a;
    a->which = devices_[k];
    if (!plugin_.asks(slot::device_memory, a) || !a->limit.is_set) return {};
    return a->limit.bytes;
  }
  /// The kind of a device: `TPU v5 lite`.
  std::string kind(std::size_t k) const {
    zeroed<kind_arguments> a;
    a->which = description(k);
    plugin_.call(slot::description_kind, a);
    return {a->text, a->length};
  }
  /// Its number among the devices of all processes.
  int id(std::size_t k) const {
    zeroed<id_arguments> a;
    a->which = description(k);
    plugin_.call(slot::description_id, a);
    return a->id;
  }

 private:
  std::string text_of(slot which) const {
    zeroed<name_arguments> a;
    a->which = handle_;
    plugin_.call(which, a);
    return {a->text, a->length};
  }
  explicit device_client(pjrt::plugin const& p) : plugin_(p) {
    char const* const given = std::getenv("MESHTENSOR_PJRT_OPTIONS");
    create_options const options(given == nullptr ? "" : given);
    zeroed<create_arguments> a;
    a->options = options.data(), a->option_count = options.size();
    plugin_.call(slot::client_create, a);
    handle_ = a->made;
    zeroed<devices_arguments> all;
    all->which = handle_;
    plugin_.call(slot::client_addressable_devices, all);
    devices_.assign(all->all, all->all + all->count);
  }
  device_description* description(std::size_t k) const {
    zeroed<description_arguments> a;
    a->which = devices_[k];
    plugin_.call(slot::device_description, a);
    return a->found;
  }

  pjrt::plugin const& plugin_;
  client* handle_ = nullptr;  // as long as the process: threads of the plugin use it
  std::vector<device*> devices_;
};

}  // namespace meshtensor::pjrt
