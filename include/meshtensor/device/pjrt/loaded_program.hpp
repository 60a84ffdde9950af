// SPDX-License-Identifier: Apache-2.0
// A program on the devices of a client, compiled from StableHLO.
#pragma once

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meshtensor/device/pjrt/client.hpp"
#include "meshtensor/device/pjrt/compile_options.hpp"
#include "meshtensor/device/pjrt/held_tensor.hpp"
#include "meshtensor/device/pjrt/program_cache.hpp"
#include "meshtensor/device/pjrt/zeroed.hpp"

namespace meshtensor::pjrt {

/// A compiled program. Replica k runs on the k-th device of the client, or on that of rank k. This process runs only
/// its own replicas.
class loaded_program {
 public:
  /// A program that compiled in less time than this is not kept, because compiling it again is cheap.
  static constexpr double worth_keeping = 1;  // seconds

  /// Takes the program from the cache, or compiles it.
  ///
  /// errors  R72 the text is not accepted; R73 the client has too few devices
  loaded_program(device_client& c, std::string text, std::size_t replicas, std::vector<shared_type> arguments,
                 std::vector<shared_type> results, program_cache const& cache = program_cache::of_user(),
                 double least_seconds = worth_keeping)
      : client_(c), arguments_(std::move(arguments)), results_(std::move(results)) {
    if (replicas > c.ids().size())
      throw error("R73", {"the mesh has ", replicas, " ranks, but the PJRT plugin '", c.plugin().path(), "' has ",
                          c.ids().size(), " devices here: take a smaller mesh"});
    replicas_ = std::min(replicas, c.devices().size());
    std::vector<int> const ids(c.ids().begin(), c.ids().begin() + static_cast<std::ptrdiff_t>(replicas));
    std::string const options = compile_options(ids, flags_of(c.platform()));
    std::string const key = key_of(c, text, options);
    bool const is_alone = ids.size() == replicas_;  // otherwise all processes compile together
    if (auto const kept = is_alone ? cache.find(key) : std::nullopt) handle_ = loaded(*kept, options);
    if ((is_from_cache_ = handle_ != nullptr)) return;
    auto const begin = std::chrono::steady_clock::now();
    try {
      handle_ = compiled(text, options);
    } catch (error const& e) {  // a plugin of another version may not know the flags
      if (std::string_view(e.what()).find("compile option") == std::string_view::npos) throw;
      handle_ = compiled(text, compile_options(ids));
    }
    std::chrono::duration<double> const took = std::chrono::steady_clock::now() - begin;
    if (is_alone && took.count() >= least_seconds && !cache.folder().empty()) keep(cache, key);
  }
  loaded_program(loaded_program const&) = delete;
  loaded_program& operator=(loaded_program const&) = delete;
  ~loaded_program() {
    zeroed<loaded_arguments> a;
    a->which = handle_;
    client_.plugin().release(slot::loaded_destroy, a);
  }

  /// Whether the program was loaded from the cache and not compiled.
  bool is_from_cache() const { return is_from_cache_; }
  device_client& client() const { return client_; }

  /// The peak memory of a step on a device in bytes, arguments and results included, or nothing if the plugin does not
  /// tell.
  std::optional<std::int64_t> peak_bytes() const {
    zeroed<executable_memory_arguments> a;
    bool answered = false;
    of_executable([&](executable* e) { a->which = e, answered = client_.plugin().asks(slot::executable_memory, a); });
    if (!answered) return {};
    return std::max(a->peak, a->arguments + a->results - a->aliased + a->temporary);
  }

  /// The number of replicas that this process runs.
  std::size_t replicas() const { return replicas_; }

  /// Copies an argument from the host to a replica's device. errors R72
  held_tensor upload(std::size_t argument, std::size_t replica, void const* host) const {
    tensor_type const& t = *arguments_[argument];
    zeroed<from_host_arguments> a;
    a->which = client_.handle(), a->data = host, a->type = t.type, a->where = client_.devices()[replica];
    a->dims = t.dims.data(), a->dim_count = t.dims.size();
    client_.plugin().call(slot::buffer_from_host, a);
    held_tensor made(client_.plugin(), arguments_[argument], a->made);
    client_.plugin().await(a->is_read);
    return made;
  }

  /// Runs the program once, from the arguments of each replica to its results. The plugin does not check types, so the
  /// arguments must have the types with which the program was made. If a result takes the memory of an argument, that
  /// argument is gone.
  std::vector<std::vector<held_tensor>> run(std::vector<std::vector<buffer*>> const& given) const {
    std::vector<std::vector<buffer*>> made(replicas_, std::vector<buffer*>(results_.size()));
    std::vector<buffer* const*> arguments;
    std::vector<buffer**> results;
    std::vector<event*> done(replicas_);
    for (std::size_t k = 0; k < replicas_; ++k) arguments.push_back(given[k].data()), results.push_back(made[k].data());
    zeroed<execute_options> options;
    zeroed<execute_arguments> a;
    a->which = handle_, a->options = &*options, a->arguments = arguments.data(), a->results = results.data();
    a->device_count = replicas_, a->argument_count = arguments_.size(), a->done = done.data();
    client_.plugin().call(slot::loaded_execute, a);
    std::vector<std::vector<held_tensor>> all(replicas_);
    for (std::size_t k = 0; k < replicas_; ++k)
      for (std::size_t i = 0; i < results_.size(); ++i) all[k].emplace_back(client_.plugin(), results_[i], made[k][i]);
    await_all(done);
    return all;
  }

 private:
  /// The key of a program in the cache: everything on which the compiled program depends.
  static std::string key_of(device_client const& c, std::string const& text, std::string const& options) {
    std::string key = text + options;
    auto const add = [&](std::string const& word) { key += "\n" + word; };
    add(c.platform()), add(c.platform_version()), add(c.plugin().version()), add(c.plugin().path());
    std::error_code problem;
    add(std::to_string(std::filesystem::file_size(c.plugin().path(), problem)));
    for (std::size_t k = 0; k < c.devices().size(); ++k) add(c.kind(k));
    for (char const* name : {"XLA_FLAGS", "LIBTPU_INIT_ARGS", "MESHTENSOR_PJRT_OPTIONS"})
      if (char const* const value = std::getenv(name)) add(value);
    return key;
  }
  loaded_executable* compiled(std::string& text, std::string const& options) const {
    std::string const format = "mlir";
    zeroed<program> source;
    source->code = text.data(), source->length = text.size();
    source->format = format.data(), source->format_length = format.size();
    zeroed<compile_arguments> a;
    a->which = client_.handle(), a->source = &*source, a->options = options.data(), a->options_length = options.size();
    client_.plugin().call(slot::client_compile, a);
    return a->made;
  }
  /// Waits for the replicas. If one fails, this does not wait for the others, because they may wait for that one.
  void await_all(std::span<event* const> done) const {
    for (std::size_t k = 0; k < done.size(); ++k) try {
        client_.plugin().await(done[k]);
      } catch (...) {
        for (event* const e : done.subspan(k + 1)) client_.plugin().drop(e);
        throw;
      }
  }
  /// Loads a compiled program, or returns null if the plugin does not accept it.
  loaded_executable* loaded(std::string const& kept, std::string const& options) const {
    zeroed<deserialize_arguments> a;
    a->which = client_.handle(), a->bytes = kept.data(), a->length = kept.size();
    a->options = options.data(), a->options_length = options.size();
    return client_.plugin().asks(slot::loaded_deserialize, a) ? a->made : nullptr;
  }
  void keep(program_cache const& cache, std::string const& key) const {
    of_executable([&](executable* e) {
      zeroed<serialize_arguments> a;
      a->which = e;
      if (!client_.plugin().asks(slot::executable_serialize, a)) return;
      cache.keep(key, {a->bytes, a->length});
      if (a->release != nullptr) a->release(a->kept);
    });
  }
  template <class F>
  void of_executable(F const& use) const {
    zeroed<executable_of_arguments> a;
    a->which = handle_;
    client_.plugin().call(slot::loaded_executable, a);
    use(a->found);
    zeroed<executable_arguments> ends;
    ends->which = a->found;
    client_.plugin().release(slot::executable_destroy, ends);
  }

  device_client& client_;
  std::size_t replicas_ = 0;
  std::vector<shared_type> arguments_, results_;
  loaded_executable* handle_ = nullptr;
  bool is_from_cache_ = false;
};

}  // namespace meshtensor::pjrt
