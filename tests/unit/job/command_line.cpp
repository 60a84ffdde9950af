// SPDX-License-Identifier: Apache-2.0
// The options that every program has, on its command line.
#include "meshtensor/job/command_line.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "meshtensor/job/main.hpp"

namespace mt = meshtensor;

namespace {

constexpr char const* variables[] = {"MESHTENSOR_MESH",    "MESHTENSOR_THREADS", "MESHTENSOR_EXPLAIN",
                                     "MESHTENSOR_PICTURE", "MESHTENSOR_PROFILE", "MESHTENSOR_TRACE"};

// The variables that a command line has set, as `MESH=data=2`.
struct outcome {
  mt::detail::command_line line;
  mt::program_arguments set;
};
outcome read(std::vector<std::string> words, bool takes_arguments, std::string_view usage = "") {
  for (char const* const v : variables) unsetenv(v);
  words.insert(words.begin(), "build/train");
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  outcome result{mt::detail::read_command_line(static_cast<int>(words.size()), argv.data(), usage, takes_arguments),
                 {}};
  for (char const* const v : variables)
    if (char const* const value = std::getenv(v)) result.set.push_back(std::string(v + 11) + "=" + value);
  for (char const* const v : variables) unsetenv(v);
  return result;
}
std::string refused(std::vector<std::string> const& words, bool takes_arguments = false) {
  auto const [line, set] = read(words, takes_arguments);
  CHECK(line.code == 2);
  std::string const end = "; train --help lists the options\n";
  REQUIRE(line.text.starts_with("train: "));
  REQUIRE(line.text.ends_with(end));
  return line.text.substr(7, line.text.size() - 7 - end.size());
}

}  // namespace

TEST_CASE("options set the variables of the environment") {
  CHECK(read({}, false).set.empty());
  CHECK(read({}, false).line.code == -1);
  CHECK(read({"--mesh", "data=2,model=3"}, false).set == mt::program_arguments{"MESH=data=2,model=3"});
  CHECK(read({"--mesh=data=2"}, false).set == mt::program_arguments{"MESH=data=2"});
  CHECK(read({"--threads", "3", "--profile", "--picture", "a.svg", "--trace=b.json"}, true).set ==
        mt::program_arguments{"THREADS=3", "PICTURE=a.svg", "PROFILE=1", "TRACE=b.json"});
  CHECK(read({"--explain"}, false).set == mt::program_arguments{"EXPLAIN=plan"});
  for (std::string const what : {"plan", "pictures", "instructions", "html", "a/b.html"})
    CHECK(read({"--explain=" + what}, false).set == mt::program_arguments{"EXPLAIN=" + what});
  CHECK(read({"--trace=-b.json"}, false).set == mt::program_arguments{"TRACE=-b.json"});
  CHECK(read({"--mesh", "data=2", "--mesh", "data=4"}, false).set == mt::program_arguments{"MESH=data=4"});
}

TEST_CASE("a program has the arguments that are no common option, and all after --") {
  auto const [line, set] =
      read({"corpus.txt", "--rate", "0.1", "--mesh", "data=2", "-v", "--", "--mesh", "data=3", "--help", "--"}, true);
  CHECK(line.code == -1);
  CHECK(line.own == mt::program_arguments{"corpus.txt", "--rate", "0.1", "-v", "--mesh", "data=3", "--help", "--"});
  CHECK(set == mt::program_arguments{"MESH=data=2"});
  CHECK(read({"--"}, true).line.own.empty());
}

TEST_CASE("help and version end the program") {
  for (bool const takes : {false, true}) {
    auto const help = read({"--profile", "--help", "--nonsense"}, takes, "CORPUS [RATE]").line;
    CHECK(help.code == 0);
    CHECK(help.text.starts_with("usage: train [options] CORPUS [RATE]\n  --mesh data=2,model=2   gives sizes to"));
    for (auto const& o : mt::detail::common_options) CHECK(help.text.find(o.name) != std::string::npos);
    CHECK((help.text.find("after -- belong to the program") != std::string::npos) == takes);
    for (std::size_t begin = 0, end = 0; (end = help.text.find('\n', begin)) != help.text.npos; begin = end + 1)
      CHECK(end - begin <= 100);
  }
  auto const version = read({"--version"}, false).line;
  CHECK(version.code == 0);
  CHECK(version.text == "meshtensor " + std::to_string(MESHTENSOR_VERSION_MAJOR) + "." +
                            std::to_string(MESHTENSOR_VERSION_MINOR) + "." + std::to_string(MESHTENSOR_VERSION_PATCH) +
                            "\n");
}

TEST_CASE("what cannot be read is one sentence") {
  CHECK(refused({"--mehs", "data=2"}) == "it has no option '--mehs'; did you mean '--mesh'?");
  CHECK(refused({"--steps=3"}) == "it has no option '--steps=3'");
  CHECK(refused({"corpus.txt"}) == "it has no option 'corpus.txt'");
  CHECK(refused({"--", "corpus.txt"}) == "it has no option '--'");
  for (bool const takes : {false, true}) {
    CHECK(refused({"--mesh"}, takes) == "--mesh needs a value, as in --mesh data=2,model=2");
    CHECK(refused({"--mesh="}, takes) == "--mesh needs a value, as in --mesh data=2,model=2");
    CHECK(refused({"--mesh", "2x2"}, takes) ==
          "--mesh has '2x2': write an axis and its number of ranks, as in data=2,model=4");
    for (std::string const text : {"data=4294967297", "data=1024,model=1025"})
      CHECK(refused({"--mesh", text}, takes) == "--mesh has '" + text + "': a mesh has at most 1048576 ranks");
    CHECK(refused({"--profile=2"}, takes) == "--profile takes no value");
    CHECK(refused({"--explain=foo"}, takes) ==
          "--explain has 'foo': write --explain, =pictures, =instructions, or =FILE.html for a page");
    CHECK(refused({"--picture", "a.png"}, takes) ==
          "--picture has 'a.png': a picture is an SVG image, as in --picture layout.svg");
    CHECK(refused({"--picture"}, takes) == "--picture needs a value, as in --picture FILE.svg");
    for (std::string const next : {"--profile", "-v", "--", "-"}) {
      CHECK(refused({"--trace", next}, takes) == "--trace needs a value, as in --trace FILE.json");
      CHECK(refused({"--picture", next}, takes) == "--picture needs a value, as in --picture FILE.svg");
      CHECK(refused({"--mesh", next}, takes) == "--mesh needs a value, as in --mesh data=2,model=2");
      CHECK(refused({"--threads", next}, takes) == "--threads needs a value, as in --threads N");
    }
    CHECK(refused({"--threads", "-1"}, takes) == "--threads has '-1': write a number of threads, 1 or more");
    for (std::string const text : {"0", "-1", "two", "2x", "", "99999999999"})
      CHECK(refused({"--threads=" + text}, takes).starts_with("--threads "));
  }
}

TEST_CASE("a program runs with what its command line leaves") {
  char program[] = "train", option[] = "--profile", word[] = "corpus.txt", unknown[] = "--nonsense";
  char* argv[] = {program, option, word, nullptr};
  mt::program_arguments given;
  auto const takes_words = [&](mt::job const& job, mt::program_arguments const& words) {
    given = words;
    return job.processes();
  };
  CHECK(mt::run_main(3, argv, takes_words) == 1);
  CHECK(given == mt::program_arguments{"corpus.txt"});
  bool has_run = false;
  auto const takes_none = [&](mt::job const&) { has_run = true; };
  CHECK(mt::run_main(2, argv, takes_none) == 0);
  CHECK(has_run);
  has_run = false;
  argv[2] = unknown;
  CHECK(mt::run_main(3, argv, takes_none) == 2);
  CHECK(!has_run);
  CHECK(mt::run_main(takes_none) == 0);
  CHECK(has_run);
  unsetenv("MESHTENSOR_PROFILE");
}
