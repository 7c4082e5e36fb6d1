#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace atl::index {

using Vector = std::vector<float>;

// Turns text into vectors whose angle says how alike two texts are. Any thread; calls may block.
class Embedder {
 public:
  virtual ~Embedder() = default;
  // Of which model, for people and for collections, which remember it: "hash".
  virtual std::string_view model() const = 0;
  virtual std::size_t dimension() const = 0;
  // One vector of length 1 for each text, in their order.
  virtual Result<std::vector<Vector>> embed(std::span<const std::string> texts) = 0;
};

// Words and their parts, hashed into 384 places. It needs no model and no server and knows nothing of
// meaning: texts are alike if they share words, or words with the same beginnings and endings.
std::unique_ptr<Embedder> hash_embedder();

// Asks a server with OpenAI's interface: POST {"model", "input": [...]} to `url`. The dimension is that of
// its first answer. Code::invalid_argument for a URL that is none; later failures are the server's, as
// Code::unavailable.
Result<std::unique_ptr<Embedder>> http_embedder(const std::string& url, std::string model, std::string key,
                                                std::size_t dimension);

// Of length 1; all zeroes stay so.
void normalize(Vector& vector);

}  // namespace atl::index
