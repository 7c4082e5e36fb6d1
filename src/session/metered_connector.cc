#include "session/metered_connector.h"

namespace atl::session {

class MeteredConnector::Stream final : public ByteStream {
 public:
  Stream(std::unique_ptr<ByteStream> inner, std::shared_ptr<const Account> account)
      : inner_(std::move(inner)), account_(std::move(account)) {}

  Task<std::string> read() override { return inner_->read(); }
  Task<void> write(std::string bytes) override {
    CO_CHECK(account_->check());
    account_->controller.charge(account_->holder, account_->session_id, quota::Quota::egress_bytes_per_day,
                                bytes.size());
    co_return co_await inner_->write(std::move(bytes));
  }
  Task<void> close_write() override { return inner_->close_write(); }

 private:
  std::unique_ptr<ByteStream> inner_;
  std::shared_ptr<const Account> account_;
};

Task<std::unique_ptr<ByteStream>> MeteredConnector::connect(egress::Address address, std::uint16_t port) {
  const auto account = account_;
  CO_CHECK(account->check());
  CO_TRY(auto inner, co_await inner_.connect(address, port));
  std::unique_ptr<ByteStream> stream = std::make_unique<Stream>(std::move(inner), account);
  co_return stream;
}

}  // namespace atl::session
