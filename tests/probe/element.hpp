// SPDX-License-Identifier: Apache-2.0
// Computes an element of a kernel's result from the graph: the compiler walks from a value to what it is made of,
// node by node. One text for host and device; it shows that a graph can be bound, not how a fast kernel is cut.
#pragma once

#include <limits>

#include "meshtensor/base/sum.hpp"
#include "meshtensor/op/detail/scalar.hpp"
#include "meshtensor/pass/fuse/read_kernel.hpp"

namespace probe {
namespace mt = meshtensor;

/// What the graph does not hold: memory, dense and row-major, and numbers. Extents and origins, the global index of a
/// processor's first element, are those of the dims of the kernel's space.
struct arguments {
  void const* operands[mt::max_kernel_operands];
  void* results[mt::max_kernel_results];
  double numbers[mt::max_kernel_numbers];
  std::int64_t extent[mt::max_dims_of_one], origin[mt::max_dims_of_one];
};

/// An index for every dim of the kernel's space.
struct place {
  std::int64_t at[mt::max_dims_of_one];
};

/// One node of a kernel: dims are places in its space, operands are steps, the attribute is a place among its arguments
/// or numbers.
struct step {
  mt::primitive kind;
  std::uint8_t function;
  mt::dtype type;
  mt::shape dims;
  int from[3], operands, attribute;
};
template <int Count>
struct kernel_steps {
  step at[Count];
  int results[mt::max_kernel_results], result_count;
};

template <int Count>
constexpr kernel_steps<Count> steps_of(mt::module const& m, mt::node const& kernel, mt::kernel_reading const& r) {
  mt::shape const space = mt::kernel_attributes::of(kernel).space;
  kernel_steps<Count> all{};
  auto const place_of = [&](mt::value_id v) { return m.values[v].node - r.first_node; };
  for (int i = 0; i < Count; ++i) {
    mt::node const& n = m.nodes[r.first_node + i];
    mt::value const& v = m.result_value(n);
    step& s = all.at[i];
    s.kind = n.kind, s.function = n.function, s.type = v.type, s.attribute = n.attribute[0];
    for (int d = 0; d < v.dims.count; ++d) s.dims.add(space.find(v.dims.at[d]));
    for (; s.operands < n.operands.count; ++s.operands) s.from[s.operands] = place_of(m.operand(n, s.operands));
    if (n.kind != mt::primitive::constant) continue;
    for (s.attribute = 0; r.numbers[s.attribute] != n.attribute[0];) ++s.attribute;
  }
  mt::list const given = m.regions[m.region_of(kernel, 0)].results;
  for (; all.result_count < given.count; ++all.result_count)
    all.results[all.result_count] = place_of(m.link(given, all.result_count));
  return all;
}

/// A kernel of `Program::graph`, which is bound by the name of its owner: nvcc cannot put a value that has arrays into
/// the template arguments of a `__global__` function. It also copies all of an object in every evaluation that reads a
/// part of it, hence `steps`: the module is read twice a kernel, not twice a node.
template <class Program, int Node>
struct kernel {
  static constexpr mt::kernel_reading reading = mt::read_kernel(Program::graph, Program::graph.nodes[Node]);
  static constexpr auto steps =
      steps_of<reading.end_node - reading.first_node>(Program::graph, Program::graph.nodes[Node], reading);

  template <int I>
  using type = mt::element_t<steps.at[I].type>;

  /// Step I at an index.
  template <int I>
  static constexpr type<I> element(arguments const& a, place const& p) {
    constexpr step s = steps.at[I];
    if constexpr (s.kind == mt::primitive::argument) {
      return static_cast<type<I> const*>(a.operands[s.attribute])[offset<I>(a, p)];
    } else if constexpr (s.kind == mt::primitive::constant) {
      return mt::element_of<type<I>>(a.numbers[s.attribute]);
    } else if constexpr (s.kind == mt::primitive::iota) {
      constexpr int d = s.dims.at[0];
      return static_cast<type<I>>(static_cast<mt::arithmetic_t<type<I>>>(a.origin[d] + p.at[d]));
    } else if constexpr (s.kind == mt::primitive::broadcast || s.kind == mt::primitive::transpose) {
      return element<s.from[0]>(a, p);
    } else if constexpr (s.kind == mt::primitive::reduce) {
      return reduced<I>(a, p);
    } else {
      static_assert(s.kind == mt::primitive::elementwise, "the probe knows no other nodes");
      return elementwise<I>(a, p);
    }
  }

  /// Stores element `i` of every result that has so many.
  static constexpr void store(arguments const& a, std::int64_t i) {
    unrolled<steps.result_count>([&](auto r) { store_result<r>(a, i); });
  }

 private:
  template <int N, class F>
  static constexpr void unrolled(F const& f) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (f(std::integral_constant<int, I>{}), ...);
    }(std::make_integer_sequence<int, N>{});
  }

  template <int R>
  static constexpr void store_result(arguments const& a, std::int64_t i) {
    constexpr int I = steps.results[R];
    constexpr mt::shape dims = steps.at[I].dims;
    std::int64_t left = i;
    place p{};
    unrolled<dims.count>([&](auto k) {
      constexpr int d = dims.at[dims.count - 1 - k];
      p.at[d] = left % a.extent[d], left /= a.extent[d];
    });
    if (left == 0) static_cast<type<I>*>(a.results[R])[i] = element<I>(a, p);
  }

  template <int I>
  static constexpr std::int64_t offset([[maybe_unused]] arguments const& a, [[maybe_unused]] place const& p) {
    constexpr mt::shape dims = steps.at[I].dims;
    std::int64_t n = 0;
    unrolled<dims.count>([&](auto k) {
      constexpr int d = dims.at[k];
      n = n * a.extent[d] + p.at[d];
    });
    return n;
  }

  template <int I>
  static constexpr type<I> elementwise(arguments const& a, place const& p) {
    constexpr step s = steps.at[I];
    constexpr auto f = static_cast<mt::function>(s.function);
    auto const x = element<s.from[0]>(a, p);
    if constexpr (f == mt::function::select) {
      return x ? element<s.from[1]>(a, p) : element<s.from[2]>(a, p);
    } else {
      using A = mt::arithmetic_t<type<s.from[0]>>;
      auto const y = element<s.from[s.operands - 1]>(a, p);
      if constexpr (f == mt::function::cast)
        return static_cast<type<I>>(static_cast<mt::arithmetic_t<type<I>>>(static_cast<A>(x)));
      else if constexpr (mt::is_comparison(f)) return mt::compare<A>(f, x, y);
      else return static_cast<type<I>>(mt::apply<A>(f, x, y));
    }
  }

  // In the order of the interpreter, so that the bits are the same.
  template <int I>
  static constexpr type<I> reduced(arguments const& a, place p) {
    using E = type<I>;
    constexpr auto kind = static_cast<mt::reduction>(steps.at[I].function);
    if constexpr (kind == mt::reduction::sum) {
      mt::wide_sum<E> sum;
      each_term<I, 0>(a, p, [&](E term) { sum.add(static_cast<typename mt::wide_sum<E>::term>(term)); });
      return sum.value();
    } else {
      using S = mt::sum_t<E>;
      using limits = std::numeric_limits<S>;
      constexpr S least = limits::has_infinity ? -limits::infinity() : limits::lowest();
      constexpr S most = limits::has_infinity ? limits::infinity() : limits::max();
      S best = kind == mt::reduction::max ? least : most;
      constexpr auto f = kind == mt::reduction::max ? mt::function::maximum : mt::function::minimum;
      each_term<I, 0>(a, p, [&](E term) { best = mt::apply(f, best, static_cast<S>(term)); });
      return static_cast<E>(best);
    }
  }
  template <int I, int Dim, class F>
  static constexpr void each_term(arguments const& a, place& p, F const& f) {
    constexpr step s = steps.at[I];
    constexpr mt::shape gone = mt::without(steps.at[s.from[0]].dims, s.dims);
    if constexpr (Dim < gone.count) {
      constexpr int d = gone.at[Dim];
      for (p.at[d] = 0; p.at[d] < a.extent[d]; ++p.at[d]) each_term<I, Dim + 1>(a, p, f);
    } else {
      f(element<s.from[0]>(a, p));
    }
  }
};

}  // namespace probe
