// SPDX-License-Identifier: Apache-2.0
// Plans and runs a program that was traced at run time. `mt::executable` does the same for programs that the compiler
// traces.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <meshtensor/emit/page.hpp>
#include <meshtensor/emit/picture.hpp>
#include <meshtensor/emit/report.hpp>
#include <meshtensor/inspect/check.hpp>
#include <meshtensor/inspect/explain.hpp>
#include <meshtensor/inspect/explain_html.hpp>
#include <meshtensor/inspect/measured_rates.hpp>
#include <meshtensor/inspect/predict_ranks.hpp>
#include <meshtensor/inspect/profile.hpp>
#include <meshtensor/inspect/trace_events.hpp>
#include <meshtensor/job/start_record.hpp>
#include <meshtensor/run/executable/extents.hpp>
#include <meshtensor/run/executable/unused.hpp>
#include <meshtensor/run/feed.hpp>
#include <meshtensor/run/one_store.hpp>
#include <meshtensor/run/session.hpp>

#include "machine_rates.hpp"
#include "regimes.hpp"

namespace examples {

/// A traced program on a mesh, with its plan. Nothing runs yet.
class traced_plan {
 public:
  /// `sizes` is a tuple of extents of dims and of axes.
  ///
  /// errors  S codes: sizes that do not fit
  template <class... Sizes>
  traced_plan(traced_program program, mt::mesh_shape const& mesh, mt::layout_rules const& rules,
              mt::device_capabilities const& capabilities, std::tuple<Sizes...> const& sizes)
      : program_(std::move(program)), mesh_(mesh), rules_(rules), capabilities_(capabilities) {
    mt::detail::given_extents bind(mesh_);
    std::apply([&](auto const&... each) { (bind(each), ...); }, sizes);
    extents_ = bind.dims();
    lowering_ = mt::lower(*program_.graph, program_.entry, mesh_, rules_, extents_, capabilities_);
  }

  traced_program const& program() const { return program_; }
  mt::module const& graph() const { return lowering_->graph; }
  mt::plan const& planned() const { return lowering_->planned; }
  mt::mesh_shape const& bound_mesh() const { return mesh_; }
  mt::layout_rules const& rules() const { return rules_; }
  mt::device_capabilities const& capabilities() const { return capabilities_; }
  int entry() const { return lowering_->entry; }

  /// The bytes of one replica's parameters.
  double parameter_bytes() const {
    double bytes = 0;
    for (int v = 0; v < graph().variable_count; ++v) {
      mt::variable const& one = graph().variables[v];
      if (!one.trainable || !mt::detail::has_variable(graph(), v)) continue;
      double elements = static_cast<double>(mt::bytes_of(one.type));
      for (int i = 0; i < one.dims.count; ++i)
        if (!(graph().dim_name(one.dims.at[i]) == replica.dim_name))
          elements *= static_cast<double>(planned().numbers.whole_extent(one.dims.at[i]));
      bytes += elements;
    }
    return bytes;
  }
  /// `decentralized_sgd over ring, 8 replicas, each of which sends 1.62 MB in a step`
  std::string regime_text(regime_options const& o) const {
    return o.text() + ", each of which sends " +
           mt::bytes_text(static_cast<std::int64_t>(bytes_sent(o, parameter_bytes()))) + " in a step" +
           (o.period == 0 ? "" : " on average");
  }
  /// When all ranks of this plan would end each step, on the network and with the pauses of the options.
  std::vector<double> predicted(regime_options const& o, mt::rates const& of_rank, std::int64_t steps) const {
    network_row const& row = o.network_of_prediction();
    mt::network between;
    for (int a = 0; a < mesh_.count; ++a)
      between.links.push_back({mesh_.axes[a].label, row.latency, row.bytes_per_second});
    mt::stragglers slow;
    if (!o.pauses.empty()) slow.probability = probability_of(o.pauses), slow.steps = 1;
    mt::predicted_run const run = mt::predict(*this, between, of_rank, steps, slow);
    std::vector<double> all;
    for (std::size_t k = 0; k < static_cast<std::size_t>(steps); ++k) all.push_back(run.ended(k));
    return all;
  }
  /// The text that --explain asks for: the plan, the instructions, or a page with all of it.
  std::string explained(std::string const& what, regime_options const& o, mt::page_rates const& rates) const {
    if (what == "instructions") return mt::instructions(*this);
    if (what == "html") return mt::page({mt::on_page("training of " + regime_text(o), *this, rates)});
    return "regime  " + regime_text(o) + "\n" + mt::report(graph(), planned(), bound_mesh()) + "\n" +
           mt::pictures(graph(), planned(), bound_mesh());
  }

 private:
  traced_program program_;
  mt::mesh_shape mesh_;
  mt::layout_rules rules_;
  mt::device_capabilities capabilities_;
  std::vector<mt::dim_extent> extents_;
  std::unique_ptr<mt::lowering> lowering_;
};

/// A traced program that runs on the ranks of a store.
template <class Device>
class traced_step {
 public:
  /// errors  those of the constructor of `mt::executable`
  template <class... Plan>
  explicit traced_step(mt::store& values, Plan&&... plan) : values_(values) {
    auto const turn = values.steps().make_executable();
    bool compared = false;
    try {
      plan_ = std::make_unique<traced_plan>(std::forward<Plan>(plan)...);
      auto const compare = [&] {
        compared = true;
        mt::start_record const mine{graph(),
                                    planned(),
                                    bound_mesh(),
                                    plan_->rules(),
                                    plan_->program().entry,
                                    mt::type_name<Device>(),
                                    values.seed(),
                                    values.step(),
                                    mt::text_of_counts(values, plan_->program().counted, graph(), plan_->entry()),
                                    MESHTENSOR_BUILD};
        values.runner().require_same(&mine, nullptr);
      };
      session_ = std::make_unique<mt::session<Device>>(values, graph(), planned(), bound_mesh(), plan_->entry(),
                                                       Device(), compare, plan_->program().counted);
    } catch (std::exception const& e) {  // the other ranks get the reason
      if (!compared) values.runner().require_same(nullptr, std::current_exception());
      values.runner().has_refused(e.what());
      throw;
    }
    mt::detail::warn_idle(values.runner(), graph());
    mt::detail::warn_alone(values.runner(), graph());
  }

  traced_plan const& plan() const { return *plan_; }
  /// The rates of a rank: those of a text for `given_rates`, or those that the device measures.
  mt::rates rates_of_rank(std::string const& text) const {
    if (text.empty()) return session_->best_rates();
    machine_rates given;
    read_rates(text, given);
    return {given.flops, given.memory};
  }
  mt::module const& graph() const { return plan_->graph(); }
  mt::plan const& planned() const { return plan_->planned(); }
  mt::mesh_shape const& bound_mesh() const { return plan_->bound_mesh(); }

  /// Runs a step. `take` feeds inputs and sets numbers in between steps.
  template <class Take>
  void operator()(Take const& take) {
    session_->step([&] { take(*this); });
  }
  /// Feeds a whole input, or this rank's part of it if this process holds only one rank and `is_part`. The elements
  /// must stay valid until the step is over.
  template <class T>
  void feed(std::string_view label, std::vector<T> const& elements, bool is_part = false) {
    auto const count = static_cast<std::int64_t>(elements.size());
    if (is_part) session_->inputs().offer_local(label, elements.data(), count);
    else session_->inputs().offer(label, elements.data(), count);
  }
  void set(std::string_view label, double value) { session_->set(label, value); }
  template <mt::name Label>
  void set(mt::set_number<Label> const& number) {
    session_->set(Label.text(), number.value);
  }
  /// An output of the last step, whole. All processes call this.
  mt::block whole(std::string_view label) { return session_->gathered(label); }
  double number(std::string_view label) { return whole(label).number_at(0); }

  bool is_one_rank() const { return session_->held().size() == 1; }
  std::vector<int> ranks() const {
    std::vector<int> all;
    for (mt::rank_context const& p : session_->held()) all.push_back(p.rank());
    return all;
  }
  void exclude_from_step_count() { session_->exclude_from_step_count(); }
  mt::memory_use memory() const { return session_->memory(); }
  void check_numerics() { mt::detail::check_numerics_of(*session_, bound_mesh().size()); }

  void record(bool on) { session_->record(on); }
  std::string profile() const {
    return mt::profile(graph(), planned().numbers, *recorded()[0], session_->best_rates());
  }
  void write_trace(std::string const& file) const {
    mt::detail::write_recorded(values_.runner(), graph(), planned(), bound_mesh(), ranks(), recorded(), file);
  }
  std::string explained(std::string const& what, regime_options const& o, std::string const& rates) const {
    return plan_->explained(what, o,
                            what != "html" ? mt::page_rates{}
                            : !rates.empty()
                                ? given_rates(rates, bound_mesh())
                                : mt::detail::rates_of_job(values_.runner(), bound_mesh(), session_->best_rates()));
  }

  /// Compares a step with the same step on whole tensors, as `mt::check` does. `remake` makes the plan once more, and
  /// `take` is that of a step. Returns whether they agree, and a sentence.
  template <class Remake, class Take>
  std::pair<bool, std::string> compare(Remake const& remake, Take const& take) {
    if constexpr (mt::whole_program_device<Device>) mt::detail::refuse_tool("check");
    traced_program const& p = plan_->program();
    auto const found =
        mt::detail::compare_steps({*p.graph, p.entry, plan_->rules(), p.counted, plan_->capabilities().fuses}, values_,
                                  [&](mt::store& values, mt::detail::use_of_step use) {
                                    traced_step again(values, remake());
                                    take(again), again.session_->inputs().take();
                                    mt::detail::checked_session<Device> here(*again.session_);
                                    use(again.bound_mesh(), here);
                                  });
    return {found.agrees(), mt::text_of(found)};
  }

 private:
  std::vector<mt::timeline const*> recorded() const {
    std::vector<mt::timeline const*> all;
    session_->each_recorded([&](mt::timeline const& t) { all.push_back(&t); });
    if (all.empty() || all[0]->steps() == 0)
      throw mt::error("R16", "nothing was recorded: call record(), then run steps");
    return all;
  }

  mt::store& values_;
  std::unique_ptr<traced_plan> plan_;
  std::unique_ptr<mt::session<Device>> session_;
};

}  // namespace examples
