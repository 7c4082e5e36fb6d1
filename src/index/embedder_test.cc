#include "index/embedder.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <boost/json.hpp>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "base/bytes.h"
#include "index/byte_space.h"
#include "index/local_server_test.h"
#include "index/onnx_embedder.h"
#include "index/onnx_runtime.h"
#include "index/wordpiece.h"
#include "os/directory_test.h"
#include "os/file.h"
#include "os/pipe.h"

namespace atl::index {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;

const std::string kTwo[] = {"one text", "another text"};

TEST(HttpEmbedderTest, AsksAsOpenAisInterfaceWantsIt) {
  std::string head;
  boost::json::value body;
  LocalServer server([&](const LocalServer::Request& request) -> LocalServer::Reply {
    head = request.head;
    body = request.body;
    return {200, R"({"data":[{"embedding":[3,4],"index":0},{"embedding":[0,2],"index":1}]})"};
  });
  auto embedder = http_embedder(server.url() + "/v1/embeddings", "small", "the-key", 2);
  ASSERT_TRUE(embedder);
  const auto vectors = (*embedder)->embed(kTwo);
  ASSERT_TRUE(vectors) << vectors.error().message();
  EXPECT_THAT(vectors->at(0), ElementsAre(0.6F, 0.8F));  // of length 1
  EXPECT_THAT(vectors->at(1), ElementsAre(0, 1));
  EXPECT_THAT(head, HasSubstr("POST /v1/embeddings"));
  EXPECT_THAT(head, HasSubstr("Authorization: Bearer the-key"));
  EXPECT_EQ(body, (boost::json::value{{"model", "small"}, {"input", {"one text", "another text"}}}));
}

TEST(HttpEmbedderTest, WrongAnswersAreFailures) {
  LocalServer::Reply reply;
  LocalServer server([&](const LocalServer::Request&) { return reply; });
  const std::pair<int, const char*> answers[] = {
      {200, "no"},
      {200, "{}"},
      {200, R"({"data":[{"embedding":[1,2]}]})"},
      {200, R"({"data":[{"embedding":[1,2]},{"embedding":[1]}]})"},
      {200, R"({"data":[{"embedding":[1,2]},{"embedding":["a","b"]}]})"},
      {200, R"({"data":[{"embedding":[1,2]},7]})"},
      {200, R"({"data":[{"embedding":[1,2]},{"embedding":[1e300,2]}]})"},
      {200, R"({"data":[{"embedding":[1,2]},{"embedding":[1,-1e39]}]})"},
      {200, R"({"data":[{"embedding":[1,2],"index":0},{"embedding":[1,2],"index":0}]})"},
      {200, R"({"data":[{"embedding":[1,2],"index":0},{"embedding":[1,2],"index":2}]})"},
      {200, R"({"data":[{"embedding":[1,2],"index":0},{"embedding":[1,2],"index":-1}]})"},
      {200, R"({"data":[{"embedding":[1,2],"index":0},{"embedding":[1,2],"index":"1"}]})"},
      {200, R"({"data":[{"embedding":[1,NaN]},{"embedding":[1,2]}]})"},
      {302, "{}"},
      {401, "{}"},
      {429, "{}"},
      {500, "{}"}};
  for (const auto& [status, body] : answers) {
    reply = {status, body};
    auto embedder = http_embedder(server.url(), "small", "", 2);
    ASSERT_TRUE(embedder);
    const auto vectors = (*embedder)->embed(kTwo);
    ASSERT_FALSE(vectors) << body;
    EXPECT_EQ(vectors.error().code(), Code::unavailable);
  }
}

TEST(HttpEmbedderTest, AnswersMayComeInAnyOrder) {
  LocalServer server([](const LocalServer::Request&) -> LocalServer::Reply {
    return {200, R"({"data":[{"embedding":[0,2],"index":1},{"embedding":[3,4],"index":0}]})"};
  });
  const auto vectors = (*http_embedder(server.url(), "small", "", 2))->embed(kTwo);
  ASSERT_TRUE(vectors) << vectors.error().message();
  EXPECT_THAT(vectors->at(0), ElementsAre(0.6F, 0.8F));
  EXPECT_THAT(vectors->at(1), ElementsAre(0, 1));
}

// Of a thousand long vectors no answer is larger than what is read of one, and long texts are cut.
TEST(HttpEmbedderTest, AsksInBatches) {
  constexpr std::size_t kDimension = 3072;
  std::atomic<int> requests = 0;
  std::atomic<std::size_t> longest = 0;
  LocalServer server([&](const LocalServer::Request& request) -> LocalServer::Reply {
    ++requests;
    std::string data;
    for (const auto& text : request.body.at("input").as_array()) {
      longest = std::max(longest.load(), text.as_string().size());
      std::string numbers = std::to_string(text.as_string().size() % 7 + 1);
      for (std::size_t i = 1; i < kDimension; ++i) numbers += ",\n        -0.0069292834168672562";
      data += (data.empty() ? "" : ",") + fmt::format(R"({{"embedding":[{}]}})", numbers);
    }
    return {200, R"({"data":[)" + data + "]}"};
  });
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 100; ++i) texts.push_back(std::string(i + 1, 'x'));
  texts.push_back(std::string(1U << 20, 'x') + "\xc3");
  auto embedder = http_embedder(server.url(), "large", "", kDimension);
  const auto vectors = (*embedder)->embed(texts);
  ASSERT_TRUE(vectors) << vectors.error().message();
  ASSERT_EQ(vectors->size(), texts.size());
  EXPECT_GT((*vectors)[5][0], (*vectors)[0][0]);  // each is that of its own text
  EXPECT_GT(requests, 2);
  EXPECT_LE(longest, 16U << 10);
}

TEST(HttpEmbedderTest, ATextThatIsRefusedIsNoFailureOfTheServer) {
  std::atomic<int> requests = 0;
  LocalServer server([&](const LocalServer::Request&) -> LocalServer::Reply {
    ++requests;
    return {400, R"({"error":{"message":"too many tokens"}})"};
  });
  auto embedder = http_embedder(server.url(), "small", "", 2);
  for (int round = 0; round < 2; ++round)
    EXPECT_EQ((*embedder)->embed(kTwo).error().code(), Code::invalid_argument);
  EXPECT_EQ(requests, 2);
}

TEST(HttpEmbedderTest, RestsAfterAFailureAndStopsAtOnce) {
  std::atomic<int> requests = 0;
  std::atomic<bool> is_over = false;
  LocalServer server([&](const LocalServer::Request&) -> LocalServer::Reply {
    ++requests;
    while (requests > 1 && !is_over) std::this_thread::sleep_for(5ms);
    return {500, "{}"};
  });
  {
    auto embedder = http_embedder(server.url(), "small", "", 2);
    EXPECT_EQ((*embedder)->embed(kTwo).error().code(), Code::unavailable);
    EXPECT_EQ((*embedder)->embed(kTwo).error().code(), Code::unavailable);
    EXPECT_EQ(requests, 1) << "nobody waits for a server that has just failed";
  }
  auto embedder = http_embedder(server.url(), "small", "", 2);
  std::thread stopping([&] {
    while (requests < 2) std::this_thread::sleep_for(1ms);
    (*embedder)->stop();
  });
  EXPECT_EQ((*embedder)->embed(kTwo).error().code(), Code::unavailable);  // it hangs
  is_over = true;
  stopping.join();
  EXPECT_EQ((*embedder)->embed(kTwo).error().code(), Code::unavailable);
  EXPECT_EQ(requests, 2);
}

TEST(ByteVectorTest, IsCloseToTheCosine) {
  Vector a(50), b(50);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7) - 3;
    b[i] = static_cast<float>(i % 5) - 1;
  }
  normalize(a);
  normalize(b);
  float exact = 0;
  for (std::size_t i = 0; i < a.size(); ++i) exact += a[i] * b[i];
  const ByteVector x(a), y(b);
  EXPECT_NEAR(ByteVector::product(x.data(), y.data(), a.size()), exact, 0.01);
  EXPECT_NEAR(ByteVector::product(x.data(), x.data(), a.size()), 1, 0.01);
  const ByteVector nothing(Vector(50, 0.0F));
  EXPECT_EQ(ByteVector::product(nothing.data(), x.data(), a.size()), 0);
}

constexpr const char* kVocabulary =
    R"({"model":{"type":"WordPiece","vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"hello":3,"un":4,"##aff":5,"##able":6,
    "cafe":7,",":8,"!":9,"漢":10,"字":11,"e":12,"=":13,"[":14,"]":15,"sep":16}}})";

TEST(WordPieceTest, CutsWordsAsTheModelDoes) {
  const auto words = WordPiece::load(kVocabulary);
  ASSERT_TRUE(words) << words.error().message();
  EXPECT_THAT(words->encode("", 10), ElementsAre(1, 2));
  EXPECT_THAT(words->encode("Hello, HELLO!", 10), ElementsAre(1, 3, 8, 3, 9, 2));
  EXPECT_THAT(words->encode("unaffable unknown", 10), ElementsAre(1, 4, 5, 6, 0, 2));
  EXPECT_THAT(words->encode("Café cafe\u0301", 10), ElementsAre(1, 7, 7, 2));
  EXPECT_THAT(words->encode("漢字", 10), ElementsAre(1, 10, 11, 2));
  EXPECT_THAT(words->encode("hello hello hello hello", 4), ElementsAre(1, 3, 3, 2));
  EXPECT_THAT(words->encode(std::string(300, 'e'), 10), ElementsAre(1, 0, 2));
  EXPECT_THAT(words->encode("he\u00adllo\u3000hello\xff", 10), ElementsAre(1, 3, 3, 2));
  EXPECT_THAT(words->encode("한", 10), ElementsAre(1, 0, 2));
  EXPECT_THAT(words->encode("hel\flo hel\u0085lo", 10), ElementsAre(1, 3, 3, 2)) << "dropped, and no spaces";
  EXPECT_THAT(words->encode("hello\u2260hello", 10), ElementsAre(1, 3, 13, 3, 2)) << "a sign under a mark";
  EXPECT_THAT(words->encode("\u0BCA e", 10), ElementsAre(1, 0, 12, 2)) << "falls apart into two";
  EXPECT_THAT(words->encode("[SEP]", 10), ElementsAre(1, 14, 16, 15, 2)) << "a text cannot end itself";
}

TEST(WordPieceTest, RefusesOtherTokenizers) {
  for (const char* text :
       {"no", "[]", "{}", R"({"model":{"type":"BPE","vocab":{}}})", R"({"model":{"type":"WordPiece"}})",
        R"({"model":{"vocab":{"[UNK]":0,"[CLS]":1}}})", R"({"model":{"vocab":{"[UNK]":"0"}}})"})
    EXPECT_EQ(WordPiece::load(text).error().code(), Code::invalid_argument) << text;
}

// For tests/index/run-long, which compares with the tokenizer that the model was made with.
TEST(WordPieceTest, OfAFile) {
  const char *tokenizer = std::getenv("ATOLL_TEST_TOKENIZER"), *texts = std::getenv("ATOLL_TEST_TEXTS");
  if (tokenizer == nullptr || texts == nullptr) GTEST_SKIP() << "tests/index/run-long sets the files";
  const auto words = WordPiece::load(*os::read_file(tokenizer, 64U << 20));
  ASSERT_TRUE(words) << words.error().message();
  boost::json::array all;
  const boost::json::value parsed = boost::json::parse(*os::read_file(texts, 64U << 20));
  for (const auto& text : parsed.as_array()) {
    boost::json::array numbers;
    for (const std::int64_t number : words->encode(std::string(text.as_string()), 256))
      numbers.push_back(number);
    all.push_back(numbers);
  }
  fmt::print("{}\n", boost::json::serialize(all));
}

class OnnxEmbedderTest : public testing::Test {
 protected:
  void SetUp() override {
    Model model{"tiny", 2, 16, {}};
    for (const char* file : {Model::kLibrary, Model::kModel, Model::kTokenizer}) {
      const std::string text = file == Model::kTokenizer ? kVocabulary : "not a real one";
      ASSERT_TRUE(os::write_file(directory_.at(file), text));
      model.digests[file] = sha256_hex(text);
    }
    ASSERT_TRUE(model.write(directory_.path()));
  }
  // A program in place of the process that holds the model.
  std::string script(const std::string& text) {
    const std::string path = directory_.at("worker");
    EXPECT_TRUE(os::write_file(path, "#!/bin/sh\n" + text, 0755));
    return path;
  }
  Result<std::vector<Vector>> embed(const std::string& program, std::chrono::milliseconds wait) {
    auto made = onnx_embedder({.directory = directory_.path(), .program = program, .wait = wait});
    EXPECT_TRUE(made) << made.error().message();
    return (*made)->embed(kTwo);
  }
  os::TestDirectory directory_;
};

TEST_F(OnnxEmbedderTest, AModelThatIsAbsentOrDamagedIsRefused) {
  os::TestDirectory empty;
  const auto absent = onnx_embedder({.directory = empty.path()});
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().message(), HasSubstr("atoll model install"));
  ASSERT_TRUE(os::write_file(directory_.at(Model::kModel), "changed"));
  const auto damaged = onnx_embedder({.directory = directory_.path()});
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().code(), Code::data_loss);
  EXPECT_THAT(damaged.error().message(), HasSubstr("model.onnx"));
  for (const char* facts : {"no", "{}", R"({"name":"","dimension":2,"tokens_max":9,"sha256":{}})",
                            R"({"name":"x","dimension":-1,"tokens_max":9,"sha256":{}})"}) {
    ASSERT_TRUE(os::write_file(directory_.at(Model::kFacts), facts));
    EXPECT_EQ(Model::read(directory_.path()).error().code(), Code::data_loss) << facts;
  }
}

TEST_F(OnnxEmbedderTest, AProcessThatDiesOrStallsHarmsNobody) {
  EXPECT_EQ(embed(script("exit 3"), 5s).error().code(), Code::unavailable);
  EXPECT_EQ(embed(script("kill -SEGV $$"), 5s).error().code(), Code::unavailable);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(embed(script("exec sleep 60"), 200ms).error().code(), Code::unavailable);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 30s);
  EXPECT_EQ(embed("/nowhere/at/all", 5s).error().code(), Code::unavailable);
  EXPECT_THAT(
      embed(script(R"(printf '\001\000\000\000\004\000\000\000oops'; exec sleep 60)"), 5s).error().message(),
      HasSubstr("oops"));
}

TEST_F(OnnxEmbedderTest, AProcessThatAnswersIsKept) {
  // Zeroes: the status, and then vectors.
  auto made =
      onnx_embedder({.directory = directory_.path(),
                     .program = script("echo x >> '" + directory_.at("starts") + "'; exec cat /dev/zero"),
                     .wait = 5s});
  ASSERT_TRUE(made);
  for (int round = 0; round < 3; ++round) {
    const auto vectors = (*made)->embed(kTwo);
    ASSERT_TRUE(vectors) << vectors.error().message();
    EXPECT_EQ(vectors->size(), 2U);
  }
  EXPECT_EQ(*os::read_file(directory_.at("starts")), "x\n");
  EXPECT_EQ((*made)->model(), "tiny");
}

TEST_F(OnnxEmbedderTest, ARuntimeThatIsNoneIsRefused) {
  EXPECT_EQ(OnnxRuntime::load(directory_.at(Model::kLibrary), directory_.at(Model::kModel)).error().code(),
            Code::unsupported);
  EXPECT_EQ(OnnxRuntime::load("libz.so.1", directory_.at(Model::kModel)).error().code(), Code::unsupported);
}

}  // namespace
}  // namespace atl::index
