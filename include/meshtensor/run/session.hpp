// A plan at work: its processors, their memory, what is fed and what comes out, by name.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "meshtensor/run/engine.hpp"
#include "meshtensor/run/store.hpp"

namespace meshtensor {

/// Runs one entry of a partitioned module, step by step, on the processors of a store. Names are checked here, types in
/// `executable`.
template <class Device>
class session {
 public:
  /// `m` and `p` must outlive the session.
  session(store& values, module const& m, plan const& p, mesh_shape const& mesh, int entry, Device device = Device())
      : store_(values), m_(m), p_(p), mesh_(mesh), entry_(entry), device_(std::move(device)) {
    auto& job = values.job();
    auto const size = static_cast<int>(mesh.size());
    if (job.size() != 0 && job.size() != size)
      throw error("R05", "the mesh has " + std::to_string(size) + " processors, but " + std::to_string(job.size()) +
                             " were started: start as many as the mesh has");
    ranks_ = job.held(size);
    processors_.reserve(ranks_.size());
    for (int r : ranks_) processors_.emplace_back(m, p, mesh, r);
    around_.resize(ranks_.size());
    connect();
    if (job.in_lockstep()) {
      together_ = std::make_unique<engine<Device, lockstep>>(m, p, device_, processors_, lockstep{});
    } else {
      alone_.resize(ranks_.size());
      job.run(size, [&](int rank, transport& t) { make_engine(rank, t); });
    }
  }

  /// Copies each processor's part of a whole array into its input. errors R02 no input has this name
  void feed(std::string const& label, void const* whole) {
    id const n = input_named(label);
    for (std::size_t k = 0; k < processors_.size(); ++k) {
      view to = processors_[k].window_of(m_.values[m_.result(m_.nodes[n])]);
      view from = to;
      for (int i = 0; i < from.count; ++i) from.extent[i] = from.total[i];
      from.densify();
      std::int64_t first = 0;
      for (int i = 0; i < from.count; ++i) first += from.stride[i] * to.origin[i];
      from.data = const_cast<void*>(whole);
      to.data = around_[k].fed[n] = buffer(fed_memory_, n, k, to.bytes());
      detail::copy_by_name(from, first, to, 0, no_id, no_id, to.extent);
    }
    fed_[n] = true;
  }
  /// Lets this process's one processor read its part where it lies. errors R06 this process holds several processors
  void feed_local(std::string const& label, void const* part) {
    if (processors_.size() != 1)
      throw error("R06", "feed_local gives one processor's part, but this process holds " +
                             std::to_string(processors_.size()) + ": feed the whole array");
    id const n = input_named(label);
    around_[0].fed[n] = static_cast<std::byte*>(const_cast<void*>(part));
    fed_[n] = true;
  }
  void set(std::string const& label, double number) {
    for (int i = 0; i < m_.number_count; ++i)
      if (m_.numbers[i].kind == number_row::named && m_.names[m_.numbers[i].first] == name::of(label)) {
        settings_.named[label] = number;
        return;
      }
    throw error("R07", "the program has no number '" + label + "'");
  }

  /// One step. Every input must have been fed, now or before.
  void step() {
    for (int i = 0; i < m_.node_count; ++i)
      if (m_.nodes[i].kind == primitive::input && m_.nodes[i].region == entry_ && !fed_[i])
        throw error("R02", "the input '" + m_.names[m_.nodes[i].attribute[0]].text() + "' was not fed");
    settings_.seed = store_.seed(), settings_.step = store_.step();
    evaluate_numbers(m_, p_.numbers, settings_, numbers_);
    if (together_) {
      together_->run(entry_, around_, numbers_.data(), settings_.seed, settings_.step);
    } else {
      store_.job().run(static_cast<int>(mesh_.size()), [&](int rank, transport&) {
        std::size_t const k = index_of(rank);
        alone_[k]->run(entry_, {&around_[k], 1}, numbers_.data(), settings_.seed, settings_.step);
      });
    }
    if (updates_) store_.advance();
  }

  /// This processor's part of an output of the last step, and where it lies in the whole.
  view local(std::string const& label, std::size_t k = 0) const {
    id const n = output_named(label);
    view v = processors_[k].window_of(m_.values[m_.operand(m_.nodes[n], 0)]);
    v.data = around_[k].given[n];
    return v;
  }
  /// The whole output of the last step, assembled from the processors that this process holds.
  block whole(std::string const& label) const {
    value const& v = m_.values[m_.operand(m_.nodes[output_named(label)], 0)];
    block result(v.type, v.dims, p_.numbers);
    for (std::size_t k = 0; k < processors_.size(); ++k) {
      view const part = local(label, k), all = result.window();
      std::int64_t first = 0;
      for (int i = 0; i < all.count; ++i) first += all.stride[i] * part.origin[i];
      detail::copy_by_name(part, 0, all, first, no_id, no_id, part.extent);
    }
    return result;
  }

  module const& graph() const { return m_; }
  plan const& planned() const { return p_; }
  std::vector<processor> const& held() const { return processors_; }

 private:
  void connect() {
    std::vector<processor*> held;
    for (processor& p : processors_) held.push_back(&p);
    for (outside& o : around_) {
      o.variables.resize(static_cast<std::size_t>(m_.variable_count));
      o.fed.resize(static_cast<std::size_t>(m_.node_count));
      o.given.resize(static_cast<std::size_t>(m_.node_count));
    }
    fed_.resize(static_cast<std::size_t>(m_.node_count));
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (n.region != entry_) continue;
      if (n.kind == primitive::read || n.kind == primitive::write) {
        stored& s = store_.provide(m_, p_.numbers, m_.variables[n.attribute[0]], held);
        for (std::size_t k = 0; k < around_.size(); ++k) around_[k].variables[n.attribute[0]] = s.block_of(k);
        updates_ = updates_ || n.kind == primitive::write;
      }
      if (n.kind == primitive::output)
        for (std::size_t k = 0; k < around_.size(); ++k)
          around_[k].given[static_cast<std::size_t>(i)] =
              buffer(given_memory_, static_cast<id>(i), k, processors_[k].bytes(m_.operand(n, 0)));
    }
  }
  void make_engine(int rank, transport& t) {
    std::size_t const k = index_of(rank);
    processor& p = processors_[k];
    std::vector<int> numbers(static_cast<std::size_t>(m_.node_count));
    for (int i = 0; i < m_.node_count; ++i)
      if (is_collective(m_.nodes[i].kind))
        numbers[static_cast<std::size_t>(i)] = t.prepare(p.exchange(static_cast<id>(i)));
    alone_[k] = std::make_unique<engine<Device, by_transport>>(m_, p_, one_device(), std::span<processor>(&p, 1),
                                                               by_transport{&t, std::move(numbers)});
  }

  /// The device of one of the processors that run at the same time here: they share the cores.
  Device one_device() const {
    if constexpr (requires { device_.shared_by(1); }) return device_.shared_by(static_cast<int>(ranks_.size()));
    else return device_;
  }

  struct by_transport {
    transport* t;
    std::vector<int> numbers;  // of the transport, by node
    void start(std::span<processor> one, id node_id, id from, id to) const {
      t->start(numbers[node_id], one[0].exchange(node_id), one[0].pointer(from), one[0].pointer(to));
    }
    void wait(id node_id) const { t->wait(numbers[node_id]); }
  };

  using memory = std::map<std::pair<id, std::size_t>, std::vector<double>>;
  static std::byte* buffer(memory& where, id n, std::size_t k, std::int64_t bytes) {
    auto& b = where[{n, k}];
    b.resize(static_cast<std::size_t>(bytes + 7) / 8 + 1);
    return reinterpret_cast<std::byte*>(b.data());
  }
  std::size_t index_of(int rank) const {
    for (std::size_t k = 0; k < ranks_.size(); ++k)
      if (ranks_[k] == rank) return k;
    return 0;
  }
  id input_named(std::string const& label) const { return find(primitive::input, label, "R02", "input"); }
  id output_named(std::string const& label) const { return find(primitive::output, label, "R08", "output"); }
  id find(primitive kind, std::string const& label, char const* code, char const* what) const {
    std::string known;
    for (int i = 0; i < m_.node_count; ++i) {
      node const& n = m_.nodes[i];
      if (n.kind != kind || n.region != entry_) continue;
      if (m_.names[n.attribute[0]] == name::of(label)) return static_cast<id>(i);
      known += (known.empty() ? "" : ", ") + m_.names[n.attribute[0]].text();
    }
    throw error(code, std::string("the program has no ") + what + " '" + label + "'; it has: " + known);
  }

  store& store_;
  module const& m_;
  plan const& p_;
  mesh_shape mesh_;
  int entry_;
  Device device_;
  std::vector<int> ranks_;
  std::vector<processor> processors_;
  std::vector<outside> around_;
  std::unique_ptr<engine<Device, lockstep>> together_;
  std::vector<std::unique_ptr<engine<Device, by_transport>>> alone_;
  std::vector<bool> fed_;
  memory fed_memory_, given_memory_;
  settings settings_;
  std::vector<double> numbers_;
  bool updates_ = false;
};

}  // namespace meshtensor
