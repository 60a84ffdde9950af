// SPDX-License-Identifier: Apache-2.0
// Event files read by TensorBoard's own readers, where Python has them: a training that ended in the middle of an
// event, and one that goes on from an earlier step.
#include <doctest/doctest.h>

#include <cstdio>
#include <filesystem>
#include <string>

#include "meshtensor/train/event_file.hpp"
#include "support/python.hpp"
#include "support/source_path.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;

namespace {

/// What a command prints, and its exit code.
int run(std::string const& command, std::string& printed) {
  std::FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c; (c = std::fgetc(pipe)) != EOF;) printed += static_cast<char>(c);
  return pclose(pipe) >> 8;
}

}  // namespace

TEST_CASE("TensorBoard reads what was written") {
  meshtensor_test::temporary_folder const f;
  std::filesystem::path first;
  {
    mt::event_file events(f.path);
    first = events.path();
    for (int step = 0; step < 6; ++step) events.scalar("loss/train", 1.0 / (step + 1), step);
    events.text("sample", "", 2);
    events.text("sample", "Zwei **junge** M\xc3\xa4nner", 3);
    events.scalar("lost", 1, 5);
  }
  std::filesystem::resize_file(first, std::filesystem::file_size(first) - 3);
  {
    mt::event_file events(f.path, 4);
    for (int step = 4; step < 8; ++step) events.scalar("loss/train", 2, step);
    events.scalar("\xc3\xa4/rate", -1e-30, std::int64_t{1} << 40);
  }
  std::string printed;
  auto const script = meshtensor_test::source_path(__FILE__).replace_extension(".py").string();
  int const code = run(meshtensor_test::python() + " '" + script + "' '" + f.path.string() + "' 2>&1", printed);
  if (code == 77 || code == 127)
    return meshtensor_test::skip_without_package("this Python has no TensorBoard: " + printed);
  CHECK(code == 0);
  CHECK(printed ==
        "file\nversion brain.Event:2\nsession 1 0\n"
        "0 loss/train 1\n1 loss/train 0.5\n2 loss/train 0.333333343\n3 loss/train 0.25\n4 loss/train 0.200000003\n"
        "5 loss/train 0.166666672\n2 sample text \n3 sample text Zwei **junge** M\xc3\xa4nner\n"
        "file\nversion brain.Event:2\nsession 1 4\n"
        "4 loss/train 2\n5 loss/train 2\n6 loss/train 2\n7 loss/train 2\n"
        "1099511627776 \xc3\xa4/rate -1e-30\n"
        "drawn\nloss/train 0:1 1:0.5 2:0.333333343 3:0.25 4:2 5:2 6:2 7:2\n"
        "\xc3\xa4/rate 1099511627776:-1e-30\nsample 2: 3:Zwei **junge** M\xc3\xa4nner\n");
}
