// SPDX-License-Identifier: Apache-2.0
// Notes that a program saves beside its values, for example the position in its data or the state of a random number
// generator.
#pragma once

#include <cmath>
#include <concepts>
#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/suggest.hpp"

namespace meshtensor {

/// Small values by name: whole numbers, floats, and byte strings. They are saved and loaded bit for bit, except for the
/// bits of a NaN. For example:
///
///     mt::notes more{{"batch", 1200}, {"order", text_of(generator)}};
///     auto batch = more.get<std::int64_t>("batch");
class notes {
 public:
  using note = std::variant<std::int64_t, double, std::string>;
  /// A name and the value noted under it.
  struct entry {
    entry(std::string name, std::integral auto n) : label(std::move(name)), what(static_cast<std::int64_t>(n)) {}
    entry(std::string name, std::floating_point auto x) : label(std::move(name)), what(static_cast<double>(x)) {}
    entry(std::string name, std::string text) : label(std::move(name)), what(std::move(text)) {}
    entry(std::string name, char const* text) : label(std::move(name)), what(std::string(text)) {}
    std::string label;
    note what;
  };

  notes() = default;
  notes(std::initializer_list<entry> all) {
    for (entry const& e : all) set(e);
  }

  void set(entry e) { all_[std::move(e.label)] = std::move(e.what); }
  bool has(std::string const& label) const { return all_.contains(label); }
  /// errors  C11 there is no such note, it is of another kind, or it is a whole number that does not fit in a T
  template <class T>
  T get(std::string const& label) const {
    static_assert(std::integral<T> || std::floating_point<T> || std::same_as<T, std::string>,
                  "meshtensor C11: a note is a whole number, a float or a std::string");
    using kept =
        std::conditional_t<std::integral<T>, std::int64_t, std::conditional_t<std::floating_point<T>, double, T>>;
    auto const found = all_.find(label);
    if (found == all_.end()) {
      std::vector<std::string> known;
      for (auto const& [other, what] : all_) known.push_back(other);
      throw error("C11", {"there is no note '", label, "'", did_you_mean(label, known)});
    }
    kept const* const held = std::get_if<kept>(&found->second);
    if (held == nullptr) {
      constexpr char const* kinds[] = {"a whole number", "a float", "a text"};
      throw error("C11",
                  {"the note '", label, "' is ", kinds[found->second.index()], ", not ", kinds[note(kept{}).index()]});
    }
    if constexpr (std::integral<T>)
      if (static_cast<kept>(static_cast<T>(*held)) != *held)
        throw error("C11", {"the note '", label, "' is ", *held, ", which does not fit in ",
                            std::same_as<T, bool> ? "a bool" : std::to_string(8 * sizeof(T)) + " bits"});
    return static_cast<T>(*held);
  }

  std::map<std::string, note> const& all() const { return all_; }
  bool operator==(notes const&) const = default;

 private:
  std::map<std::string, note> all_;
};

}  // namespace meshtensor
