// SPDX-License-Identifier: Apache-2.0
// An executable: a program with a mesh, a layout and a device, bound to numbers and to a store, ready to step.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "meshtensor/device/device.hpp"
#include "meshtensor/job/start_record.hpp"
#include "meshtensor/run/bound_program.hpp"
#include "meshtensor/run/environment_tools.hpp"
#include "meshtensor/run/executable_arguments.hpp"
#include "meshtensor/run/extern_templates.hpp"
#include "meshtensor/run/feed.hpp"
#include "meshtensor/run/numerics.hpp"
#include "meshtensor/run/ports.hpp"
#include "meshtensor/run/step_result.hpp"
#include "meshtensor/run/unused.hpp"

namespace meshtensor {

namespace detail {

/// Whether the program has already printed the warning from a device's `advice()`.
template <class Device>
inline std::atomic<bool> advised = false;

}  // namespace detail

// For compiled steps. Headers in run/straight define these two.
template <class Stages, class Entry>
struct straight_code;
template <class Device, class Code>
struct device_of_code;

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
  static constexpr bool has_device = meshtensor::device<typename arguments::device>;
  static_assert(has_device,
                "meshtensor T10: the last argument of an executable is a device, as mt::reference_device, "
                "mt::default_device or mt::cuda_device; one of your own has what meshtensor/device/device.hpp says");
  using device = std::conditional_t<has_device, typename arguments::device, reference_device>;
  using bound = bound_program<typename arguments::programs, entry, mesh, layout, device, Fingerprint>;
  using stages = typename bound::stages;
  static constexpr bool is_static = bound::is_static;
  /// Whether the compiler generates code for the instructions of a step (see compiled_step).
  static constexpr bool in_straight_line = arguments::argument::in_straight_line && early;
  static_assert(!in_straight_line || is_static,
                "meshtensor T15: the compiler can write out a step only if it knows the extent of every dim and the "
                "size of every mesh axis: declare them as numbers, or use mt::executable");
  static_assert(!in_straight_line || host_device<device>,
                "meshtensor T15: the compiler can write out a step only for a device that runs its kernels in the "
                "host's memory: use mt::executable on this one");
  using running_device = std::conditional_t<in_straight_line && is_static && host_device<device>,
                                            device_of_code<device, straight_code<stages, entry>>, device>;

  /// Takes extents of dims and axes, one by one or as vectors, and numbers, in any order.
  ///
  /// errors  R27 the store is in a step, or makes another executable
  template <class... Given>
  explicit executable_of(store& values, Given const&... given) : values_(&values), mesh_(mesh::shape) {
    auto const turn = values.steps().make_executable();
    bool compared = false;
    try {
      std::vector<dim_extent> dims;
      [[maybe_unused]] auto bind = [&](auto const& g) {
        using G = std::remove_cvref_t<decltype(g)>;
        if constexpr (std::is_same_v<G, axis_extent>) mesh_.bind(g);
        else if constexpr (std::is_same_v<G, dim_extent>) dims.push_back(g);
        else if constexpr (std::is_same_v<G, std::vector<dim_extent>>) dims.insert(dims.end(), g.begin(), g.end());
        else if constexpr (std::is_same_v<G, std::vector<axis_extent>>)
          for (axis_extent const& a : g) mesh_.bind(a);
      };
      (bind(given), ...);
      detail::bind_axes_of_environment(mesh_);
      detail::bind_open_axis(mesh_, values.runner().size());
      if constexpr (in_straight_line) {
        static_assert((!std::is_same_v<Given, dim_extent> && ...),
                      "meshtensor T15: a compiled step has the extents of its dims in its types: leave them out here");
        program_ = std::make_unique<bound>();
      } else {
        program_ = std::make_unique<bound>(mesh_, dims, values.runner().is_root());
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
    } catch (std::exception const& e) {  // the other ranks get the reason
      if (!compared) values.runner().require_same(nullptr, std::current_exception());
      values.runner().has_refused(e.what());
      throw;
    } catch (...) {
      if (!compared) values.runner().require_same(nullptr, std::current_exception());
      throw;
    }
    static std::atomic<bool> warned = false;  // once for each type of executable
    if (!warned.exchange(true)) {
      constexpr std::uint64_t unused = unused_rules(stages::traced, layout::sharding_rules);
      detail::warn_unused(values.runner(), graph(), layout::sharding_rules, unused);
      detail::warn_idle(values.runner(), graph());
    }
    if constexpr (requires { device::advice(); }) {
      if (std::string const sentence = device::advice(); !sentence.empty() && !detail::advised<device>.exchange(true))
        warn(values.runner(), sentence);
    }
    (take(given), ...);
    if (detail::tool_in_environment() != nullptr)
      tools_.reset(new detail::tools_at<session<running_device>, bound>(*session_, *program_, mesh_, values.runner()));
  }

  /// Runs one step. Feeds, numbers and fetches come in any order. An input or number that is not given keeps its last
  /// value. A fetch is for this step alone.
  ///
  /// errors  R11 an array has other extents, and the step has not run; R27 the store is in a step, of this executable
  /// or another one, and nothing has been taken
  template <class... Given>
  step_result<executable_of> operator()(Given const&... given) {
    session_->step([&] { (take(given), ...); });
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
    if constexpr (!nothing_found<output_finding<Label>>) {
      return no_output{};
    } else {
      constexpr value v = output_value<Label>();
      if constexpr (v.dims.count == 0) return *session_->local(detail::letters(Label)).template as<element_t<v.type>>();
      else return step_output<executable_of, Label>(*this);
    }
  }
  /// This process's part of an output. See step_output.
  template <name Label>
  auto local() const {
    using element = element_t<output_value<Label>().type>;
    if (session_->held().size() != 1) return any_array<element>(gather<Label>());
    view const part = session_->local(detail::letters(Label));
    any_array<element> a(dims_of(part));
    detail::copy_dense(part, a.data());
    for (int i = 0; i < part.count; ++i) a.set_first(i, part.origin[i]);
    return a;
  }
  /// The same without a copy. See step_output. errors R06 this process holds several ranks
  template <name Label>
  auto where_it_lies() const {
    using element = element_t<output_value<Label>().type>;
    if (session_->held().size() != 1)
      throw error("R06", {"view() is one rank's part of the output '", Label, "', but this process holds ",
                          session_->held().size(), ": use local()"});
    view const part = session_->local(detail::letters(Label));
    std::vector<strided_extent> dims;
    for (int i = 0; i < part.count; ++i)
      dims.push_back({{graph().dim_name(part.dim[i]), part.extent[i]}, part.stride[i]});
    return array_view<element const>(part.as<element const>(), dims);
  }
  /// The whole output, on every process. See step_output.
  template <name Label>
  auto gather() const {
    return as_array<Label>(whole(detail::letters(Label)));
  }
  /// The same for a name that is known only at run time. If processes hold parts of the output, all of them must call
  /// this.
  block whole(std::string_view label) const { return session_->gathered(label); }
  /// The outputs of the last step that have no dims, such as losses and rates, by name, as f64. Each process has them.
  std::vector<std::pair<std::string, double>> scalars() const {
    std::vector<std::pair<std::string, double>> all;
    for (int i = 0; i < graph().node_count; ++i) {
      node const& n = graph().nodes[i];
      if (n.kind != primitive::output || graph().operand_value(n, 0).dims.count != 0) continue;
      if (output_attributes::of(n).with_path) continue;  // a watched tensor
      std::string const label = graph().names[name_of(n)].text();
      view const v = session_->local(label);
      all.emplace_back(label, with_element(v.type, [&]<class E>() { return static_cast<double>(*v.as<E>()); }));
    }
    return all;
  }
  /// The sorted names of the tensors that the program watches, each with its path, for example `layers/hidden`.
  std::vector<std::string> watched() const { return session_->watched(); }
  /// A watched tensor of the last step, whole, on every process. Its elements are f64 for any dtype, or of its own type
  /// as in `step.watched<std::int64_t>("hash")`. If processes hold parts of it, all of them must call this.
  ///
  /// errors  R08 no watched tensor has this name; R14 it has elements of another type, or f64 does not hold one of them
  template <class T = double>
  any_array<T> watched(std::string_view label) const {
    block const b = whole(label);
    any_array<T> a(dims_of(b.window()));
    if constexpr (std::is_same_v<T, double>) {
      if (std::int64_t const i = detail::first_beyond_f64(b); i >= 0)
        throw error("R14", {"'", label, "' is i64 and has the element ", b.as<std::int64_t>()[i],
                            ", which f64 does not hold: ask for watched<std::int64_t>(\"", label, "\")"});
      for (std::int64_t i = 0; i < b.size(); ++i) a.data()[i] = b.number_at(i);
    } else {
      if (b.type() != a.type) throw error("R14", {"'", label, "' is ", text_of(b.type()), ", not ", text_of(a.type)});
      std::copy_n(b.as<T>(), b.size(), a.data());
    }
    return a;
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
    detail::numerics_check<> const looks(graph(), planned().numbers, mesh_.size());
    session_->observe([looks](node const& n, std::span<rank_context const> held) { looks.after(n, held); },
                      [looks](node const& n, std::span<rank_context const> held) { looks.before(n, held); });
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
  static constexpr int traced_entry = find_entry(stages::traced, entry_name<entry>());
  static_assert(traced_entry >= 0,
                "meshtensor T13: the program is not one of the set that it is declared with: add it to "
                "the mt::programs<...> that the executable names");

  // The value of an output in the traced program. Checks the name at compile time.
  template <name Label>
  static constexpr value output_value() {
    static_assert(is_valid<detail::port_finding<stages, entry, primitive::output, Label>>);
    constexpr int port = detail::find_port(stages::traced, traced_entry, primitive::output, Label);
    return stages::traced.values[stages::traced.operand(stages::traced.nodes[port < 0 ? 0 : port], 0)];
  }

  // The name and extent rule of a dim's type. why: they are variables, because clang's lambdas cannot use a function's
  // constants.
  template <name Label, int I>
  static constexpr name dim_of_output = stages::traced.dim_name(output_value<Label>().dims.at[I]);
  template <name Label, int I>
  static constexpr extent_rule rule_of_output = detail::rule_of(stages::traced, output_value<Label>().dims.at[I]);

  template <name Label>
  auto as_array(block const& whole) const {
    constexpr value v = output_value<Label>();
    using element = element_t<v.type>;
    std::vector<dim_extent> const dims = dims_of(whole.window());
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      array<element, dim<dim_of_output<Label, I>, rule_of_output<Label, I>>{}...> a(
          dims[static_cast<std::size_t>(I)]...);
      std::copy_n(whole.as<element>(), a.size(), a.data());
      return a;
    }(std::make_integer_sequence<int, v.dims.count>{});
  }
  std::vector<dim_extent> dims_of(view const& v) const {
    std::vector<dim_extent> dims;
    for (int i = 0; i < v.count; ++i) dims.push_back({graph().dim_name(v.dim[i]), v.extent[i]});
    return dims;
  }
  // A view of fed memory with its dims in the order of the input.
  template <class T>
  view arranged(array_view<T> const& from, view const& wanted) const {
    return from.as(wanted, [&](int i) { return graph().dim_name(wanted.dim[i]); });
  }
  template <name Label, class T>
  void take(fed_elements<Label, T> const& f) {
    check_fed<Label, T, any_dims>();
    session_->inputs().feed(detail::letters(Label), f.data, static_cast<std::int64_t>(f.size));
  }
  template <name Label, class T, class Dims>
  void take(fed_array<Label, T, Dims> const& f) {
    check_fed<Label, T, Dims>();
    view const wanted = session_->inputs().window(detail::letters(Label)), whole = arranged(f.from, wanted);
    if (whole.count < 0)
      session_->inputs().refuse(detail::letters(Label), "an array " + detail::text_of(f.from.dims()) + " was");
    session_->inputs().feed(detail::letters(Label), whole);
  }
  template <name Label, class T>
  void take(fed_part<Label, T> const& f) {
    check_fed<Label, T, any_dims>();
    session_->inputs().feed_local(detail::letters(Label), f.data, f.size);
  }
  template <name Label, class T>
  void take(fed_part_view<Label, T> const& f) {
    check_fed<Label, T, any_dims>();
    view const wanted = session_->inputs().local_window(detail::letters(Label)), part = arranged(f.from, wanted);
    if (part.count < 0)
      throw error("R11", {"this rank's part of the input '", Label, "' is ", detail::text_of(dims_of(wanted)),
                          ", but a view ", detail::text_of(f.from.dims()), " was fed"});
    session_->inputs().feed_local(detail::letters(Label), part);
  }
  template <name Label, class T>
  void take(fetched_part<Label, T> const& f) {
    check_fetched<Label, T>();
    view to = session_->outputs().local_window(detail::letters(Label));
    if (f.size >= 0 && f.size != to.size())
      throw error("R11", {"this rank's part of the output '", Label, "' has ", to.size(),
                          " elements, but there is memory for ", f.size});
    to.data = f.data;
    session_->outputs().fetch(detail::letters(Label), to);
  }
  template <name Label, class T>
  void take(fetched_part_view<Label, T> const& f) {
    check_fetched<Label, T>();
    view const wanted = session_->outputs().local_window(detail::letters(Label)), to = arranged(f.to, wanted);
    if (to.count < 0)
      throw error("R11", {"this rank's part of the output '", Label, "' is ", detail::text_of(dims_of(wanted)),
                          ", but it is fetched into a view ", detail::text_of(f.to.dims())});
    session_->outputs().fetch(detail::letters(Label), to);
  }
  void take(dim_extent const&) {}
  void take(axis_extent const&) {}
  void take(std::vector<dim_extent> const&) {}
  void take(std::vector<axis_extent> const&) {}
  template <name Label>
  void take(set_number<Label> const& s) {
    if constexpr (Label == name("seed") && !detail::has_number(stages::traced, Label)) {
      values_->set_seed(element_of<std::uint64_t>(s.value));
    } else {
      static_assert(is_valid<detail::number_finding<stages, Label>>);
      session_->set(detail::letters(Label), s.value);
    }
  }
  template <name Label, class T>
  static constexpr void check_fetched() {
    static_assert(is_valid<detail::port_finding<stages, entry, primitive::output, Label>>);
    static_assert(is_valid<detail::fetch_finding<stages, entry, Label, dtype_of<T>>>);
  }
  template <name Label, class T, class Dims>
  static constexpr void check_fed() {
    static_assert(is_valid<detail::port_finding<stages, entry, primitive::input, Label>>);
    static_assert(is_valid<detail::feed_finding<stages, entry, Label, dtype_of<T>, Dims>>);
  }

  store* values_;
  mesh_shape mesh_;
  std::unique_ptr<bound> program_;
  std::unique_ptr<session<running_device>> session_;
  std::unique_ptr<detail::step_under_tools> tools_;  // after the members that it uses, so that it is destroyed first
};

}  // namespace meshtensor
