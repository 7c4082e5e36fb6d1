#pragma once

#include <optional>
#include <string>
#include <vector>

#include "atoll/json.h"
#include "atoll/models.h"

// From the service's JSON to the structures of models.h. A member that is missing or of another kind is a
// ProtocolError that names it; null is an empty text.
namespace atl::client::detail {

Usage read_usage(const Json& json);
Sample read_sample(const Json& json);
Verdict read_verdict(const Json& json);
Result read_result(const Json& json);
Artifact read_artifact(const Json& json);
Execution read_execution(const Json& json);
// What a streamed command came to, from its output and its last event.
Execution read_exit(const Json& json, const std::string& session_id, std::string out, std::string err);
Record read_record(const Json& json);
SessionInfo read_session(const Json& json);
Snapshot read_snapshot(const Json& json);
Context read_context(const Json& json);
ProcessInfo read_process(const Json& json);
FileInfo read_file(const Json& json);
Unpacked read_unpacked(const Json& json);
TerminalExit read_terminal_exit(const Json& json);
ToolResult read_tool_result(const Json& json);
// `text` of an event that brings output.
std::string read_text(const Json& json);
ToolProgress read_tool_progress(const Json& json);
// Nothing if the answer says that no call came.
std::optional<ToolCall> read_tool_call(const Json& json);
Skill read_skill(const Json& json);
std::string read_version(const Json& json);
int read_port(const Json& json);
Json read_json(const Json& json);

// The list `name` of an answer.
const Json::Array& list_in(const Json& answer, const char* name);
template <class T>
std::vector<T> read_list(const Json& answer, const char* name, T (*read)(const Json&)) {
  std::vector<T> all;
  for (const Json& one : list_in(answer, name)) all.push_back(read(one));
  return all;
}

}  // namespace atl::client::detail
