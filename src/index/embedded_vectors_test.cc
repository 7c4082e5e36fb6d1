// Vectors in this process: those that came lately, the graph they come into, its file, and what damages it.
#include "index/embedded_vectors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "index/index.h"
#include "net/test_server.h"
#include "os/directory_test.h"

namespace atl::index {
namespace {

using testing::ElementsAre;

Vector random_vector(std::mt19937& dice, std::size_t dimension) {
  std::normal_distribution<float> normal;
  Vector vector(dimension);
  for (float& x : vector) x = normal(dice);
  normalize(vector);
  return vector;
}

float product(const Vector& a, const Vector& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

TEST(FreshVectorsTest, KnowsNothingOfOthers) {
  FreshVectors fresh(4);
  EXPECT_FALSE(fresh.remove(1));
  EXPECT_TRUE(fresh.nearest(Vector{1, 0, 0, 0}, 5).empty());
  fresh.put(1, Vector{1, 0, 0, 0});
  EXPECT_TRUE(fresh.nearest(Vector{1, 0, 0}, 5).empty());  // of another dimension
  const std::uint64_t unknown[] = {7};
  EXPECT_TRUE(fresh.nearest_of(Vector{1, 0, 0, 0}, unknown, 5).empty());
  EXPECT_TRUE(fresh.nearest(Vector{1, 0, 0, 0}, 0).empty());
}

// Whatever was put and removed, it finds what comparing all of them finds.
TEST(FreshVectorsTest, FindsWhatASimpleModelFinds) {
  constexpr std::size_t kDimension = 40;  // no multiple of what one step compares
  std::mt19937 dice(5);
  FreshVectors fresh(kDimension);
  std::map<std::uint64_t, Vector> model;
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t number = dice() % 150;
    if (dice() % 3 == 0) {
      EXPECT_EQ(fresh.remove(number), model.erase(number) == 1);
    } else {
      model[number] = random_vector(dice, kDimension);
      fresh.put(number, model[number]);
    }
    ASSERT_EQ(fresh.size(), model.size());
    if (round % 50 != 0) continue;
    const Vector asked = random_vector(dice, kDimension);
    const auto found = fresh.nearest(asked, 10);
    ASSERT_EQ(found.size(), std::min<std::size_t>(10, model.size()));
    std::vector<float> exact;
    for (const auto& [name, vector] : model) exact.push_back(product(asked, vector));
    std::ranges::sort(exact, std::greater());
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i].likeness, exact[i], 0.02);
      EXPECT_NEAR(found[i].likeness, product(asked, model.at(found[i].number)), 0.02);
    }
    const std::vector<std::uint64_t> among = {1, 2, 3, 1000};
    for (const Neighbour& one : fresh.nearest_of(asked, among, 10))
      EXPECT_TRUE(model.contains(one.number) && one.number <= 3);
  }
}

class EmbeddedVectorsTest : public testing::Test {
 protected:
  static constexpr std::size_t kDimension = 16;
  void SetUp() override { options_.directory = directory_.path() + "/index"; }
  std::unique_ptr<Index> open() {
    auto made = Index::open(options_, hash_embedder());
    EXPECT_TRUE(made) << made.error().message();
    return std::move(*made);
  }
  void fill(Index& index, int from, int to) {
    (void)index.make_collection("acme", "v", kDimension);
    std::vector<Document> documents;
    for (int i = from; i < to; ++i) {
      Document one{"point", std::to_string(i)};
      one.vector = vectors_.emplace(i, random_vector(dice_, kDimension)).first->second;
      one.payload = i % 2 == 0 ? R"({"even":true})" : R"({"even":false})";
      documents.push_back(std::move(one));
    }
    ASSERT_TRUE(index.put("acme", "v", std::move(documents)));
  }
  // Of every tenth: it is nearest to itself, and not there once it is gone.
  void check(Index& index) {
    for (const auto& [number, vector] : vectors_) {
      if (number % 10 != 0) continue;
      SearchRequest request;
      request.vector = vector;
      request.limit = 1;
      const auto found = index.search("acme", "v", request);
      ASSERT_TRUE(found) << found.error().message();
      EXPECT_EQ(found->degraded_because, "");
      ASSERT_EQ(found->hits.size(), 1U);
      EXPECT_EQ(found->hits[0].id, std::to_string(number));
      request.filter = {{"even", "false"}};
      request.limit = 5;
      const auto odd = index.search("acme", "v", request);
      ASSERT_TRUE(odd);
      for (const Hit& hit : odd->hits) EXPECT_EQ(std::stoi(hit.id) % 2, 1);
    }
  }
  std::string graph_file() const {
    for (const auto& entry : std::filesystem::directory_iterator(options_.directory))
      if (entry.path().extension() == ".hnsw") return entry.path();
    return "";
  }
  os::TestDirectory directory_;
  Options options_;
  std::mt19937 dice_{23};
  std::map<int, Vector> vectors_;
};

TEST_F(EmbeddedVectorsTest, FewAreComparedAndNeverComeIntoAGraph) {
  {
    auto index = open();
    fill(*index, 0, 100);
    check(*index);
  }
  EXPECT_EQ(graph_file(), "");
  auto index = open();
  check(*index);
  ASSERT_TRUE(index->remove("acme", "v", {"0"}));
  vectors_.erase(0);
  check(*index);
}

TEST_F(EmbeddedVectorsTest, ManyComeIntoAGraphAndAreFoundMeanwhile) {
  options_.fresh_max = 50;
  {
    auto index = open();
    // More than a place may have besides its graph: whoever writes puts some of them into it.
    for (int from = 0; from < 400; from += 40) {
      fill(*index, from, from + 40);
      check(*index);
    }
    ASSERT_TRUE(index->remove("acme", "v", {"10", "390"}));
    vectors_.erase(10), vectors_.erase(390);
    check(*index);
    index.reset();
    index = open();
    check(*index);
    fill(*index, 400, 470);
    check(*index);
    // The rest follows in the background: the file has all of them.
    ASSERT_TRUE(net::comes_to([&] {
      index.reset();
      const auto stored = VectorIndex::load(graph_file(), kDimension);
      index = open();
      fill(*index, 1000, 1060);
      std::this_thread::sleep_for(std::chrono::milliseconds(700));
      return stored && (*stored)->size() >= 468;
    }));
    check(*index);
  }
  auto index = open();
  check(*index);
}

// Flipped, cut off, emptied, replaced, half written: each costs time and nothing else.
TEST_F(EmbeddedVectorsTest, NoDamageToAFileChangesAnswers) {
  options_.fresh_max = 0;
  fill(*open(), 0, 200);
  const std::string file = graph_file();
  ASSERT_NE(file, "");
  const auto size = std::filesystem::file_size(file);
  const auto flip = [&](std::uintmax_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const int byte = stream.get();
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(static_cast<char>(byte ^ 0x55));
  };
  const auto reopened = [&](const char* what) {
    SCOPED_TRACE(what);
    auto index = open();
    check(*index);
  };
  for (std::uintmax_t part = 0; part < 12; ++part) {
    flip(part * (size - 1) / 11);
    reopened("flipped");
  }
  for (const std::uintmax_t left :
       {std::uintmax_t(0), std::uintmax_t(1), std::uintmax_t(100), size / 2, size - 1}) {
    std::filesystem::resize_file(file, left);
    reopened("cut off");
  }
  std::ofstream(file, std::ios::app) << "more than there was";
  reopened("longer");
  std::filesystem::remove(file);
  reopened("gone");
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  reopened("a directory");
  std::filesystem::remove(file);
  // A process that was killed while it wrote leaves the other half beside.
  reopened("after that");
  std::ofstream(file + ".new") << "half of a gra";
  reopened("half written");
}

TEST_F(EmbeddedVectorsTest, RebuildingBeginsWithWhatIsKeptElsewhere) {
  auto index = open();
  std::atomic<int> calls = 0;
  std::atomic<bool> fails = true;
  index->rebuild_from([&](const Index::Step& step) -> Result<void> {
    ++calls;
    if (fails) return fail(Code::unavailable, "the store is away");
    EXPECT_TRUE(step(1, 2));
    EXPECT_EQ(index->progress().doing, "reading the history");
    EXPECT_EQ(index->progress().total, 2U);
    return index->put("acme", "", {{"execution", "r1", "marmalade"}});
  });
  const auto rebuilt = [&] {
    EXPECT_TRUE(index->start_rebuild());
    return net::comes_to([&] { return index->progress().doing.empty(); });
  };
  ASSERT_TRUE(rebuilt());
  EXPECT_EQ(index->progress().failure, "the store is away");
  EXPECT_THAT(*index->lacking("acme", "execution", {"r1", "r2"}), ElementsAre("r1", "r2"));
  fails = false;
  ASSERT_TRUE(rebuilt());
  EXPECT_EQ(index->progress().failure, "");
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(*index->lacking("acme", "execution", {"r1", "r2"}), ElementsAre("r2"));
  EXPECT_THAT(*index->lacking("other", "execution", {"r1"}), ElementsAre("r1"));
  index->rebuild_from({});
  ASSERT_TRUE(rebuilt());
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace atl::index
