#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"

namespace atl::api {

enum class FileOperation : std::uint8_t { read, write };

// "v1_" and the unpadded base64 of SHA-256 over path:operation:user:token[:expiration].
std::string file_signature(std::string_view path, FileOperation operation, std::string_view user,
                           std::string_view token, std::optional<std::int64_t> expiration);

// What a /files request says to prove itself; exactly as in the query, empty where absent.
struct FileProof {
  std::string header_token;  // X-Access-Token
  std::string path, user, signature;
  std::string expiration;  // digits, or empty
};

// Success, or Code::unauthenticated in E2B's words. Without a token there is no proof.
Result<void> check_file_access(const FileProof& proof, FileOperation operation, std::string_view token,
                               WallTime now);

}  // namespace atl::api
