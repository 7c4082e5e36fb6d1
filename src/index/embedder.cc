#include "index/embedder.h"

#include <cctype>
#include <cmath>
#include <cstdint>

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

}  // namespace atl::index
