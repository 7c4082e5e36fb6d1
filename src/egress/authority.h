#pragma once

#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/result.h"

struct ssl_ctx_st;
struct evp_pkey_st;
struct x509_st;

namespace atl::egress {

// A certificate authority that lives as long as this object: made fresh for each daemon, its key never leaves
// the process. Sandboxes that have a header rule trust it, nothing else does.
// Belongs to the loop thread.
class Authority {
 public:
  // Names whose certificates are kept ready; those that were not asked for longest are made again.
  static constexpr std::size_t kReadyMax = 1024;

  // Code::internal if OpenSSL cannot make the key; there is nothing to try again then.
  static Result<std::unique_ptr<Authority>> create();
  ~Authority();

  // For the trust store of a sandbox.
  const std::string& certificate_pem() const { return certificate_pem_; }
  // A server context with a certificate for `name`, a host's name or address.
  // Kept for the next time; whoever holds it may use it after it was dropped here.
  Result<std::shared_ptr<ssl_ctx_st>> context_for(const std::string& name);

 private:
  Authority() = default;

  struct FreeKey {
    void operator()(evp_pkey_st* key) const;
  };
  struct FreeCertificate {
    void operator()(x509_st* certificate) const;
  };
  using Key = std::unique_ptr<evp_pkey_st, FreeKey>;
  using Certificate = std::unique_ptr<x509_st, FreeCertificate>;

  static Key new_key();
  static Certificate new_certificate(const std::string& name, int days, evp_pkey_st& key);
  Certificate sign(const std::string& name, evp_pkey_st& key);
  Result<std::shared_ptr<ssl_ctx_st>> make_context(const std::string& name);

  struct Ready {
    std::string name;
    std::shared_ptr<ssl_ctx_st> context;
    std::chrono::steady_clock::time_point made;
  };

  Key key_;
  Certificate certificate_;
  std::string certificate_pem_;
  std::list<Ready> ready_;  // the latest asked for first
  std::unordered_map<std::string, std::list<Ready>::iterator> by_name_;
};

}  // namespace atl::egress
