// SPDX-License-Identifier: Apache-2.0
// An executable: a program with a mesh, a layout and a device, bound to numbers and to a store, ready to step.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "meshtensor/device/device.hpp"
#include "meshtensor/job/start_record.hpp"
#include "meshtensor/run/bound_program.hpp"
#include "meshtensor/run/environment_tools.hpp"
#include "meshtensor/run/executable/arguments.hpp"
#include "meshtensor/run/executable/extents.hpp"
#include "meshtensor/run/executable/step_arguments.hpp"
#include "meshtensor/run/executable/typed_outputs.hpp"
#include "meshtensor/run/executable/warnings.hpp"
#include "meshtensor/run/extern_templates.hpp"
#include "meshtensor/run/numerics.hpp"
#include "meshtensor/run/ports.hpp"
#include "meshtensor/run/step_result.hpp"

namespace meshtensor {

// `Fingerprint` is that of the traced program. `Unnamed` is the default device if `Args` name none, and otherwise void.
// Both are part of the type. Therefore files that mean two programs or two devices by one name have two types.
template <std::uint64_t Fingerprint, class Unnamed, class... Args>
class executable_of;

/// `executable<Program, Mesh, Layout>`, or `executable<Programs, Program, Mesh, Layout>` for one of several programs
/// that share parameters. A device may follow, otherwise it runs on `default_device`. Extents and axis sizes that the
/// types leave open are given at start-up, and so are numbers, for example
/// `executable<train_step, mesh, layout> step(weights, batch(64), data(4));`.
///
/// errors  S codes at compile time where the compiler can know, else from the constructor; R04 the store holds a value
/// with another dtype, layout or initializer; T12, T02, T03 a name, a dtype or dims that the program does not have;
/// R05, R11 sizes that do not fit; M10 not enough memory; R24 the ranks are about to run different programs or
/// settings; R21 another rank has refused, and why
template <class... Args>
using executable = executable_of<detail::fingerprint_of<typename detail::executable_arguments<Args...>::programs>,
                                 typename detail::executable_arguments<Args...>::unnamed_device, Args...>;

template <std::uint64_t Fingerprint, class Unnamed, class... Args>
class executable_of {
  using arguments = detail::executable_arguments<Args...>;

 public:
  using entry = typename arguments::entry;
  using mesh = typename arguments::mesh;
  using layout = typename arguments::layout;
  static_assert(arguments::has_device,
                "meshtensor T38: the last argument of an executable is a device, as mt::reference_device, "
                "mt::default_device or mt::cuda_device; one of your own has what meshtensor/device/device.hpp says");
  using device = typename arguments::device;
  using bound = bound_program<typename arguments::programs, entry, mesh, layout, device, Fingerprint>;
  using stages = typename bound::stages;
  static constexpr bool is_static = bound::is_static;
  /// Whether the compiler generates code for the instructions of a step (see compiled_step).
  static constexpr bool is_unrolled = arguments::argument::is_unrolled && early;
  static_assert(!is_unrolled || is_static,
                "meshtensor T15: the compiler can write out a step only if it knows the extent of every dim and the "
                "size of every mesh axis: declare them as numbers, or use mt::executable");
  static_assert(!is_unrolled || host_device<device>,
                "meshtensor T15: the compiler can write out a step only for a device that runs its kernels in the "
                "host's memory: use mt::executable on this one");
  using running_device = std::conditional_t<is_unrolled && is_static && host_device<device>,
                                            device_of_code<device, unrolled_code<stages, entry>>, device>;

  /// Takes extents of dims and axes, one by one or as vectors, and numbers, in any order.
  ///
  /// errors  R27 the store is in a step, or makes another executable
  template <class... Given>
  explicit executable_of(store& values, Given const&... given) : values_(&values), mesh_(mesh::shape) {
    auto const turn = values.steps().make_executable();
    bool compared = false;
    try {
      detail::given_extents bind(mesh_);
      (bind(given), ...);
      detail::bind_axes_of_environment(mesh_);
      detail::bind_open_axis(mesh_, values.runner().size());
      if constexpr (is_unrolled) {
        static_assert((!std::is_same_v<Given, dim_extent> && ...),
                      "meshtensor T15: a compiled step has the extents of its dims in its types: leave them out here");
        program_ = std::make_unique<bound>();
      } else {
        program_ = std::make_unique<bound>(mesh_, bind.dims(), values.runner().is_root());
      }
      auto const compare = [&] {
        compared = true;
        constexpr name of_entry = entry_name<entry>(), of_device = type_name<device>();
        start_record const mine{graph(),
                                planned(),
                                mesh_,
                                layout::sharding_rules,
                                of_entry,
                                of_device,
                                values.seed(),
                                values.step(),
                                text_of_counts(values, counted_name<entry>(), graph(), program_->entry()),
                                MESHTENSOR_BUILD};
        values.runner().require_same(&mine, nullptr);
      };
      session_ = std::make_unique<session<running_device>>(values, graph(), planned(), mesh_, program_->entry(),
                                                           program_->device(), compare, counted_name<entry>());
    } catch (...) {  // the other ranks get the reason
      if (!compared) values.runner().require_same(nullptr, std::current_exception());
      values.runner().has_thrown();
      throw;
    }
    detail::warn_once<executable_of, Given...>(values.runner(), graph());
    detail::warn_by_device<device>(values.runner());
    (step_arguments(*values_, *session_).take(given), ...);
    session_->inputs().take();
    if (detail::tool_in_environment() != nullptr)
      tools_.reset(new detail::tools_at<session<running_device>, bound>(*session_, *program_, mesh_, values.runner()));
  }

  /// Rejects an executable without a store.
  template <class... Given>
  explicit executable_of(Given const&...) {
    detail::refuse_without_store<Given...>();
  }

  /// Runs one step. Feeds, numbers and fetches come in any order. An input or number that is not given keeps its last
  /// value. Memory for `feed_local` and `fetch_local` is for this step alone. If it refuses an argument, it takes none.
  ///
  /// errors  R02 an input was not fed; R11 an array has other extents; R27 the store is in a step, of any executable;
  /// R87 an output is fetched into a variable that the step updates; T02 a number does not fit
  template <class... Given>
  step_result<executable_of> operator()(Given const&... given) {
    session_->step([&] { (step_arguments(*values_, *session_).take(given), ...); });
    return step_result<executable_of>(*this);
  }

  /// The number of steps of this program that its store has completed, through this executable or another one.
  std::uint64_t steps() const { return values_->steps_of(counted_name<entry>()); }
  /// Excludes its steps from the store's count, `weights.step()`. This is for a program that only fills state of its
  /// own, such as a translation between the steps of a training.
  void exclude_from_step_count() { session_->exclude_from_step_count(); }

  /// The error for the name of an output.
  template <name Label>
  using output_finding = decltype(detail::error_of<detail::port_finding<stages, entry, primitive::output, Label>>());

  /// An output of the last step: a number if it has no dims, otherwise a step_output.
  template <name Label>
  auto get(checked_line<output_finding<Label>> const& = {}) const {
    return found<Label>();
  }
  /// Like `get`, for an output whose name was checked.
  template <name Label>
  auto found() const {
    if constexpr (!nothing_found<output_finding<Label>>) return no_output{};
    else {
      constexpr value v = typed_outputs::template output_value<Label>();
      if constexpr (v.dims.count == 0) return *session_->local(detail::letters(Label)).template as<element_t<v.type>>();
      else return step_output<executable_of, Label>(*this);
    }
  }
  /// This process's part of an output. See step_output.
  template <name Label>
  auto local() const {
    return outputs().template local<Label>();
  }
  /// The same without a copy. See step_output. errors R06 this process holds several ranks
  template <name Label>
  auto view_of() const {
    return outputs().template view_of<Label>();
  }
  /// The whole output, on every process. See step_output.
  template <name Label>
  auto gather() const {
    return outputs().template as_array<Label>(whole(detail::letters(Label)));
  }
  /// The same for a name that is known only at run time. If processes hold parts of the output, all of them must call
  /// this.
  block whole(std::string_view label) const { return session_->gathered(label); }
  /// The outputs of the last step that have no dims, such as losses and rates, by name, as f64. Each process has them.
  std::vector<std::pair<std::string, double>> scalars() const { return outputs().scalars(); }
  /// The sorted names of the tensors that the program watches, each with its path, for example `layers/hidden`.
  std::vector<std::string> watched() const { return session_->watched(); }
  /// A watched tensor of the last step, whole, on every process. Its elements are f64 for any dtype, or of its own type
  /// as in `step.watched<std::int64_t>("hash")`. If processes hold parts of it, all of them must call this.
  ///
  /// errors  R08 no watched tensor has this name; R14 it has elements of another type, or f64 does not hold one of them
  template <class T = double>
  any_array<T> watched(std::string_view label) const {
    return outputs().template watched<T>(label, whole(label));
  }

  /// Records the time of each node from the next step on, for `profile`. A second call starts again. It costs two
  /// readings of the clock for each node. `record(false)` stops and discards the times.
  void record(bool on = true) { session_->record(on); }
  /// The timeline of each rank that this process holds. There is none before `record`.
  std::vector<timeline const*> recorded() const {
    std::vector<timeline const*> all;
    session_->each_recorded([&](timeline const& t) { all.push_back(&t); });
    return all;
  }
  /// Checks every floating value from the next step on, as it is made: inputs, parameters, and each operation's results
  /// on each rank. The first infinite or NaN element ends the step on all processes with an error that names the
  /// operation and its line. Values of the store may then be those of this step or of the step before, so load a
  /// checkpoint to go on. It costs a pass over every value. It costs nothing when it is off.
  ///
  /// errors  of the step: R32; on processes that did not meet it R21
  void check_numerics(bool on = true) {
    if (!on) return session_->observe({});
    detail::check_numerics_of(*session_, mesh_.size());
  }
  /// The memory of this process, divided into that of the plan and the rest.
  memory_use memory() const { return session_->memory(); }
  rates best_rates() const { return session_->best_rates(); }

  /// Bytes copied so far to feed inputs. If `feed_local` was given dense memory, there are none.
  std::int64_t copied_bytes() const { return session_->inputs().copied_bytes(); }
  /// The session that runs the plan, for tools.
  session<running_device>& running() { return *session_; }

  job_runner& runner() const { return values_->runner(); }
  /// The ranks that this process holds.
  std::vector<int> ranks() const {
    std::vector<int> all;
    for (rank_context const& p : session_->held()) all.push_back(p.rank());
    return all;
  }

  meshtensor::module const& graph() const { return program_->graph(); }
  plan const& planned() const { return program_->planned(); }
  mesh_shape const& bound_mesh() const { return mesh_; }

 private:
  using step_arguments = detail::step_arguments<stages, entry, session<running_device>>;
  using typed_outputs = detail::typed_outputs<stages, entry, session<running_device>>;
  typed_outputs outputs() const { return typed_outputs(*session_); }

  static_assert(find_entry(stages::traced, entry_name<entry>()) >= 0,
                "meshtensor T13: the program is not one of the set that it is declared with: add it to "
                "the mt::programs<...> that the executable names");

  store* values_;
  mesh_shape mesh_;
  std::unique_ptr<bound> program_;
  std::unique_ptr<session<running_device>> session_;
  std::unique_ptr<detail::step_under_tools> tools_;  // after the members that it uses, so that it is destroyed first
};

}  // namespace meshtensor
