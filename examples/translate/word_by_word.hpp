// SPDX-License-Identifier: Apache-2.0
// Decodes with a cache, so that the source is read once and then each word costs one step. The keys and values of the
// decoder's layers, for the source and for earlier words, are state in the store. Each sentence that is being
// translated has a row there. When it is done, another sentence takes its row, so rows are at different positions. If a
// hypothesis continues another one, cached words are not moved, because `open` masks the places that have its
// words.
#pragma once

#include "../translate.hpp"

namespace translation {

// a sentence that is being translated, while `batch` has the sentences that are read in this step
inline constexpr struct row : mt::dim<"row"> {} row;
inline constexpr struct beam : mt::dim<"beam"> {} beam;  // a live hypothesis
// place of a cached word, among the positions in use, with `beam` places for each position
inline constexpr struct said : mt::dim<"said"> {} said;
inline constexpr struct all_said : mt::dim<"all_said"> {} all_said;  // among the positions of the longest translation
// position of a key in the longest source, while `source` has only the positions in use
inline constexpr struct all_source : mt::dim<"all_source"> {} all_source;
inline constexpr struct choices : mt::dim<"choices"> {} choices;  // the likeliest continuations
inline constexpr struct better : mt::dim<"better", choices + 0> {} better;  // a likelier continuation
// the likeliest words, two more than `choices`, because two words are never output
inline constexpr struct offered : mt::dim<"offered"> {} offered;
inline constexpr struct ways : mt::dim<"ways", beam * offered> {} ways;
inline constexpr struct one : mt::dim<"one", 1> {} one;
inline constexpr struct part : mt::dim<"part"> {} part;  // a part of the vocabulary, which may be sharded over ranks
inline constexpr struct word : mt::dim<"word"> {} word;  // index in a part

// ---- the caches ----

inline constexpr mt::layer memory_of_source = [](mt::scope auto s) {
  return std::tuple(s.state("source_keys", s.real(), layers, row, heads, all_source, d_head),
                    s.state("source_values", s.real(), layers, row, heads, all_source, d_head),
                    s.state("seen", mt::boolean, row, all_source));
};
inline constexpr mt::layer memory_of_words = [](mt::scope auto s) {
  return std::tuple(s.state("keys", s.real(), layers, row, heads, all_said, d_head),
                    s.state("values", s.real(), layers, row, heads, all_said, d_head));
};

/// The initializers of the library's layers, because these programs use the parameters of those layers.
inline constexpr auto start_of_projections = mt::normal(1 / sqrt(extent(d_model)));
inline constexpr auto start_of_out = mt::normal(1 / sqrt(extent(heads) * extent(d_head)));

/// The keys and values of the source, for all layers of the decoder.
inline constexpr mt::layer kept_of_source = [](mt::scope auto s, auto encoded) {
  auto const project = [&](auto const& weight) {
    return pad(einsum(encoded, weight, to(layers, batch, heads, source, d_head)), source, all_source, 0);
  };
  return std::tuple(project(s.parameter("key", layers, d_model, heads, d_head, start_of_projections)),
                    project(s.parameter("value", layers, d_model, heads, d_head, start_of_projections)));
};

/// Reads sentences into the rows `into`. If a row is −1, there is no sentence and nothing is written.
struct read_source {
  constexpr void operator()(mt::scope auto s) const {
    auto const from = s.input("source", mt::i32, batch, length);
    auto const into = s.input("into", mt::i32, batch);
    auto const [keys, values] = kept_of_source(s / "model" / "decoder" / "source", encoded_of(s / "model", from));
    auto const [old_keys, old_values, visible] = memory_of_source(s / "memory");
    s.update(old_keys, put(old_keys, keys, row, into));
    s.update(old_values, put(old_values, values, row, into));
    s.update(visible, put(visible, pad(from, length, all_source, 0, padding) != padding, row, into));
  }
};

// ---- one word ----

/// Attends to earlier words that `open` allows, and to this word. Returns the result, and the key and value of this
/// word.
inline constexpr mt::layer attend_again = [](mt::scope auto s, auto x, auto all_keys, auto all_values, auto open) {
  auto const project = [&](auto const& weight) { return einsum(x, weight, to(row, beam, heads, d_head)); };
  auto const query = project(s.parameter("query", d_model, heads, d_head, start_of_projections));
  auto const key = project(s.parameter("key", d_model, heads, d_head, start_of_projections));
  auto const value = project(s.parameter("value", d_model, heads, d_head, start_of_projections));
  auto const [earlier, sum_before] = attention_with_log_sum(
      query, slice(all_keys, all_said, said, 0), slice(all_values, all_said, said, 0), beam, said, d_head, open);
  auto const own = sum(query * key, d_head) / sqrt(extent(d_head));
  auto const most = maximum(sum_before, own);
  auto const before = exp(sum_before - most), now = exp(own - most);
  auto const attended = (before * earlier + now * value) / (before + now);
  return std::tuple(einsum(attended, s.parameter("out", heads, d_head, d_model, start_of_out), to(row, beam, d_model)),
                    key, value);
};
inline constexpr mt::layer attend_to_source = [](mt::scope auto s, auto x, auto all_keys, auto all_values,
                                                 auto visible) {
  auto const query =
      einsum(x, s.parameter("query", d_model, heads, d_head, start_of_projections), to(row, beam, heads, d_head));
  auto const attended = dot_product_attention(query, slice(all_keys, all_source, source, 0),
                                              slice(all_values, all_source, source, 0), beam, source, d_head, visible);
  return einsum(attended, s.parameter("out", heads, d_head, d_model, start_of_out), to(row, beam, d_model));
};

/// Runs the decoder for the last word of every hypothesis, which is `token` at `position`. Returns the logits, and this
/// word's keys and values for the cache.
inline constexpr mt::layer step_of_decoder = [](mt::scope auto s, auto of_source, auto of_words, auto token, auto open,
                                                auto position) {
  auto const visible = slice(std::get<2>(of_source), all_source, source, 0);
  auto const table = table_of(s);
  auto const x = gather(table, token, vocab) * sqrt(extent(d_model)) + sinusoids(s, mt::cast<mt::f32>(position));
  auto const [y, kept] =
      repeat(s / "decoder", layers, x,
             std::tuple(std::get<0>(of_words), std::get<1>(of_words), std::get<0>(of_source), std::get<1>(of_source)),
             [&](mt::scope auto r, auto h, auto keys, auto values, auto of_keys, auto of_values) {
               auto const [a, key, value] =
                   attend_again(r / "attention", layer_norm(r / "norm_1", h, d_model), keys, values, open);
               auto const b = h + a;
               auto const c = b + attend_to_source(r / "source", layer_norm(r / "norm_2", b, d_model), of_keys,
                                                   of_values, visible);
               return std::tuple(c + feed(r / "feed", layer_norm(r / "norm_3", c, d_model)), std::tuple(key, value));
             });
  return std::tuple(einsum(layer_norm(s / "norm", y, d_model), table, to(row, beam, vocab)), std::get<0>(kept),
                    std::get<1>(kept));
};

/// Reads the last word of every hypothesis, writes it to the cache, and returns the logits of the next word.
constexpr auto logits_of_next(mt::scope auto s) {
  auto const token = s.input("token", mt::i32, row, beam);
  auto const open = s.input("open", mt::boolean, row, beam, said);
  auto const position = s.input("position", mt::i32, row);
  auto const of_words = memory_of_words(s / "memory");
  auto const [logits, key, value] =
      step_of_decoder(s / "model", memory_of_source(s / "memory"), of_words, token, open, position);
  auto const place = broadcast(position, to(row, beam)) * extent(beam) + iota(s, beam, mt::i32);
  auto const keep = [&](auto const& kept, auto const& now) { s.update(kept, put(kept, now, all_said, place)); };
  keep(std::get<0>(of_words), key);
  keep(std::get<1>(of_words), value);
  return logits;
}
/// The likeliest next words of each hypothesis, with their log probabilities.
constexpr auto likeliest_words(auto const& logits) {
  auto const [each, which] = top_k(logits, vocab, offered, part, word);
  auto const greatest = max(each, offered);
  auto const all = log(sum(exp(logits - greatest), vocab)) + greatest;
  auto const unsaid = which == padding || which == begin;
  return std::tuple(select(unsaid, -1e30, each - all), which);
}

/// Finds the likeliest continuations of each sentence. `best` has their scores, and `word` their words. `way` is the
/// index of the hypothesis times `offered`, plus the place of the word among its likeliest. `score` is that of the
/// hypothesis.
struct say_word {
  constexpr void operator()(mt::scope auto s) const {
    auto const score = s.input("score", mt::f32, row, beam);
    auto const [likely, which] = likeliest_words(mt::cast<mt::f32>(logits_of_next(s)));
    auto const [best, way] = top_k(merge(likely + score, to(beam, offered), ways), ways, choices);
    s.output("best", best);
    s.output("way", way);
    s.output("word", gather(merge(which, to(beam, offered), ways), way, ways));
  }
};

/// Samples a word for each hypothesis from the `choices` likeliest words, restricted to the fewest that together have
/// the probability `top_p`. A `temperature` below 1 sharpens the probabilities. The Gumbel trick takes the word with
/// the greatest sum of log probability and Gumbel noise.
inline constexpr mt::layer drawn_word = [](mt::scope auto s, auto logits) {
  auto const each = iota(s, vocab, mt::i32);
  auto const sayable = select(each == padding || each == begin, -1e30, logits / s.number("temperature", 1));
  auto const [likely, which] = likeliest_words(sayable);
  auto const [best, at] = top_k(likely, offered, choices);
  auto const place = iota(s, choices, mt::i32);
  auto const other = iota(s, better, mt::i32);
  auto const likelier = mt::cast<mt::f32>(broadcast(other, to(better, choices)) < place);
  auto const sum_before = einsum(rename(exp(best), choices, better), likelier, to(row, beam, choices));
  auto const drawn_from = sum_before < s.number("top_p", 1);
  auto const noise = -log(-log(uniform(s / "draw", mt::f32, to(row, beam, choices)) * (1 - 2e-7) + 1e-7));
  auto const [most, chosen] = top_k(select(drawn_from || place == 0, best + noise, -1e30), choices, one);
  return gather(gather(which, at, offered), chosen, choices);
};
struct sample_word {
  constexpr void operator()(mt::scope auto s) const {
    s.output("word", drawn_word(s / "word", mt::cast<mt::f32>(logits_of_next(s))));
  }
};

struct word_by_word : mt::programs<read_source, say_word, sample_word> {};
struct spoken_layout : mt::layout<mt::shard<batch, data>, mt::shard<row, data>, mt::shard<heads, model>,
                                  mt::shard<d_ff, model>, mt::shard<vocab, model>, mt::shard<part, model>> {};

}  // namespace translation
