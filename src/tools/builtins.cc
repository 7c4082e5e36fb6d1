#include "tools/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bytes.h"
#include "tools/file_search.h"
#include "tools/open_call.h"

namespace atl::tools {
namespace {

namespace bj = boost::json;
using Operation = Task<BuiltinAnswer> (*)(BuiltinCall, bj::object);

constexpr std::size_t kReadMax = 1U << 20;
constexpr std::size_t kListMax = 10'000;
constexpr std::size_t kEditedMax = 4U << 20;
constexpr std::uint32_t kListDepthMax = 64;

BuiltinAnswer refused(std::string error, std::string value) {
  BuiltinAnswer answer;
  answer.status = session::Status::error;
  answer.error = std::move(error);
  answer.error_value = std::move(value);
  return answer;
}

// What is wrong with the files of the caller is its answer; what is wrong with us or the session is an Error.
bool is_about_files(const Error& error) {
  switch (error.code()) {
    case Code::not_found:
    case Code::already_exists:
    case Code::not_a_directory:
    case Code::is_a_directory:
    case Code::not_empty:
    case Code::loop:
    case Code::no_space:
    case Code::read_only:
    case Code::too_large:
    case Code::permission_denied:
    case Code::invalid_argument: return true;
    default: return false;
  }
}

Result<BuiltinAnswer> answer_of(const Error& error) {
  if (!is_about_files(error)) return fail(error);
  return refused("FileError", error.message());
}

std::string text_in(const bj::object& input, std::string_view name, std::string otherwise = "") {
  const bj::value* value = input.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : otherwise;
}

std::uint64_t number_in(const bj::object& input, std::string_view name, std::uint64_t otherwise) {
  const bj::value* value = input.if_contains(name);
  if (value == nullptr || !value->is_number()) return otherwise;
  constexpr double kMost = 1ULL << 53;
  return static_cast<std::uint64_t>(std::clamp(value->to_number<double>(), 0.0, kMost));
}

bool flag_in(const bj::object& input, std::string_view name) {
  const bj::value* value = input.if_contains(name);
  return value != nullptr && value->is_bool() && value->get_bool();
}

// At most `most` bytes from `offset` on, and how many the file has.
struct Part {
  std::string bytes;
  std::uint64_t total = 0;
};
Task<Part> read_part(std::shared_ptr<sandbox::Files> files, std::string path, std::uint64_t offset,
                     std::uint64_t most) {
  CO_TRY(const auto reader, co_await files->open_read(path, offset, most, std::string()));
  Part part;
  part.total = reader->info().size;
  while (part.bytes.size() < most) {
    CO_TRY(const std::string block, co_await reader->next());
    if (block.empty()) break;
    part.bytes += block;
  }
  co_return part;
}

Task<BuiltinAnswer> read_file(BuiltinCall call, bj::object input) {
  CO_TRY(const auto files, co_await call.service->files(call.who, call.session_id));
  const std::uint64_t offset = number_in(input, "offset", 0);
  const std::uint64_t most = number_in(input, "length", kReadMax);
  auto part =
      co_await read_part(files, text_in(input, "path"), offset, std::min<std::uint64_t>(most, kReadMax));
  if (!part) co_return answer_of(part.error());
  BuiltinAnswer answer;
  const bool is_text = is_utf8(part->bytes);
  const bool truncated = offset + part->bytes.size() < part->total;
  std::string content = is_text ? part->bytes : to_base64(part->bytes);
  answer.output = bj::object{{"content", std::move(content)},
                             {"encoding", is_text ? "utf-8" : "base64"},
                             {"total", part->total},
                             {"truncated", truncated}};
  co_return answer;
}

Task<sandbox::FileInfo> write_whole(std::shared_ptr<sandbox::Files> files, std::string path,
                                    std::string bytes, bool append) {
  sandbox::WriteOptions options;
  options.append = append;
  CO_TRY(const auto writer, co_await files->open_write(std::move(path), std::move(options)));
  for (std::size_t at = 0; at < bytes.size(); at += 64U << 10) {
    std::string block = bytes.substr(at, 64U << 10);
    CO_CHECK(co_await writer->write(std::move(block)));
  }
  co_return co_await writer->finish();
}

Task<BuiltinAnswer> write_file(BuiltinCall call, bj::object input) {
  std::string bytes = text_in(input, "content");
  if (text_in(input, "encoding") == "base64") {
    auto decoded = from_base64(bytes);
    if (!decoded) co_return refused("InvalidContent", "'content' is not base64");
    bytes = std::move(*decoded);
  }
  const std::size_t size = bytes.size();
  CO_TRY(const auto files, co_await call.service->files(call.who, call.session_id));
  const auto written =
      co_await write_whole(files, text_in(input, "path"), std::move(bytes), flag_in(input, "append"));
  if (!written) co_return answer_of(written.error());
  BuiltinAnswer answer;
  answer.output = bj::object{{"path", written->path}, {"bytes_written", size}, {"size", written->size}};
  co_return answer;
}

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + what.size()))
    ++count;
  return count;
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, from)) {
    out.append(text.substr(from, at - from)).append(with);
    from = at + what.size();
  }
  return out.append(text.substr(from));
}

// Exactly one place, unless all are meant: a model that names too little of its context is told so instead of
// changing the wrong line.
Task<BuiltinAnswer> edit_file(BuiltinCall call, bj::object input) {
  const std::string path = text_in(input, "path");
  const std::string before = text_in(input, "old_text"), with = text_in(input, "new_text");
  CO_TRY(const auto files, co_await call.service->files(call.who, call.session_id));
  if (before.empty()) co_return refused("TextNotFound", "old_text is empty");
  auto part = co_await read_part(files, path, 0, kReadMax + 1);
  if (!part) co_return answer_of(part.error());
  if (part->bytes.size() > kReadMax)
    co_return refused("FileError",
                      fmt::format("{} is over {} bytes; edit it with run_command", path, kReadMax));
  const std::size_t found = occurrences(part->bytes, before);
  if (found == 0) co_return refused("TextNotFound", fmt::format("old_text does not occur in {}", path));
  if (found > 1 && !flag_in(input, "replace_all"))
    co_return refused("TextNotUnique",
                      fmt::format("old_text occurs {} times in {}; give more of its surroundings, or set "
                                  "replace_all",
                                  found, path));
  if (part->bytes.size() - found * before.size() + found * with.size() > kEditedMax)
    co_return refused("FileError", fmt::format("{} would have more than {} bytes", path, kEditedMax));
  std::string after = replaced(part->bytes, before, with);
  const auto written = co_await write_whole(files, path, std::move(after), false);
  if (!written) co_return answer_of(written.error());
  BuiltinAnswer answer;
  answer.output = bj::object{{"path", path}, {"replacements", found}};
  co_return answer;
}

std::string_view file_type_word(sandbox::FileType type) {
  switch (type) {
    case sandbox::FileType::file: return "file";
    case sandbox::FileType::directory: return "directory";
    case sandbox::FileType::symlink: return "symlink";
    default: return "other";
  }
}

Task<BuiltinAnswer> list_files(BuiltinCall call, bj::object input) {
  CO_TRY(const auto files, co_await call.service->files(call.who, call.session_id));
  const auto depth =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(number_in(input, "depth", 1), kListDepthMax));
  const auto listed = co_await files->list(text_in(input, "path"), depth, kListMax, std::string());
  if (!listed) co_return answer_of(listed.error());
  const std::size_t most = number_in(input, "limit", 1'000);
  bj::array entries;
  for (const sandbox::FileInfo& info : *listed) {
    if (entries.size() >= most) break;
    entries.push_back(bj::object{{"path", to_valid_utf8(info.path)},
                                 {"type", file_type_word(info.type)},
                                 {"size", info.size},
                                 {"modified_at", to_rfc3339(info.modified_at)}});
  }
  BuiltinAnswer answer;
  answer.output = bj::object{{"total", listed->size()},
                             {"truncated", listed->size() > entries.size()},
                             {"entries", std::move(entries)}};
  co_return answer;
}

Task<BuiltinAnswer> search_files(BuiltinCall call, bj::object input) {
  CO_TRY(auto files, co_await call.service->files(call.who, call.session_id));
  SearchRequest request;
  request.path = text_in(input, "path", "/home/user");
  request.pattern = text_in(input, "pattern");
  request.name = text_in(input, "name");
  request.ignore_case = flag_in(input, "ignore_case");
  request.matches_max = number_in(input, "limit", 100);
  SearchPlace place{call.workers, call.who.tenant};
  auto found = co_await search(std::move(files), std::move(request), std::move(place));
  if (!found) co_return answer_of(found.error());
  bj::array matches;
  for (const Match& match : found->matches)
    matches.push_back(bj::object{{"path", match.path}, {"line", match.line}, {"text", match.text}});
  BuiltinAnswer answer;
  answer.output = bj::object{{"matches", std::move(matches)},
                             {"files_searched", found->files_searched},
                             {"truncated", found->truncated}};
  co_return answer;
}

BuiltinAnswer answer_of(const session::ExecutionRecord& record, bj::object output) {
  BuiltinAnswer answer;
  answer.status = record.status;
  answer.error = record.error;
  answer.error_value = record.error_value.empty() ? record.reason : record.error_value;
  answer.records = {record.record_id};
  answer.cpu_time = record.usage.cpu_time;
  answer.output = std::move(output);
  return answer;
}

// A program that ended with another status than 0, or code that raised, is what was asked for: the model
// reads how it ended in the output. Limits and policies are the tool's own failure.
BuiltinAnswer as_result(BuiltinAnswer answer) {
  if (answer.status == session::Status::error) {
    answer.status = session::Status::success;
    answer.error.clear();
    answer.error_value.clear();
  }
  return answer;
}

Task<BuiltinAnswer> run_code(BuiltinCall call, bj::object input) {
  session::ExecuteRequest request;
  request.code = text_in(input, "code");
  request.timeout = call.timeout;
  request.watch = call.watch;
  request.context = text_in(input, "context");
  if (const std::string word = text_in(input, "language"); !word.empty()) {
    request.language = sandbox::parse_language(word);
    if (!request.language)
      co_return refused("UnknownLanguage", fmt::format("no language is called '{}'", word));
  }
  CO_TRY(const auto record, co_await call.service->run(call.who, call.session_id, std::move(request)));
  bj::array results;
  for (const auto& bundle : record.results) {
    bj::object data;
    for (const auto& [type, text] : bundle.data) data.emplace(type, to_valid_utf8(text));
    results.push_back(std::move(data));
  }
  bj::object output{{"status", session::to_string(record.status)},
                    {"stdout", to_valid_utf8(record.out)},
                    {"stderr", to_valid_utf8(record.err)},
                    {"truncated", record.out_truncated || record.err_truncated},
                    {"results", std::move(results)}};
  if (!record.error.empty())
    output["error"] = bj::object{{"name", record.error},
                                 {"value", to_valid_utf8(record.error_value)},
                                 {"traceback", to_valid_utf8(record.traceback)}};
  co_return as_result(answer_of(record, std::move(output)));
}

Task<BuiltinAnswer> run_command(BuiltinCall call, bj::object input) {
  session::CommandRequest request;
  request.shell = text_in(input, "command");
  request.cwd = text_in(input, "cwd");
  request.timeout = call.timeout;
  request.watch = call.watch;
  CO_TRY(const auto record, co_await call.service->run_command(call.who, call.session_id, std::move(request),
                                                               text_in(input, "stdin")));
  bj::object output{{"exit_code", record.exit_code},
                    {"stdout", to_valid_utf8(record.out)},
                    {"stderr", to_valid_utf8(record.err)},
                    {"truncated", record.out_truncated || record.err_truncated}};
  co_return as_result(answer_of(record, std::move(output)));
}

struct Named {
  std::string_view name;
  Operation operation;
};

constexpr std::array kOperations = {
    Named{"read_file", read_file},     Named{"write_file", write_file},     Named{"edit_file", edit_file},
    Named{"list_files", list_files},   Named{"search_files", search_files}, Named{"run_code", run_code},
    Named{"run_command", run_command},
};

}  // namespace

bool is_builtin(std::string_view name) {
  return std::ranges::find(kOperations, name, &Named::name) != kOperations.end();
}

BuiltinCode code_of(std::string_view name, bj::value& input) {
  if (!input.is_object()) return {};
  bj::object& members = input.as_object();
  if (name == "run_command") return {text_in(members, "command"), policy::Language::shell};
  if (name != "run_code") return {};
  const std::string word = text_in(members, "language");
  if (word.empty()) members["language"] = "python";
  const auto language = word.empty() ? sandbox::Language::python : sandbox::parse_language(word);
  return {text_in(members, "code"), policy_language(language.value_or(sandbox::Language::python))};
}

Task<BuiltinAnswer> run_builtin(std::string name, BuiltinCall call, bj::value input) {
  const auto* found = std::ranges::find(kOperations, name, &Named::name);
  if (found == kOperations.end())
    co_return fail(Code::internal, fmt::format("no built-in tool is called '{}'", name));
  if (!input.is_object())
    co_return fail(
        Error(Code::invalid_argument, fmt::format("the input of '{}' is an object", name)).with_field(""));
  co_return co_await found->operation(std::move(call), std::move(input.get_object()));
}

}  // namespace atl::tools
