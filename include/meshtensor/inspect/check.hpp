// SPDX-License-Identifier: Apache-2.0
// Finds wrong numbers: it compares one step on the ranks of a mesh with the same step on whole tensors, value by value.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "meshtensor/job/job.hpp"
#include "meshtensor/run/executable.hpp"

namespace meshtensor {

/// The result of `check`.
struct check_result {
  int compared = 0;        // values, counted once for each iteration of a loop
  int undecided = 0;       // those that differ because bf16 numbers that are equal but for rounding were compared
  std::string difference;  // of the first value that differs from the reference, or empty
  bool agrees() const { return difference.empty(); }
};
inline std::string text_of(check_result const& r) {
  if (!r.agrees()) return fmt::format("after {} values that agree: {}", r.compared - 1, r.difference);
  if (r.undecided == 0) return fmt::format("all {} values agree with the reference", r.compared);
  return fmt::format("{} values agree with the reference; {} follow from bf16 numbers that are equal but for rounding",
                     r.compared - r.undecided, r.undecided);
}

namespace detail {

/// A step as `check` needs it, on any device.
class checked_step {
 public:
  virtual ~checked_step() = default;
  virtual module const& graph() const = 0;
  virtual plan const& planned() const = 0;
  virtual settings const& numbers() const = 0;
  virtual settings const& next_numbers() = 0;
  virtual blocks fed() const = 0;
  virtual void observe(std::function<void(node const&, std::span<rank_context const>)> const& seen) = 0;
  virtual void step() = 0;
};
template <class Device>
class checked_session final : public checked_step {
 public:
  explicit checked_session(session<Device>& s) : s_(s) {}
  meshtensor::module const& graph() const override { return s_.graph(); }
  plan const& planned() const override { return s_.planned(); }
  settings const& numbers() const override { return s_.numbers(); }
  settings const& next_numbers() override { return s_.next_numbers(); }
  blocks fed() const override { return s_.fed(); }
  void observe(std::function<void(node const&, std::span<rank_context const>)> const& seen) override {
    s_.observe(seen);
  }
  void step() override { s_.step(); }

 private:
  session<Device>& s_;
};

/// The facts about a program that `check` needs.
struct checked_program {
  meshtensor::module const& traced;
  name label;
  layout_rules const& layout;
  std::string counted;  // the name under which its steps are counted
  bool fuses;           // whether its device runs fused kernels
};
/// Makes an executable of the program on the ranks of a store, and calls `use` with its mesh and its step.
using use_of_step = function_ref<void(mesh_shape const&, checked_step&)>;
using step_maker = function_ref<void(store&, use_of_step)>;

/// Compares steps from the values of a store: see checker.hpp.
template <class = lazy>
check_result compare_steps(checked_program const& program, store& from, step_maker make);

}  // namespace detail

/// Compares one step of a program with the same step on whole tensors by the rules' reference loops, value by value.
/// All ranks of the mesh run in lockstep on this thread. The result names the first value that differs, with the user's
/// line, the index in the whole tensor and both numbers. If a kernel's result differs, the program runs again without
/// kernels, to tell a wrong kernel from a wrong rule. If collectives overlap with other work, the step runs three
/// times, so that they exchange their data at their start, at their wait, and in between.
///
///     auto r = mt::check<train_step, mesh, layout, mt::default_device>(batch(8), mt::feed<"x">(images));
///     mt::print(job, "{}\n", text_of(r));
///
/// The arguments are extents, axis sizes, numbers and feeds of whole arrays, in any order. Parameters and state are
/// those of a new store, or of a store that is given as the first argument and is not changed.
///
/// Numbers may differ by a thousandth of a tensor's largest element in f32, by 1e-8 in f64, and by a tenth in bf16,
/// because sums in another order round differently. The coarsest dtype in which a value was rounded on its way counts.
/// For example, an f32 that is made of sums in bf16 may differ as bf16 does. If bf16 numbers that are equal but for
/// rounding are compared, or if bf16 becomes integers, either outcome is right. `undecided` counts the values that
/// differ for such a reason. The check needs the memory and the time of the reference loops, so it is meant for small
/// sizes.
///
/// errors  those of `executable`; R74 the device runs programs whole
template <class... Args, class... Given>
check_result check(store& from, Given const&... given) {
  using program = executable<Args...>;
  if constexpr (whole_program_device<typename program::device>) detail::refuse_tool("check_numerics and check");
  auto const traced = stored_module<program::stages::traced, program::stages::fingerprint>::load();
  return detail::compare_steps(
      {*traced, entry_name<typename program::entry>(), program::layout::sharding_rules,
       counted_name<typename program::entry>(), capabilities_of<typename program::device>.fuses},
      from, [&](store& values, detail::use_of_step use) {
        program step(values, given...);
        detail::checked_session<typename program::running_device> here(step.running());
        use(step.bound_mesh(), here);
      });
}
template <class... Args, class... Given>
check_result check(Given const&... given) {
  auto const job = job::in_lockstep();
  store fresh(job);
  return check<Args...>(fresh, given...);
}

}  // namespace meshtensor

#if !MESHTENSOR_COMPILED
#  include "meshtensor/inspect/checker.hpp"
#endif
