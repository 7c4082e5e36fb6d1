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
  // The name of the model, such as "hash". Collections remember it, and vectors of another model are stale.
  virtual std::string_view model() const = 0;
  virtual std::size_t dimension() const = 0;
  // How much a place in its ranking counts beside one by words, 0 to 1: less where likeness is only another
  // way to compare words.
  virtual double trust() const { return 1; }
  // One vector of length 1 for each text, in their order; or, if one of them fails, none. Code::unavailable
  // if none can be made now, anything else if it is because of a text.
  virtual Result<std::vector<Vector>> embed(std::span<const std::string> texts) = 0;
  // Ends calls under way that may take long, and refuses later ones. Any thread.
  virtual void stop() {}
};

// Hashes words and parts of words into vectors of 384 numbers. It needs no model and no server and knows
// nothing of meaning: texts are alike if they share words, or words with the same beginnings and endings.
std::unique_ptr<Embedder> hash_embedder();

// Asks a server with OpenAI's interface: POST {"model", "input": [...]} to `url`, with `key` as bearer token
// unless it is empty, in batches; of a long text the first 16 KiB. The server is not asked here.
// Code::invalid_argument if `url` is no URL; later, when the server fails or answers with anything but
// vectors of this dimension, embed() is Code::unavailable, and so it is for the next five seconds without
// asking.
Result<std::unique_ptr<Embedder>> http_embedder(const std::string& url, std::string model, std::string key,
                                                std::size_t dimension);

// Scales the vector to length 1. One of zeroes alone stays as it is.
void normalize(Vector& vector);

}  // namespace atl::index
