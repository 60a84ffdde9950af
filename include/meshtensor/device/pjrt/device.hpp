// SPDX-License-Identifier: Apache-2.0
// Runs programs on TPUs, GPUs and any other hardware with a PJRT plugin, which compiles and runs a whole program.
#pragma once

#include <memory>
#include <span>

#include "meshtensor/comm/process_group.hpp"
#include "meshtensor/device/cpu/fill_part.hpp"
#include "meshtensor/device/pjrt/find_plugin.hpp"
#include "meshtensor/device/pjrt/loaded_program.hpp"
#include "meshtensor/device/pjrt/refusal.hpp"
#include "meshtensor/device/pjrt/room.hpp"
#include "meshtensor/emit/stablehlo.hpp"
#include "meshtensor/pass/plan_memory.hpp"

namespace meshtensor {

/// A device for `executable<Program, Mesh, Layout, mt::pjrt_device>`. The file of the plugin is named by
/// `MESHTENSOR_PJRT` or found in an installed Python package. The plugin runs the program on as many devices as the
/// mesh has ranks: devices of this process, or one of each process of a job.
///
/// errors  R70 there is no plugin; R71 it is too old; R72 the plugin reports an error; R73 it has too few devices; R77
///         a machine has fewer devices than ranks; R78 the plugin does not join processes; R01, S02 a program without a
///         form in StableHLO; M11, before the first step, a device has too little memory
struct pjrt_device {
  class whole_program;

  /// The processes of which each has a device, or null if this process has all devices.
  comm::key_values* among = nullptr;

  /// Uses one device in each process of a group.
  void join(process_group& processes) { among = &processes.values(); }
  /// Makes a call in which plugins may exchange values, such as a compilation or a first step.
  void during(function_ref<void()> call) const {
    if (among == nullptr) call();
    else pjrt::value_callbacks::during(*among, call);
  }
  /// Fills a dense part of a variable with its initial value. The host's processors compute it, because their values
  /// have the same bits for every device.
  static void fill(view const& where, initial_value const& first) { cpu::fill_part(where, first); }
};

/// One entry of a program, compiled by the plugin.
class pjrt_device::whole_program {
 public:
  whole_program(pjrt_device const& on, module const& m, plan const& p, int entry, mesh_shape const& mesh)
      : m_(m), p_(p) {
    on.during([&] {
      auto& client = pjrt::device_client::of_file(pjrt::plugin_to_use(), on.among);
      ports_ = stablehlo(m, entry, p.numbers, mesh, {.has_f64 = client.has_f64()});
      loaded_.reset(new pjrt::loaded_program(compiled(client, m, p, mesh)));
    });
  }

  std::vector<stablehlo_port> const& arguments() const { return ports_.arguments; }
  std::vector<stablehlo_port> const& results() const { return ports_.results; }

  using tensor = pjrt::held_tensor;
  tensor upload(std::size_t argument, std::size_t replica, void const* host) const {
    return loaded_->upload(argument, replica, host);
  }
  /// Runs the entry once, see `loaded_program::run`.
  std::vector<std::vector<tensor>> run(std::vector<std::vector<tensor const*>> const& given) const {
    std::vector<std::vector<pjrt::buffer*>> buffers(given.size());
    for (std::size_t k = 0; k < given.size(); ++k)
      for (tensor const* t : given[k]) buffers[k].push_back(t->handle());
    return loaded_->run(buffers);
  }

  /// Compares the memory that a step needs with the free memory of the devices. `held` has the bytes of arguments that
  /// are already on a device.
  ///
  /// errors  M11
  void require_room(std::int64_t held) const { pjrt::require_room(*loaded_, m_, p_, ports_.arguments, held); }
  bool is_from_cache() const { return loaded_->is_from_cache(); }

 private:
  pjrt::loaded_program compiled(pjrt::device_client& client, module const& m, plan const& p, mesh_shape const& mesh) {
    pjrt::require_room_for_arguments(client, static_cast<std::size_t>(mesh.size()), m, p, ports_.arguments);
    try {
      return {client, std::exchange(ports_.text, {}), static_cast<std::size_t>(mesh.size()),
              types(m, p, ports_.arguments), types(m, p, ports_.results)};
    } catch (error const& e) {
      if (e.code() == "R72") pjrt::refuse(e, m, ports_.nodes, client.plugin().path());
      throw;
    }
  }
  static std::vector<pjrt::shared_type> types(module const& m, plan const& p,
                                              std::vector<stablehlo_port> const& ports) {
    std::vector<pjrt::shared_type> all;
    for (stablehlo_port const& port : ports) {
      if (port.kind == stablehlo_port::number) {
        dtype const type = port.type_in(m);
        all.push_back(
            std::make_shared<pjrt::tensor_type>(pjrt::tensor_type{pjrt::element_of(type), {}, bytes_of(type)}));
        continue;
      }
      if (port.value == no_id) {  // seed or step
        all.push_back(std::make_shared<pjrt::tensor_type>(pjrt::tensor_type{pjrt::element::u64, {}, 8}));
        continue;
      }
      value const& v = m.values[port.value];
      pjrt::tensor_type t{pjrt::element_of(v.type), {}, static_cast<std::size_t>(p.numbers.local_bytes(v))};
      for (int i = 0; i < v.dims.count; ++i) t.dims.push_back(p.numbers.local(v, i));
      all.push_back(std::make_shared<pjrt::tensor_type>(std::move(t)));
    }
    return all;
  }

  meshtensor::module const& m_;
  plan const& p_;
  stablehlo_program ports_;
  std::unique_ptr<pjrt::loaded_program> loaded_;
};

}  // namespace meshtensor
