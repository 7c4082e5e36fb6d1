#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/entry.h"
#include "audit/paths.h"
#include "audit/signer.h"
#include "base/result.h"

namespace atl::audit {

// How a segment ends.
struct Tail {
  std::uint64_t whole_bytes = 0;    // up to the last newline
  std::optional<StoredEntry> last;  // unset: there is none, or it is no entry
};
Result<Tail> read_tail(const std::string& path);

// Entries that only look: their text is what compaction removes, once it is old. The verb says it: read,
// list, watch, stat.
bool is_look(std::string_view action);

// Removes segments that a signed statement says are retired; a crash may have left them.
Result<void> remove_retired(const Paths& paths, const Verifier& key);

// The bytes of a segment in which every run of looks that succeeded is one line. `dropped` gets how many
// entries lost their text. Code::data_loss if a line is no entry: such a segment is left alone.
struct Compaction {
  std::string bytes;
  std::uint64_t first_seq = 0, last_seq = 0, dropped = 0;
};
Result<Compaction> compact_segment(const std::string& path);

}  // namespace atl::audit
