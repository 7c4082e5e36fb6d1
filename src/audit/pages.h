#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/entry.h"
#include "base/result.h"

namespace atl::audit {

// Which entries are wanted. An empty text asks for nothing in particular.
struct Query {
  std::uint64_t after = 0;            // only entries with a higher number
  std::string actor;                  // a key's id, "system" or "anonymous"
  std::string action;                 // "file.write", or "file.*" for all of a noun
  std::string object;                 // whole, or the part before or after its first colon
  std::string outcome;                // ok, denied, error
  std::optional<std::string> tenant;  // unset: of all
  std::size_t limit = 100;
  std::uint64_t bytes_max = 64U << 20;  // of text that one page looks at
};

struct Page {
  std::vector<std::string> lines;  // as they stand in the log, oldest first
  std::uint64_t next = 0;          // the `after` of the next page; 0: there is no other
};

bool matches(const Query& query, const StoredEntry& stored);

// Reads a log's files; needs no service, and may run beside one. Blocks: call it on a worker. Lines that are
// no entries are stepped over: saying so is verify()'s work. A page that looked at `bytes_max` of text ends
// there, possibly with fewer lines than `limit`, or none, and says where to go on.
Result<Page> read_page(const std::string& data, const Query& query);

}  // namespace atl::audit
