#pragma once

#include <memory>
#include <string>

#include "egress/proxy.h"
#include "quota/controller.h"

namespace atl::session {

// Connections of one session to the world whose sent bytes are charged to its tenant and key. Once a day's
// budget is used up, new connections and writes fail with auth::over_quota. Connector and controller must
// outlive it and its connections. Belongs to the loop thread.
class MeteredConnector final : public egress::Connector {
 public:
  MeteredConnector(egress::Connector& inner, quota::ResourceController& controller, quota::Holder holder,
                   std::string session_id)
      : inner_(inner),
        account_(std::make_shared<const Account>(controller, std::move(holder), std::move(session_id))) {}

  Task<std::unique_ptr<ByteStream>> connect(egress::Address address, std::uint16_t port) override;
  Task<std::unique_ptr<ByteStream>> secure(std::unique_ptr<ByteStream> stream, std::string name) override {
    return inner_.secure(std::move(stream), std::move(name));
  }

 private:
  struct Account {
    Account(quota::ResourceController& controller_, quota::Holder holder_, std::string session_id_)
        : controller(controller_), holder(std::move(holder_)), session_id(std::move(session_id_)) {}
    Result<void> check() const { return controller.check(holder, quota::Quota::egress_bytes_per_day, 0, 0); }
    quota::ResourceController& controller;
    quota::Holder holder;
    std::string session_id;
  };
  class Stream;

  egress::Connector& inner_;
  std::shared_ptr<const Account> account_;
};

}  // namespace atl::session
