// SPDX-License-Identifier: Apache-2.0
// A plugin's client, which has the devices of this process, alone or together with other processes.
#pragma once

#include <cstdlib>
#include <optional>
#include <vector>

#include "meshtensor/device/pjrt/choose_device.hpp"
#include "meshtensor/device/pjrt/create_options.hpp"
#include "meshtensor/device/pjrt/plugin.hpp"
#include "meshtensor/device/pjrt/value_callbacks.hpp"
#include "meshtensor/device/pjrt/zeroed.hpp"

namespace meshtensor::pjrt {

/// The devices of a plugin in this process. There is one client for each plugin, because some hardware does not allow a
/// second one.
class device_client {
 public:
  /// The client of a plugin's file. `among` has the processes of a job, if each of them gets one device. Then all of
  /// them make this call together, within `during`.
  ///
  /// errors  R70, R71, R72 the plugin cannot be loaded, or finds no hardware; R77 there are more ranks than devices;
  ///         R78 the plugin does not join processes
  static device_client& of_file(std::string const& path, comm::key_values* among = nullptr) {
    static std::mutex one_at_a_time;
    static auto& made = *new std::map<std::string, std::unique_ptr<device_client>>;
    std::lock_guard const lock(one_at_a_time);
    std::string const ranks =
        among == nullptr ? "" : "\n" + std::to_string(among->rank()) + " of " + std::to_string(among->size());
    auto& one = made[path + ranks];
    if (!one) one.reset(new device_client(plugin::of_file(path), among));
    return *one;
  }

  pjrt::plugin const& plugin() const { return plugin_; }
  client* handle() const { return handle_; }
  /// The devices on which this process runs programs.
  std::vector<device*> const& devices() const { return devices_; }
  /// The numbers of all devices: those of this process, or one for each rank of the job.
  std::vector<int> const& ids() const { return ids_; }

  /// The platform, for example `cpu`, `tpu` or `cuda`.
  std::string platform() const { return text_of(slot::client_platform_name); }
  /// Whether the devices have arithmetic in f64, instead of emulating it by pairs of f32.
  bool has_f64() const { return platform() != "tpu"; }
  /// The version of the plugin and of its runtime, as the plugin writes it.
  std::string platform_version() const { return text_of(slot::client_platform_version); }
  /// The bytes of a device that are free for programs, or nothing if the plugin does not tell.
  std::optional<std::int64_t> free_bytes(std::size_t k) const {
    zeroed<device_memory_arguments> a;
    a->which = devices_[k];
    if (!plugin_.asks(slot::device_memory, a) || !a->limit.is_set) return {};
    return a->limit.bytes - a->in_use;
  }
  /// The bytes of a device for programs in total, or nothing if the plugin does not tell.
  std::optional<std::int64_t> all_bytes(std::size_t k) const {
    zeroed<device_memory_arguments> a;
    a->which = devices_[k];
    if (!plugin_.asks(slot::device_memory, a) || !a->limit.is_set) return {};
    return a->limit.bytes;
  }
  /// The kind of a device, for example `TPU v5 lite`.
  std::string kind(std::size_t k) const {
    zeroed<kind_arguments> a;
    a->which = description(k);
    plugin_.call(slot::description_kind, a);
    return {a->text, a->length};
  }
  /// The number of a device among the devices of all processes.
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
  device_client(pjrt::plugin const& p, comm::key_values* among) : plugin_(p) {
    char const* const given = std::getenv("MESHTENSOR_PJRT_OPTIONS");
    create_options options(given == nullptr ? "" : given);
    zeroed<create_arguments> a;
    if (among != nullptr) {
      choose_device(options, *among, p.path());
      if (takes_nodes()) {
        options.set("num_nodes=" + std::to_string(among->size()));
        options.set("node_id=" + std::to_string(among->rank()));
      }
      value_callbacks::give_to(*a);
    }
    a->options = options.data(), a->option_count = options.size();
    plugin_.call(slot::client_create, a);
    handle_ = a->made;
    zeroed<devices_arguments> all;
    all->which = handle_;
    plugin_.call(slot::client_addressable_devices, all);
    devices_.assign(all->all, all->all + all->count);
    if (among == nullptr)
      for (std::size_t k = 0; k < devices_.size(); ++k) ids_.push_back(id(k));
    else join(*among);
  }
  /// Whether the plugin must be told its processes, as for GPUs. libtpu finds its processes by itself, and CPU plugins
  /// have none.
  bool takes_nodes() const {
    std::string const file = plugin_.path().substr(plugin_.path().rfind('/') + 1);
    return file != "libtpu.so" && file.find("cpu") == file.npos;
  }
  /// Exchanges the numbers of devices with the other ranks.
  void join(comm::key_values& among) {
    if (devices_.empty())
      throw error("R73", {"rank ", among.rank(), " of ", among.size(), " has no device of the PJRT plugin '",
                          plugin_.path(), "'"});
    devices_.resize(1);
    std::string const key = "client " + std::to_string(among.next_number()) + ": the device of rank ";
    among.put(key + std::to_string(among.rank()), std::to_string(id(0)));
    for (int r = 0; r < among.size(); ++r) {
      int const other = std::stoi(among.wait_for(key + std::to_string(r)));
      auto const same = std::find(ids_.begin(), ids_.end(), other);
      if (same != ids_.end())
        throw error("R78",
                    {"ranks ", same - ids_.begin(), " and ", r, " both have device ", other, " of the PJRT plugin '",
                     plugin_.path(), "', which does not join the devices of several processes: start one process"});
      ids_.push_back(other);
    }
  }
  device_description* description(std::size_t k) const {
    zeroed<description_arguments> a;
    a->which = devices_[k];
    plugin_.call(slot::device_description, a);
    return a->found;
  }

  pjrt::plugin const& plugin_;
  client* handle_ = nullptr;  // never destroyed, because threads of the plugin use it
  std::vector<device*> devices_;
  std::vector<int> ids_;
};

}  // namespace meshtensor::pjrt
