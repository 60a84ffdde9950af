// SPDX-License-Identifier: Apache-2.0
// A PJRT plugin that is another one, the file MESHTENSOR_WRAPPED, but for what hardware of tests lacks: devices with so
// many bytes of memory as MESHTENSOR_WRAPPED_BYTES says, of which MESHTENSOR_WRAPPED_USED are in use, and a client that
// is there when all MESHTENSOR_WRAPPED_NODES processes have put a value and got those of the others.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "meshtensor/device/pjrt/api.hpp"

namespace {

namespace pjrt = meshtensor::pjrt;

using function = pjrt::failure* (*)(void*);

function& slot_of(pjrt::table* t, pjrt::slot which) {
  void** const first = t->functions;
  return reinterpret_cast<function&>(first[static_cast<int>(which)]);
}
function real_create = nullptr;

std::int64_t number(char const* variable) {
  char const* const value = std::getenv(variable);
  return value == nullptr ? 0 : std::atoll(value);
}

pjrt::failure* memory_of(void* arguments) {
  auto* const a = static_cast<pjrt::device_memory_arguments*>(arguments);
  a->in_use = number("MESHTENSOR_WRAPPED_USED");
  a->limit = {number("MESHTENSOR_WRAPPED_BYTES"), true};
  return nullptr;
}

/// Puts this process's value, and waits for each of the others'.
pjrt::failure* create(void* arguments) {
  auto* const a = static_cast<pjrt::create_arguments*>(arguments);
  std::int64_t nodes = 1, own = 0;
  for (std::size_t i = 0; i < a->option_count; ++i) {
    std::string const name(a->options[i].name, a->options[i].name_length);
    if (name == "num_nodes") nodes = a->options[i].content.integer;
    if (name == "node_id") own = a->options[i].content.integer;
  }
  std::string all;
  for (std::int64_t k = 0; nodes > 1 && k < nodes; ++k) {
    if (k == 0) {
      std::string const key = "of_node_" + std::to_string(own), value("value\0of ", 9);
      std::string const whole = value + std::to_string(own);
      pjrt::key_value_put_arguments put{};
      put.head.size = sizeof put;
      put.key = key.data(), put.key_length = key.size(), put.value = whole.data(), put.value_length = whole.size();
      put.user = a->put_user;
      if (pjrt::failure* const wrong = a->put(&put)) return wrong;
    }
    std::string const key = "of_node_" + std::to_string(k);
    pjrt::key_value_get_arguments get{};
    get.head.size = sizeof get;
    get.key = key.data(), get.key_length = key.size(), get.wait_ms = 20'000, get.user = a->get_user;
    if (pjrt::failure* const wrong = a->get(&get)) return wrong;
    all += std::string(get.value, get.value_length) + ";";
    get.release(get.value);
  }
  for (char& c : all)
    if (c == '\0') c = ' ';
  setenv("MESHTENSOR_WRAPPED_GOT", all.c_str(), 1);
  return real_create(arguments);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) pjrt::table const* GetPjrtApi() {
  static pjrt::table* const own = [] {
    void* const library = dlopen(std::getenv("MESHTENSOR_WRAPPED"), RTLD_NOW | RTLD_LOCAL);
    auto const get = reinterpret_cast<pjrt::table const* (*)()>(dlsym(library, "GetPjrtApi"));
    pjrt::table const* const real = get();
    auto* const copy = static_cast<pjrt::table*>(std::malloc(real->head.size));
    std::memcpy(copy, real, real->head.size);
    if (number("MESHTENSOR_WRAPPED_BYTES") != 0) slot_of(copy, pjrt::slot::device_memory) = memory_of;
    real_create = slot_of(copy, pjrt::slot::client_create);
    slot_of(copy, pjrt::slot::client_create) = create;
    return copy;
  }();
  return own;
}
