// SPDX-License-Identifier: Apache-2.0
// Remembers the values that arguments of an eager scope replace, so that a refused step takes none of its arguments.
#pragma once

#include <functional>
#include <utility>
#include <vector>

namespace meshtensor::detail {

class argument_log {
 public:
  /// Replaces a value.
  template <class T>
  void replace(T& value, T by) {
    restore_.push_back([&value, before = std::move(value)] { value = before; });
    value = std::move(by);
  }
  /// Replaces the value of a key, or adds it.
  template <class Map>
  void replace(Map& all, typename Map::key_type const& key, typename Map::mapped_type by) {
    if (auto const at = all.find(key); at != all.end()) return replace(at->second, std::move(by));
    restore_.push_back([&all, key] { all.erase(key); });
    all.emplace(key, std::move(by));
  }
  /// Adds an element at the end.
  template <class T>
  void append(std::vector<T>& all, T const& element) {
    restore_.push_back([&all] { all.pop_back(); });
    all.push_back(element);
  }

  /// Runs `f`, which replaces values. If it throws, all of them are restored.
  template <class F>
  void keep_if_done(F const& f) {
    restore_.clear();
    try {
      f();
    } catch (...) {
      for (; !restore_.empty(); restore_.pop_back()) restore_.back()();
      throw;
    }
    restore_.clear();
  }

 private:
  std::vector<std::function<void()>> restore_;  // in order
};

}  // namespace meshtensor::detail
