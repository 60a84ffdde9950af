// SPDX-License-Identifier: Apache-2.0
// Hands the arguments of a step to its session: arrays for inputs, memory for outputs, and numbers. The compiler checks
// their names, dtypes and dims.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "meshtensor/run/executable/view_dims.hpp"
#include "meshtensor/run/feed.hpp"
#include "meshtensor/run/ports.hpp"
#include "meshtensor/run/store.hpp"

namespace meshtensor::detail {

/// `take` takes one argument of a step, or of an executable's constructor. Inputs are offered (see fed_inputs), and the
/// step takes them when all arguments fit.
template <class Stages, class Entry, class Session>
class step_arguments {
 public:
  step_arguments(store& values, Session& s) : values_(&values), session_(&s) {}

  template <name Label, class T>
  void take(fed_elements<Label, T> const& f) {
    check_fed<Label, T, any_dims>();
    session_->inputs().offer(letters(Label), f.data, static_cast<std::int64_t>(f.size));
  }
  template <name Label, class T, class Dims>
  void take(fed_array<Label, T, Dims> const& f) {
    check_fed<Label, T, Dims>();
    view const wanted = session_->inputs().window(letters(Label)), whole = arranged(graph(), f.from, wanted);
    if (whole.count < 0) session_->inputs().refuse(letters(Label), "an array " + text_of(f.from.dims()) + " was");
    session_->inputs().offer(letters(Label), whole);
  }
  template <name Label, class T>
  void take(fed_part<Label, T> const& f) {
    check_fed<Label, T, any_dims>();
    session_->inputs().offer_local(letters(Label), f.data, f.size);
  }
  template <name Label, class T>
  void take(fed_part_view<Label, T> const& f) {
    check_fed<Label, T, any_dims>();
    view const wanted = session_->inputs().local_window(letters(Label)), part = arranged(graph(), f.from, wanted);
    if (part.count < 0)
      throw error("R11", {"this rank's part of the input '", Label, "' is ", text_of(dims_of_view(graph(), wanted)),
                          ", but a view ", text_of(f.from.dims()), " was fed"});
    session_->inputs().offer_local(letters(Label), part);
  }
  template <name Label, class T>
  void take(fetched_part<Label, T> const& f) {
    check_fetched<Label, T>();
    view to = session_->outputs().local_window(letters(Label));
    if (f.size >= 0 && f.size != to.size())
      throw error("R11", {"this rank's part of the output '", Label, "' has ", to.size(),
                          " elements, but there is memory for ", f.size});
    to.data = f.data;
    session_->outputs().fetch(letters(Label), to);
  }
  template <name Label, class T>
  void take(fetched_part_view<Label, T> const& f) {
    check_fetched<Label, T>();
    view const wanted = session_->outputs().local_window(letters(Label)), to = arranged(graph(), f.to, wanted);
    if (to.count < 0)
      throw error("R11", {"this rank's part of the output '", Label, "' is ", text_of(dims_of_view(graph(), wanted)),
                          ", but it is fetched into a view ", text_of(f.to.dims())});
    session_->outputs().fetch(letters(Label), to);
  }
  void take(dim_extent const&) {}
  void take(axis_extent const&) {}
  void take(std::vector<dim_extent> const&) {}
  void take(std::vector<axis_extent> const&) {}
  void take(nothing_fed const&) {}
  template <name Label>
  void take(set_number<Label> const& s) {
    if constexpr (Label == name("seed") && !has_number(Stages::traced, Label)) {
      values_->set_seed(seed_of(s.value));
    } else {
      static_assert(is_valid<number_finding<Stages, Label>>);
      session_->set(letters(Label), s.value);
    }
  }

 private:
  meshtensor::module const& graph() const { return session_->graph(); }
  template <name Label, class T>
  static constexpr void check_fetched() {
    static_assert(is_valid<port_finding<Stages, Entry, primitive::output, Label>>);
    static_assert(is_valid<fetch_finding<Stages, Entry, Label, dtype_of<T>>>);
  }
  template <name Label, class T, class Dims>
  static constexpr void check_fed() {
    static_assert(is_valid<port_finding<Stages, Entry, primitive::input, Label>>);
    static_assert(is_valid<feed_finding<Stages, Entry, Label, dtype_of<T>, Dims>>);
  }

  store* values_;
  Session* session_;
};

}  // namespace meshtensor::detail
