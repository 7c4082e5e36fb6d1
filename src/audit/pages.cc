#include "audit/pages.h"

#include "audit/lines.h"
#include "audit/paths.h"

namespace atl::audit {
namespace {

bool is_object(std::string_view wanted, std::string_view object) {
  if (wanted == object) return true;
  const auto colon = object.find(':');
  if (colon == std::string_view::npos) return false;
  return wanted == object.substr(0, colon) || wanted == object.substr(colon + 1);
}

bool is_action(std::string_view wanted, std::string_view action) {
  if (wanted.ends_with(".*")) return action.starts_with(wanted.substr(0, wanted.size() - 1));
  return wanted == action;
}

// The first segment that can hold entries above `after`.
std::size_t first_of(const std::vector<Segment>& segments, std::uint64_t after) {
  std::size_t first = 0;
  while (first + 1 < segments.size() && segments[first + 1].first_seq <= after + 1) ++first;
  return first;
}

}  // namespace

bool matches(const Query& query, const StoredEntry& stored) {
  if (stored.compacted) return false;
  const Entry& entry = stored.entry;
  if (!query.actor.empty() && query.actor != entry.actor.key_id) return false;
  if (!query.action.empty() && !is_action(query.action, entry.action)) return false;
  if (!query.object.empty() && !is_object(query.object, entry.object)) return false;
  if (!query.outcome.empty() && query.outcome != to_string(entry.outcome)) return false;
  return !query.tenant || *query.tenant == entry.actor.tenant;
}

Result<Page> read_page(const std::string& data, const Query& query) {
  Page page;
  const std::vector<Segment> segments = list_segments(Paths(data).segments);
  std::uint64_t seen = query.after, bytes = 0;
  for (std::size_t i = first_of(segments, query.after); i < segments.size(); ++i) {
    auto lines = Lines::open(segments[i].path);
    if (!lines) {
      if (lines.error().code() == Code::not_found) continue;  // retired meanwhile
      return fail(std::move(lines).error());
    }
    TRY(lines->seek_after(seen));
    while (const auto line = TRY(lines->next())) {
      const auto stored = parse_line(*line);
      if (!stored || stored->seq <= query.after) continue;
      if (page.lines.size() == query.limit || bytes > query.bytes_max) {
        page.next = seen;
        return page;
      }
      bytes += line->size();
      if (matches(query, *stored)) page.lines.emplace_back(*line);
      seen = stored->last_seq;
    }
  }
  return page;
}

}  // namespace atl::audit
