#pragma once

#include <string>

#include "base/result.h"
#include "session/types.h"
#include "store/rows.h"

// Between what the session room speaks and what the store keeps.
namespace atl::session {

store::SessionRow to_row(const Session& session, const std::string& incarnation);
// The walls are most of a row; a list of ended sessions does not need what stands no more.
enum class Walls { read, skip };
// Code::data_loss if the row holds something this program cannot read.
Result<Session> from_row(const store::SessionRow& row, Walls walls = Walls::read);
store::RecordRow to_row(const ExecutionRecord& record);
ExecutionRecord from_row(const store::RecordRow& row);
store::SnapshotRow to_row(const Snapshot& snapshot);
Snapshot from_row(const store::SnapshotRow& row);

std::string to_json(const TextMap& map);
TextMap text_map(const std::string& json);
std::string to_json(const sandbox::Usage& usage);

}  // namespace atl::session
