#pragma once

#include <cstdint>
#include <string>

#include "audit/signer.h"
#include "base/result.h"

namespace atl::audit {

struct VerifyOptions {
  std::string data;        // the data directory
  std::string public_key;  // PEM file kept elsewhere; empty: the one in the data directory
  std::string head;        // a file with a head that was sent elsewhere; empty: none
};

// What a look at the whole log found out.
struct Verdict {
  bool good = false;
  std::uint64_t entries = 0;    // that were looked at, those of compacted runs included
  std::uint64_t first_seq = 0;  // of what is there; everything before is retired
  std::uint64_t last_seq = 0;
  std::uint64_t signed_seq = 0;  // up to here a signed head vouches
  std::string key;               // fingerprint of the key that it was checked with
  std::uint64_t wrong_seq = 0;   // the first wrong entry; 0 if good
  std::string problem;           // "entry 17 was changed: ..."; empty if good
  std::string place;             // "00000000000000000001.jsonl line 17"; empty if it is nowhere
};

// Reads every entry and checks the chain against the signed statements; needs no service, and may run beside
// one. An Error means that it could not be found out (no log, no key), never that the log is wrong.
Result<Verdict> verify(const VerifyOptions& options);

}  // namespace atl::audit
