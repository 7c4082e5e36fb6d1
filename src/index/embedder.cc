#include "index/embedder.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <cctype>
#include <cmath>
#include <mutex>

#include "base/json.h"
#include "net/blocking_client.h"

namespace atl::index {
namespace {

constexpr std::size_t kHashDimension = 384;

// FNV-1a with a final mix: cheap, and the same on every machine, because vectors are stored.
std::uint64_t hash_of(std::string_view text, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037U ^ seed;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  hash ^= hash >> 32;
  hash *= 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 29);
}

void add(Vector& vector, std::string_view feature, std::uint64_t seed, float weight) {
  const std::uint64_t hash = hash_of(feature, seed);
  vector[hash % kHashDimension] += (hash >> 63) != 0 ? weight : -weight;
}

bool is_word_byte(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || byte >= 0x80;
}

void add_word(Vector& vector, const std::string& word) {
  add(vector, word, 1, 1.0F);
  const std::string framed = "^" + word + "$";
  for (std::size_t at = 0; at + 3 <= framed.size(); ++at) add(vector, framed.substr(at, 3), 2, 0.3F);
}

class HashEmbedder final : public Embedder {
 public:
  std::string_view model() const override { return "hash"; }
  std::size_t dimension() const override { return kHashDimension; }
  double trust() const override { return 0.3; }
  Result<std::vector<Vector>> embed(std::span<const std::string> texts) override {
    std::vector<Vector> all;
    for (const std::string& text : texts) {
      Vector vector(kHashDimension, 0.0F);
      std::string word;
      for (const char c : text) {
        if (is_word_byte(c)) {
          word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        } else if (!word.empty()) {
          add_word(vector, word);
          word.clear();
        }
      }
      if (!word.empty()) add_word(vector, word);
      normalize(vector);
      all.push_back(std::move(vector));
    }
    return all;
  }
};

class HttpEmbedder final : public Embedder {
 public:
  HttpEmbedder(net::Url url, std::string model, std::string key, std::size_t dimension)
      : client_(std::move(url), std::chrono::seconds(30)),
        model_(std::move(model)),
        key_(std::move(key)),
        dimension_(dimension) {}
  std::string_view model() const override { return model_; }
  std::size_t dimension() const override { return dimension_; }
  Result<std::vector<Vector>> embed(std::span<const std::string> texts) override {
    boost::json::array input;
    for (const std::string& text : texts) input.push_back(boost::json::value(text));
    net::ClientRequest request;
    request.method = "POST";
    request.target = "";
    request.headers.add("Content-Type", "application/json");
    if (!key_.empty()) request.headers.add("Authorization", "Bearer " + key_);
    request.body =
        boost::json::serialize(boost::json::object{{"model", model_}, {"input", std::move(input)}});
    const std::lock_guard lock(mutex_);
    const auto answer = client_.send(std::move(request));
    if (!answer) return fail(Code::unavailable, "the embedder does not answer: " + answer.error().message());
    if (answer->status != 200)
      return fail(Code::unavailable, fmt::format("the embedder answered {}", answer->status));
    return read(answer->body, texts.size());
  }

 private:
  Result<std::vector<Vector>> read(const std::string& body, std::size_t count) const {
    const auto wrong = [] { return fail(Code::unavailable, "the embedder's answer is none"); };
    const auto parsed = json::parse(body);
    const auto* object = parsed ? parsed->if_object() : nullptr;
    const auto* data = object != nullptr ? object->if_contains("data") : nullptr;
    if (data == nullptr || !data->is_array() || data->get_array().size() != count) return wrong();
    std::vector<Vector> all;
    for (const auto& row : data->get_array()) {
      const auto* one = row.if_object();
      const auto* embedding = one != nullptr ? one->if_contains("embedding") : nullptr;
      if (embedding == nullptr || !embedding->is_array() || embedding->get_array().size() != dimension_)
        return wrong();
      Vector vector;
      for (const auto& number : embedding->get_array()) {
        if (!number.is_number()) return wrong();
        vector.push_back(number.to_number<float>());
      }
      normalize(vector);
      all.push_back(std::move(vector));
    }
    return all;
  }

  std::mutex mutex_;  // of the client, which makes one call at a time
  net::BlockingClient client_;
  std::string model_, key_;
  std::size_t dimension_;
};

}  // namespace

void normalize(Vector& vector) {
  double square = 0;
  for (const float x : vector) square += static_cast<double>(x) * x;
  if (square <= 0) return;
  const auto scale = static_cast<float>(1 / std::sqrt(square));
  for (float& x : vector) x *= scale;
}

std::unique_ptr<Embedder> hash_embedder() {
  return std::make_unique<HashEmbedder>();
}

Result<std::unique_ptr<Embedder>> http_embedder(const std::string& url, std::string model, std::string key,
                                                std::size_t dimension) {
  net::Url parsed = TRY(net::Url::parse(url));
  return std::make_unique<HttpEmbedder>(std::move(parsed), std::move(model), std::move(key), dimension);
}

}  // namespace atl::index
