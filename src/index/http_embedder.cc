// Vectors from a server with OpenAI's interface. What it answers is somebody else's word.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cmath>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "base/json.h"
#include "index/embedder.h"
#include "net/blocking_client.h"

namespace atl::index {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto kEmbedWait = 30s, kEmbedRest = 5s;
constexpr std::uint64_t kEmbeddingsMax = 8U << 20;
constexpr std::size_t kTextsMax = 64, kNumbersAtOnce = 50'000;  // of one answer
// Of a text; models take a few thousand tokens and refuse more.
constexpr std::size_t kTextBytesMax = 16U << 10;
constexpr double kNumberMax = 1e15;  // the squares of 4096 such numbers are still a number

std::string cut_text(const std::string& text) {
  return text.size() <= kTextBytesMax ? to_valid_utf8(text) : to_valid_utf8(text.substr(0, kTextBytesMax));
}

// Nothing if it is no list of `dimension` numbers.
std::optional<Vector> embedding_of(const boost::json::value* value, std::size_t dimension) {
  const auto* numbers = value != nullptr ? value->if_array() : nullptr;
  if (numbers == nullptr || numbers->size() != dimension) return std::nullopt;
  Vector vector;
  vector.reserve(dimension);
  for (const auto& number : *numbers) {
    if (!number.is_number()) return std::nullopt;
    const double wide = number.to_number<double>();
    if (!(std::abs(wide) <= kNumberMax)) return std::nullopt;
    vector.push_back(static_cast<float>(wide));
  }
  normalize(vector);
  return vector;
}

class HttpEmbedder final : public Embedder {
 public:
  HttpEmbedder(net::Url url, std::string model, std::string key, std::size_t dimension)
      : url_(std::move(url)),
        model_(std::move(model)),
        key_(std::move(key)),
        dimension_(dimension),
        batch_(std::clamp<std::size_t>(kNumbersAtOnce / dimension, 1, kTextsMax)) {}
  std::string_view model() const override { return model_; }
  std::size_t dimension() const override { return dimension_; }

  Result<std::vector<Vector>> embed(std::span<const std::string> texts) override {
    std::vector<Vector> all;
    for (std::size_t at = 0; at < texts.size(); at += batch_) {
      auto some = TRY(ask(texts.subspan(at, std::min(batch_, texts.size() - at))));
      std::ranges::move(some, std::back_inserter(all));
    }
    return all;
  }

  void stop() override {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    for (net::BlockingClient* client : under_way_) client->stop();
  }

 private:
  // After a failure nobody asks for a while: a server that hangs would take the time of every search.
  Result<std::vector<Vector>> ask(std::span<const std::string> texts) {
    boost::json::array input;
    for (const std::string& text : texts) input.push_back(boost::json::value(cut_text(text)));
    net::ClientRequest request;
    request.method = "POST";
    request.target = "";
    request.headers.add("Content-Type", "application/json");
    if (!key_.empty()) request.headers.add("Authorization", "Bearer " + key_);
    request.body =
        boost::json::serialize(boost::json::object{{"model", model_}, {"input", std::move(input)}});
    net::BlockingClient client(url_, kEmbedWait, kEmbeddingsMax);
    {
      const std::lock_guard lock(mutex_);
      if (is_stopped_) return fail(Code::unavailable, "stopping");
      if (Steady::now() < rests_until_) return fail(Code::unavailable, failure_);
      under_way_.insert(&client);
    }
    auto made = read(client.send(std::move(request)), texts.size());
    const std::lock_guard lock(mutex_);
    under_way_.erase(&client);
    if (!made && made.error().code() == Code::unavailable) {
      failure_ = made.error().message();
      rests_until_ = Steady::now() + kEmbedRest;
    }
    return made;
  }

  Result<std::vector<Vector>> read(const Result<net::ClientResponse>& answer, std::size_t count) const {
    if (!answer) return fail(Code::unavailable, "the embedder does not answer: " + answer.error().message());
    const int status = answer->status;
    if (status == 400 || status == 413 || status == 422)
      return fail(Code::invalid_argument, fmt::format("the embedder refuses a text ({})", status));
    if (status != 200) return fail(Code::unavailable, fmt::format("the embedder answered {}", status));
    return vectors_of(answer->body, count);
  }

  // In the order of the texts: by the index of each, or as they come where none has one.
  Result<std::vector<Vector>> vectors_of(const std::string& body, std::size_t count) const {
    const auto wrong = [] { return fail(Code::unavailable, "the embedder's answer is none"); };
    const auto parsed = json::parse(body);
    const auto* object = parsed ? parsed->if_object() : nullptr;
    const auto* data = object != nullptr ? object->if_contains("data") : nullptr;
    if (data == nullptr || !data->is_array() || data->get_array().size() != count) return wrong();
    std::vector<Vector> all(count);
    for (std::size_t at = 0; at < count; ++at) {
      const auto* one = data->get_array()[at].if_object();
      if (one == nullptr) return wrong();
      std::size_t place = at;
      if (const auto* index = one->if_contains("index")) {
        boost::system::error_code bad;
        place = index->to_number<std::size_t>(bad);
        if (bad || place >= count) return wrong();
      }
      auto vector = embedding_of(one->if_contains("embedding"), dimension_);
      if (!vector || !all[place].empty()) return wrong();
      all[place] = std::move(*vector);
    }
    return all;
  }

  const net::Url url_;
  const std::string model_, key_;
  const std::size_t dimension_, batch_;
  std::mutex mutex_;  // of all below
  std::set<net::BlockingClient*> under_way_;
  bool is_stopped_ = false;
  std::string failure_;
  Steady::time_point rests_until_;
};

}  // namespace

Result<std::unique_ptr<Embedder>> http_embedder(const std::string& url, std::string model, std::string key,
                                                std::size_t dimension) {
  net::Url parsed = TRY(net::Url::parse(url));
  return std::make_unique<HttpEmbedder>(std::move(parsed), std::move(model), std::move(key), dimension);
}

}  // namespace atl::index
