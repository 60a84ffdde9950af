// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a device that takes whole programs, instead of single kernels.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "meshtensor/array/block.hpp"
#include "meshtensor/emit/stablehlo/port.hpp"
#include "meshtensor/run/engine.hpp"
#include "meshtensor/run/store.hpp"
#include "meshtensor/run/whole_program/lost_values.hpp"
#include "meshtensor/run/whole_program/places_in_dims.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

namespace detail {
/// errors  R74
[[noreturn]] inline void refuse_tool(char const* what) {
  throw error("R74", {what,
                      " see single operations, but this device runs programs whole: use them on another device, such "
                      "as mt::default_device"});
}
}  // namespace detail

/// A value of the store on the devices of a program's replicas.
template <class Tensor>
class copy_on_devices : public device_copy {
 public:
  std::vector<Tensor> parts;  // by rank

  void copy_to(std::span<arena> home) const override {
    for (std::size_t k = 0; k < parts.size(); ++k) parts[k].copy_to(home[k].data());
  }
};

/// One engine has all ranks of the mesh that this process holds, and the device runs the collectives itself. Values of
/// the store stay on the devices from step to step, until other code requests them.
///
/// errors  R74 a tool requests single nodes; R10 a slice, a pad or a put of a step is beyond its dim; R85 a step that
/// failed has taken the only copy of a value
template <whole_program_device Device>
class engine<Device> {
  using program = typename Device::whole_program;
  using tensor = typename program::tensor;

 public:
  static constexpr bool reads_instructions = false;

  engine(module const& m, plan const& p, int entry, std::span<instruction const>, Device device,
         std::span<rank_context> ranks, transport*)
      : m_(m),
        entry_(entry),
        device_(std::move(device)),
        program_(device_, m, p, entry, ranks[0].mesh()),
        places_(m, p.numbers),
        replicas_(ranks.size()),
        values_(static_cast<std::size_t>(m.variable_count)) {}

  /// Names the value of a variable. The value must outlive the engine.
  void use(id variable, stored& value) { values_[variable] = &value; }

  void run(std::span<external_buffers> external, number_value const* numbers, std::uint64_t seed, std::uint64_t step) {
    places_.require(numbers);
    if (has_run_) return run_once(external, numbers, seed, step);
    device_.during([&] {  // devices of several processes communicate
      require_room();
      run_once(external, numbers, seed, step);
    });
    has_run_ = true;
  }

  bool is_under_way() const { return false; }
  void record(bool on, int = 0) { require_no_tool(on, "profiles and timelines"); }
  timeline const* recorded() const { return nullptr; }
  using observer = std::function<void(node const&, std::span<rank_context const>)>;
  void observe(observer const& seen, observer const& before = {}) {
    require_no_tool(seen || before, "check_numerics and check");
  }
  Device& device() { return device_; }
  std::int64_t workspace_bytes() const { return 0; }

 private:
  void run_once(std::span<external_buffers> external, number_value const* numbers, std::uint64_t seed,
                std::uint64_t step) {
    auto const& arguments = program_.arguments();
    std::vector<std::vector<tensor>> uploaded(replicas_);  // for this step alone
    std::vector<std::vector<tensor const*>> given(replicas_);
    for (std::vector<tensor>& all : uploaded) all.reserve(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      stablehlo_port const& p = arguments[i];
      if (p.kind == stablehlo_port::variable) {
        std::vector<tensor> const& parts = kept(i, *values_[p.row]);
        for (std::size_t k = 0; k < replicas_; ++k) given[k].push_back(&parts[k]);
        continue;
      }
      if (p.kind != stablehlo_port::input) {
        std::vector<tensor> const& parts = scalar_on_devices(i, scalar(p, numbers, seed, step));
        for (std::size_t k = 0; k < replicas_; ++k) given[k].push_back(&parts[k]);
        continue;
      }
      for (std::size_t k = 0; k < replicas_; ++k)
        given[k].push_back(&uploaded[k].emplace_back(program_.upload(i, k, external[k].fed[p.row])));
    }
    std::vector<std::vector<tensor>> made = executed(given);
    auto const& results = program_.results();
    for (std::size_t i = 0; i < results.size(); ++i)  // first, because their arguments are gone
      if (results[i].kind == stablehlo_port::variable) keep(*values_[results[i].row], made, i);
    for (std::size_t i = 0; i < results.size(); ++i)
      for (std::size_t k = 0; k < replicas_ && results[i].kind != stablehlo_port::variable; ++k)
        if (std::byte* const to = external[k].given[results[i].row]) made[k][i].copy_to(to);
  }

  static void require_no_tool(bool wanted, char const* what) {
    if (wanted) detail::refuse_tool(what);
  }
  std::array<std::byte, 8> scalar(stablehlo_port const& p, number_value const* numbers, std::uint64_t seed,
                                  std::uint64_t step) const {
    std::array<std::byte, 8> bytes{};
    if (p.kind == stablehlo_port::seed || p.kind == stablehlo_port::step) {
      std::uint64_t const word = p.kind == stablehlo_port::seed ? seed : step;
      std::memcpy(bytes.data(), &word, sizeof word);
    }
    if (p.kind == stablehlo_port::number)
      with_element(p.type_in(m_), [&]<class E>() {
        auto const element = element_of<E>(numbers[p.row]);
        std::memcpy(bytes.data(), &element, sizeof element);
      });
    return bytes;
  }

  /// A number, seed or step on the devices. It is uploaded again only if it has changed.
  std::vector<tensor> const& scalar_on_devices(std::size_t argument, std::array<std::byte, 8> const& bytes) {
    scalars_.resize(program_.arguments().size());
    kept_scalar& kept = scalars_[argument];
    if (kept.parts.empty() || kept.bytes != bytes) {
      kept.parts.clear(), kept.bytes = bytes;
      for (std::size_t k = 0; k < replicas_; ++k) kept.parts.push_back(program_.upload(argument, k, bytes.data()));
    }
    return kept.parts;
  }
  void require_room() {
    if constexpr (requires { program_.require_room(0); }) {
      std::int64_t held = 0;
      for (stablehlo_port const& p : program_.arguments())
        if (p.kind == stablehlo_port::variable && values_[p.row]->on_device != nullptr)
          held += values_[p.row]->local_bytes();
      program_.require_room(held);
    }
  }

  std::vector<std::vector<tensor>> executed(std::vector<std::vector<tensor const*>> const& given) {
    try {
      return program_.run(given);
    } catch (...) {
      for (std::size_t v = 0; v < values_.size(); ++v)
        if (values_[v] != nullptr) look_after_failure(*values_[v], static_cast<id>(v));
      throw;
    }
  }
  /// After a step that failed, the host's copy of a value is used if it is current. Otherwise the copy on the devices
  /// is used, unless a result has taken its memory. In that case the value is lost.
  void look_after_failure(stored& value, id variable) const {
    if (!value.is_stale) return value.on_device.reset();
    auto const* const there = dynamic_cast<copy_on_devices<tensor>*>(value.on_device.get());
    if (there == nullptr) return;
    node const* const update = detail::update_of(m_, entry_, variable);
    if (std::ranges::any_of(there->parts, [&](tensor const& t) { return t.is_taken().value_or(update != nullptr); }))
      value.on_device = std::make_unique<lost_copy>(detail::loss_of(m_, variable, update));
  }
  /// The parts of a value on the devices. They are copied there if they are not there yet.
  std::vector<tensor> const& kept(std::size_t argument, stored& value) {
    if (auto* const there = dynamic_cast<copy_on_devices<tensor>*>(value.on_device.get())) return there->parts;
    auto made = std::make_unique<copy_on_devices<tensor>>();
    for (std::size_t k = 0; k < replicas_; ++k)
      made->parts.push_back(program_.upload(argument, k, value.read_block(k)));
    std::vector<tensor> const& parts = made->parts;
    value.on_device = std::move(made);
    return parts;
  }
  void keep(stored& value, std::vector<std::vector<tensor>>& made, std::size_t result) {
    auto copy = std::make_unique<copy_on_devices<tensor>>();
    for (std::size_t k = 0; k < replicas_; ++k) copy->parts.push_back(std::move(made[k][result]));
    value.on_device = std::move(copy), value.is_stale = true;
  }

  meshtensor::module const& m_;
  int entry_;
  Device device_;
  program program_;
  places_in_dims places_;
  std::size_t replicas_;
  std::vector<stored*> values_;  // by variable
  struct kept_scalar {
    std::array<std::byte, 8> bytes;
    std::vector<tensor> parts;
  };
  std::vector<kept_scalar> scalars_;  // by argument
  bool has_run_ = false;
};

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
