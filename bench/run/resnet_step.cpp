// SPDX-License-Identifier: Apache-2.0
// A training step, or an evaluation, of the residual networks of examples/resnet: how long it takes, and the memory
// that it takes. Prints one line of JSON. All options of that example hold here, too.
//
//   cmake --preset quickstart -DMESHTENSOR_BENCH=ON && cmake --build build/quickstart --target bench_run_resnet_step
//   build/quickstart/bench/run/resnet_step [--evaluate] [--depth 50 --batch 8 --size 224 --dtype f32 --mesh rows=2 …]
//
// With --inputs FILE the images are those of a file, f32 [batch, size, size, 3] and i32 [batch] of classes; with
// --logits FILE an evaluation writes its logits, f32 [batch, classes].
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <meshtensor/io/export.hpp>
#include <meshtensor/io/import.hpp>
#include <meshtensor/job/main.hpp>

#include "resnet/command_line.hpp"
#include "resnet/learner.hpp"
#include "resnet/torch_names.hpp"

namespace {

namespace mt = meshtensor;

struct files {
  std::string inputs, logits;
};

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
std::int64_t peak_resident_mb() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
}
/// How long this process has been there; the system counts it in hundredths of a second.
double seconds_of_life() {
  std::ifstream file("/proc/self/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream behind_name(text.substr(text.rfind(')') + 1));
  std::string word;
  for (int i = 3; i <= 22; ++i) behind_name >> word;
  timespec since_boot{};
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  return static_cast<double>(since_boot.tv_sec) + 1e-9 * static_cast<double>(since_boot.tv_nsec) -
         std::stod(word) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

mt::datasets::image_batch whole_batch(resnet::options const& o, std::string const& path) {
  mt::datasets::image_batch b;
  auto const count = static_cast<std::size_t>(o.batch);
  b.pixels.resize(count * static_cast<std::size_t>(o.size * o.size * 3));
  b.labels.resize(count), b.counts.assign(count, 1);
  if (path.empty()) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& p : b.pixels) p = normal(random);
    for (auto& l : b.labels) l = static_cast<std::int32_t>(random() % static_cast<unsigned>(o.classes));
    return b;
  }
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(b.pixels.data()), static_cast<std::streamsize>(4 * b.pixels.size()));
  file.read(reinterpret_cast<char*>(b.labels.data()), static_cast<std::streamsize>(4 * count));
  if (!file) throw std::runtime_error("'" + path + "' is shorter than a batch");
  return b;
}

/// What this process feeds of the same batch: the rows, and of each image the part, of its processor.
mt::datasets::image_batch batch_of(resnet::options const& o, std::string const& path,
                                   mt::datasets::image_part const& mine) {
  mt::datasets::image_batch const all = whole_batch(o, path);
  auto const share = [](std::int64_t extent, mt::datasets::batch_part const& p) {
    return mt::part_of(extent, p.of, p.part);
  };
  mt::interval const images = share(o.batch, mine.rows), height = share(o.size, mine.height),
                     width = share(o.size, mine.width);
  mt::datasets::image_batch b;
  for (std::int64_t i = images.begin; i < images.begin + images.count; ++i) {
    b.labels.push_back(all.labels[static_cast<std::size_t>(i)]), b.counts.push_back(1);
    for (std::int64_t y = height.begin; y < height.begin + height.count; ++y) {
      auto const from = all.pixels.begin() + ((i * o.size + y) * o.size + width.begin) * 3;
      b.pixels.insert(b.pixels.end(), from, from + width.count * 3);
    }
  }
  return b;
}

int measure(mt::job const& job, resnet::options const& o, files const& f) {
  mt::store weights(job, o.seed);
  std::int64_t const steps = o.steps == 0 ? 5 : o.steps;
  auto const by = resnet::make_learner({weights, o, o.classes, steps, 1000});
  auto const named = resnet::torch_names(o, "model").all();
  auto const is_model = [](std::string const& name) { return resnet::is_model(name); };
  if (!o.load.empty()) mt::import_safetensors(weights, o.load, {.names = named, .only = is_model});
  mt::datasets::image_batch const b = batch_of(o, f.inputs, by->mine());
  auto const one = [&] {
    if (!o.evaluate) return by->learn(b).nats;
    resnet::scores s;
    by->look(b, s);
    return s.nats / static_cast<double>(s.images);
  };
  double const first = one(), start_up = seconds_of_life();
  double last = first;
  if (f.inputs.empty()) one();
  std::vector<double> took;
  for (std::int64_t i = f.inputs.empty() ? 0 : 1; i < steps; ++i) {
    double const t = now();
    last = one();
    took.push_back(now() - t);
  }
  if (took.empty()) took.push_back(0);
  std::sort(took.begin(), took.end());
  std::int64_t const resident = peak_resident_mb();
  auto const planned = static_cast<double>(by->planned_bytes()) / 1048576;
  if (o.profile) {
    by->record(true);
    for (int i = 0; i < 3; ++i) one();
    mt::print(job, "{}", by->profile());
  }
  if (!f.logits.empty()) {
    auto const logits = by->logits(b);
    std::ofstream(f.logits, std::ios::binary)
        .write(reinterpret_cast<char const*>(logits.data()), static_cast<std::streamsize>(4 * logits.size()));
  }
  if (!o.export_to.empty()) mt::export_safetensors(weights, o.export_to, {.names = named, .only = is_model});
  double const median = took[took.size() / 2];
  mt::print(job,
            "{{\"peer\": \"meshtensor\", \"workload\": \"resnet{}\", \"mode\": \"{}\", \"dtype\": \"{}\", \"batch\": "
            "{}, \"step_ms\": {:.2f}, \"min_ms\": {:.2f}, \"images_per_s\": {:.2f}, \"start_up_s\": {:.2f}, "
            "\"peak_rss_mb\": {}, \"planned_mb\": {:.0f}, \"peak_over_planned\": {:.3f}, \"loss_first\": {:.6f}, "
            "\"loss_last\": {:.6f}}}\n",
            o.depth, o.evaluate ? "evaluate" : "train", o.dtype, o.batch, median * 1e3, took[0] * 1e3,
            median == 0 ? 0 : static_cast<double>(o.batch) / median, start_up, resident, planned,
            static_cast<double>(resident) / planned, first, last);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("A step of a residual network. The other options are those of examples/resnet.");
  files f;
  app.add_option("--inputs", f.inputs, "Images and their classes")->check(CLI::ExistingFile);
  app.add_option("--logits", f.logits, "Where to write the logits of an evaluation");
  app.allow_extras();
  CLI11_PARSE(app, argc, argv);
  std::vector<std::string> words{argv[0], "--batch", "8", "--classes", "1000", "--warmup", "0"};
  for (std::string const& word : app.remaining()) words.push_back(word);
  std::vector<char*> rest;
  for (std::string& word : words) rest.push_back(word.data());
  resnet::options o;
  // An evaluation needs no weights of a file here: how long it takes does not depend on them.
  bool const evaluates = std::erase_if(rest, [](std::string const& word) { return word == "--evaluate"; }) != 0;
  if (auto const ending = resnet::read_command_line(static_cast<int>(rest.size()), rest.data(), o)) {
    (ending->code == 0 ? std::cout : std::cerr) << ending->words;
    return ending->code;
  }
  o.evaluate = evaluates;
  if (o.threads != 0) setenv("MESHTENSOR_THREADS", std::to_string(o.threads).c_str(), 1);
  return mt::run_main([&](mt::job const& job) { return measure(job, o, f); });
}
