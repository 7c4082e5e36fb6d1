#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/rows.h"
#include "store/sqlite.h"

// The history of all tenants, for whoever makes an index of it: read through a connection of its own
// (Connection::open(data + "/atoll.db", Access::read_only)), on any thread but the loop's. What only the
// journal has is not in it. Rows come in the order of their numbers, at most `count` behind `after`.
namespace atl::store {

struct RecordName {
  std::int64_t seq = 0;
  std::string tenant, record_id;
};
// The other way: the newest before `before`.
Result<std::vector<RecordName>> ended_before(Connection& db, std::int64_t before, std::int64_t count);
Result<std::vector<RecordRow>> ended_after(Connection& db, std::int64_t after, std::int64_t count);
Result<std::int64_t> count_ended(Connection& db);
Result<std::optional<SessionRow>> session_of(Connection& db, const std::string& session_id);
// `after` moves to the number of the last one.
Result<std::vector<SessionRow>> sessions_after(Connection& db, std::int64_t& after, std::int64_t count);
Result<std::vector<SnapshotRow>> snapshots_after(Connection& db, std::int64_t after, std::int64_t count);

// Of these, those that it does not have (any more).
Result<std::vector<std::string>> records_gone(Connection& db, const std::vector<std::string>& record_ids);
Result<std::vector<std::string>> artifacts_gone(Connection& db, const std::string& tenant,
                                                const std::vector<std::string>& digests);

}  // namespace atl::store
