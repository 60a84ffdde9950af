// SPDX-License-Identifier: Apache-2.0
// Translates typed text, line by line.
#pragma once

#include <algorithm>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <meshtensor/job/agree.hpp>
#include <meshtensor/job/job.hpp>

namespace translation {

namespace mt = meshtensor;

/// The lines of standard input, read by one process of a job and broadcast to all.
class lines_for_all {
 public:
  explicit lines_for_all(mt::job const& job)
      : job_(job),
        greatest_(job),
        letters_(job.get(), mt::collective::all_reduce, mt::u8, room, "a line that was typed") {}

  /// Reads the next line. Returns false at the end of the input.
  bool next(std::string& line) {
    bool const mine = job_.is_root() && static_cast<bool>(std::getline(std::cin, line));
    if (greatest_(mine ? 1 : 0) < 1) return false;
    if (letters_.is_alone()) return true;
    if (!mine) line.clear();
    auto const length = static_cast<std::size_t>(greatest_(static_cast<double>(line.size())));
    line.resize(length, '\0');
    for (std::size_t first = 0; first < length; first += room) {
      std::string sent = line.substr(first, room), told(room, '\0');
      sent.resize(room, '\0');
      letters_(sent.data(), told.data());
      line.replace(first, std::min<std::size_t>(room, length - first), told, 0,
                   std::min<std::size_t>(room, length - first));
    }
    return true;
  }

 private:
  static constexpr std::int64_t room = 1024;
  mt::job const& job_;
  mt::agreement greatest_;
  mt::on_all_ranks letters_;
};

/// Answers every line with one line, until the input ends.
inline void converse(mt::job const& job, std::function<std::string(std::string const&)> const& answer) {
  lines_for_all lines(job);
  for (std::string line; lines.next(line);) mt::print(job, "{}\n", answer(line));
}

}  // namespace translation
