// SPDX-License-Identifier: Apache-2.0
// Numbers of a training in event files, read back by a reader that shares no code with the library.
// passes: start-up
#include "meshtensor/train/tensorboard.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "meshtensor/meshtensor.hpp"
#include "support/python.hpp"
#include "support/source_path.hpp"
#include "support/temporary_folder.hpp"

namespace mt = meshtensor;
using folder = meshtensor_test::temporary_folder;

namespace {

inline constexpr struct batch : mt::dim<"batch", 4> {} batch;
inline constexpr struct data : mt::axis<"data"> {} data;
struct mesh : mt::mesh<data> {};
struct layout : mt::layout<mt::shard<batch, data>> {};
struct program {
  constexpr void operator()(mt::scope auto s) const {
    auto const x = s.input("x", mt::f32, batch);
    s.output("loss", mean(x));
    s.output("half", mt::cast<mt::dtype::bf16>(mean(x) * 0.5));
    s.output("count", sum(mt::cast<mt::dtype::i32>(x), batch));
    s.output("learning_rate", s.number("rate", 0.25) * 2);
    s.output("x", x * 2);  // has dims
  }
};
using step_of_test = mt::executable<program, mesh, layout, mt::reference_device>;

std::string read_back(std::filesystem::path const& where) {
  auto const script = meshtensor_test::source_path(__FILE__).replace_filename("tensorboard_reader.py").string();
  std::FILE* const pipe =
      popen((meshtensor_test::python() + " '" + script + "' '" + where.string() + "' 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string printed;
  for (int c; (c = std::fgetc(pipe)) != EOF;) printed += static_cast<char>(c);
  CHECK(pclose(pipe) == 0);
  return printed;
}

}  // namespace

TEST_CASE("every output without dims, and what is given by itself") {
  for (auto* make : {+[] { return mt::job::as_threads(); }, +[] { return mt::job::in_lockstep(); }}) {
    auto const job = make();
    folder const f;
    mt::store weights(job);
    step_of_test step(weights, data(2));
    {
      mt::tensorboard board(job, f / "run");
      CHECK(board.is_written());
      for (int number = 1; number <= 2; ++number) {
        step(mt::feed<"x">(std::vector<float>(4, static_cast<float>(number))));
        board.outputs(step, number);
        board.outputs(step, number, "train/");
      }
      board.scalar("loss/validation", 0.125, 2);
    }
    {
      mt::tensorboard board(job, f / "run", 2);  // goes on from step 2
      board.scalar("loss", 3, 3);
    }
    CHECK(read_back(f / "run") ==
          "file\nversion brain.Event:2\nbegins at 0\n"
          "1 loss 1\n1 half 0.5\n1 count 4\n1 learning_rate 0.5\n"
          "1 train/loss 1\n1 train/half 0.5\n1 train/count 4\n1 train/learning_rate 0.5\n"
          "2 loss 2\n2 half 1\n2 count 8\n2 learning_rate 0.5\n"
          "2 train/loss 2\n2 train/half 1\n2 train/count 8\n2 train/learning_rate 0.5\n"
          "2 loss/validation 0.125\n"
          "file\nversion brain.Event:2\nbegins at 2\n3 loss 3\n");
  }
}

TEST_CASE("a process that is killed leaves all steps before") {
  folder const f;
  pid_t const child = ::fork();
  if (child == 0) {
    auto const job = mt::job::in_lockstep();
    mt::tensorboard board(job, f / "run");
    for (int i = 0; i < 50; ++i) board.scalar("loss", i, i);
    std::raise(SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  std::string const printed = read_back(f / "run");
  CHECK(printed.ends_with("48 loss 48\n49 loss 49\n"));
}

TEST_CASE("without a folder nothing is written, and a folder that cannot be is one warning") {
  auto const job = mt::job::in_lockstep();
  mt::tensorboard nowhere(job, "");
  nowhere.scalar("loss", 1, 1), nowhere.text("sample", "x", 1);
  CHECK(!nowhere.is_written());
  folder const f;
  f.write("file", "");
  std::vector<std::string> said;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& sentence) { said.push_back(sentence); });
  mt::tensorboard board(job, f / "file/inside");
  board.scalar("loss", 1, 1);
  mt::on_warning() = before;
  CHECK(!board.is_written());
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("R17: '"));
  CHECK(said[0].find("cannot be written, Not a directory: the scores from here on are lost, and the program goes on") !=
        std::string::npos);
}
