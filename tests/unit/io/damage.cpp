// SPDX-License-Identifier: Apache-2.0
// Whatever byte of a checkpoint is another one, wherever a file ends too early, and whatever file is missing or taken
// from elsewhere: it is refused, or the one before is taken; no wrong number is ever loaded.
//
// passes: start-up
// needs: io
// timeout: 300
#include <doctest/doctest.h>

#include "meshtensor/io/checkpoint.hpp"
#include "meshtensor/io/checkpoint/index_reader.hpp"
#include "meshtensor/io/checksum.hpp"
#include "meshtensor/io/file.hpp"
#include "meshtensor/io/safetensors.hpp"
#include "support/folder.hpp"
#include "unit/run/small_programs.hpp"

namespace mt = meshtensor;
using namespace small;
using meshtensor_test::content;
using meshtensor_test::own_folder;
using meshtensor_test::sentence;
using meshtensor_test::set_content;

namespace {

using stepping = mt::executable<grow_and_look, grow, mesh, spread, mt::reference_device>;

struct training {
  void once() { step(mt::feed<"x">(std::vector<float>(8, 1))); }
  mt::job job = mt::job::in_lockstep();
  mt::store weights{job};
  stepping step{weights, batch(2), data(1)};
};
/// A run with two checkpoints, and one that reads it.
struct two_saved {
  two_saved() {
    mt::on_warning() = [this](std::string const& sentence) { said.push_back(sentence); };
    t.once(), mt::save(t.weights, run.path());
    first = t.weights.get<float>("table");
    t.once(), mt::save(t.weights, run.path());
  }
  ~two_saved() { mt::on_warning() = {}; }

  /// Whether the second one is refused, and the first one taken.
  bool is_refused() {
    said.clear();
    reader.weights.set_step(99);
    auto const before = reader.weights.get<float>("table");
    std::string const why = sentence([&] { mt::load(reader.weights, second); });
    bool const stays = reader.weights.step() == 99 && reader.weights.get<float>("table") == before;
    bool const taken = sentence([&] { mt::load(reader.weights, run.path()); }).empty() && reader.weights.step() == 1 &&
                       reader.weights.get<float>("table") == first;
    if (why.starts_with("meshtensor C") && stays && taken && said.size() <= 1) return true;
    MESSAGE(why << stays << taken << said.size());
    return false;
  }

  own_folder run;
  training t, reader;
  mt::any_array<float> first;
  std::vector<std::string> said;
  std::string second = run / "0002-step-2";
};

}  // namespace

TEST_CASE("any byte, any length") {
  two_saved s;
  int tried = 0, refused = 0;
  for (std::string const name : {"index.json", "rank-0000-of-0002.safetensors", "rank-0001-of-0002.safetensors"}) {
    std::string const path = s.second + "/" + name, whole = content(path);
    REQUIRE(whole.size() > 20);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string other = whole;
      other[i] = static_cast<char>(other[i] ^ (1 << (i % 8)));
      set_content(path, other);
      refused += s.is_refused();
      set_content(path, whole.substr(0, i));
      refused += s.is_refused();
      tried += 2;
    }
    set_content(path, whole + "x");
    refused += s.is_refused(), ++tried;
    set_content(path, whole);
  }
  MESSAGE(tried << " files that were damaged, " << refused << " refused");
  CHECK(tried > 1000);
  CHECK(refused == tried);
  CHECK(mt::load(s.reader.weights, s.run.path()).step() == 2);
}

TEST_CASE("the sentence has the file, the bytes and the value") {
  two_saved s;
  std::string const path = s.second + "/rank-0001-of-0002.safetensors", whole = content(path);
  std::string other = whole;
  other.back() ^= 1;
  set_content(path, other);
  std::string const bytes = std::to_string(whole.size() - 48) + " to " + std::to_string(whole.size());
  std::string const damaged =
      "'" + path + "' is damaged: the bytes " + bytes + ", of 'table', are not those that were written";
  CHECK(sentence([&] { mt::load(s.reader.weights, s.second); }) == "meshtensor C05: " + damaged);
  mt::load(s.reader.weights, s.run.path());
  CHECK(s.said == std::vector<std::string>{"C06: the checkpoint '" + s.second + "' is passed over: " + damaged});
  other = whole;
  other[20] ^= 1;
  set_content(path, other);
  CHECK(sentence([&] { mt::load(s.reader.weights, s.second); })
            .ends_with("is damaged: its header, the bytes 0 to " + std::to_string(whole.size() - 48) +
                       ", is not the one that was written"));
}

TEST_CASE("files that are missing, of another checkpoint, or no files") {
  two_saved s;
  std::string const name = "rank-0001-of-0002.safetensors", path = s.second + "/" + name, whole = content(path);
  std::filesystem::remove(path);
  CHECK(s.is_refused());
  std::filesystem::create_directories(path);
  CHECK(s.is_refused());
  std::filesystem::remove(path);
  set_content(path, content(s.run / ("0001-step-1/" + name)));  // of the step before: the values are others
  CHECK(s.is_refused());
  set_content(path, content(s.second + "/rank-0000-of-0002.safetensors"));
  CHECK(s.is_refused());
  set_content(path, whole);
  std::filesystem::remove(s.second + "/index.json");
  CHECK(mt::load(s.reader.weights, s.run.path()).step() == 1);
  set_content(s.second + "/index.json", content(s.run / "0001-step-1/index.json"));
  CHECK(s.is_refused());

  set_content(s.run / "0001-step-1/index.json", "");
  std::string const said = sentence([&] { mt::load(s.reader.weights, s.run.path()); });
  CHECK(said.starts_with("meshtensor C06: no checkpoint in '" + s.run.path() + "' is whole: '" + s.second));
}

TEST_CASE("checksums that are right, of what cannot be meant") {
  two_saved s;
  // Who writes files can write checksums, too: what they say must hold all the same.
  std::string const path = s.second + "/rank-0000-of-0002.safetensors", whole = content(path);
  std::string index = content(s.second + "/index.json");
  auto const seal = [&](std::string const& file, std::string const& other_index) {
    auto parsed = mt::io::parse_index(other_index, "i");
    set_content(path, file);
    std::string const head = mt::io::header_bytes(mt::io::file(path));
    parsed.files[0] = {static_cast<std::int64_t>(file.size()), mt::io::checksum_of(head)};
    set_content(s.second + "/index.json", text_of(parsed));
  };
  seal(whole, index);
  CHECK(mt::load(s.reader.weights, s.second).step() == 2);

  auto replaced = [&](std::string const& from, std::string const& to) {
    std::string other = whole;
    auto const at = other.find(from);
    REQUIRE(at != other.npos);
    REQUIRE(from.size() == to.size());
    return other.replace(at, from.size(), to);
  };
  seal(replaced("\"shape\":[4,3]", "\"shape\":[3,4]"), index);
  CHECK(s.is_refused());
  seal(replaced("\"table\":{", "\"tabel\":{"), index);
  CHECK(s.is_refused());
  seal(replaced("F32", "I32"), index);
  CHECK(s.is_refused());
  seal(replaced("xxh3:table", "xxh3:other"), index);
  CHECK(s.is_refused());
  auto parsed = mt::io::parse_index(index, "i");
  std::swap(parsed.values.at("table").files[0], parsed.values.at("table").files[1]);
  parsed.values.at("table").dims[1].parts = {2, 4};
  seal(whole, text_of(parsed));
  CHECK(s.is_refused());
}
