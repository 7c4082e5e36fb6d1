#pragma once

#include <expected>
#include <utility>

#include "base/error.h"

namespace atl {

// Success with a value, or an Error. Functions that can fail return this; nothing of ours throws.
template <class T>
using Result = std::expected<T, Error>;

// return fail(Code::not_found, fmt::format("no session {}", id));
inline std::unexpected<Error> fail(Code code, std::string message) {
  return std::unexpected<Error>(Error(code, std::move(message)));
}
inline std::unexpected<Error> fail(Error error) {
  return std::unexpected<Error>(std::move(error));
}

}  // namespace atl

// auto value = TRY(call());  The value on success; returns the error from the enclosing function otherwise.
// Do not nest one TRY in another (-Wshadow), and not for coroutines: see CO_TRY.
#define TRY(expression)                                                    \
  __extension__({                                                          \
    auto&& atoll_try_ = (expression);                                      \
    if (!atoll_try_) [[unlikely]]                                          \
      return std::unexpected<::atl::Error>(std::move(atoll_try_).error()); \
    std::move(atoll_try_).value();                                         \
  })

// The same with a word about what was being done, added to the front of the message.
#define TRY_CONTEXT(doing, expression)                                                    \
  __extension__({                                                                         \
    auto&& atoll_try_ = (expression);                                                     \
    if (!atoll_try_) [[unlikely]]                                                         \
      return std::unexpected<::atl::Error>(std::move(atoll_try_).error().context(doing)); \
    std::move(atoll_try_).value();                                                        \
  })

#define ATOLL_CONCAT_(a, b) a##b
#define ATOLL_CONCAT(a, b) ATOLL_CONCAT_(a, b)

// For coroutines, where a statement expression must not hold a co_await:
//   CO_TRY(auto info, co_await files.stat(path));
#define CO_TRY(declaration, expression) \
  CO_TRY_(declaration, expression, ATOLL_CONCAT(atoll_try_, __COUNTER__))
#define CO_TRY_(declaration, expression, name)                        \
  auto name = (expression);                                           \
  if (!name) [[unlikely]]                                             \
    co_return std::unexpected<::atl::Error>(std::move(name).error()); \
  declaration = std::move(name).value()

// The same for Result<void>.
#define CO_CHECK(expression)                                                    \
  do {                                                                          \
    auto atoll_check_ = (expression);                                           \
    if (!atoll_check_) [[unlikely]]                                             \
      co_return std::unexpected<::atl::Error>(std::move(atoll_check_).error()); \
  } while (false)
