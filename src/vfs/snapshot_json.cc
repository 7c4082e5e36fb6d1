#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/bytes.h"
#include "base/json.h"
#include "vfs/entries.h"
#include "vfs/snapshot_format.h"

// {"format":"atoll-vfs","version":1,"entries":[{"path":"/a","type":"file","mode":420,...,"text":"..."}]}
namespace atl::vfs {
namespace {

constexpr std::string_view kTypeNames[] = {"file", "directory", "symlink", "fifo"};

std::string_view type_name(Type type) {
  return kTypeNames[static_cast<std::size_t>(type)];
}

Result<Type> parse_type(std::string_view word) {
  for (std::size_t i = 0; i < std::size(kTypeNames); ++i)
    if (kTypeNames[i] == word) return static_cast<Type>(i);
  return fail(Code::data_loss, "unknown type of entry");
}

std::int64_t nanoseconds(WallTime time) {
  return time.time_since_epoch().count();
}

void add_bytes(std::string& out, std::string_view name, std::string_view bytes) {
  bool text = is_utf8(bytes);
  out += fmt::format(",\"{}{}\":", name, text ? "" : "_base64");
  json::append_quoted(out, text ? bytes : std::string_view(to_base64(bytes)));
}

void add_entry(std::string& out, const FileEntry& entry) {
  out += fmt::format(
      "{{\"type\":\"{}\",\"mode\":{},\"uid\":{},\"gid\":{},\"inode\":{},\"links\":{},\"created_ns\":{},"
      "\"modified_ns\":{},"
      "\"changed_ns\":{},\"accessed_ns\":{}",
      type_name(entry.type), entry.mode, entry.uid, entry.gid, entry.inode, entry.links,
      nanoseconds(entry.created_at), nanoseconds(entry.modified_at), nanoseconds(entry.changed_at),
      nanoseconds(entry.accessed_at));
  add_bytes(out, "path", entry.path.str());
  if (!entry.content.empty()) add_bytes(out, "content", entry.content.str());
  out += "}";
}

using boost::json::object;

// Nothing if neither form of the field is there.
Result<std::optional<std::string>> bytes_field(const object& from, std::string_view name) {
  if (const auto* text = from.if_contains(name)) {
    if (!text->is_string()) return fail(Code::data_loss, fmt::format("\"{}\" must be text", name));
    return std::string(std::string_view(text->get_string()));
  }
  if (const auto* coded = from.if_contains(std::string(name) + "_base64")) {
    if (!coded->is_string()) return fail(Code::data_loss, fmt::format("\"{}_base64\" must be text", name));
    auto bytes = from_base64(std::string_view(coded->get_string()));
    if (!bytes) return fail(Code::data_loss, fmt::format("\"{}_base64\" is not base64", name));
    return std::move(*bytes);
  }
  return std::nullopt;
}

template <class T>
Result<T> number_field(const object& from, std::string_view name, T otherwise, std::uint64_t most) {
  const auto* value = from.if_contains(name);
  if (value == nullptr) return otherwise;
  boost::json::error_code error;
  auto number = value->to_number<std::int64_t>(error);
  bool good =
      !error.failed() && (std::is_signed_v<T> || (number >= 0 && static_cast<std::uint64_t>(number) <= most));
  if (!good) return fail(Code::data_loss, fmt::format("\"{}\" is not a number in range", name));
  return static_cast<T>(number);
}

Result<FileEntry> read_entry(const boost::json::value& value) {
  if (!value.is_object()) return fail(Code::data_loss, "an entry must be an object");
  const object& from = value.get_object();
  FileEntry entry;
  auto path = TRY(bytes_field(from, "path"));
  if (!path) return fail(Code::data_loss, "an entry without \"path\"");
  auto parsed = Path::posix(*path);
  if (!parsed || parsed->str() != *path) return fail(Code::data_loss, "malformed path");
  entry.path = std::move(*parsed);
  const auto* type = from.if_contains("type");
  if (type == nullptr || !type->is_string()) return fail(Code::data_loss, "an entry without \"type\"");
  entry.type = TRY(parse_type(std::string_view(type->get_string())));
  entry.mode = TRY(number_field<std::uint32_t>(from, "mode", entry.is_directory() ? 0755 : 0644, 07777));
  entry.uid = TRY(number_field<std::uint32_t>(from, "uid", 0, UINT32_MAX));
  entry.gid = TRY(number_field<std::uint32_t>(from, "gid", 0, UINT32_MAX));
  entry.inode = TRY(number_field<std::uint64_t>(from, "inode", 0, INT64_MAX));
  entry.links = TRY(number_field<std::uint32_t>(from, "links", 1, UINT32_MAX));
  auto time = [&](std::string_view name) -> Result<WallTime> {
    return WallTime(Duration(TRY(number_field<std::int64_t>(from, name, 0, 0))));
  };
  entry.created_at = TRY(time("created_ns"));
  entry.modified_at = TRY(time("modified_ns"));
  entry.changed_at = TRY(time("changed_ns"));
  entry.accessed_at = TRY(time("accessed_ns"));
  if (auto content = TRY(bytes_field(from, "content"))) entry.content = Content(*content);
  bool bare = entry.type == Type::directory || entry.type == Type::fifo;
  if (bare && !entry.content.empty()) return fail(Code::data_loss, "content where none can be");
  if (entry.type == Type::symlink && (entry.content.empty() || entry.content.size() > kPathBytesMax))
    return fail(Code::data_loss, "malformed link");
  return entry;
}

Result<Snapshot> import_json_parts(std::string_view text, const ImportLimits& limits) {
  json::Bounds bounds;
  bounds.max_bytes = static_cast<std::size_t>(limits.bytes_max);
  bounds.max_depth = 8;
  auto document = json::parse(text, bounds);
  if (!document) {
    bool large = document.error().code() == Code::too_large;
    return fail(large ? Code::too_large : Code::data_loss, document.error().message());
  }
  if (!document->is_object())
    return fail(Code::unsupported, "this is not a snapshot of a virtual filesystem");
  const object& top = document->get_object();
  const auto* format = top.if_contains("format");
  const auto* version = top.if_contains("version");
  if (format == nullptr || *format != "atoll-vfs" || version == nullptr)
    return fail(Code::unsupported, "this is not a snapshot of a virtual filesystem");
  if (*version != 1) return fail(Code::unsupported, "another version of the format; this is version 1");
  const auto* list = top.if_contains("entries");
  if (list == nullptr || !list->is_array()) return fail(Code::data_loss, "no \"entries\"");
  if (list->get_array().size() > limits.entries_max) return fail(Code::too_large, "too many entries");
  std::vector<FileEntry> entries;
  for (const auto& value : list->get_array()) entries.push_back(TRY(read_entry(value)));
  tree::State state = empty_state();
  TRY(add_entries(state, entries));
  return Snapshot(std::move(state));
}

}  // namespace

std::string export_json(const Snapshot& snapshot) {
  std::string out = "{\"format\":\"atoll-vfs\",\"version\":1,\"entries\":[";
  bool first = true;
  for (const FileEntry& entry : all_entries(snapshot.state())) {
    out += first ? "\n" : ",\n";
    first = false;
    add_entry(out, entry);
  }
  return out += "]}\n";
}

Result<Snapshot> import_json(std::string_view text, const ImportLimits& limits) {
  return TRY_CONTEXT("import snapshot", import_json_parts(text, limits));
}

}  // namespace atl::vfs
