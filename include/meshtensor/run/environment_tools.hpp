// SPDX-License-Identifier: Apache-2.0
// Lets environment variables request tools for any executable: MESHTENSOR_EXPLAIN, _PICTURE, _PROFILE and _TRACE.
// why: inspect/environment.hpp contains the tools and registers them, so that a program that does not link them does
// not compile them.
#pragma once

#include <atomic>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "meshtensor/base/function_ref.hpp"
#include "meshtensor/job/job.hpp"
#include "meshtensor/pass/cost.hpp"
#include "meshtensor/pass/plan_memory.hpp"
#include "meshtensor/run/timeline.hpp"

#include "meshtensor/base/run_rarely.hpp"

namespace meshtensor::detail {

/// The interface of an executable to the tools.
class step_under_tools {
 public:
  virtual ~step_under_tools() = default;
  virtual meshtensor::module const& graph() const = 0;
  virtual plan const& planned() const = 0;
  virtual mesh_shape const& mesh() const = 0;
  virtual job_runner& runner() const = 0;
  virtual void record() = 0;  // without the first step, because it warms up
  virtual void each_recorded(function_ref<void(timeline const&)> take) const = 0;
  virtual rates best_rates() = 0;
};

struct environment_tools {
  void (*begin)(step_under_tools&);
  void (*end)(step_under_tools&);
};
inline std::atomic<environment_tools const*> registered_tools = nullptr;

/// The value of a variable, or an empty text if it is not set, empty or 0.
inline std::string_view asked_by(char const* variable) {
  char const* const value = std::getenv(variable);
  std::string_view const text = value == nullptr ? "" : value;
  return text == "0" ? "" : text;
}
/// The first variable that requests a tool, or null if none does.
template <class = lazy>
char const* tool_in_environment() {
  for (char const* variable : {"MESHTENSOR_EXPLAIN", "MESHTENSOR_PICTURE", "MESHTENSOR_PROFILE", "MESHTENSOR_TRACE"})
    if (!asked_by(variable).empty()) return variable;
  return nullptr;
}

/// The option of the command line that sets a variable, for example `--explain`.
inline std::string option_of(std::string_view variable) {
  std::string option = "--";
  for (char c : variable.substr(std::string_view("MESHTENSOR_").size())) option += static_cast<char>(c - 'A' + 'a');
  return option;
}

template <class = lazy>
void begin_registered_tools(step_under_tools& step) {
  static std::atomic<bool> told = false;
  if (environment_tools const* const tools = registered_tools) tools->begin(step);
  else if (!told.exchange(true))
    warn(step.runner(), std::string("R86: ") + tool_in_environment() + " or " + option_of(tool_in_environment()) +
                            " is set, but this program has no such tools: link meshtensor::compiled, or include "
                            "meshtensor/inspect/environment.hpp in one of its files");
}
/// Does nothing if an exception ends the program, because the tools would wait for other ranks.
template <class = lazy>
void end_registered_tools(step_under_tools& step) noexcept {
  environment_tools const* const tools = registered_tools;
  if (tools == nullptr || std::uncaught_exceptions() != 0) return;
  try {
    tools->end(step);
  } catch (std::exception const& e) { warn(step.runner(), std::string("R86: ") + e.what()); }
}
#if MESHTENSOR_COMPILED
extern template char const* tool_in_environment<lazy>();
extern template void begin_registered_tools<lazy>(step_under_tools&);
extern template void end_registered_tools<lazy>(step_under_tools&) noexcept;
#endif

/// Begins the tools when an executable is made, and ends them before it is destroyed.
template <class Session, class Program>
class tools_at final : public step_under_tools {
 public:
  tools_at(Session& s, Program const& p, mesh_shape const& mesh, job_runner& j) : s_(s), p_(p), mesh_(mesh), j_(j) {
    begin_registered_tools(*this);
  }
  tools_at(tools_at const&) = delete;
  ~tools_at() override { end_registered_tools(*this); }

  meshtensor::module const& graph() const override { return p_.graph(); }
  plan const& planned() const override { return p_.planned(); }
  mesh_shape const& mesh() const override { return mesh_; }
  job_runner& runner() const override { return j_; }
  void record() override { s_.record(true, 1); }
  void each_recorded(function_ref<void(timeline const&)> take) const override { s_.each_recorded(take); }
  rates best_rates() override { return s_.best_rates(); }

 private:
  Session& s_;
  Program const& p_;
  mesh_shape mesh_;
  job_runner& j_;
};

}  // namespace meshtensor::detail

#include "meshtensor/base/run_rarely_end.hpp"
