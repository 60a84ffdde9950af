// SPDX-License-Identifier: Apache-2.0
// Defines the eager scope, which computes a program's operations at once on whole arrays of one process. It is for the
// code before and after a program, for debugging, and for tests that need an oracle.
#pragma once

#include <memory>
#include <string>
#include <tuple>

#include "meshtensor/eager/eager_record.hpp"
#include "meshtensor/eager/given_value.hpp"
#include "meshtensor/eager/known_names.hpp"
#include "meshtensor/op/control.hpp"
#include "meshtensor/run/feed.hpp"

namespace meshtensor {
/// A scope that computes at once. It takes its arguments in any order, here or later by `take`. They are extents
/// `batch(4)`, `feed<"x">(…)`, `set<"rate">(…)`, and a store. It reads the store's values and seed, and writes only to
/// a copy. A tensor has the value that follows from the present arguments and variables, so `take`, `assign` and `run`
/// may change it.
///
///     mt::eager s(weights, batch(4));
///     auto x = s(images);                                  // an array as a tensor
///     auto h = mt::nn::linear(s / "first", x, pixels, hidden);
///     mt::array<float, batch, hidden> y = s.value(softmax(h, hidden));
///
///     s.run(train_step{}, mt::feed<"image">(images));      // or a whole program, one step
///     float loss = s.get<float>("loss").item();
///
/// errors  R02 an input was not given, or a program does not have it; R07 a program has no such number; R11 to R15
template <dtype Parameters = dtype::f32, dtype Compute = Parameters>
class eager : public trace_scope<Parameters, Compute> {
 public:
  template <class... Given>
  explicit eager(Given&&... given)
      : eager(std::make_shared<detail::eager_record>(std::make_shared<detail::eager_state>(), &evaluate<>)) {
    take(given...);
  }
  eager(eager& other) : eager(static_cast<eager const&>(other)) {}
  eager(eager const&) = default;

  /// Takes further arguments. If one of them is refused, none is taken.
  template <class... Given>
  void take(Given&&... given) {
    state().arguments.keep_if_done([&] { (take_one(given), ...); });
    r_->forget_values();
  }
  /// Sets a variable's value by its path, as a store does. The program that runs next must have a new path (R13).
  template <class T>
  void assign(std::string const& path, any_array<T> const& a) {
    state().arguments.keep_if_done([&] {
      for (dim_extent const& d : a.dims()) state().bind(d);
    });
    state().assign(path,
                   detail::given_value::copy_of<T>({a.data(), static_cast<std::size_t>(a.size())}, a.dims(), true));
    r_->forget_values();
  }

  /// An array as a tensor of this scope.
  template <class T, auto... Dims>
  auto operator()(array<T, Dims...> const& a) const {
    builder& b = r_->b;
    shape dims{};
    (dims.add(b.dim(Dims.dim_name, Dims.dim_rule)), ...);
    return tensor<dtype_of<T>, std::remove_cvref_t<decltype(Dims)>...>(&b, r_->lift(a, dims));
  }

  /// The value of a tensor, which is an array with its dims, or a number if it has no dims.
  template <dtype T, dim_type... D>
  auto value(tensor<T, D...> const& h) const {
    block const& held = r_->value_of(h.id);
    using element = element_t<T>;
    if constexpr (sizeof...(D) == 0) return *held.template as<element>();
    else return array<element, D{}...>(as_array<element>(held));
  }
  template <dtype T>
  any_array<element_t<T>> value(any_tensor<T> const& h) const {
    return as_array<element_t<T>>(r_->value_of(h.id));
  }

  /// Runs one step of a program. The arguments hold from then on, and the program must have their names. If the step
  /// fails, it has taken none of its arguments.
  template <class Program, class... Given>
  eager& run(Program const&, Given&&... given) {
    using how = detail::precision_of<Program>;
    auto const step = std::make_unique<detail::eager_record>(r_->shared, &evaluate<>);
    step->begin_program(entry_name<Program>(), counted_name<Program>());
    state().arguments.keep_if_done([&] {
      (take_one(given), ...);
      typename how::program{}(typename how::scope_t(&step->b, no_id, line(std::source_location())));
      (detail::require_known(step->b.m, given), ...);
      detail::require_variables(state(), step->b.m, r_->b.m);
      step->finish();
    });
    r_->forget_values();
    return *this;
  }
  /// An output of the last program by name, or else one of this scope's own nodes, or else a variable by path.
  template <class T>
  any_array<T> get(std::string const& label) const {
    detail::given_value const held = r_->named(label);
    if (held.type != dtype_of<T>)
      throw error("R14", {"'", label, "' is ", text_of(held.type), ", not ", text_of(dtype_of<T>)});
    return held.as_array<T>();
  }

 private:
  explicit eager(std::shared_ptr<detail::eager_record> r)
      : trace_scope<Parameters, Compute>(&r->b, no_id, line(std::source_location())), r_(std::move(r)) {}

  detail::eager_state& state() const { return *r_->shared; }
  template <class T>
  any_array<T> as_array(block const& held) const {
    return {r_->dims_of(held), std::span<T const>(held.template as<T>(), static_cast<std::size_t>(held.size()))};
  }
  void take_one(dim_extent const& e) { state().bind(e); }
  void take_one(store& s) { state().arguments.replace(state().weights, &s); }
  template <name Label>
  void take_one(set_number<Label> const& n) {
    state().arguments.replace(state().set.named, Label.text(), n.value);
  }
  template <name Label, class T>
  void take_one(fed_elements<Label, T> const& f) {
    state().arguments.replace(state().inputs, Label.text(),
                              detail::given_value::copy_of<T>({f.data, f.size}, {}, false));
  }
  template <name Label, class T, class Dims>
  void take_one(fed_array<Label, T, Dims> const& f) {
    auto const dims = f.from.dims();
    for (dim_extent const& d : dims) state().bind(d);
    any_array<T> dense({dims.begin(), dims.end()});
    view to = dense.window(), from = f.from.as(to, [&](int i) { return dims[static_cast<std::size_t>(i)].label; });
    detail::copy_by_name(from, 0, to, 0, no_id, no_id, to.extent);
    auto const elements = std::span<T const>(dense.data(), static_cast<std::size_t>(to.size()));
    state().arguments.replace(state().inputs, Label.text(), detail::given_value::copy_of<T>(elements, dims, true));
  }

  std::shared_ptr<detail::eager_record> r_;
};

namespace detail {
template <class S, class A>
auto lifted(S const& s, A const& a) {
  if constexpr (any_array_like<A>) return s(a);
  else return a;
}
template <class S, class H>
auto values_of(S const& s, H const& h) {
  if constexpr (is_tuple<H>) return std::apply([&](auto const&... each) { return std::tuple{s.value(each)...}; }, h);
  else return s.value(h);
}
}  // namespace detail

/// Computes a function of tensors on arrays. For example, `at_once([](auto x) { return softmax(x * 2, d_model); }, a)`
/// is an array. Other arguments, for example dims, are passed on unchanged.
template <class F, class... A>
auto at_once(F const& f, A const&... arguments) {
  eager<> const s;
  auto const tensors = std::tuple{detail::lifted(s, arguments)...};
  return detail::values_of(s, std::apply(f, tensors));
}

}  // namespace meshtensor
