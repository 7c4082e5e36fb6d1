#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::vault {

// Authenticated encryption with AES-256-GCM. Sealed bytes are nonce (12), ciphertext, tag (16); the nonce is
// random each time. `place` is bound to them: they open with the same place only.
class Cipher {
 public:
  static constexpr std::size_t kKeyBytes = 32;
  // `key` has kKeyBytes bytes.
  explicit Cipher(std::string key) : key_(std::move(key)) {}
  ~Cipher();
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;

  Result<std::string> seal(std::string_view plain, std::string_view place) const;
  // Code::data_loss if a single bit, the key or the place differs.
  Result<std::string> open(std::string_view sealed, std::string_view place) const;

 private:
  std::string key_;
};

}  // namespace atl::vault
