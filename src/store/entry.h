#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "store/rows.h"
#include "store/sqlite.h"

// The changes that go through the journal, as its payloads and as SQL.
namespace atl::store {

// The payload of one change. What they give only apply_entry() reads.
std::string encode_session(const SessionRow& row);
std::string encode_admission(const RecordRow& row);
std::string encode_end(const RecordRow& row, const std::vector<ArtifactRow>& artifacts);

// Writes what a payload says into the database. Code::internal if it is none of ours.
Result<void> apply_entry(Connection& db, std::string_view payload);

// The database may take the change another time. Anything else is wrong with the change itself.
bool may_pass(const Error& error);

// Inserts, or replaces the row with this session_id.
Result<void> put_session(Connection& db, const SessionRow& row);
// Code::already_exists for a record_id that is there.
Result<void> put_admission(Connection& db, const RecordRow& row);
// Code::not_found without an admission, Code::already_exists for a second end.
Result<void> put_end(Connection& db, const RecordRow& row, const std::vector<ArtifactRow>& artifacts);

}  // namespace atl::store
