// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a device that takes programs whole, instead of kernel by kernel.
#pragma once

#include <array>

#include "meshtensor/array/block.hpp"
#include "meshtensor/emit/stablehlo/port.hpp"
#include "meshtensor/run/engine.hpp"

namespace meshtensor {

template <class Device>
concept whole_program_device = requires { typename Device::whole_program; };

/// One engine has all processors of the mesh; collectives are the device's own.
///
/// errors  R74 this process does not hold all processors, or a tool looks for single nodes
template <whole_program_device Device>
class engine<Device> {
 public:
  engine(module const& m, plan const& p, int entry, Device device, std::span<rank_context> processors,
         std::unique_ptr<exchanges>)
      : m_(m), device_(std::move(device)), program_(m, p, entry, whole_mesh(processors)) {}

  void run(std::span<external_buffers> external, double const* numbers, std::uint64_t seed, std::uint64_t step) {
    auto const& arguments = program_.arguments();
    std::vector<std::array<std::byte, 8>> scalars(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) scalars[i] = scalar(arguments[i], numbers, seed, step);
    program_.run(
        [&](std::size_t k, std::size_t i) -> void const* {
          stablehlo_port const& p = arguments[i];
          if (p.kind == stablehlo_port::input) return external[k].fed[p.row];
          if (p.kind == stablehlo_port::variable) return external[k].variables[p.row];
          return scalars[i].data();
        },
        [&](std::size_t k, std::size_t i) -> void* {
          stablehlo_port const& p = program_.results()[i];
          return p.kind == stablehlo_port::output ? external[k].given[p.row] : external[k].variables[p.row];
        });
  }

  bool is_under_way() const { return false; }
  void record(bool on) { require_no_tool(on, "profiles and timelines"); }
  timeline const* recorded() const { return nullptr; }
  using observer = std::function<void(node const&, std::span<rank_context const>)>;
  void observe(observer const& seen, observer const& before = {}) {
    require_no_tool(seen || before, "check_numerics and check");
  }
  Device& device() { return device_; }
  std::int64_t workspace_bytes() const { return 0; }

 private:
  static mesh_shape const& whole_mesh(std::span<rank_context> processors) {
    mesh_shape const& mesh = processors[0].mesh();
    if (static_cast<std::int64_t>(processors.size()) != mesh.size())
      throw error("R74", {"this device runs all ", mesh.size(), " processors of the mesh in one process, but this one ",
                          "holds ", processors.size(), ": start one process, with as many devices"});
    return mesh;
  }
  static void require_no_tool(bool wanted, char const* what) {
    if (wanted) throw error("R74", {what, " see single operations, but this device runs programs whole"});
  }
  std::array<std::byte, 8> scalar(stablehlo_port const& p, double const* numbers, std::uint64_t seed,
                                  std::uint64_t step) const {
    std::array<std::byte, 8> bytes{};
    if (p.kind == stablehlo_port::seed || p.kind == stablehlo_port::step) {
      std::uint64_t const word = p.kind == stablehlo_port::seed ? seed : step;
      std::memcpy(bytes.data(), &word, sizeof word);
    }
    if (p.kind == stablehlo_port::number)
      with_element(m_.values[p.value].type, [&]<class E>() {
        auto const element = static_cast<E>(static_cast<arithmetic_t<E>>(numbers[p.row]));
        std::memcpy(bytes.data(), &element, sizeof element);
      });
    return bytes;
  }

  meshtensor::module const& m_;
  Device device_;
  typename Device::whole_program program_;
};

}  // namespace meshtensor
