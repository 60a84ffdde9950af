// SPDX-License-Identifier: Apache-2.0
// Requires that all ranks start the same program with the same settings. Otherwise they would wait for each other for
// ever, or exchange wrong data.
#pragma once

#include <array>
#include <exception>
#include <string>
#include <vector>

#include "meshtensor/job/on_all_ranks.hpp"
#include "meshtensor/job/start_record.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor {
namespace detail {

/// Gathers one number of each process.
inline std::vector<std::int64_t> of_each(job_runner& ranks, std::int64_t mine) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(ranks.size()));
  on_all_ranks(ranks, collective::all_gather, i64, 1, "start of an executable")(&mine, all.data());
  return all;
}
/// Broadcasts the text of one process.
[[gnu::cold]] inline std::string said_by(job_runner& ranks, int rank, std::string text) {
  auto size = static_cast<std::int64_t>(text.size());
  on_all_ranks(ranks, collective::broadcast, i64, 1, "start of an executable").from(rank)(&size, &size);
  text.resize(static_cast<std::size_t>(size));
  on_all_ranks(ranks, collective::broadcast, u8, size, "start of an executable").from(rank)(text.data(), text.data());
  return text;
}

/// Iterates over the lines of a text. Each is trimmed, and each run of blanks is one blank.
class lines_of {
 public:
  explicit lines_of(std::string const& text) : text_(text) {}
  /// The next line, or an empty one after the last.
  [[gnu::cold]] std::string next() {
    std::string line;
    for (; at_ < text_.size() && text_[at_] != '\n'; ++at_)
      if (text_[at_] != ' ' || (!line.empty() && line.back() != ' ')) line += text_[at_];
    ++at_;
    return line;
  }

 private:
  std::string const& text_;
  std::size_t at_ = 0;
};

/// Quotes the first lines that differ, with their ranks: `'batch = 24' on rank 0, 'batch = 48' on rank 1`. The text
/// after a `#` is not compared, because it is a source position.
[[gnu::cold]] inline std::string first_difference(std::string const& a, std::string const& on_a, std::string const& b,
                                                  std::string const& on_b) {
  lines_of left(a), right(b);
  auto const quoted = [](std::string const& line) { return line.empty() ? "nothing" : "'" + line + "'"; };
  for (std::size_t i = 0; i < a.size() + b.size(); ++i) {
    std::string const x = left.next(), y = right.next();
    if (x.substr(0, x.find(" # ")) != y.substr(0, y.find(" # ")))
      return quoted(x) + " on " + on_a + ", " + quoted(y) + " on " + on_b;
  }
  return "something that has no name, on " + on_a + " and on " + on_b;
}

}  // namespace detail

/// Compares the programs that the ranks of a job are about to run, in one collective. A rank passes its record. If it
/// could not make one, it passes the exception `refused` instead. The ranks send more only if something is wrong.
///
/// errors  R24 a fact differs: which one, its values, and on which ranks; the exception `refused`, on that rank; R21
/// another rank has refused, and why
template <class = lazy>
[[gnu::cold]] void require_same_on_all_ranks(job_runner& ranks, start_record const* mine,
                                             std::exception_ptr const& refused) {
  if (ranks.size() < 2) {
    if (refused) std::rethrow_exception(refused);
    return;
  }
  constexpr std::size_t count = start_record::count;
  std::array<std::int64_t, 1 + 2 * count> words{}, greatest{};
  words[0] = refused ? 1 : 0;
  for (std::size_t f = 0; f < count && mine != nullptr; ++f) {
    words[1 + f] = static_cast<std::int64_t>(mine->fingerprint_of(static_cast<int>(f)));
    words[1 + count + f] = ~words[1 + f];  // the maximum of the complements gives the minimum
  }
  on_all_ranks(ranks, collective::all_reduce, i64, std::ssize(words), "start of an executable")(words.data(),
                                                                                                greatest.data());
  if (greatest[0] != 0) {
    auto const all = detail::of_each(ranks, words[0]);
    int first = 0;
    while (all[static_cast<std::size_t>(first)] == 0) ++first;
    std::string why = "an exception of unknown type";
    try {
      if (refused) std::rethrow_exception(refused);
    } catch (std::exception const& e) { why = e.what(); } catch (...) {
    }
    why = detail::said_by(ranks, first, why);
    if (refused) std::rethrow_exception(refused);
    throw error("R21", "rank " + std::to_string(first) + " failed: " + why, first);
  }
  std::size_t f = 0;
  while (f < count && greatest[1 + f] == ~greatest[1 + count + f]) ++f;
  if (f == count) return;
  auto const fingerprints = detail::of_each(ranks, words[1 + f]);
  std::vector<int> like_first, like_other;
  int other = 0;
  while (fingerprints[static_cast<std::size_t>(other)] == fingerprints[0]) ++other;
  for (int r = 0; r < ranks.size(); ++r) {
    if (fingerprints[static_cast<std::size_t>(r)] == fingerprints[0]) like_first.push_back(r);
    if (fingerprints[static_cast<std::size_t>(r)] == fingerprints[static_cast<std::size_t>(other)])
      like_other.push_back(r);
  }
  std::string const lines = mine->lines_of(static_cast<int>(f));
  std::string const a = detail::said_by(ranks, 0, lines), b = detail::said_by(ranks, other, lines);
  throw error("R24", std::string("the ranks differ in ") + start_record::name_of(static_cast<int>(f)) + ": " +
                         detail::first_difference(a, text_of_ranks(like_first), b, text_of_ranks(like_other)) +
                         ": start all ranks with the same program and arguments");
}

#if MESHTENSOR_COMPILED
extern template void require_same_on_all_ranks<lazy>(job_runner&, start_record const*, std::exception_ptr const&);
#endif

}  // namespace meshtensor

#include "meshtensor/base/run_rarely_end.hpp"
