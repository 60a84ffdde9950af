// SPDX-License-Identifier: Apache-2.0
// Tools that the environment asks for, at programs that do not mention them, and the sizes of mesh axes from there.
// passes: start-up
#include "meshtensor/inspect/environment.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "meshtensor/inspect/explain_html.hpp"
#include "meshtensor/meshtensor.hpp"
#include "support/folder.hpp"
#include "support/trace_reader.hpp"

namespace mt = meshtensor;
using meshtensor_test::content;
using meshtensor_test::own_folder;

namespace {

inline constexpr struct batch : mt::dim<"batch", 8> {} batch;
inline constexpr struct data : mt::axis<"data"> {} data;
inline constexpr struct model : mt::axis<"model", 2> {} model;
struct mesh : mt::mesh<data, model> {};
struct layout : mt::layout<mt::shard<batch, data>> {};
struct double_all {
  constexpr void operator()(mt::scope auto s) const { s.output("y", s.input("x", mt::f32, batch) * 2); }
};
using step_of_test = mt::executable<double_all, mesh, layout, mt::reference_device>;

/// A variable of the environment for as long as the object lives.
class variable {
 public:
  variable(char const* label, std::string const& value) : label_(label) { ::setenv(label, value.c_str(), 1); }
  variable(variable const&) = delete;
  ~variable() { ::unsetenv(label_); }

 private:
  char const* label_;
};

/// What is written to standard error meanwhile, and the warnings.
struct told {
  std::string text;
  std::vector<std::string> warnings;
};
template <class F>
told told_by(F const& f) {
  own_folder const folder;
  told all;
  auto const before = std::exchange(mt::on_warning(), [&](std::string const& s) { all.warnings.push_back(s); });
  std::fflush(stderr);
  int const kept = ::dup(2), file = ::open((folder / "told").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, 2), ::close(file);
  f();
  std::fflush(stderr);
  ::dup2(kept, 2), ::close(kept);
  mt::on_warning() = before;
  all.text = content(folder / "told");
  return all;
}
void run_a_step(mt::job const& job, int steps = 1) {
  mt::store none(job);
  step_of_test step(none);
  for (int i = 0; i < steps; ++i) step(mt::feed<"x">(std::vector<float>(8, 1)));
}
std::string sentence(auto const& f) {
  try {
    f();
  } catch (mt::error const& e) { return e.what(); }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("without a variable nothing is told") {
  auto const job = mt::job::in_lockstep();
  told const all = told_by([&] { run_a_step(job); });
  CHECK(all.text.empty());
  CHECK(all.warnings.empty());
}

TEST_CASE("a plan, pictures and instructions are printed") {
  auto const job = mt::job::in_lockstep();
  mt::store none(job);
  step_of_test const step(none);
  auto const printed = [&](char const* what) {
    variable const asked("MESHTENSOR_EXPLAIN", what);
    return told_by([&] { run_a_step(job); });
  };
  CHECK(printed("1").text == mt::report(step.graph(), step.planned(), step.bound_mesh()));
  CHECK(printed("plan").text == printed("1").text);
  CHECK(printed("instructions").text == mt::instructions(step));
  told const wrong = printed("picture");
  CHECK(wrong.text.empty());
  CHECK(wrong.warnings ==
        std::vector<std::string>{
            "R86: MESHTENSOR_EXPLAIN or --explain has 'picture': it prints plan, pictures or instructions, or "
            "writes FILE.html"});
  variable const two("MESHTENSOR_MESH", "data=2");
  step_of_test const of_two(none);
  CHECK(printed("pictures").text == mt::pictures(of_two));
  CHECK(!mt::pictures(of_two).empty());
}

TEST_CASE("each executable is drawn into a file of its own") {
  auto const job = mt::job::in_lockstep();
  own_folder const folder;
  mt::store none(job);
  step_of_test const step(none);
  variable const asked("MESHTENSOR_PICTURE", folder / "a.b/plan.svg");
  CHECK(told_by([&] { run_a_step(job); }).warnings.size() == 1);  // there is no such folder
  std::filesystem::create_directory(folder / "a.b");
  run_a_step(job), run_a_step(job);
  CHECK(content(folder / "a.b/plan-2.svg") == mt::drawing(step));
  CHECK(content(folder / "a.b/plan-3.svg") == mt::drawing(step));
  CHECK(mt::detail::path_number("a.b/plan", 2) == "a.b/plan-2");
}

TEST_CASE("each executable has a page of its own") {
  for (auto* make : {+[] { return mt::job::as_threads(); }, +[] { return mt::job::in_lockstep(); }}) {
    auto const job = make();
    own_folder const folder;
    variable const two("MESHTENSOR_MESH", "data=2"), asked("MESHTENSOR_EXPLAIN", folder / "a.b/step.html");
    told const refused = told_by([&] { run_a_step(job); });  // there is no such folder
    REQUIRE(refused.warnings.size() == 1);
    CHECK(refused.warnings[0].starts_with("R17: '"));
    CHECK(refused.warnings[0].find("step") != std::string::npos);
    CHECK(
        refused.warnings[0].ends_with("cannot be written, No such file or directory: name a file in a folder that "
                                      "exists and has room"));
    CHECK(refused.text.empty());
    std::filesystem::create_directory(folder / "a.b");
    std::string const all = told_by([&] { run_a_step(job), run_a_step(job); }).text;
    std::vector<std::string> written;
    for (auto const& file : std::filesystem::directory_iterator(folder / "a.b")) written.push_back(file.path());
    REQUIRE(written.size() == 2);
    mt::store none(job);
    ::unsetenv("MESHTENSOR_EXPLAIN");
    step_of_test const step(none);
    for (std::string const& file : written) {
      CHECK(content(file) == mt::page({mt::on_page("double_all", step)}));  // the reference device has no rates
      std::string const told = "the plan of double_all is in " + file + "\n";
      CHECK(all.find(told) != std::string::npos);
      CHECK(all.find(told) == all.rfind(told));
    }
  }
}

TEST_CASE("a page without a name is plan.html, here") {
  auto const job = mt::job::in_lockstep();
  own_folder const folder;
  auto const here = std::filesystem::current_path();
  std::filesystem::current_path(folder / "");
  variable const asked("MESHTENSOR_EXPLAIN", "html");
  told_by([&] { run_a_step(job); });
  std::filesystem::current_path(here);
  std::vector<std::string> written;
  for (auto const& file : std::filesystem::directory_iterator(folder / "")) written.push_back(file.path().filename());
  REQUIRE(written.size() == 1);
  CHECK(written[0].starts_with("plan"));
  CHECK(written[0].ends_with(".html"));
  CHECK(content(folder / written[0]).starts_with("<!DOCTYPE html>"));
}

TEST_CASE("a profile and a timeline are there when the executable has gone") {
  for (auto* make : {+[] { return mt::job::as_threads(); }, +[] { return mt::job::in_lockstep(); }}) {
    auto const job = make();
    own_folder const folder;
    variable const profile("MESHTENSOR_PROFILE", "1"), trace("MESHTENSOR_TRACE", folder / "steps.json");
    told const all = told_by([&] { run_a_step(job, 3); });
    CHECK(all.warnings.empty());
    CHECK(all.text.starts_with("profile: "));
    CHECK(all.text.find(" ms a step, mean of 2 steps on one rank; the first step is left out, because it warms up\n") !=
          std::string::npos);
    std::string file = content(folder / "steps.json");
    if (file.empty()) file = content(folder / "steps-2.json");
    auto const read = meshtensor_test::checked(file);
    REQUIRE(!read.bars.empty());
    for (auto const& [rank, bars] : read.bars)
      CHECK(std::ranges::count(bars, "multiply", &meshtensor_test::trace_event::name) == 2);
  }
}

TEST_CASE("an executable that has not run, moves or is left by an exception") {
  auto const job = mt::job::in_lockstep();
  own_folder const folder;
  variable const asked("MESHTENSOR_PROFILE", "1");
  mt::store none(job);
  CHECK(told_by([&] { step_of_test const step(none); }).text.empty());
  CHECK(told_by([&] {
          step_of_test step(none);
          step(mt::feed<"x">(std::vector<float>(8, 1)));
          step_of_test moved(std::move(step));
          moved(mt::feed<"x">(std::vector<float>(8, 1)));
        }).text.find("mean of 1 step on one rank; the first step is left out") != std::string::npos);
  CHECK(told_by([&] {
          run_a_step(job);
        }).text.find("mean of 1 step on one rank; it is the first one, which also warms up: run more steps\n") !=
        std::string::npos);
  CHECK(told_by([&] {
          try {
            step_of_test step(none);
            step(mt::feed<"x">(std::vector<float>(8, 1)));
            throw 1;
          } catch (int) {}
        }).text.empty());
}

TEST_CASE("a program without the tools says how to get them, once") {
  auto const job = mt::job::in_lockstep();
  auto const* const tools = mt::detail::registered_tools.exchange(nullptr);
  variable const asked("MESHTENSOR_PROFILE", "1");
  told const all = told_by([&] { run_a_step(job), run_a_step(job); });
  mt::detail::registered_tools = tools;
  CHECK(all.text.empty());
  CHECK(all.warnings == std::vector<std::string>{
                            "R86: MESHTENSOR_PROFILE or --profile is set, but this program has no such tools: link "
                            "meshtensor::compiled, or include meshtensor/inspect/environment.hpp in one of its files"});
}

TEST_CASE("a wrong number of threads is refused on every device") {
  auto const job = mt::job::as_threads();
  variable const asked("MESHTENSOR_THREADS", "abc");
  CHECK(meshtensor_test::sentence([&] { run_a_step(job); }) ==
        "meshtensor R29: MESHTENSOR_THREADS is 'abc', but takes a number of threads, or 0 for one on each core");
}

TEST_CASE("axes that the program leaves open have their sizes from MESHTENSOR_MESH") {
  auto const job = mt::job::as_threads();
  mt::store none(job);
  std::optional<variable> asked(std::in_place, "MESHTENSOR_MESH", "data=3,model=2");
  {
    step_of_test step(none);
    CHECK(step.bound_mesh().size() == 6);
    CHECK(step(mt::feed<"x">(std::vector<float>(8, 1))).get<"y">().gather()(batch(7)) == 2);
    step_of_test const same(none, data(3));
  }
  mt::executable<double_all, mt::mesh<>, mt::layout<>> const whole(none);  // has no axes
  CHECK(sentence([&] { step_of_test(none, data(2)); }) ==
        "meshtensor S01: the axis 'data' cannot have the extent 3: it has 2, from its type or given before; "
        "--mesh or MESHTENSOR_MESH asks for it");
  auto const refused = [&](char const* text) {
    asked.emplace("MESHTENSOR_MESH", text);
    return sentence([&] { step_of_test const step(none); });
  };
  CHECK(refused("model=3").starts_with("meshtensor S01: the axis 'model' cannot have the extent 3: it has 2"));
  CHECK(refused("dat=3").starts_with(
      "meshtensor S04: the axis 'dat' cannot have the extent 3: the mesh has no such axis; it has: data, model"));
  CHECK(refused("data=2,data=3").starts_with("meshtensor S01: the axis 'data' cannot have the extent 3: it has 2"));
  for (char const* const text : {"data", "data=", "data=0", "data=-1", "data=2x", "=2", "data=2,,model=2", "2x2",
                                 "an_axis_whose_name_has_too_many_letters=2", "data=99999999999999999999"})
    CHECK(refused(text) == "meshtensor S27: MESHTENSOR_MESH has '" + std::string(text) +
                               "': write an axis and its number of ranks, as in data=2,model=4");
  // Also numbers of which the lowest 32 bits are small.
  for (char const* const text :
       {"data=1048577", "data=2147483648", "data=4294967297", "data=4294967296,model=4294967296"})
    CHECK(refused(text) ==
          "meshtensor S01: MESHTENSOR_MESH has '" + std::string(text) + "': a mesh has at most 1048576 ranks");
  CHECK(
      refused("data=524289") ==
      "meshtensor S01: the axis 'data' cannot have the extent 524289: a mesh has at most 1048576 ranks, and its other "
      "axes have 2; --mesh or MESHTENSOR_MESH asks for it");
  CHECK(refused("") == "nothing was thrown");
}
