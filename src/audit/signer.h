#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;

namespace atl::audit {

struct KeyDeleter {
  void operator()(evp_pkey_st* key) const;
};
using KeyPointer = std::unique_ptr<evp_pkey_st, KeyDeleter>;

// The public half of the installation's key (Ed25519): enough to check what the service signed. Any thread.
class Verifier {
 public:
  // From a PEM file, private or public. Code::data_loss if it holds no Ed25519 key.
  static Result<Verifier> load(const std::string& path);
  bool is_signed(std::string_view text, std::string_view signature_base64) const;
  const std::string& fingerprint() const { return fingerprint_; }
  const std::string& public_pem() const { return public_pem_; }

 protected:
  static Result<Verifier> of(KeyPointer key);
  explicit Verifier(KeyPointer key) : key_(std::move(key)) {}
  KeyPointer key_;

 private:
  std::string fingerprint_;  // first 16 hexadecimal digits of SHA-256 of the public key's 32 bytes
  std::string public_pem_;
};

// The whole key. Made at the first start, readable by its owner only. Any thread.
class Signer : public Verifier {
 public:
  // Loads it, or makes it if there is no such file. A file that cannot be read is an error and stays as it
  // is.
  static Result<Signer> open(const std::string& path);
  Result<std::string> sign(std::string_view text) const;  // base64

 private:
  explicit Signer(Verifier verifier) : Verifier(std::move(verifier)) {}
};

}  // namespace atl::audit
