// SPDX-License-Identifier: Apache-2.0
// Translating: the source is read once, then each word costs one step. What the decoder's layers keep of the words
// before, keys and values, is state of the store. A way that is followed keeps its place in this state while it goes
// on from another one, so that nothing is moved: `open` says which places the words of a way have been written to.
#pragma once

#include "../translate.hpp"

namespace translation {

inline constexpr struct beam : mt::dim<"beam"> {
} beam;  // a way that is followed
inline constexpr struct before : mt::dim<"before", beam + 0> {
} before;  // the place that one had as a word was said
inline constexpr struct said : mt::dim<"said"> {
} said;  // position in a translation, up to those in use
inline constexpr struct all_said : mt::dim<"all_said"> {
} all_said;  // up to the longest
inline constexpr struct all_source : mt::dim<"all_source"> {
} all_source;  // position of the source, up to the longest; `source`: up to those in use
inline constexpr struct choices : mt::dim<"choices"> {
} choices;  // the likeliest ways to go on
inline constexpr struct better : mt::dim<"better", choices + 0> {
} better;  // one that is likelier
inline constexpr struct ways : mt::dim<"ways", beam * choices> {
} ways;
inline constexpr struct one : mt::dim<"one", 1> {
} one;
inline constexpr struct part : mt::dim<"part"> {
} part;  // the vocabulary in parts, which may lie spread
inline constexpr struct word : mt::dim<"word"> {
} word;  // place in a part

// ---- what is kept ----

inline constexpr mt::layer memory_of_source = [](mt::scope auto s) {
  return std::tuple(s.state("source_keys", s.real(), layers, batch, heads, all_source, d_head),
                    s.state("source_values", s.real(), layers, batch, heads, all_source, d_head),
                    s.state("seen", mt::boolean, batch, all_source));
};
inline constexpr mt::layer memory_of_words = [](mt::scope auto s) {
  return std::tuple(s.state("keys", s.real(), layers, batch, heads, before, all_said, d_head),
                    s.state("values", s.real(), layers, batch, heads, before, all_said, d_head));
};

/// What the decoder's layers will look at of the source.
inline constexpr mt::layer kept_of_source = [](mt::scope auto s, auto meant) {
  auto const project = [&](auto const& weight) {
    return rename(einsum(meant, weight, to(layers, batch, heads, source, d_head)), source, all_source);
  };
  return std::tuple(project(s.parameter("key", layers, d_model, heads, d_head)),
                    project(s.parameter("value", layers, d_model, heads, d_head)));
};

/// Before the first word: sources of the longest length.
struct read_source {
  constexpr void operator()(mt::scope auto s) const {
    auto const from = s.input("source", mt::i32, batch, length);
    auto const [keys, values] = kept_of_source(s / "model" / "decoder" / "source", meaning_of(s / "model", from));
    auto const [old_keys, old_values, seen] = memory_of_source(s / "memory");
    s.update(old_keys, keys);
    s.update(old_values, values);
    s.update(seen, rename(seen_of(from), source, all_source));
  }
};

// ---- one word ----

/// To the words before, which `open` lets through, and to this one. Gives what was found, and this word's key and
/// value.
inline constexpr mt::layer attend_again = [](mt::scope auto s, auto x, auto keys, auto values, auto open) {
  auto const project = [&](auto const& weight) { return einsum(x, weight, to(batch, beam, heads, d_head)); };
  auto const question = project(s.parameter("query", d_model, heads, d_head)) / sqrt(extent(d_head));
  auto const key = project(s.parameter("key", d_model, heads, d_head));
  auto const value = project(s.parameter("value", d_model, heads, d_head));
  auto const scores = select(open, einsum(question, keys, to(batch, heads, beam, before, said)), -1e30);
  auto const own = sum(question * key, d_head);
  auto const most = maximum(max(scores, before, said), own);
  auto const weights = exp(scores - most);
  auto const weight = exp(own - most);
  auto const total = sum(weights, before, said) + weight;
  auto const mixed = (einsum(weights, values, to(batch, beam, heads, d_head)) + weight * value) / total;
  return std::tuple(einsum(mixed, s.parameter("out", heads, d_head, d_model), to(batch, beam, d_model)), key, value);
};
inline constexpr mt::layer attend_to_source = [](mt::scope auto s, auto x, auto keys, auto values, auto seen) {
  auto const question = einsum(x, s.parameter("query", d_model, heads, d_head), to(batch, beam, heads, d_head));
  auto const scores = einsum(question, keys, to(batch, heads, beam, source)) / sqrt(extent(d_head));
  auto const mixed = einsum(softmax(select(seen, scores, -1e30), source), values, to(batch, beam, heads, d_head));
  return einsum(mixed, s.parameter("out", heads, d_head, d_model), to(batch, beam, d_model));
};

/// A step of the decoder, of every way: `token`, its last word, is at `position`. Gives the logits, and what is to be
/// kept of this word.
inline constexpr mt::layer step_of_decoder = [](mt::scope auto s, auto of_source, auto of_words, auto token, auto open,
                                                auto position) {
  auto const used = [](auto const& kept) { return slice(kept, all_source, source, 0); };
  auto const seen = used(std::get<2>(of_source));
  auto const said_so_far = [](auto const& kept) { return slice(kept, all_said, said, 0); };
  auto const table = table_of(s);
  auto const x = gather(table, token, vocab) * sqrt(extent(d_model)) + sinusoids(s, position);
  auto const [y, kept] =
      repeat(s / "decoder", layers, x,
             std::tuple(said_so_far(std::get<0>(of_words)), said_so_far(std::get<1>(of_words)),
                        used(std::get<0>(of_source)), used(std::get<1>(of_source))),
             [&](mt::scope auto r, auto h, auto keys, auto values, auto of_keys, auto of_values) {
               auto const [a, key, value] =
                   attend_again(r / "attention", layer_norm(r / "norm_1", h, d_model), keys, values, open);
               auto const b = h + a;
               auto const c =
                   b + attend_to_source(r / "source", layer_norm(r / "norm_2", b, d_model), of_keys, of_values, seen);
               return std::tuple(c + feed(r / "feed", layer_norm(r / "norm_3", c, d_model)), std::tuple(key, value));
             });
  return std::tuple(einsum(layer_norm(s / "norm", y, d_model), table, to(batch, beam, vocab)), std::get<0>(kept),
                    std::get<1>(kept));
};

/// Reads the last word of every way, keeps it, and gives the logits of what may follow.
constexpr auto logits_of_next(mt::scope auto s) {
  auto const token = s.input("token", mt::i32, batch, beam);
  auto const open = s.input("open", mt::boolean, batch, beam, before, said);
  auto const position = s.number("position", 0);
  auto const of_words = memory_of_words(s / "memory");
  auto const [logits, key, value] =
      step_of_decoder(s / "model", memory_of_source(s / "memory"), of_words, token, open, position);
  auto const keep = [&](auto const& kept, auto const& now) {
    s.update(kept, put(kept, rename(now, beam, before), all_said, position));
  };
  keep(std::get<0>(of_words), key);
  keep(std::get<1>(of_words), value);
  return logits;
}
/// What is never said.
constexpr auto unsaid(auto const& id) { return id == padding || id == begin; }

/// Of each sentence the likeliest ways to go on: their scores, which way times `choices` and choice it is, and the
/// word. `score` is that of the way before.
struct say_word {
  constexpr void operator()(mt::scope auto s) const {
    auto const score = s.input("score", s.real(), batch, beam);
    auto const likely = log_softmax(logits_of_next(s), vocab);
    auto const id = iota(s, vocab, mt::i32);
    auto const ending = s.number("ending", 0);  // 1: the sentence ends here, whatever the model says
    auto const open = select(unsaid(id), -1e30, likely);
    auto const [each, which] = top_k(select(id == end && id * 0 < ending, 0, open) + score, vocab, choices, part, word);
    auto const [best, way] = top_k(merge(each, to(beam, choices), ways), ways, choices);
    s.output("best", best);
    s.output("way", way);
    s.output("word", gather(merge(which, to(beam, choices), ways), way, ways));
  }
};

/// A word of each way, drawn from the `choices` likeliest, and of those from as many as together have the probability
/// top_p; a `temperature` below 1 sharpens all. Gumbel's noise on the logarithms draws: the greatest sum is a sample.
struct sample_word {
  constexpr void operator()(mt::scope auto s) const {
    auto const id = iota(s, vocab, mt::i32);
    auto const logits = mt::cast<mt::f32>(logits_of_next(s)) / s.number("temperature", 1);
    auto const likely = log_softmax(select(unsaid(id), -1e30, logits), vocab);
    auto const [best, which] = top_k(likely, vocab, choices, part, word);
    auto const place = iota(s, choices, mt::i32);
    auto const other = iota(s, better, mt::i32);
    auto const likelier = mt::cast<mt::f32>(broadcast(other, to(better, choices)) < place);
    auto const sum_before = einsum(rename(exp(best), choices, better), likelier, to(batch, beam, choices));
    auto const drawn_from = sum_before < s.number("top_p", 1);
    auto const noise = -log(-log(uniform(s / "draw", mt::f32, to(batch, beam, choices)) * (1 - 2e-7) + 1e-7));
    auto const [most, chosen] = top_k(select(drawn_from || place == 0, best + noise, -1e30), choices, one);
    s.output("word", gather(which, chosen, choices));
  }
};

struct word_by_word : mt::programs<read_source, say_word, sample_word> {};
struct spoken_layout : mt::layout<mt::shard<batch, data>, mt::shard<heads, model>, mt::shard<d_ff, model>,
                                  mt::shard<vocab, model>, mt::shard<part, model>> {};

}  // namespace translation
