// SPDX-License-Identifier: Apache-2.0
// Tools that look at programs with each, map and steps: `check` agrees, and finds a planted difference with its index;
// the prediction has the costs of the program; simulations, explanations, pages, recordings and exports work.
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include "meshtensor/emit/drawing.hpp"
#include "meshtensor/emit/graphviz.hpp"
#include "meshtensor/emit/picture.hpp"
#include "meshtensor/inspect/check.hpp"
#include "meshtensor/inspect/explain.hpp"
#include "meshtensor/inspect/explain_html.hpp"
#include "meshtensor/inspect/predict.hpp"
#include "meshtensor/inspect/profile.hpp"
#include "meshtensor/inspect/simulate.hpp"
#include "meshtensor/inspect/trace_events.hpp"
#include "meshtensor/io/export.hpp"
#include "meshtensor/io/import.hpp"
#include "support/programs_of_indices.hpp"
#include "support/temporary_folder.hpp"
#include "support/trace_reader.hpp"

using namespace of_indices;

namespace {

void wrong_tanh(mt::evaluation const& e) {
  mt::evaluate<>(e);
  if (e.n.kind != mt::primitive::elementwise || !mt::applies(e.n, mt::function::tanh)) return;
  if (e.results[0].type == mt::dtype::f64) e.results[0].as<double>()[e.results[0].size() - 1] += 0.125;
}
struct wrong_device : mt::reference_device {
  wrong_device() : mt::reference_device{&wrong_tanh} {}
};

template <class Program, class Layout, class Device = mt::reference_device>
mt::check_result look(int size) {
  return mt::check<in_f64<Program>, mesh, Layout, Device>(ranks(size), mt::feed<"x">(waves(fed<Program>)));
}
/// Checks the program on several meshes; then on a device that is wrong in the last element of each tanh.
template <class Program, class Layout>
void check_program(std::string const& where) {
  for (int const size : {1, 2, 3}) {
    auto const found = look<Program, Layout>(size);
    INFO(size << " ranks: " << text_of(found));
    CHECK(found.agrees());
    CHECK(found.compared > 20);
    auto const wrong = look<Program, Layout, wrong_device>(size);
    INFO(text_of(wrong));
    CHECK(text_of(wrong).find("tanh in " + where) != std::string::npos);
    CHECK(text_of(wrong).find("programs_of_indices.hpp:") != std::string::npos);
  }
}

}  // namespace

TEST_CASE("right programs agree with the reference, and a wrong kernel is found at its index") {
  check_program<ensemble, by_member>("members ");
  CHECK(text_of(look<ensemble, by_member, wrong_device>(2)).find("member=1, example=5, hidden=3") != std::string::npos);
  check_program<private_gradients, by_example>("examples ");
  CHECK(text_of(look<private_gradients, by_example, wrong_device>(2)).find("example=2, hidden=3") != std::string::npos);
  check_program<settling, by_task>("tasks/examples/settle ");
  check_program<settling, by_example>("tasks/examples/settle ");
  check_program<stopping, by_member>("members/moments ");
  check_program<rounds_of_training, by_example>("examples ");
}

namespace {

/// The clock of the prediction counts what the costs of the program say, and the simulation sends as much.
template <class Program, class Layout>
void check_costs(int size) {
  using program = mt::executable<in_f64<Program>, mesh, Layout, mt::reference_device>;
  double const bytes_per_second = 1e6;
  std::vector<mt::link> const links{{"ranks", 0, bytes_per_second}};
  mt::draft<program> const planned{ranks(size)};
  mt::predicted_step const t = mt::predict(planned, links, {1e9, 1e9});
  mt::step_traffic const sent = mt::traffic_of(planned.graph(), planned.planned());
  CHECK((sent.bytes > 0) == (size > 1));
  CHECK(t.communicated * bytes_per_second == doctest::Approx(static_cast<double>(sent.bytes)).epsilon(1e-6));
  CHECK(t.seconds == doctest::Approx(t.computed + t.exposed));

  auto const job = mt::simulated(links);
  mt::store weights(job);
  program step(weights, ranks(size));
  step.record();
  step(mt::feed<"x">(waves(fed<Program>)));
  double const simulated = dynamic_cast<mt::simulated_runner const&>(job.get()).communicated();
  CHECK(simulated <= t.communicated * (1 + 1e-6));  // a loop that ends early predicts its limit
  if (size > 1) CHECK(simulated > 0);
  if (!std::is_same_v<Program, settling> && !std::is_same_v<Program, stopping>)
    CHECK(simulated == doctest::Approx(t.communicated).epsilon(1e-6));
}

}  // namespace

TEST_CASE("predictions and simulations have the costs of the program") {
  for (int const size : {1, 2, 3}) {
    CAPTURE(size);
    check_costs<ensemble, by_member>(size), check_costs<ensemble, by_in>(size);
    check_costs<private_gradients, by_example>(size);
    check_costs<settling, by_task>(size), check_costs<settling, by_example>(size);
    check_costs<stopping, by_member>(size);
    check_costs<rounds_of_training, by_example>(size);
  }
}

namespace {

template <class Program, class Layout>
void check_texts(std::string const& scope, std::string const& dim, int size) {
  CAPTURE(scope);
  auto const job = mt::job::as_threads();
  mt::store weights(job, 7);
  mt::executable<in_f64<Program>, mesh, Layout, mt::reference_device> step(weights, ranks(size));
  auto const has = [](std::string const& text, std::string const& part) {
    INFO("without: " << part);
    CHECK(text.find(part) != std::string::npos);
  };
  has(mt::explain(step), scope);
  has(mt::drawing(step), dim);
  has(mt::graphviz(step.graph()), scope);
  has(mt::instructions(step), "output");
  meshtensor_test::temporary_folder const folder;
  CHECK(mt::explain_html(step, (folder / "plan.html").string()));
  has(folder.read("plan.html"), dim);
  step.record();
  auto const wanted = outcome_of<Program>(step, weights, 2);
  has(mt::profile(step), scope);
  auto const trace = meshtensor_test::checked(mt::trace_events(step));
  CHECK(static_cast<int>(trace.names.size()) == size);

  // What is exported is what another run imports, whole, on other ranks.
  mt::export_safetensors(weights, folder / "weights.safetensors");
  mt::store others(job, 8);
  mt::executable<in_f64<Program>, mesh, Layout, mt::reference_device> other(others, ranks(1));
  mt::import_safetensors(others, folder / "weights.safetensors");
  for (std::string const& name : weights.names())
    if (weights.values().at(name).type == mt::dtype::f64) CHECK(weights.get<double>(name) == others.get<double>(name));
  CHECK(wanted.size() > 8);
}

}  // namespace

TEST_CASE("explanations, pictures, recordings and exports") {
  check_texts<ensemble, by_member>("members", "member", 2);
  check_texts<private_gradients, by_example>("examples", "example", 3);
  check_texts<settling, by_task>("tasks/examples", "task", 2);
  check_texts<stopping, by_member>("members/moments", "member", 2);
  check_texts<rounds_of_training, by_example>("examples", "rounds", 2);
}
