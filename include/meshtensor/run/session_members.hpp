// SPDX-License-Identifier: Apache-2.0
// Defines the members of session that run once. They connect it with its store and its job, and describe it.
// why: members that are defined in a class are compiled with every program, even if a library has them.
#pragma once

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/pass/passes.hpp"
#include "meshtensor/run/session.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {

template <class Device>
session<Device>::session(store& values, module const& m, plan const& p, mesh_shape const& mesh, int entry,
                         Device device, function_ref<void()> ready, std::string const& program)
    : store_(values), m_(m), p_(p), mesh_(mesh), entry_(entry), device_(std::move(device)) {
  std::string const counted = program.empty() ? m.names[m.regions[entry].label].text() : program;
  steps_ = &values.count_steps(counted);
  require_shared();

  auto& job = values.runner();
  auto const size = static_cast<int>(mesh.size());
  if (job.size() != 0 && job.size() != size)
    throw error("R05", {"the mesh has ", size, " ranks, but ", job.size(), (job.size() == 1 ? " was" : " were"),
                        " started: start as many as the mesh has, as by mpirun -n ", size,
                        ", or let mt::job::as_threads() make them"});
  ranks_ = job.held(size);
  filling later(values, [](view const& part, initial_value const& first) {
    if constexpr (requires { Device::fill(part, first); }) Device::fill(part, first);
    else fill(part, first);
  });
  within_memory(p, [&] {
    if constexpr (engine<Device>::reads_instructions) list_ = instructions_of_entry(m, p, entry);
    contexts_.reserve(ranks_.size());
    for (int r : ranks_) contexts_.emplace_back(m, p, mesh, r);
    find_memory();
    external_.resize(ranks_.size());
    connect(later, counted);
    if constexpr (keeps_values<Device>) later.begin();
  });
  ready();
  if constexpr (requires { device_.join(*job.processes()); })
    if (job.processes() != nullptr) device_.join(*job.processes());
  if (runs_as_one()) {
    lockstep_ = job.transport_of_all(size);
    engines_.push_back(std::make_unique<engine<Device>>(m, p, entry, list_, device_, contexts_, lockstep_.get()));
  } else {
    engines_.resize(ranks_.size());
    job.run(size, [&](int rank, transport& t) { within_memory(p, [&] { make_engine(rank, t); }); });
  }
  if constexpr (keeps_values<Device>) {
    auto const finish = [&] { within_memory(p, [&] { later.finish(); }); };
    if constexpr (whole_program_device<Device>) device_.during(finish);  // an error on one rank is reported on all
    else if (job.processes() == nullptr) finish();
    else job.run(size, [&](int, transport&) { finish(); });
    for (used_value const& u : used_) engines_[0]->use(u.variable, *u.value);
  }
}

template <class Device>
session<Device>::~session() {
  if (!store_.runner().has_failed()) return;
  stays(contexts_), stays(list_), stays(engines_), stays(inputs_), stays(outputs_);
}

template <class Device>
std::vector<std::string> session<Device>::watched() const {
  std::vector<std::string> all;
  for (port const& p : outputs_.ports())
    if (output_attributes::of(m_.nodes[p.node]).with_path) all.push_back(p.label);
  std::ranges::sort(all);
  return all;
}

template <class Device>
blocks session<Device>::fed() const {
  blocks all;
  inputs_.require_all();
  for (port const& p : inputs_.ports())
    all.emplace(p.label, assembled(inputs_.value_of(p), [&](std::size_t k) { return inputs_.part(p, k); }));
  return all;
}

template <class Device>
void session<Device>::record(bool on, int warm_up) {
  for (auto& e : engines_) e->record(on, warm_up);
}

template <class Device>
void session<Device>::each_recorded(function_ref<void(timeline const&)> take) const {
  for (auto const& e : engines_)
    if (e->recorded() != nullptr) take(*e->recorded());
}

template <class Device>
void session<Device>::observe(typename engine<Device>::observer const& seen,
                              typename engine<Device>::observer const& before) {
  for (auto& e : engines_) e->observe(seen, before);
}

template <class Device>
rates session<Device>::best_rates() {
  if constexpr (requires { device_.best_rates(); }) return engines_[0]->device().best_rates();
  else return rates{};
}

template <class Device>
memory_use session<Device>::memory() const {
  memory_use use;
  use.planned = (p_.arena_bytes + p_.variable_bytes + p_.input_bytes) * static_cast<std::int64_t>(contexts_.size());
  for (auto const& e : engines_) use.workspace += e->workspace_bytes();
  std::int64_t planned_here = 0;
  for (std::size_t k = 0; k < contexts_.size(); ++k) planned_here += store_.steps().resident(k, p_.arena_bytes);
  for (std::span<std::byte const> const v : variables_) planned_here += resident_bytes(v.data(), std::ssize(v));
  for (external_buffers const& o : external_) use.workspace += o.unchanged.bytes_of_copies();
  for (port const& p : inputs_.ports())
    for (auto const& m : p.memory) planned_here += resident_bytes(m.data(), std::ssize(m) * 8);
  use.process = std::max<std::int64_t>(0, resident_bytes() - planned_here - use.workspace);
  return use;
}

template <class Device>
void session<Device>::require_shared() const {
  for (int i = 0; i < m_.node_count; ++i) {
    node const& n = m_.nodes[i];
    if (n.region != entry_ || n.kind != primitive::write) continue;
    variable const& v = m_.variables[variable_of(n)];
    std::string const label = path_text(m_, v.path);
    if (auto const found = store_.values().find(label); found != store_.values().end())
      meshtensor::require_shared(label, found->second, v.sharing.needed(*steps_));
  }
}

template <class Device>
void session<Device>::connect([[maybe_unused]] filling& later, std::string const& program) {
  for (std::string const& label : counted_.labels()) counts_.push_back(&store_.count_updates(label));
  std::string apart;
  counted_.each_path([&](std::string const& label, bool in_state, bool is_used) {
    if (store_.is_counted_apart(label, in_state, is_used) && apart.empty()) apart = label;
  });
  if (!apart.empty())
    warn(store_.runner(),
         "G56: one program counts the updates '" + apart +
             "' in the store, and another one in a state, because its optimizer or average stands in a loop or a "
             "branch: schedules and bias corrections of one program do not follow the updates by the other one");
  dynamic_array<rank_context*> held;
  for (rank_context& p : contexts_) held.push_back(&p);
  for (external_buffers& o : external_) {
    o.variables.resize(static_cast<std::size_t>(m_.variable_count));
    o.fed.resize(static_cast<std::size_t>(m_.node_count));
    o.given.resize(static_cast<std::size_t>(m_.node_count));
    o.strided.resize(static_cast<std::size_t>(m_.node_count));
  }
  std::vector<bool> updated(static_cast<std::size_t>(m_.variable_count));
  for (int i = 0; i < m_.node_count; ++i)
    if (node const& n = m_.nodes[i]; n.region == entry_ && n.kind == primitive::write) updated[variable_of(n)] = true;
  for (int i = 0; i < m_.node_count; ++i) {
    node const& n = m_.nodes[i];
    if (n.region != entry_) continue;
    if (n.kind == primitive::read || n.kind == primitive::write) {
      stored& s = store_.provide(m_, p_.numbers, m_.variables[variable_of(n)], updated[variable_of(n)] ? program : "",
                                 held, [&](view const& block, initial_value const& first) {
                                   if constexpr (keeps_values<Device>) later.add(block, first);
                                   else if constexpr (requires { device_.fill(block, first); })
                                     device_.fill(block, first);
                                   else if (!first.is_zero()) meshtensor::fill(block, first);
                                 });
      for (std::size_t k = 0; k < external_.size(); ++k) {
        std::byte*& block = external_[k].variables[variable_of(n)];
        if (block == nullptr)
          variables_.emplace_back(s.blocks[k].data(), static_cast<std::size_t>(s.windows[k].bytes()));
        block = s.blocks[k].data();
      }
      used_.push_back({&s, variable_of(n), n.kind == primitive::write});
      lent_.add(s, n.kind == primitive::write);
      updates_ = updates_ || n.kind == primitive::write;
    }
    if (n.kind == primitive::input) inputs_.add(static_cast<node_id>(i));
    if (n.kind == primitive::output) outputs_.add(static_cast<node_id>(i));
  }
  find_unchanged();
}

template <class Device>
void session<Device>::find_unchanged() {
  std::vector<bool> done(static_cast<std::size_t>(m_.variable_count));
  for (used_value const& u : used_)
    if (u.is_written) done[u.variable] = true;
  for (used_value const& u : used_) {
    if (done[u.variable]) continue;
    done[u.variable] = true;
    for (std::size_t k = 0; k < external_.size(); ++k)
      external_[k].unchanged.add(u.value->blocks[k].data(), u.value->blocks[k].size(), u.value->copies[k]);
  }
}

template <class Device>
void session<Device>::make_engine(int rank, transport& t) {
  std::size_t const k = index_of(rank);
  rank_context& p = contexts_[k];
  engines_[k] =
      std::make_unique<engine<Device>>(m_, p_, entry_, list_, one_device(), std::span<rank_context>(&p, 1), &t);
}

template <class Device>
Device session<Device>::one_device() const {
  if constexpr (requires { device_.shared_by(1); }) return device_.shared_by(static_cast<int>(ranks_.size()));
  else return device_;
}

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
