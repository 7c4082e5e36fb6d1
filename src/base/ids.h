#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace atl {

// Fills `out` from the kernel's generator. Cannot fail on a kernel we support; ends the process if it does,
// because every caller needs it for a secret.
void random_bytes(std::span<std::uint8_t> out);

// `length` characters of [a-z0-9], unpredictable.
std::string random_word(std::size_t length);
std::string random_hex(std::size_t bytes);
// An RFC 4122 version 4 UUID.
std::string random_uuid();

// 'i' and 20 characters of [a-z0-9]: the form E2B clients accept everywhere.
std::string new_sandbox_id();
std::string new_session_id();  // "ses_" + 20
std::string new_record_id();   // "exe_" + 20
std::string new_request_id();  // "req_" + 16

}  // namespace atl
