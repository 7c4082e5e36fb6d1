#include "index/onnx_embedder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstring>
#include <iterator>
#include <mutex>
#include <optional>

#include "base/bytes.h"
#include "base/json.h"
#include "base/log.h"
#include "index/onnx_runtime.h"
#include "index/vector_index.h"
#include "index/wordpiece.h"
#include "os/file.h"
#include "os/pipe.h"
#include "os/spawn.h"

// Between the two: a count and then so many texts, each behind its length; back come a status, and vectors or
// a message. Whole numbers have 32 bits in the machine's order: both are the same program.
namespace atl::index {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint32_t kTextMax = 256U << 10, kCountMax = 4096, kMessageMax = 4096;
constexpr rlim_t kMemoryMax = 4ULL << 30;
constexpr auto kRest = std::chrono::seconds(5);

// Moves all bytes, or says why not. `until` unset: waits for ever.
Result<void> move_bytes(int fd, char* bytes, std::size_t size, bool is_write,
                        std::optional<Steady::time_point> until) {
  while (size > 0) {
    int wait = -1;
    if (until) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - Steady::now()).count();
      if (left <= 0) return fail(Code::deadline_exceeded, "the sentence model takes too long");
      wait = static_cast<int>(left);
    }
    pollfd watched{fd, static_cast<short>(is_write ? POLLOUT : POLLIN), 0};
    const int ready = ::poll(&watched, 1, wait);
    if (ready < 0 && errno != EINTR) return fail(errno_error(errno, "wait for the sentence model"));
    if (ready <= 0) continue;
    // To a process that ended: an error, never a signal. Standard output of the worker is no socket.
    ssize_t moved = is_write ? ::send(fd, bytes, size, MSG_NOSIGNAL) : ::read(fd, bytes, size);
    if (is_write && moved < 0 && errno == ENOTSOCK) moved = ::write(fd, bytes, size);
    if (moved < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (moved <= 0) return fail(Code::unavailable, "the process of the sentence model ended");
    bytes += moved;
    size -= static_cast<std::size_t>(moved);
  }
  return {};
}

void append_number(std::string& to, std::size_t number) {
  const auto small = static_cast<std::uint32_t>(number);
  to.append(reinterpret_cast<const char*>(&small), sizeof small);
}

Result<std::uint32_t> read_number(int fd, std::optional<Steady::time_point> until) {
  std::uint32_t number = 0;
  TRY(move_bytes(fd, reinterpret_cast<char*>(&number), sizeof number, false, until));
  return number;
}

class OnnxEmbedder final : public Embedder {
 public:
  OnnxEmbedder(Model model, OnnxOptions options) : model_(std::move(model)), options_(std::move(options)) {}
  ~OnnxEmbedder() override { end(); }
  std::string_view model() const override { return model_.name; }
  std::size_t dimension() const override { return model_.dimension; }

  Result<std::vector<Vector>> embed(std::span<const std::string> texts) override {
    std::vector<Vector> all;
    for (std::size_t at = 0; at < texts.size(); at += options_.batch) {
      auto some = TRY(embed_some(texts.subspan(at, std::min(options_.batch, texts.size() - at))));
      std::ranges::move(some, std::back_inserter(all));
    }
    return all;
  }

 private:
  // A text that ends the process must not end it again and again: after two tries it is the text's fault.
  Result<std::vector<Vector>> embed_some(std::span<const std::string> texts) {
    const std::lock_guard lock(mutex_);
    if (Steady::now() < rests_until_) return fail(Code::unavailable, failure_);
    for (int round = 1;; ++round) {
      auto made = ask(texts);
      if (made) return made;
      end();
      if (round < 2 && made.error().code() == Code::unavailable) continue;
      failure_ = made.error().message();
      rests_until_ = Steady::now() + kRest;
      log::warn("the sentence model failed", {{"error", failure_}});
      return fail(Code::unavailable, failure_);
    }
  }

  Result<std::vector<Vector>> ask(std::span<const std::string> texts) {
    if (!child_) TRY(begin());
    std::string question;
    append_number(question, texts.size());
    for (const std::string& text : texts) {
      const auto cut = std::string_view(text).substr(0, kTextMax);
      append_number(question, cut.size());
      question += cut;
    }
    const auto until = Steady::now() + options_.wait;
    TRY(move_bytes(to_.get(), question.data(), question.size(), true, until));
    const std::uint32_t status = TRY(read_number(from_.get(), until));
    if (status != 0) {
      const std::uint32_t size = TRY(read_number(from_.get(), until));
      std::string why(std::min(size, kMessageMax), '\0');
      TRY(move_bytes(from_.get(), why.data(), why.size(), false, until));
      return fail(Code::unsupported, to_valid_utf8(why));
    }
    std::vector<Vector> vectors;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      Vector vector(model_.dimension);
      TRY(move_bytes(from_.get(), reinterpret_cast<char*>(vector.data()), vector.size() * sizeof(float),
                     false, until));
      vectors.push_back(std::move(vector));
    }
    return vectors;
  }

  Result<void> begin() {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
      return fail(errno_error(errno, "make a socket"));
    os::Fd mine(pair[0]);
    const os::Fd its(pair[1]);
    os::Pipe from = TRY(os::pipe());
    os::SpawnOptions options;
    options.program = options_.program;
    options.arguments = {"embed-worker", options_.directory};
    options.environment = {"PATH=/usr/bin:/bin", "OMP_NUM_THREADS=1"};
    options.input = its.get();
    options.output = from.write.get();
    child_ = TRY(os::spawn(options));
    to_ = std::move(mine);
    from_ = std::move(from.read);
    return {};
  }

  void end() {
    if (!child_) return;
    to_.reset();
    from_.reset();
    (void)os::pidfd_kill(child_->pidfd.get(), SIGKILL);
    (void)os::pidfd_wait(child_->pidfd.get());
    child_.reset();
  }

  const Model model_;
  const OnnxOptions options_;
  std::mutex mutex_;  // of all below
  std::optional<os::Child> child_;
  os::Fd to_, from_;
  std::string failure_;
  Steady::time_point rests_until_;
};

Result<std::string> embed_one(OnnxRuntime& runtime, const WordPiece& words, const Model& model,
                              const std::string& text) {
  const auto tokens = words.encode(text, model.tokens_max);
  const Vector vector = TRY(runtime.run(tokens));
  if (vector.size() != model.dimension)
    return fail(Code::unsupported,
                fmt::format("the model gives {} numbers, {} are wanted", vector.size(), model.dimension));
  return std::string(reinterpret_cast<const char*>(vector.data()), vector.size() * sizeof(float));
}

Result<void> send_failure(int output, const std::string& why) {
  std::string answer;
  append_number(answer, 1);
  const auto cut = why.substr(0, kMessageMax);
  append_number(answer, cut.size());
  answer += cut;
  return move_bytes(output, answer.data(), answer.size(), true, std::nullopt);
}

Result<std::vector<std::string>> read_texts(int input, std::uint32_t count) {
  if (count > kCountMax) return fail(Code::invalid_argument, "too many texts");
  std::vector<std::string> texts;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t size = TRY(read_number(input, std::nullopt));
    if (size > kTextMax) return fail(Code::invalid_argument, "a text is too long");
    std::string text(size, '\0');
    TRY(move_bytes(input, text.data(), text.size(), false, std::nullopt));
    texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace

std::string model_directory(const std::string& data) {
  return data + "/models/default";
}

Result<Model> Model::read(const std::string& directory) {
  auto text = os::read_file(directory + "/" + kFacts);
  if (!text)
    return fail(Code::not_found,
                "there is no sentence model: run 'atoll model install' for this data directory");
  const auto wrong = [] {
    return fail(Code::data_loss, "model.json is damaged: run 'atoll model install' again");
  };
  const auto parsed = json::parse(*text);
  const auto* object = parsed ? parsed->if_object() : nullptr;
  if (object == nullptr) return wrong();
  Model model;
  try {
    model.name = std::string(object->at("name").as_string());
    model.dimension = object->at("dimension").to_number<std::size_t>();
    model.tokens_max = object->at("tokens_max").to_number<std::size_t>();
    for (const auto& [file, digest] : object->at("sha256").as_object())
      model.digests[std::string(file)] = std::string(digest.as_string());
  } catch (const std::exception&) {
    return wrong();
  }
  if (model.name.empty() || model.dimension < 1 || model.dimension > 4096 || model.tokens_max < 3)
    return wrong();
  for (const char* file : {kLibrary, kModel, kTokenizer}) {
    const auto digest = VectorIndex::digest_of(directory + "/" + file);
    if (!digest || *digest != model.digests[file])
      return fail(
          Code::data_loss,
          fmt::format("{} is not the file that was installed: run 'atoll model install' again", file));
  }
  return model;
}

Result<void> Model::write(const std::string& directory) const {
  boost::json::object files;
  for (const auto& [file, digest] : digests) files[file] = digest;
  const boost::json::object facts{
      {"name", name}, {"dimension", dimension}, {"tokens_max", tokens_max}, {"sha256", std::move(files)}};
  return os::write_file_durably(directory + "/" + kFacts, boost::json::serialize(facts) + "\n");
}

Result<std::unique_ptr<Embedder>> onnx_embedder(OnnxOptions options) {
  Model model = TRY(Model::read(options.directory));
  return std::make_unique<OnnxEmbedder>(std::move(model), std::move(options));
}

Result<void> serve_embeddings(const std::string& directory, int input, int output) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  const rlimit memory{kMemoryMax, kMemoryMax};
  ::setrlimit(RLIMIT_AS, &memory);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  const Model model = TRY(Model::read(directory));
  const std::string vocabulary = TRY(os::read_file(directory + "/" + Model::kTokenizer, 64U << 20));
  const WordPiece words = TRY(WordPiece::load(vocabulary));
  auto runtime = TRY(OnnxRuntime::load(directory + "/" + Model::kLibrary, directory + "/" + Model::kModel));
  while (true) {
    const auto count = read_number(input, std::nullopt);
    if (!count) return {};  // nobody asks any more
    const auto texts = TRY(read_texts(input, *count));
    std::string answer;
    append_number(answer, 0);
    Result<void> done{};
    for (const std::string& text : texts) {
      auto one = embed_one(*runtime, words, model, text);
      if (!one) {
        done = fail(std::move(one).error());
        break;
      }
      answer += *one;
    }
    if (done)
      TRY(move_bytes(output, answer.data(), answer.size(), true, std::nullopt));
    else
      TRY(send_failure(output, done.error().message()));
  }
}

}  // namespace atl::index
