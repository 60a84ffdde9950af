// SPDX-License-Identifier: Apache-2.0
// Scopes, in which a program declares its parameters, inputs, state, numbers and outputs under nested names.
#pragma once

#include <tuple>
#include <type_traits>

#include "meshtensor/graph/state_updates.hpp"
#include "meshtensor/graph/variables.hpp"
#include "meshtensor/tensor/wrong.hpp"

namespace meshtensor {

namespace detail {
template <class... Args>
struct dims_among_all {
  using type = typename joined<dims<>, std::conditional_t<dim_type<Args>, dims<Args>, dims<>>...>::type;
};
template <class... Args>
inline constexpr bool last_is_initializer = false;
template <class First, class... More>
inline constexpr bool last_is_initializer<First, More...> =
    std::is_same_v<std::tuple_element_t<sizeof...(More), std::tuple<First, More...>>, initializer>;
/// The fault in the arguments of a declaration behind its name, or no_error.
template <class... Args>
consteval auto declaration_finding() {
  constexpr int others = (static_cast<int>(!dim_type<Args>) + ... + 0);
  constexpr bool ends = last_is_initializer<Args...>;
  if constexpr ((is_dtype<Args> || ...))
    return refusal<
        "T10 a parameter has the dtype of its program, which mt::precision<program, mt::bf16> sets: leave it "
        "out, as in s.parameter(\"weight\", in, out)",
        Args...>{};
  else if constexpr (others != static_cast<int>(ends))
    return refusal<"T10 a parameter is declared by its name, its dims and at last, if wanted, an initializer",
                   Args...>{};
  else return no_error{};
}
}  // namespace detail

/// The scope for tracing. Parameters are stored with dtype `Parameters`, and the program reads them with dtype
/// `Compute`.
template <dtype Parameters = dtype::f32, dtype Compute = Parameters>
class trace_scope {
 public:
  using is_scope = void;
  static constexpr dtype compute = Compute;
  /// The dtype of floats in this program's computations.
  static constexpr dtype_constant<Compute> real() { return {}; }

  constexpr trace_scope(builder* b, path_id path, line const& where) : b_(b), path_(path), where_(where) {}

  /// The scope of a part, for example `block(s / "decoder", x)`. Nodes of the library's own layers report its line.
  constexpr trace_scope operator/(named_here const& part) const {
    return {b_, b_->add_path(path_, part.label), part.where};
  }

  /// A parameter, shared by all programs that are declared together, for example `s.parameter("bias", d_ff)`. The last
  /// argument may be an initializer. Inside `repeat` the parameter also has the loop's dim, so that each iteration gets
  /// its own slice.
  ///
  /// errors  G03 declared elsewhere with other dims or another initializer; G04 used outside the layer for which the
  /// scope was made
  template <class... Args>
  constexpr auto parameter(named<decltype(detail::declaration_finding<Args...>())> const& label, Args... args) const {
    return declare<Parameters, true>(label, std::tuple(args...), std::make_index_sequence<dim_count<Args...>>{});
  }

  /// Rejects a parameter without a name.
  template <class First, class... Args,
            class Reason = detail::refusal<
                "T10 a parameter is declared by its name first: s.parameter(\"weight\", in, out)", First, Args...>>
  requires(!std::convertible_to<First, char const*>)
  MESHTENSOR_REFUSES constexpr tensor<Compute> parameter(First, Args...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    b_->give_up();
    return {b_, value_id{}};
  }

  /// State that persists between steps: `s.state("mean", mt::f32, channels)`, replaced by `s.update(mean, next)`. It
  /// starts with zeros, or with the initializer after the dims.
  template <dtype T, class... Args>
  constexpr auto state(named<decltype(detail::declaration_finding<Args...>())> const& label, dtype_constant<T>,
                       Args... args) const {
    return declare<T, false>(label, std::tuple(args...), std::make_index_sequence<dim_count<Args...>>{});
  }

  /// State with the dims of a parameter, named after it. Examples are the slots of an optimizer.
  template <dtype T>
  constexpr any_tensor<T> state_like(name const& label, any_tensor<T> const& parameter) const {
    return state_like(label, parameter, like(parameter.id).dims);
  }
  /// State with some of the dims of a parameter.
  template <dtype T>
  constexpr any_tensor<T> state_like(name const& label, any_tensor<T> const& parameter, shape const& dims) const {
    path_id const path = b_->add_path(path_for(parameter), label);
    return {b_, detail::read(*b_, detail::declare(*b_, path, T, dims, zeros, false))};
  }
  /// The path under which this scope keeps the state of a parameter and counts its updates.
  template <handle H>
  constexpr path_id path_for(H const& parameter) const {
    return joined(path_, like(parameter.id).path);
  }

  /// Replaces a parameter or state from the next step on. Every read in this step sees the value before it.
  ///
  /// In a loop, it replaces a state from the next iteration on, and every read in this iteration sees the value before
  /// it. If each iteration has a slice of the state, for example because it was declared in `repeat`, each slice gets
  /// its next value, and one write behind the loop stores them. Any other state is carried from iteration to iteration,
  /// and the last value is written.
  /// grad    no gradient flows from one iteration or step to the next through a state
  /// errors  T02 and T03: the next value has another dtype or other dims; G05 updated twice; G06 in cond or
  ///         a composite, or a parameter in a loop; G08 not a parameter or state
  template <handle H, handle V>
  constexpr void update(H const& variable, V const& next, line const& where = {}) const {
    counted_update(variable, next, no_id, where);
  }
  /// As `update`, but for an optimizer: from the next step on, one more update is counted under `path`.
  template <handle H, handle V>
  constexpr void counted_update(H const& variable, V const& next, path_id path, line const& where = {}) const {
    if constexpr (!same_dtype_as<H, V>)
      static_assert(
          is_valid<detail::wrong<"T02 update: the next value has another dtype than the variable: cast it", V, H>>);
    variable_id const target = variable_of(variable.id);
    if (diagnostic const finding = refused_update(target, variable.id, next.id); !finding.empty()) {
      at_line(where);
      b_->note(finding);
      return;
    }
    value_id const ordered_next = ordered(next.id, b_->m.values[variable.id].dims);
    if (b_->depth != 0) detail::update_in_loop(*b_, target, variable.id, ordered_next, path);
    else effect(primitive::write, ordered_next, write_attributes{target, path}.packed());
  }

  /// An input of the step, for example `s.input("text", mt::i32, batch, length)`.
  template <dtype T, dim_type... D>
  constexpr tensor<T, D...> input(named_here const& label, dtype_constant<T>, D...) const {
    at_line(label.where);
    if (b_->depth != 0) {
      diagnostic d{};
      b_->note(d << "G07 the input '" << label.label << "' is declared inside a loop or branch: declare it before");
    }
    shape dims{};
    (dims.add(b_->dim(D::dim_name, D::dim_rule)), ...);
    name_id const row = named_once(primitive::input, label.label);
    return {b_, b_->add(primitive::input, {}, T, dims, input_attributes{row}.packed())};
  }

  template <dim_type First, class... Args>
  constexpr tensor<Compute, First> input(
      named<detail::refusal<"T10 an input is declared with its dtype: s.input(\"x\", mt::f32, batch, in)", First,
                            Args...>> const&,
      First, Args...) const {
    b_->give_up();
    return {b_, value_id{}};
  }

  /// An output of the step, by name.
  template <handle H>
  constexpr void output(named_here const& label, H const& x) const {
    at_line(label.where);
    if (b_->depth != 0) {
      diagnostic d{};
      b_->note(d << "G07 the output '" << label.label
                 << "' is declared inside a loop or branch: return the tensor from there and declare it outside");
    }
    name_id const row = named_once(primitive::output, label.label);
    effect(primitive::output, x.id, output_attributes{row, false}.packed());
  }

  /// A number as an output, in f64. An example is a learning rate that follows a schedule.
  ///
  /// errors  T02 it is an integer that f64 cannot represent
  constexpr void output(named_here const& label, meshtensor::number const& n) const {
    at_line(label.where);
    detail::require_output(*b_, n);
    attributes const exact{{b_->add_number(n), 1}};
    output(label, tensor<f64>(b_, b_->add(primitive::constant, {}, f64, {}, exact)));
  }
  /// Rejects an output without a name.
  template <handle H, class... Args,
            class Reason = detail::refusal<"T10 an output is declared by its name first: s.output(\"y\", y)", H>>
  MESHTENSOR_REFUSES constexpr void output(H const&, Args const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    b_->give_up();
  }
  constexpr void output(named_here const&, detail::no_result) const { b_->give_up(); }
  /// Rejects an output that is neither a tensor nor a number.
  template <class N>
  requires(!handle<N> && !std::convertible_to<N const&, meshtensor::number> && !std::is_same_v<N, detail::no_result>)
  constexpr void output(named<detail::refusal<"T10 an output is a tensor or a number, one for each name", N>> const&,
                        N const&) const {
    b_->give_up();
  }

  /// Makes a tensor visible from outside, even from inside a loop. Each step returns it under its path and this name,
  /// for example `layers/hidden`. From a loop it returns all iterations, stacked along the loop's dim, with zeros for
  /// the iterations that a `while_loop` does not run. `step.watched("layers/hidden")` is the whole tensor for every
  /// layout, and `mt::print(job, "{}", mt::watched(step))` summarizes its numbers. A watch costs the memory of an
  /// output. In an eager scope, `get` returns the tensor.
  ///
  /// errors  G03 the name is taken; G33 in `cond` or a composite, or in a loop over a dim of its own
  template <handle H>
  constexpr void watch(named_here const& label, H const& x) const {
    watched(label, x.id, false);
  }
  /// Watches the gradient of a tensor: the derivative of the loss by it, as `gradient` and `minimize` compute it. If no
  /// gradient passes through the tensor, nothing is returned.
  template <handle H>
  constexpr void watch_gradient(named_here const& label, H const& x) const {
    watched(label, x.id, true);
  }

  /// A number that is set by name at start or before a step, for example `s.number("learning_rate", 1e-3)`.
  ///
  /// errors  G03 declared elsewhere with another value
  constexpr meshtensor::number number(named_here const& label, number_value const& unless_set) const {
    site_id const here = b_->site;
    at_line(label.where);
    number_id const row = b_->add_named_number(label.label, unless_set);
    b_->site = here;
    return meshtensor::number::of_row(b_, row);
  }
  /// Rejects a call without the name first, or without a value.
  template <
      class A, class... B,
      class Reason = detail::refusal<"T10 a number is declared by its name first, then the value that it has until "
                                     "it is set: s.number(\"rate\", 0.1)",
                                     A>>
  requires(std::is_arithmetic_v<A>)
  MESHTENSOR_REFUSES constexpr meshtensor::number number(A, B const&...) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return step();
  }
  template <class... None>
  requires(sizeof...(None) == 0)
  constexpr meshtensor::number number(named<detail::refusal<"T10 a number is declared with the value that it has until "
                                                            "it is set: s.number(\"rate\", 0.1)",
                                                            None...>> const&,
                                      None const&...) const {
    return step();
  }
  /// The number of steps of this program that are complete.
  constexpr meshtensor::number step() const { return counted(number_row::step, no_id); }
  /// The number of updates counted under a path, see `counted_update`.
  constexpr meshtensor::number updates(path_id path) const { return counted(number_row::updates, path); }
  /// The highest number of updates that this program counts below a path.
  constexpr meshtensor::number most_updates(path_id path) const { return counted(number_row::most_updates, path); }
  /// The number of steps of this program. In a number that an optimizer takes up, it is the number of the optimizer's
  /// updates.
  constexpr meshtensor::number scheduled_step() const { return counted(number_row::schedule, no_id); }

  /// As long as the result lives, traced nodes belong to this scope. Layers do this by themselves.
  class entered {
   public:
    constexpr entered(trace_scope const& s, bool library)
        : b_(*s.b_), path_(b_.path), site_(b_.site), held_(b_.site_is_held) {
      b_.path = s.path_;
      if (library && !b_.site_is_held && s.where_.number != 0) {
        b_.site = b_.add_site(s.where_.file, s.where_.number);
        b_.site_is_held = true;
      }
    }
    constexpr ~entered() { b_.path = path_, b_.site = site_, b_.site_is_held = held_; }
    entered(entered const&) = delete;

   private:
    builder& b_;
    path_id path_;
    site_id site_;
    bool held_;
  };
  constexpr entered enter(bool library = false) const { return entered(*this, library); }

  constexpr builder& recorder() const { return *b_; }
  constexpr path_id path() const { return path_; }
  constexpr line where() const { return where_; }

 private:
  template <class... Args>
  static constexpr std::size_t dim_count = ((std::is_same_v<Args, initializer> ? 0 : 1) + ... + 0);

  // For a declaration that was refused, returns a tensor with the dims among the arguments.
  template <dtype T, bool Trainable, class Reason, class... Args, std::size_t... I>
  requires(!nothing_found<Reason>)
  constexpr auto declare(named<Reason> const&, std::tuple<Args...> const&, std::index_sequence<I...>) const {
    b_->give_up();
    return handle_t<Trainable ? Compute : T, typename detail::dims_among_all<Args...>::type>(b_, value_id{});
  }
  template <dtype T, bool Trainable, class... Args, std::size_t... I>
  constexpr auto declare(named_here const& label, std::tuple<Args...> const& args, std::index_sequence<I...>) const {
    constexpr bool given = sizeof...(Args) > sizeof...(I);
    at_line(label.where);
    in_its_layer(label.label);
    shape own{};
    (own.add(b_->dim(std::tuple_element_t<I, std::tuple<Args...>>::dim_name,
                     std::tuple_element_t<I, std::tuple<Args...>>::dim_rule)),
     ...);
    initializer start = Trainable ? initializer{initializer_kind::automatic, 0} : zeros;
    if constexpr (given) start = std::get<sizeof...(I)>(args);
    value_id v = detail::read(*b_, detail::declare(*b_, b_->add_path(path_, label.label), T, own, start, Trainable));
    constexpr dtype seen = Trainable ? Compute : T;
    if constexpr (seen != T)
      v = b_->add(primitive::elementwise, static_cast<std::uint8_t>(function::cast), ids(&v, 1), seen,
                  b_->m.values[v].dims);
    return tensor<seen, std::tuple_element_t<I, std::tuple<Args...>>...>(b_, v);
  }

  constexpr meshtensor::number counted(number_row::kind_t kind, path_id path) const {
    return meshtensor::number::of_row(b_, b_->add_number({kind, function::copy, path, no_id, 0}));
  }
  constexpr void at_line(line const& where) const {
    if (!b_->site_is_held) b_->site = b_->add_site(where.file, where.number);
  }
  constexpr name_id named_once(primitive kind, name const& label) const {
    name_id const row = b_->intern(label);
    for (int i = 0; i < b_->m.node_count; ++i) {
      node const& n = b_->m.nodes[i];
      if (name_of(n) != row || entry_of(n.region) != entry_of(b_->region)) continue;
      bool const is_same = n.kind == kind && (kind != primitive::watch || n.path == path_);
      // A tensor that is watched under no path is returned among the outputs.
      bool const meets = kind == primitive::watch    ? n.kind == primitive::output && path_ == no_id
                         : kind == primitive::output ? n.kind == primitive::watch && n.path == no_id
                                                     : false;
      if (!is_same && !meets) continue;
      diagnostic d{};
      char const* const both = !is_same || kind == primitive::output ? "outputs"
                               : kind == primitive::input            ? "inputs"
                                                                     : "watched tensors";
      b_->note(d << "G03 two " << both << " are called '" << label << "': give one of them another name");
    }
    return row;
  }
  constexpr region_id entry_of(region_id region) const {
    while (b_->m.regions[region].parent != no_id) region = b_->m.regions[region].parent;
    return region;
  }
  constexpr void watched(named_here const& label, value_id v, bool gradient) const {
    at_line(label.where);
    in_its_layer(label.label);
    name_id const row = named_once(primitive::watch, label.label);
    for (int level = 0; level < b_->depth; ++level)
      if (diagnostic d{}; b_->frames[level].loop_dim == no_id)
        b_->note(d << "G33 '" << label.label
                   << "' is watched in cond or a composite: return it from there and watch it outside");
    effect(primitive::watch, v, watch_attributes{row, gradient}.packed());
  }
  constexpr void in_its_layer(name const& label) const {
    if (b_->path == path_) return;
    diagnostic d{};
    add_scope(d << "G04 '" << label << "' belongs to ", b_->m, path_);
    add_scope(d << ", but is used in ", b_->m, b_->path);
    b_->note(d << ": write the part as inline constexpr mt::layer part = [](mt::scope auto s, auto x) {...}, "
                  "and call it with the scope, part(s / \"name\", x)");
  }
  constexpr value_id ordered(value_id v, shape const& dims) const {
    return b_->m.values[v].dims == dims ? v : b_->add(primitive::transpose, {v}, b_->m.values[v].type, dims);
  }
  // The error of an update that is not allowed here, or an empty diagnostic.
  constexpr diagnostic refused_update(variable_id target, value_id before, value_id next) const {
    meshtensor::module const& m = b_->m;
    diagnostic d{};
    if (target == no_id)
      return d << "G08 update: the first argument is not a parameter or state: update takes it as it was declared, and "
                  "its next value";
    variable const& kept = m.variables[target];
    if (diagnostic const in_loop = detail::refused_in_loops(*b_, kept); !in_loop.empty()) return in_loop;
    state_update const* const other = detail::update_in_loops(*b_, target);
    if (other != nullptr) return updated_twice(kept, other->site);
    node_id const written = b_->find_write(entry_of(b_->region), target);
    if (written != no_id) return updated_twice(kept, m.nodes[written].site);
    value const& v = m.values[next];
    shape const& dims = m.values[before].dims;
    if (!v.dims.includes(dims) || !dims.includes(v.dims)) {
      add_type(add_path(d << "T03 '", m, kept.path) << "' is ", m, kept.type, dims);
      add_type(d << ", but its next value is ", m, v.type, v.dims) << ": sum over a dim, or rename one";
    }
    return d;
  }
  constexpr diagnostic updated_twice(variable const& kept, site_id first) const {
    meshtensor::module const& m = b_->m;
    diagnostic d{};
    add_path(d << "G05 '", m, kept.path) << "' is updated twice in one step";
    if (first < m.site_count && m.sites[first].line != 0)
      d << ", first at " << file_name(m.sites[first]) << ":" << m.sites[first].line;
    return d << ": a step has one next value of it, and all reads see the value before (minimize updates all "
                "parameters)";
  }
  constexpr void effect(primitive kind, value_id operand, attributes const& a) const {
    b_->m.nodes[b_->add_node(kind, 0, ids(&operand, 1), a)].effect = true;
  }
  constexpr variable_id variable_of(value_id v) const { return detail::variable_read(*b_, v); }
  constexpr variable const& like(value_id v) const {
    variable_id const row = variable_of(v);
    return b_->m.variables[row == no_id ? 0 : row];
  }
  constexpr path_id joined(path_id prefix, path_id path) const {
    return path == no_id ? prefix : b_->add_path(joined(prefix, b_->m.paths[path].parent), b_->m.paths[path].label);
  }

  builder* b_;
  path_id path_;
  line where_;
};

namespace detail {
/// The fault in the arguments of a layer, or no_error. The layer's function may check their types itself in
/// `finding<Args…>()`. If it has a `static constexpr literal usage`, this is the sentence for all other wrong
/// arguments.
template <class F, class... Args>
requires(!scope<typename nth<0, Args..., F>::type>)
consteval auto layer_finding() {
  return refusal<"T10 a layer is called with a scope first: part(s / \"name\", x)", Args...>{};
}
template <class F, scope S, class... Args>
consteval auto layer_finding() {
  constexpr bool finds = [] {
    if constexpr (requires { F::template finding<Args...>(); })
      return !nothing_found<decltype(F::template finding<Args...>())>;
    else return false;
  }();
  if constexpr (finds) return F::template finding<Args...>();
  else if constexpr (takes<F, S, Args...>) return no_error{};
  else if constexpr (requires { F::usage; }) return refusal<F::usage, Args...>{};
  else return refusal<"T10 a layer is called with other arguments than its function takes, a scope and", Args...>{};
}
/// The result of a call that was refused: the first tensor among its arguments.
template <class... Args>
constexpr auto given_up_layer(Args const&...) {
  return no_result{};
}
template <class First, class... More>
constexpr auto given_up_layer(First const& first, More const&... more) {
  if constexpr (scope<First>) first.recorder().give_up();
  if constexpr (handle<First>) return first.owner->give_up(), first;
  else return given_up_layer(more...);
}
/// The same result, but a tuple if the layer has several results.
template <class F, class... Args>
constexpr auto given_up_results(Args const&... args) {
  auto const one = given_up_layer(args...);
  if constexpr (requires { F::result_count; })
    return []<std::size_t... I>(auto const& same, std::index_sequence<I...>) {
      return std::tuple{(static_cast<void>(I), same)...};
    }(one, std::make_index_sequence<F::result_count>{});
  else return one;
}
}  // namespace detail

/// A part of a model as an object, for example `inline constexpr mt::layer attention = [](mt::scope auto s, auto x)
/// {…};`. It is called with a scope of its own: `attention(s / "attention", x)`. The nodes that it traces belong to
/// that scope, for layouts and for errors.
template <class F>
struct layer {
  F body;
  constexpr layer(F f) : body(f) {}  // NOLINT: a function is a layer
  template <class... Args>
  requires nothing_found<decltype(detail::layer_finding<F, Args...>())>
  constexpr auto operator()(Args const&... args) const {
    return called(args...);
  }
  /// Rejects wrong arguments.
  template <class... Args, class Reason = decltype(detail::layer_finding<F, Args...>())>
  requires(!nothing_found<Reason>)
  MESHTENSOR_REFUSES constexpr auto operator()(Args const&... args) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return detail::given_up_results<F>(args...);
  }

 private:
  template <scope S, class... Args>
  constexpr auto called(S const& s, Args const&... args) const {
    auto const here = s.enter(false);
    return body(s, args...);
  }
};

/// A layer of the library. Its nodes report the line of the scope with which it was called.
template <class F>
struct library_layer {
  F body;
  constexpr library_layer(F f) : body(f) {}  // NOLINT: a function is a layer
  template <class... Args>
  requires nothing_found<decltype(detail::layer_finding<F, Args...>())>
  constexpr auto operator()(Args const&... args) const {
    return called(args...);
  }
  /// Rejects wrong arguments.
  template <class... Args, class Reason = decltype(detail::layer_finding<F, Args...>())>
  requires(!nothing_found<Reason>)
  MESHTENSOR_REFUSES constexpr auto operator()(Args const&... args) const {
    static_assert(detail::is_said<Reason>, "meshtensor refuses this call");
    return detail::given_up_results<F>(args...);
  }

 private:
  template <scope S, class... Args>
  constexpr auto called(S const& s, Args const&... args) const {
    auto const here = s.enter(true);
    return body(s, args...);
  }
};

}  // namespace meshtensor
