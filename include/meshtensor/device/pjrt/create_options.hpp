// SPDX-License-Identifier: Apache-2.0
// Reads the options of a plugin's client from a text: `preallocate=false memory_fraction=0.5 visible_devices=[0,2]`.
#pragma once

#include <algorithm>
#include <charconv>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/device/pjrt/api.hpp"

namespace meshtensor::pjrt {

/// Options of the form NAME=VALUE, separated by spaces. A value is `true` or `false`, an integer, a number with a
/// point, a list of integers in brackets, or otherwise a text, as the plugin expects it.
class create_options {
 public:
  create_options() = default;
  /// errors  R75 a word is not NAME=VALUE
  explicit create_options(std::string_view text) {
    while (!text.empty()) {
      std::string_view const word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      if (!word.empty()) add(word);
    }
  }
  create_options(create_options const&) = delete;
  create_options& operator=(create_options const&) = delete;

  /// Sets an option. It replaces an earlier option of the same name.
  void set(std::string_view word) {
    std::string_view const name = word.substr(0, word.find('='));
    std::erase_if(all_, [&](named_value const& v) { return std::string_view(v.name, v.name_length) == name; });
    add(word);
  }
  /// The integers of an option, if the option is set and is a list.
  std::optional<std::vector<std::int64_t>> list(std::string_view name) const {
    for (named_value const& v : all_)
      if (std::string_view(v.name, v.name_length) == name && v.kind == named_value::integers)
        return std::vector(v.content.integers, v.content.integers + v.length);
    return {};
  }

  named_value const* data() const { return all_.data(); }
  std::size_t size() const { return all_.size(); }

 private:
  template <class T>
  static bool is_number(std::string_view text, T& number) {
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    return problem == std::errc{} && end == text.data() + text.size();
  }
  void add(std::string_view word) {
    auto const equals = word.find('=');
    if (equals == 0 || equals == word.npos)
      throw error("R75", {"'", word, "' is no option of a PJRT plugin: write NAME=VALUE, such as preallocate=false"});
    std::string const& name = kept_.emplace_back(word.substr(0, equals));
    std::string const& value = kept_.emplace_back(word.substr(equals + 1));
    named_value& v = all_.emplace_back();
    v.head.size = sizeof v;
    v.name = name.data(), v.name_length = name.size(), v.length = 1;
    if (value == "true" || value == "false") {
      v.kind = named_value::boolean, v.content.boolean = value == "true";
    } else if (is_number(value, v.content.integer)) {
      v.kind = named_value::integer;
    } else if (is_number(value, v.content.real)) {
      v.kind = named_value::real;
    } else if (value.size() >= 2 && value.front() == '[' && value.back() == ']') {
      v.kind = named_value::integers;
      std::vector<std::int64_t>& list = lists_.emplace_back();
      for (std::string_view rest(value.data() + 1, value.size() - 2); !rest.empty();) {
        std::string_view const part = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        if (!is_number(part, list.emplace_back()))
          throw error("R75", {"'", part, "' is no integer of the list in '", word, "'"});
      }
      v.content.integers = list.data(), v.length = list.size();
    } else {
      v.kind = named_value::text, v.content.text = value.data(), v.length = value.size();
    }
  }

  std::list<std::string> kept_;
  std::list<std::vector<std::int64_t>> lists_;
  std::vector<named_value> all_;
};

}  // namespace meshtensor::pjrt
