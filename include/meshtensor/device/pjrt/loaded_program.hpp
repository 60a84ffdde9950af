// SPDX-License-Identifier: Apache-2.0
// A program on the devices of a client, compiled from StableHLO.
#pragma once

#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/protobuf.hpp"
#include "meshtensor/device/pjrt/client.hpp"
#include "meshtensor/device/pjrt/program_cache.hpp"

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

/// Flags of XLA for one compilation.
using xla_flags = std::vector<std::pair<std::string, std::string>>;
/// The flags for a platform. Without its flag, the maximum on a CPU does not propagate a NaN. On a GPU, f32 products
/// that XLA compiles to kernels of its own take a minute to compile, and run no faster than those of cuBLAS.
inline xla_flags flags_of(std::string const& platform) {
  if (platform == "cpu") return {{"xla_cpu_enable_fast_min_max", "False"}};
  if (platform == "cuda") return {{"xla_gpu_enable_triton_gemm", "False"}};
  return {};
}

/// XLA's CompileOptionsProto, with one replica for each of these devices.
inline std::string compile_options(std::vector<int> const& devices, xla_flags const& flags = {}) {
  auto const count = static_cast<std::int64_t>(devices.size());
  std::string ids;
  for (auto id : devices) {
    auto rest = static_cast<unsigned>(id);
    for (; rest > 0x7f; rest >>= 7) ids += static_cast<char>(rest | 0x80);
    ids += static_cast<char>(rest);
  }
  using meshtensor::detail::message;
  message const computation = message().text(1, ids);
  message const assignment = message().integer(1, count).integer(2, 1).inner(3, computation);
  message const build = message().integer(4, count).integer(5, 1).inner(9, assignment);
  message all = message().inner(3, build);
  for (auto const& [name, value] : flags) all.inner(7, message().text(1, name).inner(2, message().text(1, value)));
  return all.bytes();
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
