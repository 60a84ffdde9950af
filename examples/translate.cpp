// SPDX-License-Identifier: Apache-2.0
// Learns to translate, from raw texts to a score: subwords, batches of a few lengths, training on a mesh of processors,
// search for the best translation, BLEU.
#include "translate.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <tuple>
#include <vector>

#include <meshtensor/data/bleu.hpp>
#include <meshtensor/data/learn_subwords.hpp>
#include <meshtensor/data/pair_batches.hpp>
#include <meshtensor/data/pairs.hpp>
#include <meshtensor/data/prefetched.hpp>
#include <meshtensor/device/default.hpp>
#include <meshtensor/emit/tensorboard.hpp>
#include <meshtensor/run/agree.hpp>
#include <meshtensor/run/check.hpp>
#include <meshtensor/run/explain.hpp>
#include <meshtensor/run/main.hpp>
#include <meshtensor/run/one_store.hpp>
#include <meshtensor/run/profile.hpp>
#include <meshtensor/run/progress_line.hpp>

#include "translate/beam_search.hpp"
#include "translate/command_line.hpp"

namespace {

using namespace translation;

template <class Program>
using program = mt::executable<programs, Program, translation::mesh, translation::layout, mt::default_device>;
static_assert(mt::one_store<program<train_step>, program<evaluate>, program<read_source>, program<say_word>>);

// ---- what the types leave open ----

struct model_size {
  std::int64_t layers, d_model, heads, d_ff;
};
model_size size_of(std::string const& name) {
  if (name == "base") return {6, 512, 8, 2048};
  if (name == "tiny") return {4, 128, 4, 256};
  return {2, 64, 2, 128};
}

/// Every extent of the model, the mesh, and what more is given.
auto sizes(options const& o, std::int64_t words, auto... more) {
  model_size const m = size_of(o.size);
  return std::tuple(data(o.mesh.at("data")), model(o.mesh.at("model")), vocab(words), layers(m.layers),
                    d_model(m.d_model), heads(m.heads), d_head(m.d_model / m.heads), d_ff(m.d_ff), more...);
}
template <class Executable, class... Store>
std::unique_ptr<Executable> made(auto const& given, Store&... weights) {
  return std::apply([&](auto const&... each) { return std::make_unique<Executable>(weights..., each...); }, given);
}

// ---- texts ----

struct corpus {
  mt::text_pairs text;
  mt::token_pairs tokens;
};

struct texts {
  mt::pair_folder files;
  mt::text_pairs learnt;
  mt::subwords vocabulary;
  corpus train, valid, test;
  std::vector<mt::bucket> buckets;

  explicit texts(options const& o)
      : files(o.data, o.from, o.into),
        learnt(files.read(o.train)),
        vocabulary(mt::kept_subwords(o.keep, {learnt.source, learnt.target},
                                     {.kind = "bpe", .pieces = static_cast<int>(o.pieces)})),
        train(read(o.train)),
        valid(read(o.valid)),
        test(read(o.test)),
        buckets(
            mt::choose_buckets(train.tokens, {.count = o.buckets, .tokens = o.batch_tokens, .longest = o.longest})) {}

 private:
  corpus read(std::string const& part) const {
    corpus c;
    c.text = files.read(part);
    c.tokens = vocabulary.encode(c.text);
    return c;
  }
};

// ---- training ----

/// The parameters after the last epochs, and their mean.
class last_epochs {
 public:
  last_epochs(mt::store& weights, std::int64_t most) : weights_(weights), most_(static_cast<std::size_t>(most)) {
    for (std::string const& name : weights.names())
      if (name.starts_with("model/")) names_.push_back(name);
  }
  void keep() {
    all_.push_back(now());
    if (all_.size() > most_) all_.pop_front();
  }
  /// Puts the mean in the place of the parameters.
  void average() {
    auto mean = now();
    for (std::size_t n = 0; n < names_.size(); ++n) {
      for (float& x : mean[n]) x = 0;
      for (auto const& epoch : all_)
        for (std::int64_t i = 0; i < mean[n].size(); ++i)
          mean[n].data()[i] += epoch[n].data()[i] / static_cast<float>(all_.size());
      weights_.set(names_[n], mean[n]);
    }
  }

 private:
  std::vector<mt::any_array<float>> now() {
    std::vector<mt::any_array<float>> values;
    for (std::string const& name : names_) values.push_back(weights_.get<float>(name));
    return values;
  }
  mt::store& weights_;
  std::size_t most_;
  std::vector<std::string> names_;
  std::deque<std::vector<mt::any_array<float>>> all_;
};

struct translator {
  mt::processors const& job;
  options const& o;
  texts const& all;
  mt::store weights{job, o.seed};
  std::vector<std::unique_ptr<program<train_step>>> steps{};  // of each bucket
  std::vector<std::unique_ptr<program<evaluate>>> looks{};
  std::unique_ptr<program<read_source>> reads{};
  std::unique_ptr<program<say_word>> says{};

  translator(mt::processors const& j, options const& chosen, texts const& given) : job(j), o(chosen), all(given) {
    std::int64_t const words = all.vocabulary.size();
    for (mt::bucket const& b : all.buckets) {
      auto const of_bucket = sizes(o, words, batch(b.rows), length(b.source_length));
      steps.push_back(made<program<train_step>>(of_bucket, weights));
      looks.push_back(made<program<evaluate>>(of_bucket, weights));
    }
    std::int64_t const longest = all.buckets.back().source_length;
    auto const of_speech = [&](auto... more) {
      return sizes(o, words, batch(o.sentences), length(longest), beam(o.beam), said(o.limit), more...);
    };
    std::int64_t const parts = o.mesh.at("model");
    reads = made<program<read_source>>(sizes(o, words, batch(o.sentences), length(longest)), weights);
    says = made<program<say_word>>(of_speech(choices(2 * o.beam), part(parts), word(words / parts)), weights);
  }

  /// The rows of each batch that this process feeds: its processor's, or all.
  mt::batch_part mine() const {
    auto const held = steps[0]->ranks();
    auto const& m = steps[0]->processors_mesh();
    if (static_cast<std::int64_t>(held.size()) != 1 || m.size() == 1) return {};
    return {.part = m.coordinate(held[0], 0), .of = m.axes[0].extent};
  }
  auto run(auto& program, mt::pair_batch const& b, auto const&... numbers) const {
    if (mine().of == 1 && steps[0]->ranks().size() != 1)
      return program(mt::feed<"source">(b.source), mt::feed<"target">(b.target), mt::feed<"next">(b.target_next),
                     numbers...);
    return program(mt::feed_local<"source">(b.source), mt::feed_local<"target">(b.target),
                   mt::feed_local<"next">(b.target_next), numbers...);
  }

  /// Nats a word of the target.
  double look_at(corpus const& c) const {
    mt::pair_batches const batches(c.tokens, all.buckets, all.vocabulary.special());
    mt::batch_part const part = mine();
    mt::prefetched<mt::pair_batch> next([&](std::int64_t number, mt::pair_batch& b) { batches.read(number, b, part); });
    double sum = 0, count = 0;
    for (std::int64_t i = 0; i < batches.per_epoch(); ++i) {
      mt::pair_batch const& b = next.next();
      auto const result = run(*looks[b.bucket], b);
      sum += static_cast<double>(result.template get<"sum">());
      count += static_cast<double>(result.template get<"count">());
    }
    return sum / count;
  }

  /// Translates all sentences of a part, those of similar length together.
  std::vector<std::string> translations(corpus const& c) {
    std::uint64_t const step = weights.step();  // of the training: what translating keeps counts as no step
    auto const count = static_cast<std::size_t>(o.sentences), width = static_cast<std::size_t>(o.beam);
    auto const longest = static_cast<std::size_t>(all.buckets.back().source_length);
    auto const& special = all.vocabulary.special();
    std::vector<std::int64_t> order(static_cast<std::size_t>(c.tokens.size()));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::int64_t i) { return std::pair(c.tokens.source(i).size(), i); });
    std::vector<std::string> texts(order.size());
    beam_search search(count, width, special.end);
    std::vector<std::int32_t> source(count * longest);
    for (std::size_t first = 0; first < order.size(); first += count) {
      std::size_t const used = std::min(count, order.size() - first);
      std::ranges::fill(source, special.pad);
      for (std::size_t i = 0; i < count; ++i) {
        auto words = i < used ? c.tokens.source(order[first + i]) : std::span<std::int32_t const>();
        words = words.first(std::min(words.size(), longest - 1));
        *std::ranges::copy(words, source.begin() + static_cast<std::ptrdiff_t>(i * longest)).out = special.end;
      }
      (*reads)(mt::feed<"source">(source));
      search.begin(special.begin, used);
      bool more = true;
      for (std::int64_t t = 0; more && t < o.limit; ++t) {
        auto const next =
            (*says)(mt::feed<"token">(search.token), mt::feed<"parent">(search.parent), mt::feed<"score">(search.score),
                    mt::set<"position">(static_cast<double>(t)), mt::set<"ending">(t + 1 == o.limit ? 1 : 0));
        auto const best = next.template get<"best">().gather();
        auto const way = next.template get<"way">().gather(), word = next.template get<"word">().gather();
        more = search.follow(std::span(best.data(), static_cast<std::size_t>(best.size())),
                             std::span(way.data(), static_cast<std::size_t>(way.size())),
                             std::span(word.data(), static_cast<std::size_t>(word.size())));
      }
      for (std::size_t i = 0; i < used; ++i)
        texts[static_cast<std::size_t>(order[first + i])] = all.vocabulary.decode(search.best(i));
    }
    weights.set_step(step);
    return texts;
  }
  mt::bleu_score score(corpus const& c, std::string const& name) {
    double const begin = mt::seconds_now();
    auto const said = translations(c);
    double const seconds = mt::seconds_now() - begin;
    auto const bleu = mt::corpus_bleu(said, c.text.target);
    mt::print(job, "{:<18} {}\n", name, text_of(bleu));
    mt::progress(job, "{} sentences in {:.1f} s, {:.1f} a second\n", said.size(), seconds,
                 static_cast<double>(said.size()) / seconds);
    if (job.speaks()) {
      std::ofstream file(std::filesystem::path(o.keep) / (name + "." + o.into));
      for (std::string const& line : said) file << line << '\n';
      if (!file.flush()) throw mt::error("R43", {"the translations cannot be written to '", o.keep, "'"});
    }
    return bleu;
  }

  void train() {
    mt::pair_batches const batches(all.train.tokens, all.buckets, all.vocabulary.special(), o.seed);
    mt::batch_filling const& f = batches.filling();
    mt::print(job, "{} pairs in {} batches an epoch, {:.1f} % of the targets are padding\n", f.pairs,
              batches.per_epoch(), 100 * f.target_padding());
    mt::batch_part const part = mine();
    mt::prefetched<mt::pair_batch> next([&](std::int64_t number, mt::pair_batch& b) { batches.read(number, b, part); });
    mt::agreement agreed(job);
    mt::progress_line line(job);
    std::unique_ptr<mt::event_file> events;
    if (job.speaks()) events = std::make_unique<mt::event_file>(std::filesystem::path(o.keep) / "events");
    last_epochs recent(weights, o.average);
    double const begin = mt::seconds_now();
    std::int64_t const all_steps = o.epochs * batches.per_epoch();
    for (std::int64_t epoch = 1; epoch <= o.epochs; ++epoch) {
      if (o.minutes != 0 && agreed(mt::seconds_now() - begin) > 60 * o.minutes) break;
      double const start = mt::seconds_now();
      double sum = 0, count = 0;
      for (std::int64_t i = 0; i < batches.per_epoch(); ++i) {
        mt::pair_batch const& b = next.next();
        auto& step = *steps[b.bucket];
        if (o.profile && epoch == 1 && i == 8) step.record();
        auto const result = run(step, b, mt::set<"learning_rate">(o.learning_rate), mt::set<"dropout">(o.dropout),
                                mt::set<"smoothing">(o.smoothing), mt::set<"warmup">(static_cast<double>(o.warmup)));
        auto const loss = static_cast<double>(result.template get<"loss">());
        if (!std::isfinite(loss))
          throw mt::error("R42", {"the loss of step ", next.number(), " is not a number: try a lower --learning-rate"});
        auto const words = static_cast<double>(result.template get<"count">());
        sum += loss * words, count += words;
        std::int64_t const done = (epoch - 1) * batches.per_epoch() + i + 1;
        double const elapsed = mt::seconds_now() - begin;
        line.show({.step = done,
                   .steps = all_steps,
                   .loss = loss,
                   .tokens_per_second = count / (mt::seconds_now() - start),
                   .seconds_left = elapsed / static_cast<double>(done) * static_cast<double>(all_steps - done)});
        if (events) events->scalar("loss/train", loss, done);
      }
      double const seconds = mt::seconds_now() - start, nats = look_at(all.valid);
      line.clear();
      recent.keep();
      mt::print(job, "epoch {:>3}  updates {:>6}  loss {:.4f}  validation {:.4f}  perplexity {:.2f}\n", epoch,
                epoch * batches.per_epoch(), sum / count, nats, std::exp(nats));
      mt::progress(job, "{:.1f} s, {:.0f} words a second\n", seconds, count / seconds);
      if (events) events->scalar("loss/validation", nats, epoch * batches.per_epoch());
      if (o.profile && epoch == 1)
        for (auto const& step : steps)
          if (!step->recorded().empty()) mt::progress(job, "{}", mt::profile(*step)), step->record(false);
      if (o.score_every != 0 && epoch % o.score_every == 0) score(all.valid, o.valid);
    }
    recent.average();
    mt::print(job, "mean of the last {} epochs: validation {:.4f}\n", o.average, look_at(all.valid));
  }

  /// Compares the first step on the mesh with the same step on whole tensors.
  int checked() {
    mt::pair_batches const batches(all.train.tokens, all.buckets, all.vocabulary.special(), o.seed);
    mt::pair_batch b;
    batches.read(0, b);
    mt::bucket const& size = all.buckets[b.bucket];
    auto const found = std::apply(
        [&](auto const&... each) {
          return mt::check<programs, train_step, translation::mesh, translation::layout, mt::default_device>(
              weights, each..., mt::feed<"source">(b.source), mt::feed<"target">(b.target),
              mt::feed<"next">(b.target_next), mt::set<"dropout">(o.dropout));
        },
        sizes(o, all.vocabulary.size(), batch(size.rows), length(size.source_length)));
    mt::print(job, "{}\n", text_of(found));
    return found.agrees() ? 0 : 1;
  }
};

}  // namespace

int main(int argc, char** argv) {
  return mt::run_main(argc, argv, [&](mt::processors const& job) {
    options o;
    if (auto const ending = read_command_line(argc, argv, o)) {
      if (ending->code == 0) mt::print(job, "{}", ending->words);
      else mt::progress(job, "{}", ending->words);
      return ending->code;
    }
    if (o.threads != 0) setenv("MESHTENSOR_THREADS", std::to_string(o.threads).c_str(), 1);
    texts const all(o);
    translator t(job, o, all);
    if (o.explain) return mt::print(job, "{}", mt::explain(*t.steps[0])), 0;
    if (o.check) return t.checked();
    t.train();
    t.score(all.test, o.test);
    return 0;
  });
}
