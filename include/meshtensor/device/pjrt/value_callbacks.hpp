// SPDX-License-Identifier: Apache-2.0
// The functions by which a plugin's client exchanges values with the clients of other processes.
#pragma once

#include <atomic>
#include <cstring>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/comm/key_values.hpp"
#include "meshtensor/device/pjrt/api.hpp"

namespace meshtensor::pjrt {

/// A client keeps these functions as long as the process exists. They use the values of the current call of `during`.
class value_callbacks {
 public:
  /// Makes a call on each rank of a job. During this call, the plugin's clients exchange values through `values`.
  static void during(comm::key_values& values, function_ref<void()> call) {
    values.during([&] {
      struct reach {
        explicit reach(comm::key_values* now) { current() = now; }
        ~reach() { current() = nullptr; }
      } const now(&values);
      call();
    });
  }
  static void give_to(create_arguments& a) { a.get = get, a.put = put, a.try_get = try_get; }

 private:
  enum code { deadline_exceeded = 4, not_found = 5, aborted = 10 };
  static std::atomic<comm::key_values*>& current() {
    static std::atomic<comm::key_values*> one = nullptr;
    return one;
  }
  static comm::key_values& values() {
    if (comm::key_values* const now = current()) return *now;
    throw error("R78",
                "values are exchanged between processes only while a client is made, a program is compiled, and its "
                "first step runs");
  }
  template <class Arguments>
  static failure* fails(Arguments const& a, code why, std::string_view text) {
    return (*a.fail)(why, text.data(), text.size());
  }
  /// Gives the value of `found` to the plugin, which releases it. If there is none, `otherwise` makes the failure.
  template <class Arguments, class Found, class Otherwise>
  static failure* answer(Arguments& a, Found const& found, Otherwise const& otherwise) {
    try {
      auto const value = found(std::string_view(a.key, a.key_length));
      if (!value) return otherwise(std::string(a.key, a.key_length));
      a.value = new char[value->size() + 1], a.value_length = value->size();
      std::memcpy(a.value, value->data(), value->size());
      a.release = [](char* kept) { delete[] kept; };
      return nullptr;
    } catch (std::exception const& e) { return fails(a, aborted, e.what()); }
  }
  static failure* get(key_value_get_arguments* a) {
    return answer(
        *a, [&](std::string_view key) { return values().get(key, std::chrono::milliseconds(a->wait_ms)); },
        [&](std::string const& key) {
          return fails(*a, deadline_exceeded,
                       "no process has put '" + key + "' within " + std::to_string(a->wait_ms) + " ms");
        });
  }
  static failure* try_get(key_value_try_arguments* a) {
    return answer(
        *a, [&](std::string_view key) { return values().find(key); },
        [&](std::string const& key) { return fails(*a, not_found, "no process has put '" + key + "'"); });
  }
  static failure* put(key_value_put_arguments* a) {
    try {
      values().put({a->key, a->key_length}, {a->value, a->value_length});
      return nullptr;
    } catch (std::exception const& e) { return fails(*a, aborted, e.what()); }
  }
};

}  // namespace meshtensor::pjrt
