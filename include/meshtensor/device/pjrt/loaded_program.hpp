// SPDX-License-Identifier: Apache-2.0
// A program on the devices of a client: compiled from StableHLO, run with tensors of the host.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "meshtensor/base/dtype.hpp"
#include "meshtensor/base/protobuf.hpp"
#include "meshtensor/device/pjrt/client.hpp"

namespace meshtensor::pjrt {

/// How an argument or a result looks on one device: dense, the last dim varies fastest.
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
/// Flags without which a platform would compute something else: on a processor a maximum passes a NaN over.
inline xla_flags flags_of(std::string const& platform) {
  if (platform == "cpu") return {{"xla_cpu_enable_fast_min_max", "False"}};
  return {};
}

/// XLA's CompileOptionsProto: one replica for each of these devices.
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

  /// Copies it into memory of the host. errors R72
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

/// A compiled program. Replica k runs on the k-th device of the client.
class loaded_program {
 public:
  /// errors  R72 the text is not accepted; R73 the client has too few devices
  loaded_program(device_client& c, std::string text, std::size_t replicas, std::vector<shared_type> arguments,
                 std::vector<shared_type> results)
      : client_(c), replicas_(replicas), arguments_(std::move(arguments)), results_(std::move(results)) {
    if (replicas > c.devices().size())
      throw error("R73", {"the mesh has ", replicas, " processors, but the PJRT plugin '", c.plugin().path(), "' has ",
                          c.devices().size(), " devices here: take a smaller mesh"});
    std::vector<int> ids;
    for (std::size_t k = 0; k < replicas; ++k) ids.push_back(c.id(k));
    std::string const options = compile_options(ids, flags_of(c.platform())), format = "mlir";
    zeroed<program> source;
    source->code = text.data(), source->length = text.size();
    source->format = format.data(), source->format_length = format.size();
    zeroed<compile_arguments> a;
    a->which = c.handle(), a->source = &*source, a->options = options.data(), a->options_length = options.size();
    c.plugin().call(slot::client_compile, a);
    handle_ = a->made;
  }
  loaded_program(loaded_program const&) = delete;
  loaded_program& operator=(loaded_program const&) = delete;
  ~loaded_program() {
    zeroed<loaded_arguments> a;
    a->which = handle_;
    client_.plugin().release(slot::loaded_destroy, a);
  }

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

  /// Runs the program once: from the arguments of each replica to its results. The plugin does not check types, so they
  /// must be those that the program was made with. An argument whose memory a result takes is gone.
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
    for (event* e : done) client_.plugin().await(e);
    return all;
  }

 private:
  device_client& client_;
  std::size_t replicas_;
  std::vector<shared_type> arguments_, results_;
  loaded_executable* handle_ = nullptr;
};

}  // namespace meshtensor::pjrt
