// SPDX-License-Identifier: Apache-2.0
// Feeds a guest from arrays of its caller, and writes its outputs into them. It knows ports by number, not by type.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "meshtensor/emit/guest_interface.hpp"
#include "meshtensor/run/executable.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// An array of a C caller: an address with extents and strides.
struct guest_memory {
  void* data;
  std::int64_t const* extents;
  std::int64_t const* strides;  // null if it is dense
};

class guest_steps {
 public:
  explicit guest_steps(guest_program const& p) : p_(p), fed_(p.inputs.size()), has_fed_(p.inputs.size()) {}
  virtual ~guest_steps() = default;

  void feed(int input, guest_memory const& from) {
    guest_port const& port = at(p_.inputs, input);
    if (port.dims.empty()) {
      if (from.data == nullptr) refuse_null(port);
      return inputs().feed(port.label, from.data, 1);
    }
    auto const i = static_cast<std::size_t>(input);
    fed_[i] = checked(port, "input", input_window(port), from), has_fed_[i] = true;
  }
  void fetch(int output, guest_memory const& to) {
    guest_port const& port = at(p_.outputs, output);
    view const memory = checked(port, "output", outputs().local_window(port.label), to);
    std::erase_if(fetched_, [&](auto const& f) { return f.first == output; });
    fetched_.emplace_back(output, memory);
  }
  void get(int output, guest_memory const& to) {
    guest_port const& port = at(p_.outputs, output);
    if (!has_stepped_) throw error("R37", {"the output '", port.label, "' is asked for, but no step has been made"});
    if (outputs().is_callers(port.label))
      throw error("R38", {"the output '", port.label,
                          "' is asked for, but the last step wrote it into an array of "
                          "yours, by fetch: read it there"});
    view const whole = checked(port, "output", outputs().local_window(port.label), to);
    for (std::size_t k = 0; k < held(); ++k) {
      view const part = outputs().part(port.label, k);
      std::int64_t first = 0;
      for (int i = 0; i < part.count && held() > 1; ++i) first += whole.stride[i] * part.origin[i];
      copy_by_name(part, 0, whole, first, no_id, no_id, part.extent);
    }
  }
  void part(bool is_output, int port, std::int64_t* first, std::int64_t* extents) {
    view const v = is_output ? outputs().local_window(at(p_.outputs, port).label) : input_window(at(p_.inputs, port));
    for (int i = 0; i < v.count; ++i) first[i] = v.origin[i], extents[i] = v.extent[i];
  }
  void step() {
    run([&] {
      for (std::size_t i = 0; i < fed_.size(); ++i)
        if (has_fed_[i])
          held() == 1 ? inputs().offer_local(p_.inputs[i].label, fed_[i]) : inputs().offer(p_.inputs[i].label, fed_[i]);
      for (auto const& [output, to] : fetched_) outputs().fetch(at(p_.outputs, output).label, to);
    });
    fetched_.clear();  // a step that fails leaves them for the next one
    has_stepped_ = true;
  }
  /// Sets a number, if the program has it.
  virtual void set(std::string const& label, double value) = 0;

 protected:
  virtual fed_inputs& inputs() = 0;
  virtual written_outputs& outputs() = 0;
  virtual std::size_t held() const = 0;
  virtual module const& graph() const = 0;
  virtual void run(std::function<void()> const& take) = 0;

 private:
  static guest_port const& at(std::vector<guest_port> const& ports, int i) {
    if (i < 0 || static_cast<std::size_t>(i) >= ports.size())
      throw error("R46", {"a guest has no port ", i, ": its header or module is of another program"});
    return ports[static_cast<std::size_t>(i)];
  }
  [[noreturn]] static void refuse_null(guest_port const& port) {
    throw error("R39", {"the address of the array for '", port.label, "' is null"});
  }
  view input_window(guest_port const& port) {
    return held() == 1 ? inputs().local_window(port.label) : inputs().window(port.label);
  }
  std::string text_of_extents(view const& like, std::int64_t const* extents) const {
    std::vector<dim_extent> dims;
    for (int i = 0; i < like.count; ++i) dims.push_back({graph().dim_name(like.dim[i]), extents[i]});
    return text_of(dims);
  }
  /// The memory as a view. errors R11 other extents; R39 a null address; R44 and R45 strides that do not fit
  view checked(guest_port const& port, char const* what, view v, guest_memory const& m) const {
    if (v.count > 0 && m.extents == nullptr)
      throw error("R39", {"the extents of the array for '", port.label, "' are null, and only its strides may be"});
    for (int i = 0; i < v.count; ++i)
      if (m.extents[i] != v.extent[i])
        throw error("R11", {"this rank's part of the ", what, " '", port.label, "' is ", text_of_extents(v, v.extent),
                            ", but the array is ", text_of_extents(v, m.extents)});
    if (m.data == nullptr && v.size() != 0) refuse_null(port);
    v.densify();
    for (int i = 0; i < v.count && m.strides != nullptr; ++i) {
      v.stride[i] = m.strides[i];
      if (v.extent[i] > 1 && (v.stride[i] > longest_dim || v.stride[i] < -longest_dim))
        throw error("R44", {"two elements of the array for '", port.label, "' that are neighbours along '",
                            graph().dim_name(v.dim[i]), "' are not a whole number of elements apart: copy the array"});
      if (v.extent[i] > 1 && v.stride[i] == 0 && what != std::string_view("input"))
        throw error("R45", {"all elements of the array for '", port.label, "' along '", graph().dim_name(v.dim[i]),
                            "' are in one place, for its stride is 0: an output needs a place for each"});
    }
    v.data = m.data;
    return v;
  }

  guest_program const& p_;
  std::vector<view> fed_;
  std::vector<bool> has_fed_;
  std::vector<std::pair<int, view>> fetched_;
  bool has_stepped_ = false;
};

template <class Executable>
class guest_steps_of final : public guest_steps {
 public:
  guest_steps_of(guest_program const& p, store& weights, std::vector<dim_extent> const& dims,
                 std::vector<axis_extent> const& axes)
      : guest_steps(p), executable_(weights, dims, axes) {}
  void set(std::string const& label, double value) override {
    if (has_number(executable_.graph(), name::of(label))) executable_.running().set(label, value);
  }

 private:
  fed_inputs& inputs() override { return executable_.running().inputs(); }
  written_outputs& outputs() override { return executable_.running().outputs(); }
  std::size_t held() const override { return executable_.ranks().size(); }
  meshtensor::module const& graph() const override { return executable_.graph(); }
  void run(std::function<void()> const& take) override { executable_.running().step(take); }

  Executable executable_;
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
