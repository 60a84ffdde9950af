// SPDX-License-Identifier: Apache-2.0
// Writes scores over time to event files of TensorBoard.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include "meshtensor/base/crc32c.hpp"
#include "meshtensor/base/diagnostic.hpp"
#include "meshtensor/base/protobuf.hpp"
#include "meshtensor/base/utf8.hpp"
#include "meshtensor/base/warning.hpp"

namespace meshtensor {

namespace detail {

/// A record in TensorFlow's framing: the size and the bytes, each followed by a masked checksum. The mask rotates the
/// checksum and adds a constant, so that checksums of data that contains checksums stay meaningful.
inline std::string framed(std::string const& bytes) {
  auto const checksum = [](std::string const& of) {
    std::uint32_t const sum = crc32c(of);
    return little_endian((sum >> 15 | sum << 17) + 0xa282ead8u, 4);
  };
  std::string const size = little_endian(bytes.size(), 8);
  return size + checksum(size) + bytes + checksum(bytes);
}

}  // namespace detail

/// An event file of TensorBoard: numbers and texts under a tag, each with a step. `tensorboard --logdir FOLDER` draws
/// the files of a folder together, while they grow. Every event is written at once, so that the file has all events
/// even if the run ends early. A training that goes on from a checkpoint begins another file. Make it in one process of
/// a job: `if (job.is_root())`.
///
/// If an event cannot be written, for example because the disk is full, the file gives one warning, R17, and writes
/// nothing more. The training goes on, and the file keeps the events before.
class event_file {
 public:
  /// Creates a file in a folder, and creates the folder if it is missing. TensorBoard no longer draws events of earlier
  /// files from step `first_step` on, because a training that goes on from a checkpoint repeats these steps.
  explicit event_file(std::filesystem::path const& folder, std::int64_t first_step = 0) {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    char host[256] = "host";
    ::gethostname(host, sizeof host - 1);
    char seconds[32];  // always ten digits, because TensorBoard reads files in the order of their names
    std::snprintf(seconds, sizeof seconds, "%010lld", static_cast<long long>(now()));
    for (int other = 0; !file_; ++other) {
      path_ = folder / (std::string("events.out.tfevents.") + seconds + "." + host + "." + std::to_string(::getpid()) +
                        "." + std::to_string(other));
      file_.reset(std::fopen(path_.c_str(), "wbx"));  // x: fails if the file exists
      if (file_ || errno == EEXIST) continue;
      give_up();
      return;
    }
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // unbuffered, so that an event is one write
    write(event(0).text(3, "brain.Event:2"));
    constexpr int start = 1;
    write(event(first_step).inner(7, detail::message().integer(1, start)));
  }

  std::filesystem::path const& path() const { return path_; }

  /// Whether all events have been written so far.
  bool good() const { return file_ != nullptr; }

  /// Writes a number: `events.scalar("loss/train", loss, step)`. TensorBoard keeps 24 bits of it.
  ///
  /// errors  R51 the tag is not UTF-8
  void scalar(std::string_view tag, double value, std::int64_t step) {
    write(step, tagged(tag).real(2, static_cast<float>(value)));
  }
  /// Writes a text in Markdown. errors R51 as above
  void text(std::string_view tag, std::string_view words, std::int64_t step) {
    constexpr int string = 7, of_tensors = 2;  // DT_STRING, DATA_CLASS_TENSOR
    detail::message const plugin = detail::message().text(1, "text");
    detail::message const about = detail::message().inner(1, plugin).integer(4, of_tensors);
    detail::message const tensor = detail::message().integer(1, string).inner(2, {}).text(8, words);
    write(step, tagged(tag).inner(8, tensor).inner(9, about));
  }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
  static detail::message event(std::int64_t step) { return detail::message().real(1, now()).integer(2, step); }
  static detail::message tagged(std::string_view tag) {
    if (first_not_utf8(tag) != tag.npos) throw error("R51", "a tag of an event is not UTF-8");
    return detail::message().text(1, tag);
  }
  void write(std::int64_t step, detail::message const& value) {
    write(event(step).inner(5, detail::message().inner(1, value)));
  }
  void write(detail::message const& whole) {
    if (!good()) return;
    std::string const record = detail::framed(whole.bytes());
    if (std::fwrite(record.data(), 1, record.size(), file_.get()) == record.size()) size_ += std::ssize(record);
    else give_up();
  }
  void give_up() {
    std::string const why = std::strerror(errno);
    // Readers would wait for the rest of a partial event.
    if (file_ && ::ftruncate(::fileno(file_.get()), size_) != 0) {}
    file_.reset();
    if (on_warning())
      on_warning()("R17: '" + path_.string() + "' cannot be written, " + why +
                   ": the scores from here on are lost, and the program goes on");
  }

  std::filesystem::path path_;
  off_t size_ = 0;  // bytes of complete events
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
};

}  // namespace meshtensor
