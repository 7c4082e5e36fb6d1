#include "api/http/content.h"

namespace atl::api::http {

Task<void> send_content(net::Exchange& exchange, Source next, std::optional<std::uint64_t> promised) {
  if (exchange.request().method == net::Method::head) co_return co_await exchange.finish();
  std::uint64_t left = promised.value_or(UINT64_MAX);
  while (left > 0) {
    CO_TRY(std::string piece, co_await next());
    if (piece.empty()) break;
    if (piece.size() > left) piece.resize(left);
    left -= piece.size();
    CO_CHECK(co_await exchange.write(std::move(piece)));
  }
  if (promised && left > 0) co_return fail(Code::data_loss, "the file became shorter while it was read");
  co_return co_await exchange.finish();
}

Task<void> receive_content(net::Exchange& exchange, Sink write) {
  while (true) {
    CO_TRY(std::string piece, co_await exchange.read());
    if (piece.empty()) co_return Result<void>();
    CO_CHECK(co_await write(std::move(piece)));
  }
}

}  // namespace atl::api::http
