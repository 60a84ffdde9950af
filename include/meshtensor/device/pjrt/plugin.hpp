// SPDX-License-Identifier: Apache-2.0
// A PJRT plugin, which is a shared object that compiles and runs StableHLO on some hardware.
#pragma once

#include <dlfcn.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <type_traits>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/pjrt/api.hpp"
#include "meshtensor/device/pjrt/zeroed.hpp"

namespace meshtensor::pjrt {

/// A loaded plugin. It is never unloaded, because it has threads of its own.
class plugin {
 public:
  /// Returns the plugin of a file, which is loaded only once. If the name has no slash and is not a file of the current
  /// folder, the system looks for it as for any library.
  ///
  /// errors  R70 the file cannot be loaded, or is no plugin; R71 its version is not one that meshtensor knows
  static plugin const& of_file(std::string const& path) {
    static std::mutex one_at_a_time;
    static auto& loaded = *new std::map<std::string, std::unique_ptr<plugin>>;
    std::lock_guard const lock(one_at_a_time);
    auto& one = loaded[path];
    if (!one) one.reset(new plugin(path));
    return *one;
  }

  std::string const& path() const { return path_; }
  /// The version of the interface, for example `0.115`.
  std::string version() const {
    return std::to_string(table_->version.major) + "." + std::to_string(table_->version.minor);
  }
  /// Whether the table has a function. Functions that only give information may be absent.
  bool has(slot which) const {
    auto const place = static_cast<std::size_t>(which);
    void* const* const first = table_->functions;
    return table_->head.size >= offsetof(table, functions) + (place + 1) * sizeof(void*) && first[place] != nullptr;
  }
  /// Calls a function that a plugin may lack or not implement. Returns whether it gave an answer.
  template <class Arguments>
  bool asks(slot which, zeroed<Arguments>& arguments) const {
    if (!has(which)) return false;
    failure* const wrong = reinterpret_cast<failure* (*)(void*)>(function(which))(&*arguments);
    if (wrong != nullptr) destroy(wrong);
    return wrong == nullptr;
  }

  /// Calls a function of the table.
  ///
  /// errors  R72 the plugin reports an error
  template <class Arguments>
  void call(slot which, zeroed<Arguments>& arguments) const {
    auto const f = reinterpret_cast<failure* (*)(void*)>(function(which));
    if (failure* const wrong = f(&*arguments)) fail(wrong);
  }
  /// Calls a function of the table that cannot fail.
  template <class Arguments>
  void release(slot which, zeroed<Arguments>& arguments) const {
    auto const f = reinterpret_cast<failure* (*)(void*)>(function(which));
    if (failure* const wrong = f(&*arguments)) destroy(wrong);
  }
  /// Waits for an event, if there is one, and destroys it. errors R72
  void await(event* which) const {
    if (which == nullptr) return;
    zeroed<event_arguments> waits;
    waits->which = which;
    auto const f = reinterpret_cast<failure* (*)(void*)>(function(slot::event_await));
    failure* const wrong = f(&*waits);
    drop(which);
    if (wrong != nullptr) fail(wrong);
  }
  /// Destroys an event, if there is one.
  void drop(event* which) const {
    if (which == nullptr) return;
    zeroed<event_arguments> ends;
    ends->which = which;
    release(slot::event_destroy, ends);
  }

 private:
  explicit plugin(std::string const& path) : path_(path) {
    std::error_code unknown;
    bool const is_here = path.find('/') == path.npos && std::filesystem::exists(path, unknown);
    void* const library = dlopen((is_here ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw error("R70", {"the PJRT plugin '", path, "' cannot be loaded: ", dlerror()});
    auto const get = reinterpret_cast<table const* (*)()>(dlsym(library, "GetPjrtApi"));
    if (get == nullptr || (table_ = get()) == nullptr)
      throw error("R70", {"'", path, "' is no PJRT plugin: it has no function GetPjrtApi"});
    if (auto const& v = table_->version; v.major != 0 || v.minor < 57)
      throw error("R71", {"the PJRT plugin '", path, "' has version ", v.major, ".", v.minor,
                          " of the interface, but meshtensor knows 0.57 and later ones of 0"});
    zeroed<initialize_arguments> none;
    call(slot::plugin_initialize, none);
  }

  void* function(slot which) const {
    if (!has(which))
      throw error("R71", {"the PJRT plugin '", path_, "' lacks function ", static_cast<int>(which),
                          " of the interface: take a newer plugin"});
    return static_cast<void* const*>(table_->functions)[static_cast<std::size_t>(which)];
  }
  [[noreturn]] void fail(failure* wrong) const {
    zeroed<message_arguments> says;
    says->which = wrong;
    reinterpret_cast<void (*)(void*)>(function(slot::failure_message))(&*says);
    std::string const text(says->text, says->length);
    destroy(wrong);
    throw error("R72", {"the PJRT plugin '", path_, "' says: ", text});
  }
  void destroy(failure* wrong) const {
    zeroed<failure_arguments> ends;
    ends->which = wrong;
    reinterpret_cast<void (*)(void*)>(function(slot::failure_destroy))(&*ends);
  }

  std::string path_;
  table const* table_ = nullptr;
};

}  // namespace meshtensor::pjrt
