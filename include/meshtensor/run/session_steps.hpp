// SPDX-License-Identifier: Apache-2.0
// Defines the members of session that run in each step, and those that read its outputs.
#pragma once

#include "meshtensor/run/session.hpp"

namespace meshtensor {

template <class Device>
void session<Device>::set(std::string_view label, number_value const& number) {
  if (auto const known = settings_.named.find(label); known != settings_.named.end()) {
    if (may_refuse_) changed_.push_back({known, known->second, false});
    known->second = number;
    return;
  }
  for (int i = 0; i < m_.number_count; ++i)
    if (m_.numbers[i].kind == number_row::named && m_.names[m_.numbers[i].first] == name::of(label)) {
      auto const added = settings_.named.emplace(label, number).first;
      if (may_refuse_) changed_.push_back({added, number, true});
      return;
    }
  throw error("R07", {"the program has no number '", label, "'"});
}

template <class Device>
void session<Device>::step(function_ref<void()> take) {
  store_.steps().use([&] {  // around all reads and writes, so that a step of another thread is refused before them
    std::uint64_t const seed = store_.seed();
    may_refuse_ = true;
    try {
      take();
      prepare();
      may_refuse_ = false;
      inputs_.take();
      within_memory(p_, [&] { outputs_.begin_step(inputs_, !whole_program_device<Device>); });
      note_updates();
      run_in_memory();
      outputs_.end_step();
    } catch (std::exception const& e) {
      outputs_.drop_step();
      if (may_refuse_) refuse_step(seed);
      else inputs_.end_step();
      store_.runner().has_refused(e.what());
      throw;
    }
    inputs_.end_step();
    if (updates_ && among_steps_) store_.advance();
    ++*steps_;
    for (std::size_t k = 0; k < counts_.size(); ++k) *counts_[k] += counted_.updates_of_call(k, numbers_);
  });
}

template <class Device>
void session<Device>::prepare() {
  inputs_.require_all();
  count();
  evaluate_numbers(m_, p_.numbers, settings_, numbers_);
  integer_numbers_.require(numbers_);
  find_memory();
  changed_.clear();
}

template <class Device>
void session<Device>::note_updates() {
  for (used_value const& u : used_) {
    if (!u.is_written) continue;
    u.value->is_initial = false;
    if (u.value->replica_dim >= 0)
      u.value->shared = m_.variables[u.variable].sharing.after_step(u.value->shared, *steps_);
  }
}

template <class Device>
void session<Device>::refuse_step(std::uint64_t seed) {
  may_refuse_ = false;
  inputs_.drop();
  store_.set_seed(seed);
  for (std::size_t i = changed_.size(); i-- > 0;) {  // backwards, because a number may be set twice
    if (changed_[i].is_new) settings_.named.erase(changed_[i].at);
    else changed_[i].at->second = changed_[i].before;
  }
  changed_.clear();
}

template <class Device>
block session<Device>::whole(std::string_view label) const {
  return assembled(output(label), [&](std::size_t k) { return local(label, k); });
}

template <class Device>
block session<Device>::gathered(std::string_view label) {
  if (static_cast<std::int64_t>(contexts_.size()) == mesh_.size()) return whole(label);
  value const& v = m_.values[output(label)];
  view const part = local(label);
  auto& bring = gatherings_[std::string(label)];
  if (!bring) {
    std::vector<std::int64_t> grains;
    for (int i = 0; i < v.dims.count; ++i) grains.push_back(p_.numbers.grain[v.dims.at[i]]);
    bring = std::make_unique<gathering>(mesh_, contexts_[0].rank(), v.layout, part, grains);
  }
  block all(v.type, v.dims, p_.numbers);
  std::vector<double> copied;  // of a part that is in the caller's array
  view mine = part;
  if (outputs_.is_callers(label)) {
    copied.resize(static_cast<std::size_t>(part.bytes() + 7) / 8);
    mine.data = copied.data();
    detail::copy_dense(part, mine.data);
  }
  store_.runner().run(static_cast<int>(mesh_.size()), [&](int, transport& t) { bring->run(t, mine.data, all.data()); });
  return all;
}

template <class Device>
void session<Device>::count() {
  settings_.seed = store_.seed(), settings_.step = *steps_;
  counted_.give(settings_, [this](std::size_t k) { return *counts_[k]; });
}

template <class Device>
void session<Device>::find_memory() {
  store_.steps().reserve(contexts_.size(), static_cast<std::size_t>(p_.arena_bytes));
  for (std::size_t k = 0; k < contexts_.size(); ++k) contexts_[k].use(store_.steps().of(k));
}

template <class Device>
void session<Device>::run_in_memory() {
  try {
    if constexpr (!keeps_values<Device>) bring_home();
    for_lent([](stored& s) { s.block_of(0); });
    drop_copies();
    run_all();
    for_lent([](stored& s) { s.come_home(); });
  } catch (...) {
    if (std::ranges::any_of(engines_, &engine<Device>::is_under_way)) store_.steps().leave();
    throw;
  }
}

template <class Device>
void session<Device>::run_all() {
  auto const run = [this](std::size_t k, std::span<external_buffers> external) {
    within_memory(p_, [&] { engines_[k]->run(external, numbers_.data(), settings_.seed, settings_.step); });
  };
  if (runs_as_one()) return run(0, external_);
  store_.runner().run(static_cast<int>(mesh_.size()), [&](int rank, transport&) {
    std::size_t const k = index_of(rank);
    run(k, {&external_[k], 1});
  });
}

template <class Device>
void session<Device>::drop_copies() {
  for (used_value const& u : used_)
    if (u.is_written) u.value->drop_copies();
}

template <class Device>
void session<Device>::bring_home() {
  for (used_value const& u : used_) {
    if (u.value->on_device == nullptr) continue;
    if (u.is_written) u.value->block_of(0);
    else u.value->come_home();
  }
}

template <class Device>
template <class Visit>
void session<Device>::for_lent(Visit visit) {
  if constexpr (keeps_values<Device>)
    for (used_value const& u : used_)
      if (u.value->is_lent) visit(*u.value);
}

template <class Device>
template <class PartOf>
block session<Device>::assembled(value_id v, PartOf part_of) const {
  block result(m_.values[v].type, m_.values[v].dims, p_.numbers);
  for (std::size_t k = 0; k < contexts_.size(); ++k) {
    view const part = part_of(k), all = result.window();
    std::int64_t first = 0;
    for (int i = 0; i < all.count; ++i) first += all.stride[i] * part.origin[i];
    detail::copy_by_name(part, 0, all, first, no_id, no_id, part.extent);
  }
  return result;
}

template <class Device>
std::size_t session<Device>::index_of(int rank) const {
  for (std::size_t k = 0; k < ranks_.size(); ++k)
    if (ranks_[k] == rank) return k;
  return 0;
}

}  // namespace meshtensor
