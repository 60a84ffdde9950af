// The store: parameters and state, held once, by name; executables borrow them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "meshtensor/run/interpret.hpp"
#include "meshtensor/run/processors.hpp"

namespace meshtensor {

/// A variable as the store holds it: what it is, and one block for each processor that this process holds.
struct stored {
  dtype type;
  std::vector<std::string> dims;
  std::vector<std::int64_t> extents;
  std::vector<std::string> axes;  // of each dim, as text: "data x model"
  std::vector<view> windows;      // of each held processor, in the whole
  std::vector<std::vector<double>> blocks;

  std::byte* block_of(std::size_t k) { return reinterpret_cast<std::byte*>(blocks[k].data()); }
};

/// Owns the values that outlive a step. The first executable that names a value makes it, from the seed, the value's
/// path and the global index, so that the order of executables does not matter. `step` counts the steps of programs
/// that update.
class store {
 public:
  explicit store(processors const& p, std::uint64_t seed = 0) : job_(p.get()), seed_(seed) {}

  meshtensor::job& job() const { return job_; }
  std::uint64_t seed() const { return seed_; }
  std::uint64_t step() const { return step_; }
  void set_step(std::uint64_t step) { step_ = step; }
  void advance() { ++step_; }

  std::map<std::string, stored>& values() { return values_; }
  std::map<std::string, stored> const& values() const { return values_; }

  /// The names of all values, parameters and state.
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (auto const& [label, value] : values_) all.push_back(label);
    return all;
  }

  /// The value of a variable of a partitioned module, made if it is not there yet.
  ///
  /// errors  R04 it is there with another dtype, other extents or another layout
  stored& provide(module const& m, binding const& b, variable const& v, std::vector<processor*> const& held) {
    std::string const label = path_text(m, v.path);
    stored fresh = describe(m, b, v);
    auto const found = values_.find(label);
    if (found != values_.end()) {
      stored const& s = found->second;
      if (s.type != fresh.type || s.dims != fresh.dims || s.extents != fresh.extents)
        throw error("R04",
                    "the store holds '" + label + "' as " + text(s) + ", but a program reads it as " + text(fresh));
      if (s.axes != fresh.axes || s.blocks.size() != held.size())
        throw error("R04", "the store holds '" + label + "' as " + text(s) + ", but another layout wants " +
                               text(fresh) + ": programs that share parameters must imply one layout for each");
      return found->second;
    }
    settings start;
    start.seed = seed_;
    value like{};
    like.type = v.type, like.dims = v.dims, like.layout = v.layout;
    for (processor* p : held) {
      view window = p->window_of(like);
      fresh.blocks.emplace_back(static_cast<std::size_t>(window.bytes() + 7) / 8);
      window.data = fresh.blocks.back().data();
      initialize(m, b, v, start, window);
      fresh.windows.push_back(window);
    }
    return values_.emplace(label, std::move(fresh)).first->second;
  }

 private:
  static stored describe(module const& m, binding const& b, variable const& v) {
    stored s{};
    s.type = v.type;
    for (int i = 0; i < v.dims.count; ++i) {
      s.dims.push_back(m.dim_name(v.dims.at[i]).text());
      s.extents.push_back(b.extent[v.dims.at[i]]);
      std::string axes;
      for (int o = 0, a = 0; (a = v.layout.axis_at(i, o)) >= 0; ++o)
        axes += (o == 0 ? "" : " x ") + m.names[m.axes[a].label].text() + "=" + std::to_string(b.axis[a]);
      s.axes.push_back(axes);
    }
    return s;
  }
  static std::string text(stored const& s) {
    std::string t = std::string(text_of(s.type)) + "[";
    for (std::size_t i = 0; i < s.dims.size(); ++i)
      t += (i == 0 ? "" : ", ") + s.dims[i] + "=" + std::to_string(s.extents[i]) +
           (s.axes[i].empty() ? "" : "/" + s.axes[i]);
    return t + "]";
  }

  meshtensor::job& job_;
  std::uint64_t seed_, step_ = 0;
  std::map<std::string, stored> values_;
};

}  // namespace meshtensor
