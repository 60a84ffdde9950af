// SPDX-License-Identifier: Apache-2.0
// A PJRT plugin that is another one, the file MESHTENSOR_WRAPPED, but for what hardware of tests lacks: devices with so
// many bytes of memory as MESHTENSOR_WRAPPED_BYTES says, of which MESHTENSOR_WRAPPED_USED are in use, on all but the
// first MESHTENSOR_WRAPPED_MORE beside them; and a client that is there when as many processes as the option num_nodes
// says have put a value and got those of the others, but for node MESHTENSOR_WRAPPED_SILENT, which puts none. Then each
// process has the first of its visible_devices, with the node's number, and programs are compiled for this process
// alone: they may not communicate. A run fails where MESHTENSOR_WRAPPED_FAILS says so: `before` it has begun, `after`
// it has taken its arguments, or in the `wait` for it; with MESHTENSOR_WRAPPED_MUTE nobody learns which ones it took.
// Its interface is version 0.MESHTENSOR_WRAPPED_MINOR, of which it has the first MESHTENSOR_WRAPPED_FUNCTIONS.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "meshtensor/device/pjrt/loaded_program.hpp"

namespace {

namespace pjrt = meshtensor::pjrt;

using function = pjrt::failure* (*)(void*);

function& slot_of(pjrt::table* t, pjrt::slot which) {
  void** const first = t->functions;
  return reinterpret_cast<function&>(first[static_cast<int>(which)]);
}

std::int64_t number(char const* variable) {
  char const* const value = std::getenv(variable);
  return value == nullptr ? 0 : std::atoll(value);
}

pjrt::failure* memory_of(void* arguments) {
  auto* const a = static_cast<pjrt::device_memory_arguments*>(arguments);
  static auto const* const first = a->which;  // as it is asked first
  a->in_use = number("MESHTENSOR_WRAPPED_USED") + (a->which == first ? 0 : number("MESHTENSOR_WRAPPED_MORE"));
  a->limit = {number("MESHTENSOR_WRAPPED_BYTES"), true};
  return nullptr;
}

function real_create = nullptr, real_devices = nullptr, real_id = nullptr, real_compile = nullptr;
function real_message = nullptr, real_destroy = nullptr;
std::int64_t nodes = 1, own = 0, visible = 0;

// Failures that the callbacks make.
std::set<pjrt::failure const*>& own_failures() {
  static std::set<pjrt::failure const*> all;
  return all;
}
pjrt::failure* make_failure(int code, char const* text, std::size_t length) {
  auto* const f =
      reinterpret_cast<pjrt::failure*>(new std::string(std::to_string(code) + ": " + std::string(text, length)));
  own_failures().insert(f);
  return f;
}
pjrt::failure* (*fail)(int, char const*, std::size_t) = make_failure;
pjrt::failure* message(void* arguments) {
  auto* const a = static_cast<pjrt::message_arguments*>(arguments);
  if (own_failures().count(a->which) == 0) return real_message(arguments);
  auto const& text = *reinterpret_cast<std::string const*>(a->which);
  a->text = text.data(), a->length = text.size();
  return nullptr;
}
pjrt::failure* destroy(void* arguments) {
  auto* const a = static_cast<pjrt::failure_arguments*>(arguments);
  if (own_failures().erase(a->which) == 0) return real_destroy(arguments);
  delete reinterpret_cast<std::string*>(a->which);
  return nullptr;
}

/// Puts this process's value, and waits for each of the others'.
pjrt::failure* exchange(pjrt::create_arguments* a) {
  std::string all;
  char const* const silent = std::getenv("MESHTENSOR_WRAPPED_SILENT");
  if (silent == nullptr || std::atoll(silent) != own) {
    std::string const key = "of_node_" + std::to_string(own), value("value\0of ", 9);
    std::string const whole = value + std::to_string(own);
    pjrt::key_value_put_arguments put{};
    put.head.size = sizeof put, put.fail = &fail;
    put.key = key.data(), put.key_length = key.size(), put.value = whole.data(), put.value_length = whole.size();
    put.user = a->put_user;
    if (pjrt::failure* const wrong = a->put(&put)) return wrong;
  }
  for (std::int64_t k = 0; k < nodes; ++k) {
    std::string const key = "of_node_" + std::to_string(k);
    pjrt::key_value_get_arguments get{};
    get.head.size = sizeof get, get.fail = &fail;
    get.key = key.data(), get.key_length = key.size(), get.user = a->get_user;
    get.wait_ms = silent == nullptr ? 20'000 : 300;
    if (pjrt::failure* const wrong = a->get(&get)) return wrong;
    all += std::string(get.value, get.value_length) + ";";
    get.release(get.value);
  }
  std::string const absent = "nobody";
  pjrt::key_value_try_arguments get{};
  get.head.size = sizeof get, get.fail = &fail;
  get.key = absent.data(), get.key_length = absent.size(), get.user = a->try_get_user;
  pjrt::failure* const lacks = a->try_get(&get);
  if (lacks == nullptr) std::abort();
  all += *reinterpret_cast<std::string const*>(lacks);
  own_failures().erase(lacks);
  delete reinterpret_cast<std::string*>(lacks);
  for (char& c : all)
    if (c == '\0') c = ' ';
  setenv("MESHTENSOR_WRAPPED_GOT", all.c_str(), 1);
  return nullptr;
}
pjrt::failure* create(void* arguments) {
  auto* const a = static_cast<pjrt::create_arguments*>(arguments);
  for (std::size_t i = 0; i < a->option_count; ++i) {
    std::string const name(a->options[i].name, a->options[i].name_length);
    if (name == "num_nodes") nodes = a->options[i].content.integer;
    if (name == "node_id") own = a->options[i].content.integer;
    if (name == "visible_devices") visible = a->options[i].content.integers[0];
  }
  if (nodes == 1) return real_create(arguments);
  setenv("MESHTENSOR_WRAPPED_VISIBLE", std::to_string(visible).c_str(), 1);
  a->option_count = 0;
  pjrt::failure* const wrong = exchange(a);
  return wrong != nullptr ? wrong : real_create(arguments);
}

// Of several nodes:
pjrt::failure* devices(void* arguments) {
  auto* const a = static_cast<pjrt::devices_arguments*>(arguments);
  pjrt::failure* const wrong = real_devices(arguments);
  if (wrong == nullptr && nodes > 1) a->all += visible, a->count = 1;
  return wrong;
}
pjrt::failure* id(void* arguments) {
  pjrt::failure* const wrong = real_id(arguments);
  if (nodes > 1) static_cast<pjrt::id_arguments*>(arguments)->id = static_cast<int>(own);
  return wrong;
}
pjrt::failure* compile(void* arguments) {
  auto* const a = static_cast<pjrt::compile_arguments*>(arguments);
  if (nodes == 1) return real_compile(arguments);
  std::vector<int> all(static_cast<std::size_t>(nodes));
  std::iota(all.begin(), all.end(), 0);
  bool const is_for_all =
      std::string(a->options, a->options_length) == pjrt::compile_options(all, pjrt::flags_of("cpu"));
  setenv("MESHTENSOR_WRAPPED_ASSIGNED", is_for_all ? "all" : "others", 1);
  std::string const alone = pjrt::compile_options({static_cast<int>(visible)}, pjrt::flags_of("cpu"));
  a->options = alone.data(), a->options_length = alone.size();
  return real_compile(arguments);
}

// ---- runs that fail ----

function real_execute = nullptr, real_await = nullptr, real_is_deleted = nullptr, real_buffer_destroy = nullptr,
         real_event_destroy = nullptr;
bool next_wait_fails = false;

bool is(char const* variable, char const* word) {
  char const* const value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, word) == 0;
}
pjrt::failure* of_hardware() {
  std::string const text = "the hardware is gone";
  return make_failure(13, text.data(), text.size());
}
pjrt::failure* execute(void* arguments) {
  auto* const a = static_cast<pjrt::execute_arguments*>(arguments);
  if (is("MESHTENSOR_WRAPPED_FAILS", "before")) return of_hardware();
  pjrt::failure* const wrong = real_execute(arguments);
  if (wrong != nullptr) return wrong;
  next_wait_fails = is("MESHTENSOR_WRAPPED_FAILS", "wait");
  if (!is("MESHTENSOR_WRAPPED_FAILS", "after")) return nullptr;
  std::size_t const results = static_cast<std::size_t>(number("MESHTENSOR_WRAPPED_RESULTS"));
  for (std::size_t k = 0; k < a->device_count; ++k) {
    pjrt::event_arguments e{};
    e.head.size = sizeof e, e.which = a->done[k];
    real_await(&e), real_event_destroy(&e);
    for (std::size_t i = 0; i < results; ++i) {
      pjrt::buffer_arguments b{};
      b.head.size = sizeof b, b.which = a->results[k][i];
      real_buffer_destroy(&b);
    }
  }
  return of_hardware();
}
pjrt::failure* await(void* arguments) {
  pjrt::failure* const wrong = real_await(arguments);
  return wrong == nullptr && std::exchange(next_wait_fails, false) ? of_hardware() : wrong;
}
pjrt::failure* is_deleted(void* arguments) {
  return std::getenv("MESHTENSOR_WRAPPED_MUTE") != nullptr ? of_hardware() : real_is_deleted(arguments);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) pjrt::table const* GetPjrtApi() {
  static pjrt::table* const table = [] {
    void* const library = dlopen(std::getenv("MESHTENSOR_WRAPPED"), RTLD_NOW | RTLD_LOCAL);
    auto const get = reinterpret_cast<pjrt::table const* (*)()>(dlsym(library, "GetPjrtApi"));
    pjrt::table const* const real = get();
    auto* const copy = static_cast<pjrt::table*>(std::malloc(real->head.size));
    std::memcpy(copy, real, real->head.size);
    if (auto const minor = number("MESHTENSOR_WRAPPED_MINOR")) copy->version.minor = static_cast<int>(minor);
    if (auto const count = number("MESHTENSOR_WRAPPED_FUNCTIONS"))
      copy->head.size = offsetof(pjrt::table, functions) + static_cast<std::size_t>(count) * sizeof(void*);
    if (number("MESHTENSOR_WRAPPED_BYTES") != 0) slot_of(copy, pjrt::slot::device_memory) = memory_of;
    auto const wrap = [&](pjrt::slot which, function& before, function instead) {
      before = slot_of(copy, which), slot_of(copy, which) = instead;
    };
    wrap(pjrt::slot::client_create, real_create, create);
    wrap(pjrt::slot::client_addressable_devices, real_devices, devices);
    wrap(pjrt::slot::description_id, real_id, id);
    wrap(pjrt::slot::client_compile, real_compile, compile);
    wrap(pjrt::slot::loaded_execute, real_execute, execute);
    wrap(pjrt::slot::event_await, real_await, await);
    wrap(pjrt::slot::buffer_is_deleted, real_is_deleted, is_deleted);
    real_buffer_destroy = slot_of(copy, pjrt::slot::buffer_destroy);
    real_event_destroy = slot_of(copy, pjrt::slot::event_destroy);
    wrap(pjrt::slot::failure_message, real_message, message);
    wrap(pjrt::slot::failure_destroy, real_destroy, destroy);
    return copy;
  }();
  return table;
}
