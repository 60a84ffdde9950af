// SPDX-License-Identifier: Apache-2.0
// The index of a checkpoint: what is written is read; no bit of it can be another; what cannot be meant is refused.
// needs: io
#include <doctest/doctest.h>

#include "meshtensor/io/checkpoint/index_reader.hpp"
#include "support/folder.hpp"

namespace mt = meshtensor;
using meshtensor_test::sentence;

namespace {

mt::io::checkpoint_index an_index() {
  mt::io::checkpoint_index index;
  index.step = 1200, index.seed = ~std::uint64_t{0}, index.more = {{"batch", 7}};
  index.counts = {{{"train<2>", 1100}}, {{"optimizer/w", 1000}, {"optimizer/b", 900}}};
  index.files = {{100, 1}, {200, ~std::uint64_t{0}}, {0, 0}};
  mt::io::saved_value v;
  v.stored = mt::io::storage_of(mt::bf16);
  v.dims = {{{mt::name("d_model"), 6}, "data=2", {3, 3}}, {{mt::name("rows"), 5}, "", {5}}};
  v.files = {2, 0};
  index.values = {{"a/\"b\"", v}, {"count", {mt::io::storage_of(mt::i64), "", {}, {1}}}};
  return index;
}
/// The text with its own checksum, whatever it says.
std::string sealed(std::string const& text) {
  std::string const body = text.substr(0, text.size() - 20);
  return body + mt::io::text_of(mt::io::checksum_of(body)) + "\"\n}\n";
}
std::string why(std::string const& text) {
  return sentence([&] { mt::io::parse_index(text, "i"); });
}
std::string replaced(std::string text, std::string const& from, std::string const& to) {
  auto const at = text.find(from);
  REQUIRE(at != text.npos);
  return sealed(text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("what is written is read") {
  std::string const text = text_of(an_index());
  mt::io::checkpoint_index const same = mt::io::parse_index(text, "i");
  CHECK(text_of(same) == text);
  CHECK(same.step == 1200);
  CHECK(same.seed == ~std::uint64_t{0});
  CHECK(same.more == an_index().more);
  CHECK(same.counts->steps == an_index().counts->steps);
  CHECK(same.counts->updates == an_index().counts->updates);
  CHECK(same.values.at("a/\"b\"").text() == "bf16[d_model=6/data=2, rows=5]");
  auto const second = same.values.at("a/\"b\"").block(1);
  CHECK(second.origin[0] == 3);
  CHECK(second.extent[0] == 3);
  CHECK(second.extent[1] == 5);
  CHECK(sealed(text) == text);
}

TEST_CASE("version 3 has replicas") {
  CHECK(text_of(an_index()).find("\"version\": 2") != std::string::npos);
  mt::io::checkpoint_index index = an_index();
  index.values.at("a/\"b\"").replica_dim = 1, index.values.at("a/\"b\"").merge = mt::merge_rule::weighted_mean;
  index.values["weight"] = {mt::io::storage_of(mt::f32), "", {{{mt::name("rows"), 5}, "", {5}}}, {1}, 0,
                            mt::merge_rule::mass};
  index.mass = "weight";
  std::string const text = text_of(index);
  CHECK(text.find("\"version\": 3") != std::string::npos);
  mt::io::checkpoint_index const same = mt::io::parse_index(text, "i");
  CHECK(text_of(same) == text);
  CHECK(same.mass == "weight");
  CHECK(same.values.at("a/\"b\"").replica_dim == 1);
  CHECK(same.values.at("a/\"b\"").merge == mt::merge_rule::weighted_mean);
  CHECK(same.values.at("count").replica_dim == -1);

  CHECK(why(replaced(text, "\"version\": 3", "\"version\": 2")).find("only replicas have a mass") != std::string::npos);
  index.mass.clear();
  CHECK(
      why(replaced(text_of(index), "\"version\": 3", "\"version\": 2")).find("the value has no such dim of replicas") !=
      std::string::npos);
  CHECK(why(replaced(text, "\"replicas\": \"rows\", \"merge\": \"mass\"", "\"replicas\": \"row\", \"merge\": \"mass\""))
            .find("the value has no such dim of replicas") != std::string::npos);
  CHECK(why(replaced(text, "weighted_mean", "mode")).find("there is no such rule") != std::string::npos);
  CHECK(why(replaced(text, "weighted_mean", "automatic")).find("there is no such rule") != std::string::npos);
  CHECK(why(replaced(text, "\"replicas\": \"rows\", \"merge\": \"mass\"", "\"replicas\": \"rows\"")) != "");
  CHECK(why(replaced(text, "\"replicas\": \"rows\", \"merge\": \"mass\"", "\"merge\": \"mass\"")) != "");
  CHECK(why(replaced(text, "\"mass\": \"weight\"", "\"mass\": \"\"")).find("only replicas have a mass") !=
        std::string::npos);
  CHECK(why(replaced(text, "\"mass\": \"weight\"", "\"mass\": \"count\"")) ==
        "meshtensor C04: 'i' is not the index of a checkpoint: its mass 'count' is not one float for each replica");
  CHECK(why(replaced(text, "\"mass\": \"weight\"", "\"mass\": \"gone\"")).empty());  // `only` left it out
}

TEST_CASE("version 4 says what replicas share") {
  mt::io::checkpoint_index index = an_index();
  mt::io::saved_value& v = index.values.at("a/\"b\"");
  v.replica_dim = 1, v.merge = mt::merge_rule::mean;
  CHECK(text_of(index).find("\"version\": 3") != std::string::npos);
  for (auto const shared : {mt::shared_by_replicas::start, mt::shared_by_replicas::parameters}) {
    v.shared = shared;
    std::string const text = text_of(index);
    CHECK(text.find("\"version\": 4") != std::string::npos);
    mt::io::checkpoint_index const same = mt::io::parse_index(text, "i");
    CHECK(text_of(same) == text);
    CHECK(same.values.at("a/\"b\"").shared == shared);
    CHECK(same.values.at("count").shared == mt::shared_by_replicas::nothing);
  }
  std::string const text = text_of(index);
  std::string const refusal = "replicas share no such thing";
  CHECK(why(replaced(text, "\"shared\": \"parameters\"", "\"shared\": \"nothing\"")).find(refusal) !=
        std::string::npos);
  CHECK(why(replaced(text, "\"shared\": \"parameters\"", "\"shared\": \"all\"")).find(refusal) != std::string::npos);
  CHECK(why(replaced(text, "\"replicas\": \"rows\", \"merge\": \"mean\", ", "")).find(refusal) != std::string::npos);
}

TEST_CASE("version 1 has one count") {
  mt::io::checkpoint_index old = an_index();
  old.counts.reset();
  std::string const text = text_of(old);
  CHECK(text.find("\"version\": 1") != text.npos);
  CHECK(text.find("\"updates\"") == text.npos);
  CHECK(!mt::io::parse_index(text, "i").counts);
  CHECK(text_of(mt::io::parse_index(text, "i")) == text);
}

TEST_CASE("every bit counts, and every byte") {
  std::string const text = text_of(an_index());
  int taken = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string other = text;
      other[i] = static_cast<char>(other[i] ^ (1 << bit));
      taken += !why(other).starts_with("meshtensor C04: 'i' is ");
    }
    taken += !why(text.substr(0, i)).starts_with("meshtensor C04: 'i' is ");
  }
  CHECK(taken == 0);
  CHECK(why(text + "\n") != "");
  CHECK(why("") ==
        "meshtensor C04: 'i' is not the index of a checkpoint, or not the whole of it: it does not end with a "
        "checksum");
}

TEST_CASE("what cannot be meant, though its checksum is right") {
  std::string const text = text_of(an_index());
  CHECK(why(replaced(text, "\"version\": 2", "\"version\": 5")) ==
        "meshtensor C04: 'i' is of version 5, but this program reads versions 1 to 4: it was written by another "
        "meshtensor");
  CHECK(why(replaced(text, "meshtensor checkpoint", "something")).ends_with("the format is another one"));
  for (auto const& [from, to] : {
           std::pair<std::string, std::string>{"\"step\": 1200", "\"step\": -1"},
           {"\"step\": 1200", "\"step\": 18446744073709551616"},
           {"\"step\": 1200", "\"step\": 1200, \"step\": 1200"},
           {"\"version\": 2", "\"version\": 1"},
           {"\"steps\": {\"train<2>\": 1100},", ""},
           {"\"updates\": {", "\"update\": {"},
           {"\"train<2>\": 1100", "\"train<2>\": -1"},
           {"\"optimizer/b\": 900", "\"optimizer/w\": 900"},
           {"\"extent\": 6", "\"extent\": 7"},
           {"\"extent\": 6", "\"extent\": 9223372036854775808"},
           {"\"parts\": [3, 3]", "\"parts\": [3, 3, 0]"},
           {"\"parts\": [3, 3]", "\"parts\": [3, 4]"},
           {"\"parts\": [3, 3]", "\"parts\": [9223372036854775807, 9223372036854775807]"},
           {"\"parts\": [3, 3]", "\"parts\": [6]"},
           {"\"parts\": [3, 3]", "\"parts\": [2, 2, 1, 1]"},
           {"\"parts\": [3, 3]", "\"parts\": []"},
           {"\"parts\": [5]", "\"parts\": [1, 4]"},
           {"\"files\": [2, 0]", "\"files\": [2, 2]"},
           {"\"files\": [2, 0]", "\"files\": [2, 3]"},
           {"\"files\": [2, 0]", "\"files\": [2]"},
           {"\"files\": [2, 0]", "\"files\": [2, 0, 1]"},
           {"\"files\": [2, 0]", "\"files\": [2, -1]"},
           {"\"files\": [2, 0]", "\"files\": [2, 18446744073709551615]"},
           {"\"name\": \"rows\"", "\"name\": \"d_model\""},
           {"\"name\": \"rows\"", "\"name\": \"\""},
           {"\"name\": \"rows\"", "\"name\": \"a name that has thirty-three chars\""},
           {"\"name\": \"rows\", ", ""},
           {"\"dtype\": \"BF16\"", "\"dtype\": \"F16\""},
           {"\"dtype\": \"BF16\"", "\"dtype\": \"other\""},
           {"\"count\"", "\"a/\\\"b\\\"\""},
           {"\"header\": \"0000000000000001\"", "\"header\": \"1\""},
           {"\"header\": \"ffffffffffffffff\"", "\"header\": \"FFFFFFFFFFFFFFFF\""},
           {"\"bytes\": 200", "\"bytes\": 9223372036854775808"},
           {"\"notes\"", "\"note\""},
       }) {
    INFO(from << " " << to);
    CHECK(why(replaced(text, from, to)).starts_with("meshtensor C04: 'i' is not the index of a checkpoint: byte "));
  }
  // 2^62 elements of eight bytes; eleven dims; blocks that overflow when they are counted.
  CHECK(why(replaced(text, "\"dims\": []",
                     "\"dims\": [{\"name\": \"x\", \"extent\": 4611686018427387904, \"over\": \"\", "
                     "\"parts\": [4611686018427387904]}]")) != "");
  std::string eleven;
  for (char c = 'a'; c < 'l'; ++c)
    eleven += (c == 'a' ? "" : ",") + ("{\"name\": \"" + std::string(1, c)) +
              "\", \"extent\": 1, \"over\": \"\", \"parts\": [1]}";
  CHECK(why(replaced(text, "\"dims\": []", "\"dims\": [" + eleven + "]")).find("at most 10 dims") != std::string::npos);
}
