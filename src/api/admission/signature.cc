#include "api/admission/signature.h"

#include <fmt/format.h>

#include <charconv>

#include "base/bytes.h"

namespace atl::api {

std::string file_signature(std::string_view path, FileOperation operation, std::string_view user,
                           std::string_view token, std::optional<std::int64_t> expiration) {
  std::string text =
      fmt::format("{}:{}:{}:{}", path, operation == FileOperation::read ? "read" : "write", user, token);
  if (expiration) text += fmt::format(":{}", *expiration);
  std::string encoded = to_base64(sha256(text));
  while (encoded.ends_with('=')) encoded.pop_back();
  return "v1_" + encoded;
}

Result<void> check_file_access(const FileProof& proof, FileOperation operation, std::string_view token,
                               WallTime now) {
  if (token.empty()) return fail(Code::unauthenticated, "the session has no secret yet");
  if (!proof.header_token.empty()) {
    if (equal_in_constant_time(proof.header_token, token)) return {};
    return fail(Code::unauthenticated, "access token present in header but does not match");
  }
  if (proof.signature.empty()) return fail(Code::unauthenticated, "missing signature query parameter");
  std::optional<std::int64_t> expiration;
  if (!proof.expiration.empty()) {
    std::int64_t seconds = 0;
    const char* end = proof.expiration.data() + proof.expiration.size();
    auto [stop, error] = std::from_chars(proof.expiration.data(), end, seconds);
    if (error != std::errc() || stop != end) return fail(Code::unauthenticated, "invalid signature");
    expiration = seconds;
  }
  std::string wanted = file_signature(proof.path, operation, proof.user, token, expiration);
  if (!equal_in_constant_time(wanted, proof.signature))
    return fail(Code::unauthenticated, "invalid signature");
  if (expiration && *expiration < unix_millis(now) / 1000) {
    return fail(Code::unauthenticated, "signature is already expired");
  }
  return {};
}

}  // namespace atl::api
