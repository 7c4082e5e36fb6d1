// Files: the toolkit's built-ins in the sandbox that a call is for.
#include <fmt/format.h>

#include "api/mcp/toolbox.h"
#include "base/bytes.h"
#include "tools/builtins.h"

namespace atl::api::mcp {
namespace {

constexpr std::int64_t kReadUnasked = 64 << 10;
constexpr std::int64_t kListedUnasked = 200;

// The answer of a built-in, with the sandbox that it was in. What could not be done is a result that a model
// reads.
Task<ToolReply> operate(CallPtr call, std::string name, bj::object arguments, IfNone if_none) {
  CO_TRY(const std::string sandbox, co_await sandbox_of(call, arguments, if_none));
  arguments.erase("sandbox_id");
  tools::BuiltinCall where{&call->service(),        call->who, sandbox,
                           std::chrono::minutes(1), {},        call->parts().workers};
  bj::value input = std::move(arguments);
  CO_TRY(tools::BuiltinAnswer answer,
         co_await tools::run_builtin(std::move(name), std::move(where), std::move(input)));
  if (answer.status != session::Status::success)
    co_return ToolReply::error(fmt::format("{}: {}", answer.error, answer.error_value));
  ToolReply reply;
  reply.structured = bj::object{{"sandbox_id", sandbox}};
  if (const bj::object* output = answer.output.if_object())
    for (const auto& [key, value] : *output) (*reply.structured)[key] = value;
  co_return reply;
}

std::string_view picture_type(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{".png", "image/png"},
                                                                      {".jpg", "image/jpeg"},
                                                                      {".jpeg", "image/jpeg"},
                                                                      {".gif", "image/gif"},
                                                                      {".webp", "image/webp"}};
  for (const auto& [end, type] : kTypes)
    if (path.ends_with(end)) return type;
  return {};
}

}  // namespace

Task<ToolReply> read_file(CallPtr call, bj::object arguments) {
  const std::string path = text_in(arguments, "path");
  const std::string_view picture = picture_type(path);
  // Half a picture is none.
  if (!arguments.contains("length")) arguments["length"] = picture.empty() ? kReadUnasked : 1 << 20;
  CO_TRY(ToolReply reply, co_await operate(call, "read_file", std::move(arguments), IfNone::refuse));
  if (reply.is_error) co_return reply;
  const bj::object& facts = *reply.structured;
  const std::string content = text_in(facts, "content");
  const bool truncated = flag_in(facts, "truncated");
  if (!picture.empty() && text_in(facts, "encoding") == "base64" && !truncated)
    reply.content.push_back(bj::object{{"type", "image"}, {"data", content}, {"mimeType", picture}});
  else
    reply.add_text(content);
  if (truncated)
    reply.add_text(fmt::format("There is more: the file has {} bytes; read on with offset.",
                               number_in(facts, "total", 0)));
  co_return reply;
}

Task<ToolReply> write_file(CallPtr call, bj::object arguments) {
  CO_TRY(ToolReply reply, co_await operate(call, "write_file", std::move(arguments), IfNone::make));
  if (!reply.is_error)
    reply.add_text(fmt::format("{} was written; it has {} bytes.", text_in(*reply.structured, "path"),
                               number_in(*reply.structured, "size", 0)));
  co_return reply;
}

Task<ToolReply> edit_file(CallPtr call, bj::object arguments) {
  CO_TRY(ToolReply reply, co_await operate(call, "edit_file", std::move(arguments), IfNone::refuse));
  if (!reply.is_error)
    reply.add_text(fmt::format("{} replacement(s) in {}.", number_in(*reply.structured, "replacements", 0),
                               text_in(*reply.structured, "path")));
  co_return reply;
}

Task<ToolReply> list_files(CallPtr call, bj::object arguments) {
  if (!arguments.contains("path")) arguments["path"] = "/home/user";
  if (!arguments.contains("limit")) arguments["limit"] = kListedUnasked;
  CO_TRY(ToolReply reply, co_await operate(call, "list_files", std::move(arguments), IfNone::refuse));
  if (reply.is_error) co_return reply;
  std::string text;
  for (const bj::value& one : reply.structured->at("entries").as_array()) {
    const bj::object& entry = one.get_object();
    text += fmt::format("{:9} {:>12} {}\n", text_in(entry, "type"), number_in(entry, "size", 0),
                        text_in(entry, "path"));
  }
  if (flag_in(*reply.structured, "truncated"))
    text += fmt::format("... of {} entries\n", number_in(*reply.structured, "total", 0));
  reply.add_text(text.empty() ? "The directory is empty." : text);
  co_return reply;
}

Task<ToolReply> search_files(CallPtr call, bj::object arguments) {
  CO_TRY(ToolReply reply, co_await operate(call, "search_files", std::move(arguments), IfNone::refuse));
  if (reply.is_error) co_return reply;
  bj::object& facts = *reply.structured;
  const bj::array& matches = facts.at("matches").as_array();
  std::string text;
  for (const bj::value& one : matches) {
    const bj::object& match = one.get_object();
    const double line = number_in(match, "line", 0);
    text += line > 0 ? fmt::format("{}:{}: {}\n", text_in(match, "path"), line, text_in(match, "text"))
                     : text_in(match, "path") + "\n";
  }
  if (flag_in(facts, "truncated")) text += "... there may be more; narrow the search or raise limit\n";
  // How many there are in all is not known where a bound ended the search.
  facts["total"] = matches.size();
  reply.add_text(text.empty() ? "Nothing was found." : text);
  co_return reply;
}

}  // namespace atl::api::mcp
