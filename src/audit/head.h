#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "audit/signer.h"
#include "base/clock.h"
#include "base/result.h"

// The signed statements that stand beside the entries. Each is one JSON object whose member `signature` is
// over the other members, written as docs/formats/audit.md says.
namespace atl::audit {

// "At this time the log ended here."
struct Head {
  std::uint64_t seq = 0;
  std::string digest;
  std::string time;
  bool closed = false;  // an orderly end: nothing follows until the service starts again

  std::string render(const Signer& signer) const;  // empty if it cannot be signed
  // Code::data_loss if it is no head, or if the key did not sign it.
  static Result<Head> parse(std::string_view text, const Verifier& key);
};

// Statements of which only the newest counts, in a file whose space is allocated once, so that a full disk
// does not prevent signing. Two places in it are written in turn, so that one is whole at every moment.
enum class Synced : std::uint8_t { no, yes };
Result<void> write_statement(const std::string& path, const std::string& statement, std::uint64_t turn,
                             Synced synced);
// The newest of the file's statements that the key signed. Code::not_found without a file, Code::data_loss if
// none of them is good.
Result<Head> read_head(const std::string& path, const Verifier& key);

// "The entries 1 to `last_seq` were removed by age or size; the last of them had this digest."
struct Retired {
  std::uint64_t last_seq = 0;
  std::string last_digest;
  std::uint64_t segments = 0;  // how many files, all removals together
  std::string time;            // of the last removal

  std::string render(const Signer& signer) const;
  static Result<Retired> parse(std::string_view text, const Verifier& key);
};
// As read_head(). Code::not_found: nothing was removed yet.
Result<Retired> read_retired(const std::string& path, const Verifier& key);

// "This segment lost the text of some entries; its bytes now have this digest."
struct Compacted {
  std::uint64_t first_seq = 0, last_seq = 0;
  std::uint64_t dropped = 0;  // entries whose text went
  std::string sha256;         // of the file
  std::string time;

  std::string render(const Signer& signer) const;
  static Result<Compacted> parse(std::string_view text, const Verifier& key);
};
// Those of the file that the key signed; lines that it did not sign are left out.
std::vector<Compacted> read_compacted(const std::string& path, const Verifier& key);

}  // namespace atl::audit
