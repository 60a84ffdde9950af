// An executable: a program, a mesh, a layout and a device, bound to numbers and to a store, ready to step.
#pragma once

#include <array>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include "meshtensor/device/reference.hpp"
#include "meshtensor/pass/lower.hpp"
#include "meshtensor/run/session.hpp"

namespace meshtensor {

/// What a step is fed under a name: the whole array, the same on every rank.
template <name Label, class T>
struct fed_array {
  static constexpr name label = Label;
  T const* data;
  std::size_t size;
};
template <name Label, std::ranges::contiguous_range R>
constexpr auto feed(R const& r) {
  return fed_array<Label, std::ranges::range_value_t<R>>{std::ranges::data(r), std::ranges::size(r)};
}
/// This processor's part of an array, read where it lies.
template <name Label, class T>
struct fed_part {
  static constexpr name label = Label;
  T const* data;
};
template <name Label, class T>
constexpr fed_part<Label, T> feed_local(T const* part) {
  return {part};
}

/// A number of the program, set from this step on: `set<"learning_rate">(3e-4)`.
template <name Label>
struct set_number {
  static constexpr name label = Label;
  double value;
};
template <name Label>
constexpr set_number<Label> set(double value) {
  return {value};
}

namespace detail {

/// The node of one kind and name in a traced module, or -1.
constexpr int find_port(module const& m, primitive kind, name const& label) {
  for (int i = 0; i < m.node_count; ++i)
    if (m.nodes[i].kind == kind && m.names[m.nodes[i].attribute[0]] == label) return i;
  return -1;
}
constexpr bool has_number(module const& m, name const& label) {
  for (int i = 0; i < m.number_count; ++i)
    if (m.numbers[i].kind == number_row::named && m.names[m.numbers[i].first] == label) return true;
  return false;
}
/// Whether everything is known to the compiler: no axis and no dim is left for start-up.
constexpr bool is_static(module const& m) {
  for (int d = 0; d < m.dim_count; ++d)
    if (m.dims[d].kind == dim_row::dynamic) return false;
  for (int a = 0; a < m.axis_count; ++a)
    if (m.axes[a].extent == 0) return false;
  return true;
}

template <bool IsMesh, class... Args>
struct executable_arguments;
template <class Program, class Mesh, class Layout, class... Device>
struct executable_arguments<true, Program, Mesh, Layout, Device...> {
  using programs = Program;
  using entry = Program;
  using mesh = Mesh;
  using layout = Layout;
  using device = typename nth<0, Device..., reference_device>::type;
};
template <class Programs, class Entry, class Mesh, class Layout, class... Device>
struct executable_arguments<false, Programs, Entry, Mesh, Layout, Device...> {
  using programs = Programs;
  using entry = Entry;
  using mesh = Mesh;
  using layout = Layout;
  using device = typename nth<0, Device..., reference_device>::type;
};
template <class... Args>
struct arguments_of;
template <class First, class Second, class... Rest>
struct arguments_of<First, Second, Rest...> : executable_arguments<mesh_type<Second>, First, Second, Rest...> {};

}  // namespace detail

/// What came out of a step: `result.get<"loss">()` is a number where the output has no dims, else the whole array.
template <class Executable>
class step_result {
 public:
  explicit step_result(Executable const& e) : e_(&e) {}
  template <name Label>
  auto get() const {
    return e_->template get<Label>();
  }

 private:
  Executable const* e_;
};

/// `executable<Program, Mesh, Layout>` or, for one of several programs that share parameters,
/// `executable<Programs, Program, Mesh, Layout>`; a device may follow. Extents and axis sizes that the types leave open
/// are given at start-up: `executable<train_step, mesh, layout> step(weights, batch(64), data(4));`
///
/// errors  S codes at compile time where the compiler can know, else from the constructor; R04 the store holds
/// something else
template <class... Args>
class executable {
  using arguments = detail::arguments_of<Args...>;

 public:
  using entry = typename arguments::entry;
  using mesh = typename arguments::mesh;
  using layout = typename arguments::layout;
  using device = typename arguments::device;
  using stages = lowered<typename arguments::programs, entry, mesh, layout>;
  static constexpr bool is_static = detail::is_static(stages::graph);

  template <class... Extents>
  explicit executable(store& values, Extents const&... extents) : mesh_(mesh::shape) {
    std::vector<dim_extent> dims;
    [[maybe_unused]] auto take = [&](auto const& e) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(e)>, axis_extent>) mesh_.bind(e);
      else dims.push_back(e);
    };
    (take(extents), ...);
    bind_open_axis(values.job().size());
    if constexpr (is_static) {
      static_assert(stages::bound.report.empty(), "meshtensor: the layout does not fit this program's extents");
      if (!dims.empty()) raise(meshtensor::bind(stages::graph, mesh_, dims).report);
      session_ = std::make_unique<session<device>>(values, stages::graph, stages::planned, mesh_, entry_region());
    } else {
      auto const bound = on_heap([&] { return meshtensor::bind(stages::graph, mesh_, dims); });
      raise(bound->report);
      plan_ = on_heap([&] { return plan_memory(stages::graph, entry_region(), *bound); });
      session_ = std::make_unique<session<device>>(values, stages::graph, *plan_, mesh_, entry_region());
    }
  }

  /// One step: feeds and numbers in any order. What is not fed again is as it was.
  template <class... Given>
  step_result<executable> operator()(Given const&... given) {
    (take(given), ...);
    session_->step();
    return step_result<executable>(*this);
  }

  /// An output of the last step.
  template <name Label>
  auto get() const {
    constexpr int port = detail::find_port(stages::traced, primitive::output, Label);
    static_assert(port >= 0, "meshtensor T12: the program has no output of this name");
    constexpr value v = stages::traced.values[stages::traced.operand(stages::traced.nodes[port < 0 ? 0 : port], 0)];
    using element = element_t<v.type>;
    block const b = session_->whole(Label.text());
    if constexpr (v.dims.count == 0) return *b.template as<element>();
    else return std::vector<element>(b.template as<element>(), b.template as<element>() + b.size());
  }

  module const& graph() const { return stages::graph; }
  plan const& planned() const { return session_->planned(); }
  mesh_shape const& processors_mesh() const { return mesh_; }

 private:
  static constexpr int entry_region() { return find_entry(stages::graph, entry_name<entry>()); }

  // One axis that the type and the caller leave open takes what was started.
  void bind_open_axis(int started) {
    int open = -1;
    std::int64_t others = 1;
    for (int a = 0; a < mesh_.count; ++a) {
      if (mesh_.axes[a].extent != 0) others *= mesh_.axes[a].extent;
      else if (open < 0) open = a;
    }
    if (open < 0 || started == 0) return;
    if (started % others != 0)
      throw error("R05", std::to_string(started) + " processes were started, which is not a multiple of the " +
                             std::to_string(others) + " that the other axes of the mesh need");
    mesh_.axes[open].extent = started / others;
  }

  template <name Label, class T>
  void take(fed_array<Label, T> const& f) {
    constexpr int port = detail::find_port(stages::traced, primitive::input, Label);
    check_fed<Label, T, port>();
    value const& v = stages::graph.values[stages::graph.result(
        stages::graph.nodes[detail::find_port(stages::graph, primitive::input, Label)])];
    std::int64_t const wanted = session_->planned().numbers.size(v.dims);
    if (static_cast<std::int64_t>(f.size) != wanted)
      throw error("R11", "the input '" + Label.text() + "' has " + std::to_string(wanted) + " elements, but " +
                             std::to_string(f.size) + " were fed");
    session_->feed(Label.text(), f.data);
  }
  template <name Label, class T>
  void take(fed_part<Label, T> const& f) {
    check_fed<Label, T, detail::find_port(stages::traced, primitive::input, Label)>();
    session_->feed_local(Label.text(), f.data);
  }
  template <name Label>
  void take(set_number<Label> const& s) {
    static_assert(detail::has_number(stages::traced, Label), "meshtensor T12: the program has no number of this name");
    session_->set(Label.text(), s.value);
  }
  template <name Label, class T, int Port>
  static constexpr void check_fed() {
    static_assert(Port >= 0, "meshtensor T12: the program has no input of this name");
    if constexpr (Port >= 0)
      static_assert(
          std::is_same_v<T, element_t<stages::traced.values[stages::traced.result(stages::traced.nodes[Port])].type>>,
          "meshtensor T02: the input has another dtype than what is fed");
  }

  mesh_shape mesh_;
  std::unique_ptr<plan> plan_;
  std::unique_ptr<session<device>> session_;
};

}  // namespace meshtensor
