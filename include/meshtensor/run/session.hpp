// SPDX-License-Identifier: Apache-2.0
// Holds the ranks on which a plan runs, and their memory, inputs and outputs by name.
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/dynamic_array.hpp"
#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/base/resident.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/run/background_fill.hpp"
#include "meshtensor/run/inputs.hpp"
#include "meshtensor/run/memory_use.hpp"
#include "meshtensor/run/outputs.hpp"
#include "meshtensor/run/recorded/steps.hpp"
#include "meshtensor/run/store.hpp"

namespace meshtensor {

/// Runs one entry of a partitioned module, step by step, on the ranks of a store. It checks names, whereas `executable`
/// checks types.
template <class Device>
class session {
 public:
  /// `m` and `p` must outlive the session. `ready` is called after this process has prepared everything of its own, and
  /// before its first collective. Steps are counted under `program`, or under the entry's name if `program` is empty.
  ///
  /// errors  M10 not enough memory
  session(
      store& values, module const& m, plan const& p, mesh_shape const& mesh, int entry, Device device = Device(),
      function_ref<void()> ready = [] {}, std::string const& program = {});

  session(session const&) = delete;
  session& operator=(session const&) = delete;
  ~session();

  fed_inputs& inputs() { return inputs_; }
  void feed(std::string_view label, void const* whole) { inputs_.feed(label, whole); }

  void set(std::string_view label, number_value const& number);

  /// Runs one step. Every input must have been fed, by `take` or before. From the third step on it allocates nothing
  /// (tests/unit/run/allocation.cpp) except copies in other formats, because these are made again after the store has
  /// changed. `take` sets the numbers of this step, offers its inputs and fetches its outputs. It is called when no
  /// other step of the store can run. If one of them is refused, all of them keep their values.
  ///
  /// errors  R27 the store is in a step; R02, R11, T02 an argument is missing or does not fit; in each case nothing has
  /// changed
  void step(function_ref<void()> take = [] {});
  /// Excludes its steps from the store's count, `store::step`.
  void exclude_from_step_count() { among_steps_ = false; }

  /// The part of an output of the last step that the `k`-th rank held here has, with its origin in the whole. It is
  /// dense unless the step wrote it into an array of the caller.
  view local(std::string_view label, std::size_t k = 0) const { return outputs_.part(label, k); }
  written_outputs& outputs() { return outputs_; }
  /// The value that an output returns.
  value_id output(std::string_view label) const { return outputs_.value_of(label); }
  /// The whole output of the last step, assembled from the ranks that this process holds.
  block whole(std::string_view label) const;
  /// The same on every process. If processes hold parts of the output, all of them must call it.
  block gathered(std::string_view label);
  /// The sorted names of the tensors that the program watches.
  std::vector<std::string> watched() const;
  /// Each input, whole, assembled from the ranks that this process holds.
  blocks fed() const;
  settings const& numbers() const { return settings_; }
  /// The numbers of the next step.
  settings const& next_numbers() {
    count();
    return settings_;
  }

  /// Starts or restarts recording each node's time, or stops and discards the times. The first `warm_up` steps are
  /// excluded once another step has begun.
  void record(bool on, int warm_up = 0);
  /// Calls `take` with the timeline of each rank held here, or in lockstep with one timeline for all ranks. Before
  /// `record` there is no timeline.
  void each_recorded(function_ref<void(timeline const&)> take) const;
  /// Calls `seen` after each node and `before` ahead of it, for each engine held here. In lockstep one engine has all
  /// ranks.
  void observe(typename engine<Device>::observer const& seen, typename engine<Device>::observer const& before = {});
  /// The device's peak rates, if it knows them.
  rates best_rates();

  /// The memory of this process, divided into that of this session and the rest.
  memory_use memory() const;

  meshtensor::module const& graph() const { return m_; }
  plan const& planned() const { return p_; }
  dynamic_array<rank_context> const& held() const { return contexts_; }

 private:
  /// Whether one engine has all ranks held here.
  bool runs_as_one() const {
    bool const holds_all = static_cast<std::int64_t>(ranks_.size()) == mesh_.size();
    return store_.runner().in_lockstep() || whole_program_device<Device> || (recording_device<Device> && holds_all);
  }
  void count();
  /// Evaluates the numbers of a step, and finds its memory. errors R02, T02
  void prepare();
  /// Restores the numbers and the seed, and discards the offers to the inputs.
  void refuse_step(std::uint64_t seed);
  /// Updates the addresses of the arenas, because another executable of the store may have grown them or given them up.
  void find_memory();
  /// Runs the plan in the arenas. If it fails with messages in flight, gives up the arenas.
  void run_in_memory();
  /// Notes in the store which values the step writes, and what replicas share after it.
  void note_updates();
  void run_all();
  /// Frees the copies in other formats, of any executable, of the values that this session writes.
  void drop_copies();
  /// Copies values that this session uses from other devices back to the host.
  void bring_home();
  /// Calls `visit(stored&)` for each value that its device keeps and whose memory the program has (`store::local`).
  template <class Visit>
  void for_lent(Visit visit);

  /// A whole value, assembled from the part of each rank, `part_of(k)`.
  template <class PartOf>
  block assembled(value_id v, PartOf part_of) const;

  /// Finds the values and the memory of ports. On a device of the host `later` fills nothing, because new values are
  /// filled at once. Other devices let `later` fill them.
  struct nothing_to_fill {
    nothing_to_fill(store&, background_fill::function) {}
  };
  using filling = std::conditional_t<keeps_values<Device>, background_fill, nothing_to_fill>;
  void connect(filling& later, std::string const& program);
  /// Checks, before anything is made, that replicas share what the first step needs. errors R99
  void require_shared() const;
  /// Lists, for each rank, the blocks of the store that this program reads and never writes.
  void find_unchanged();
  void make_engine(int rank, transport& t);

  /// The device of one of the ranks that run concurrently here and therefore share the cores.
  Device one_device() const;

  std::size_t index_of(int rank) const;
  store& store_;
  meshtensor::module const& m_;
  plan const& p_;
  mesh_shape mesh_;
  int entry_;
  Device device_;
  std::vector<int> ranks_;
  dynamic_array<instruction> list_;  // of all engines
  dynamic_array<rank_context> contexts_;
  dynamic_array<external_buffers> external_;
  struct used_value {
    stored* value;
    id variable;
    bool is_written;
  };
  dynamic_array<used_value> used_;                          // values of the store
  dynamic_array<std::span<std::byte const>> variables_;     // blocks of the store, for all ranks held here
  std::unique_ptr<transport> lockstep_;                     // of all ranks, if they run in lockstep
  dynamic_array<std::unique_ptr<engine<Device>>> engines_;  // one for each rank held here, or one for all in lockstep
  lent_values lent_{store_};
  mutable written_outputs outputs_{m_, contexts_, external_, lent_};  // gets its memory when that is first needed
  fed_inputs inputs_{m_, contexts_, external_, lent_, outputs_.ports()};
  std::map<std::string, std::unique_ptr<gathering>> gatherings_;  // of outputs
  settings settings_;
  struct changed_number {
    decltype(settings::named)::iterator at;
    number_value before;
    bool is_new;
  };
  dynamic_array<changed_number> changed_;  // by a step that may still be refused
  bool may_refuse_ = false;                // whether there is one
  dynamic_array<number_value> numbers_;
  integer_numbers integer_numbers_{m_};
  counted_paths counted_{m_, entry_};
  std::uint64_t* steps_ = nullptr;        // this program's count of steps, in the store
  dynamic_array<std::uint64_t*> counts_;  // counts of updates, in the store
  bool updates_ = false, among_steps_ = true;
};

}  // namespace meshtensor

#include "meshtensor/run/session_members.hpp"
#include "meshtensor/run/session_steps.hpp"
