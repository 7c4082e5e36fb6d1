#include "sandbox/e2b/remote_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "base/ids.h"
#include "os/timer.h"
#include "sandbox/e2b/remote_process.h"

namespace atl::sandbox::e2b {
namespace {

constexpr std::size_t kPieceMax = 64U << 10;
constexpr std::chrono::milliseconds kFirstLook{50}, kSlowestLook{500};
constexpr std::string_view kAttributePrefix = "e2b.";

FileType type_of(std::string_view word) {
  if (word == "FILE_TYPE_FILE") return FileType::file;
  if (word == "FILE_TYPE_DIRECTORY") return FileType::directory;
  if (word == "FILE_TYPE_SYMLINK") return FileType::symlink;
  return FileType::unknown;
}

// "-rw-r--r--", with letters for the kind in front.
std::uint32_t mode_of(std::string_view permissions) {
  if (permissions.size() < 9) return 0;
  std::uint32_t mode = 0;
  for (const char c : permissions.substr(permissions.size() - 9)) mode = mode << 1 | (c == '-' ? 0U : 1U);
  return mode;
}

Result<FileInfo> entry_in(const Object& answer) {
  const Object* entry = object_in(answer, "entry");
  if (entry == nullptr) return fail(Code::provider_failed, "the remote sandbox told nothing about the file");
  return file_info_of(*entry);
}

std::string files_target(const std::string& path, const std::string& user) {
  std::string target = "/files?path=" + net::percent_encode(path);
  if (!user.empty()) target += "&username=" + net::percent_encode(user);
  return target;
}

// What an entry takes in the listing that is held here.
std::size_t held_bytes(const FileInfo& info) {
  std::size_t bytes = sizeof(FileInfo) + info.name.size() + info.path.size() + info.target.size();
  for (const auto& [name, value] : info.attributes) bytes += name.size() + value.size();
  return bytes;
}

class RemoteReader final : public FileReader {
 public:
  RemoteReader(FileInfo info, std::shared_ptr<CuttableCall> call, std::uint64_t skip,
               std::optional<std::uint64_t> length)
      : info_(std::move(info)), call_(std::move(call)), skip_(skip), left_(length) {}
  const FileInfo& info() const override { return info_; }
  Task<std::string> next() override {
    while (!over_) {
      if (left_ && *left_ == 0) break;
      auto piece = co_await (*call_)->read();
      if (!piece) co_return fail(Code::unavailable, "the remote sandbox: " + piece.error().message());
      if (piece->empty()) break;
      const auto skipped = std::min<std::uint64_t>(skip_, piece->size());
      skip_ -= skipped;
      piece->erase(0, skipped);
      if (left_ && piece->size() > *left_) piece->resize(*left_);
      if (left_) *left_ -= piece->size();
      if (!piece->empty()) co_return std::move(*piece);
    }
    over_ = true;
    co_return std::string();
  }

 private:
  FileInfo info_;
  std::shared_ptr<CuttableCall> call_;
  std::uint64_t skip_;                 // of a service that does not know ranges
  std::optional<std::uint64_t> left_;  // unset: to the end
  bool over_ = false;
};

class RemoteWriter final : public FileWriter {
 public:
  RemoteWriter(RemoteFiles files, std::shared_ptr<CuttableCall> call, std::string path, WriteOptions options)
      : files_(std::move(files)),
        call_(std::move(call)),
        path_(std::move(path)),
        options_(std::move(options)) {}
  Task<void> write(std::string bytes) override {
    for (std::size_t at = 0; at < bytes.size(); at += kPieceMax) {
      std::string piece = bytes.substr(at, kPieceMax);
      auto written = co_await (*call_)->write(std::move(piece));
      // The other side may have answered early, with the reason.
      if (!written) co_return co_await refusal(std::move(written).error());
    }
    co_return Result<void>();
  }
  Task<FileInfo> finish() override {
    auto sent = co_await (*call_)->finish_request();
    if (!sent) {
      CO_CHECK(co_await refusal(std::move(sent).error()));
    }
    CO_CHECK(co_await answer());
    constexpr std::uint32_t kUsualMode = 0644;
    if (options_.mode != kUsualMode) CO_CHECK(co_await files_.chmod(path_, options_.mode, options_.user));
    co_return co_await files_.stat(path_, options_.user);
  }

 private:
  Task<void> answer() {
    auto head = co_await (*call_)->head();
    if (!head) co_return fail(Code::unavailable, "the remote sandbox: " + head.error().message());
    auto body = co_await (*call_)->read();
    if (head->status != 200) co_return fail(rpc_error(head->status, body.value_or("")));
    co_return Result<void>();
  }
  Task<void> refusal(Error broken) {
    auto told = co_await answer();
    if (!told && told.error().code() != Code::unavailable) co_return fail(std::move(told).error());
    co_return fail(Code::unavailable, "the remote sandbox: " + broken.message());
  }

  RemoteFiles files_;
  std::shared_ptr<CuttableCall> call_;
  std::string path_;
  WriteOptions options_;
};

// Collects standard input in a file that has no name any more, so that nothing is left of one that is killed,
// and appends it to "$1" only if it ends with the mark "$2": input that was cut off ends like one that is
// complete.
constexpr const char* kAppend =
    R"sh(t=$(mktemp) && exec 3>"$t" 4<"$t" 5<"$t" && rm -f -- "$t" && cat >&3 &&
[ "$(tail -c 32 <&4)" = "$2" ] && mkdir -p -- "$(dirname -- "$1")" && head -c -32 <&5 >> "$1")sh";
constexpr std::size_t kMarkBytes = 32;  // as kAppend has it

// Appends by a program inside, which reads what is written from its standard input.
class Appender final : public FileWriter {
 public:
  Appender(RemoteFiles files, std::shared_ptr<RemoteProcess> process, std::string path, std::string user,
           std::string mark)
      : files_(std::move(files)),
        process_(std::move(process)),
        path_(std::move(path)),
        user_(std::move(user)),
        mark_(std::move(mark)) {}
  Task<void> write(std::string bytes) override { return process_->write_stdin(std::move(bytes)); }
  Task<FileInfo> finish() override {
    CO_CHECK(co_await process_->write_stdin(mark_));
    CO_CHECK(co_await process_->close_stdin());
    CO_TRY(const Outcome outcome, co_await process_->wait());
    if (!outcome.succeeded()) co_return fail(Code::permission_denied, "the file could not be written");
    co_return co_await files_.stat(path_, user_);
  }

 private:
  RemoteFiles files_;
  std::shared_ptr<RemoteProcess> process_;
  std::string path_, user_, mark_;
};

WatchEventType event_type(std::string_view word) {
  if (word == "EVENT_TYPE_CREATE") return WatchEventType::create;
  if (word == "EVENT_TYPE_REMOVE") return WatchEventType::remove;
  if (word == "EVENT_TYPE_RENAME") return WatchEventType::rename;
  if (word == "EVENT_TYPE_CHMOD") return WatchEventType::chmod;
  return WatchEventType::write;
}

boost::asio::awaitable<void> remove_watcher(std::shared_ptr<Plane> plane, std::string id, std::string user) {
  std::string method = "filesystem.Filesystem/RemoveWatcher";
  Object message{{"watcherId", id}};
  (void)co_await plane->call(std::move(method), std::move(message), std::move(user), Repeat::once);
}

class RemoteWatch final : public Watch {
 public:
  RemoteWatch(std::shared_ptr<Plane> plane, std::string id, std::string user)
      : plane_(std::move(plane)), id_(std::move(id)), user_(std::move(user)) {}
  ~RemoteWatch() override {
    if (plane_->check_running())
      boost::asio::co_spawn(plane_->executor(), remove_watcher(plane_, id_, user_), boost::asio::detached);
  }
  Task<std::vector<WatchEvent>> next() override {
    auto wait = kFirstLook;
    for (;;) {
      CO_TRY(std::vector<WatchEvent> events, co_await poll());
      if (!events.empty()) co_return events;
      CO_CHECK(co_await os::sleep_for(plane_->executor(), wait));
      wait = std::min(wait * 2, kSlowestLook);
    }
  }
  Task<std::vector<WatchEvent>> poll() override {
    std::string method = "filesystem.Filesystem/GetWatcherEvents", user = user_;
    Object message{{"watcherId", id_}};
    // Asking takes the events away, so that it is not asked twice.
    CO_TRY(const Object answer,
           co_await plane_->call(std::move(method), std::move(message), std::move(user), Repeat::never));
    std::vector<WatchEvent> events;
    if (const auto* told = array_in(answer, "events"))
      for (const auto& event : *told)
        if (event.is_object())
          events.push_back(
              {event_type(text_in(event.get_object(), "type")), text_in(event.get_object(), "name")});
    co_return events;
  }

 private:
  std::shared_ptr<Plane> plane_;
  std::string id_, user_;
};

}  // namespace

FileInfo file_info_of(const Object& entry) {
  FileInfo info;
  info.name = text_in(entry, "name");
  info.path = text_in(entry, "path");
  info.type = type_of(text_in(entry, "type"));
  info.size = static_cast<std::uint64_t>(std::max<std::int64_t>(0, integer_in(entry, "size")));
  info.mode = static_cast<std::uint32_t>(integer_in(entry, "mode")) & 07777U;
  info.link_mode = mode_of(text_in(entry, "permissions"));
  info.owner = text_in(entry, "owner");
  info.group = text_in(entry, "group");
  if (auto time = from_rfc3339(text_in(entry, "modifiedTime"))) info.modified_at = *time;
  info.target = text_in(entry, "symlinkTarget");
  if (!info.target.empty()) {
    info.target_type = info.type;
    info.type = FileType::symlink;
  }
  if (const Object* metadata = object_in(entry, "metadata"))
    for (const auto& member : *metadata)
      if (member.value().is_string())
        info.attributes.emplace(fmt::format("user.e2b.{}", std::string_view(member.key())),
                                member.value().get_string());
  return info;
}

Task<FileInfo> RemoteFiles::stat(std::string path, std::string user) {
  std::string method = "filesystem.Filesystem/Stat";
  Object message{{"path", path}};
  CO_TRY(const Object answer,
         co_await plane_->call(std::move(method), std::move(message), std::move(user), Repeat::once));
  co_return entry_in(answer);
}

Task<std::vector<FileInfo>> RemoteFiles::list(std::string path, std::uint32_t depth, ListBounds bounds,
                                              std::string user) {
  std::string method = "filesystem.Filesystem/ListDir";
  Object message{{"path", path}, {"depth", depth}};
  auto answer = co_await plane_->call(std::move(method), std::move(message), user, Repeat::once);
  if (!answer && answer.error().code() == Code::invalid_argument) {
    const auto there = co_await stat(path, std::move(user));
    if (there && there->type != FileType::directory)
      co_return fail(Code::not_a_directory, fmt::format("{} is no directory", path));
  }
  if (!answer) co_return fail(std::move(answer).error());
  std::vector<FileInfo> entries;
  std::size_t bytes = 0;
  const auto* told = array_in(*answer, "entries");
  if (told == nullptr) co_return entries;
  for (const auto& entry : *told) {
    if (!entry.is_object()) continue;
    FileInfo info = file_info_of(entry.get_object());
    const std::size_t size = held_bytes(info);
    bytes += size;
    if (entries.size() >= bounds.entries_max || bytes > bounds.bytes_max)
      co_return fail(Code::too_large, fmt::format("the listing of {} is too large", path));
    if (bounds.take) CO_CHECK(bounds.take(size));
    entries.push_back(std::move(info));
  }
  co_return entries;
}

Task<FileInfo> RemoteFiles::make_directory(std::string path, std::string user, Ownership) {
  std::string method = "filesystem.Filesystem/MakeDir";
  Object message{{"path", path}};
  CO_TRY(const Object answer,
         co_await plane_->call(std::move(method), std::move(message), std::move(user), Repeat::never));
  co_return entry_in(answer);
}

Task<void> RemoteFiles::refuse_existing(std::string path, std::string user) {
  const auto there = co_await stat(path, std::move(user));
  if (there) co_return fail(Code::already_exists, fmt::format("{} is there already", path));
  if (there.error().code() != Code::not_found) co_return fail(there.error());
  co_return Result<void>();
}

Task<FileInfo> RemoteFiles::move(std::string from, std::string to, std::string user, Overwrite overwrite) {
  if (overwrite == Overwrite::no) CO_CHECK(co_await refuse_existing(to, user));
  std::string method = "filesystem.Filesystem/Move";
  Object message{{"source", from}, {"destination", to}};
  CO_TRY(const Object answer,
         co_await plane_->call(std::move(method), std::move(message), std::move(user), Repeat::never));
  co_return entry_in(answer);
}

Task<void> RemoteFiles::run(std::vector<std::string> argv, std::string user) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.user = std::move(user);
  spec.env = {{"LC_ALL", "C"}};
  CO_TRY(const auto process, co_await RemoteProcess::start(plane_, std::move(spec)));
  const auto stream = process->attach(Replay::recent);
  std::string complaint;
  for (;;) {
    CO_TRY(ProcessEvent event, co_await stream->next());
    if (const auto* output = std::get_if<Output>(&event)) {
      if (complaint.size() < 1000) complaint += output->bytes;
      continue;
    }
    if (std::get<Outcome>(event).succeeded()) co_return Result<void>();
    break;
  }
  const auto says = [&](std::string_view words) { return complaint.find(words) != std::string::npos; };
  if (says("No such file")) co_return fail(Code::not_found, complaint);
  if (says("No space left") || says("quota")) co_return fail(Code::no_space, complaint);
  if (says("not permitted") || says("Permission denied")) co_return fail(Code::permission_denied, complaint);
  co_return fail(Code::invalid_argument, complaint.empty() ? "the program inside failed" : complaint);
}

Task<FileInfo> RemoteFiles::copy(std::string from, std::string to, std::string user, Overwrite overwrite) {
  if (overwrite == Overwrite::no) CO_CHECK(co_await refuse_existing(to, user));
  std::vector<std::string> argv{"cp", "-a", "-T", "--", from, to};
  CO_CHECK(co_await run(std::move(argv), user));
  co_return co_await stat(std::move(to), std::move(user));
}

// The other side removes whole trees, and is content when nothing is there.
Task<void> RemoteFiles::remove(std::string path, Recursive recursive, std::string user) {
  CO_TRY(const FileInfo info, co_await stat(path, user));
  if (recursive == Recursive::no && info.type == FileType::directory) {
    CO_TRY(const auto inside, co_await list(path, 1, ListBounds(100'000), user));
    if (!inside.empty()) co_return fail(Code::not_empty, fmt::format("{} is not empty", path));
  }
  std::string method = "filesystem.Filesystem/Remove";
  Object message{{"path", path}};
  CO_CHECK(co_await plane_->call(std::move(method), std::move(message), std::move(user), Repeat::once));
  co_return Result<void>();
}

Task<void> RemoteFiles::chmod(std::string path, std::uint32_t mode, std::string user) {
  std::vector<std::string> argv{"chmod", fmt::format("{:o}", mode), "--", std::move(path)};
  return run(std::move(argv), std::move(user));
}

Task<std::unique_ptr<FileReader>> RemoteFiles::open_read(std::string path, std::uint64_t offset,
                                                         std::optional<std::uint64_t> length,
                                                         std::string user) {
  CO_TRY(FileInfo info, co_await stat(path, user));
  if (info.type == FileType::directory || info.target_type == FileType::directory)
    co_return fail(Code::is_a_directory, fmt::format("{} is a directory", path));
  net::ClientRequest request{.method = "GET", .target = files_target(path, user)};
  request.headers.add("Accept-Encoding", "identity");
  // An empty range cannot be asked for, and one behind the end is refused.
  const bool ranged = (offset > 0 || length) && offset < info.size && length != 0U;
  if (ranged && length)
    request.headers.add("Range", fmt::format("bytes={}-{}", offset, offset + *length - 1));
  if (ranged && !length) request.headers.add("Range", fmt::format("bytes={}-", offset));
  CO_TRY(auto call, co_await plane_->open(kAgentPort, std::move(request), net::RequestBody::none));
  auto head = co_await (*call)->head();
  if (!head) co_return fail(Code::unavailable, "the remote sandbox: " + head.error().message());
  constexpr int kPartial = 206;
  if (head->status != 200 && head->status != kPartial) {
    auto body = co_await (*call)->read();
    co_return fail(rpc_error(head->status, body.value_or("")));
  }
  const std::uint64_t skip = head->status == kPartial ? 0 : offset;
  std::unique_ptr<FileReader> reader =
      std::make_unique<RemoteReader>(std::move(info), std::move(call), skip, length);
  co_return reader;
}

Task<std::unique_ptr<FileWriter>> RemoteFiles::open_write(std::string path, WriteOptions options) {
  if (!options.create_parents) {
    const std::string parent = path.substr(0, std::max<std::size_t>(1, path.rfind('/')));
    CO_CHECK(co_await stat(parent, options.user));
  }
  if (options.append) {
    ProcessSpec spec;
    std::string mark = random_word(kMarkBytes);
    spec.argv = {"/bin/sh", "-c", kAppend, "sh", path, mark};
    spec.user = options.user;
    spec.stdin_mode = Stdin::pipe;
    CO_TRY(auto process, co_await RemoteProcess::start(plane_, std::move(spec)));
    std::unique_ptr<FileWriter> appender = std::make_unique<Appender>(
        RemoteFiles(plane_), std::move(process), std::move(path), std::move(options.user), std::move(mark));
    co_return appender;
  }
  net::ClientRequest request{.method = "POST", .target = files_target(path, options.user)};
  request.headers.add("Content-Type", "application/octet-stream");
  if (options.attributes && options.attribute_prefix != kAttributePrefix)
    co_return fail(Code::unsupported, "a remote sandbox keeps no attributes but those of E2B's metadata");
  if (options.attributes)
    for (const auto& [name, value] : *options.attributes) request.headers.add("X-Metadata-" + name, value);
  CO_TRY(auto call, co_await plane_->open(kAgentPort, std::move(request), net::RequestBody::streamed));
  std::unique_ptr<FileWriter> writer = std::make_unique<RemoteWriter>(RemoteFiles(plane_), std::move(call),
                                                                      std::move(path), std::move(options));
  co_return writer;
}

Task<std::unique_ptr<Watch>> RemoteFiles::watch(std::string path, Recursive recursive, std::string user) {
  std::string method = "filesystem.Filesystem/CreateWatcher";
  Object message{{"path", path}};
  if (recursive == Recursive::yes) message["recursive"] = true;
  CO_TRY(const Object answer,
         co_await plane_->call(std::move(method), std::move(message), user, Repeat::never));
  std::string id = text_in(answer, "watcherId");
  if (id.empty()) co_return fail(Code::provider_failed, "the remote sandbox named no watcher");
  std::unique_ptr<Watch> watch = std::make_unique<RemoteWatch>(plane_, std::move(id), std::move(user));
  co_return watch;
}

}  // namespace atl::sandbox::e2b
