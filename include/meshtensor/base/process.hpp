// SPDX-License-Identifier: Apache-2.0
// Process ids across machines, and the activity of another process.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

namespace meshtensor {

/// A process by its host name and process id. It is a plain value that processes can send to each other. Ids can be
/// compared only if `place` is the same, because it stands for one machine, and one container on it.
struct process_id {
  char host[64];
  std::uint64_t place;
  std::int64_t number;

  /// `process 4711 on node17`
  std::string text() const { return "process " + std::to_string(number) + " on " + host; }
};

inline process_id this_process() {
  process_id p{};
  if (gethostname(p.host, sizeof p.host - 1) != 0) p.host[0] = '?';
  std::string where;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), where);
  char container[64] = "";
  if (readlink("/proc/self/ns/pid", container, sizeof container - 1) > 0) where += container;
  p.place = 0xcbf29ce484222325ull;
  for (char const c : where + p.host) p.place = (p.place ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
  p.number = syscall(SYS_getpid);  // not getpid(), for which simulated MPI libraries have a macro
  return p;
}

enum class activity : std::uint8_t { unknown, gone, computes, waits, stopped, in_debugger };

constexpr char const* text_of(activity a) {
  constexpr char const* words[] = {
      "which is not of this machine", "which is gone",         "which computes", "which waits for something else",
      "which is stopped by a signal", "which a debugger holds"};
  return words[static_cast<int>(a)];
}

/// The activity of a process. It is unknown if the process has another place than `here`.
inline activity activity_of(process_id const& p, process_id const& here) {
  if (p.place != here.place) return activity::unknown;
  std::ifstream file("/proc/" + std::to_string(p.number) + "/stat");
  std::string const text(std::istreambuf_iterator<char>(file), {});
  auto const behind_name = text.rfind(')');  // a program's name may contain any character
  if (behind_name == std::string::npos || behind_name + 2 >= text.size()) return activity::gone;
  switch (text[behind_name + 2]) {
    case 'R': return activity::computes;
    case 'T': return activity::stopped;
    case 't': return activity::in_debugger;
    case 'Z':
    case 'X': return activity::gone;
    default: return activity::waits;
  }
}

}  // namespace meshtensor
