#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;
struct evp_pkey_st;
struct x509_st;

namespace atl::egress {

// A certificate authority that lives as long as this object: made fresh for each daemon, its key never leaves
// the process. Sandboxes that have a header rule trust it, nothing else does.
class Authority {
 public:
  static Result<std::unique_ptr<Authority>> create();
  ~Authority();

  // For the trust store of a sandbox.
  const std::string& certificate_pem() const { return certificate_pem_; }
  // A server context with a certificate for `name`; made once and kept. Valid as long as the authority.
  Result<ssl_ctx_st*> context_for(const std::string& name);

 private:
  Authority() = default;

  struct FreeKey {
    void operator()(evp_pkey_st* key) const;
  };
  struct FreeCertificate {
    void operator()(x509_st* certificate) const;
  };
  struct FreeContext {
    void operator()(ssl_ctx_st* context) const;
  };
  using Key = std::unique_ptr<evp_pkey_st, FreeKey>;
  using Certificate = std::unique_ptr<x509_st, FreeCertificate>;

  static Key new_key();
  static Certificate new_certificate(const std::string& name, evp_pkey_st& key);
  Certificate sign(const std::string& name, evp_pkey_st& key);

  Key key_;
  Certificate certificate_;
  std::string certificate_pem_;
  std::map<std::string, std::unique_ptr<ssl_ctx_st, FreeContext>> contexts_;
};

}  // namespace atl::egress
