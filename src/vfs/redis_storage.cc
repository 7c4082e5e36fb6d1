#include "vfs/redis_storage.h"

#include <fmt/format.h>
#include <hiredis/hiredis.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>

#include "vfs/entries.h"
#include "vfs/wire.h"

namespace atl::vfs {
namespace {

std::unexpected<Error> unavailable(std::string detail) {
  return fail(Error(Code::unavailable, "the storage cannot be reached").with_detail(std::move(detail)));
}

std::string encode(const FileEntry& entry) {
  std::string out;
  put_bytes(out, encode_attributes(entry));
  for (std::uint64_t at = 0; at < entry.content.size();) {
    auto run = entry.content.run(at);
    out += run;
    at += run.size();
  }
  return out;
}

Result<FileEntry> decode(std::string_view path, std::string_view bytes) {
  FileEntry entry;
  auto parsed = Path::posix(path);
  if (!parsed || parsed->str() != path || parsed->is_root())
    return fail(Code::data_loss, "a stored path is malformed");
  entry.path = std::move(*parsed);
  WireReader reader(bytes);
  auto attributes = TRY_CONTEXT(path, reader.bytes());
  TRY_CONTEXT(path, decode_attributes(attributes, entry));
  entry.content = Content(TRY(reader.take(reader.remaining())));
  return entry;
}

// Children of a directory lie together: the parent, a NUL (which no path has), the name.
std::string child_key(const Path& path) {
  std::string key = path.parent().str();
  key += '\0';
  return key.append(path.name());
}

// hiredis writes to sockets without MSG_NOSIGNAL; a server that is gone must not end the process.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    timespec none{0, 0};
    if (!was_pending_ && sigismember(&before_, SIGPIPE) == 0)
      while (sigtimedwait(&pipe_, nullptr, &none) == -1 && errno == EINTR) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

std::string_view text(const redisReply& reply) {
  return {reply.str, reply.len};
}

// The first text that is greater than every text with this prefix, as ZRANGEBYLEX wants it.
std::string after(std::string_view prefix) {
  std::string end(prefix);
  while (!end.empty() && end.back() == '\xff') end.pop_back();
  if (end.empty()) return "+";
  end.back() = static_cast<char>(static_cast<unsigned char>(end.back()) + 1);
  return "(" + end;
}

}  // namespace

void RedisStorage::FreeReply::operator()(redisReply* reply) const {
  freeReplyObject(reply);
}

RedisStorage::RedisStorage(RedisAddress address)
    : address_(std::move(address)),
      entries_(address_.keys + ":entries"),
      paths_(address_.keys + ":paths"),
      children_(address_.keys + ":children"),
      version_(address_.keys + ":version") {}

RedisStorage::~RedisStorage() {
  disconnect();
}

void RedisStorage::disconnect() const {
  if (context_ != nullptr) redisFree(context_);
  context_ = nullptr;
}

Result<std::shared_ptr<RedisStorage>> RedisStorage::connect(const RedisAddress& address) {
  std::shared_ptr<RedisStorage> storage(new RedisStorage(address));
  std::lock_guard lock(storage->lock_);
  TRY(storage->ensure_connected());
  TRY(storage->ask({"PING"}));
  return storage;
}

Result<void> RedisStorage::ensure_connected() const {
  if (context_ != nullptr && context_->err == 0) return {};
  disconnect();
  timeval wait{static_cast<time_t>(address_.timeout.count() / 1000),
               static_cast<suseconds_t>(address_.timeout.count() % 1000 * 1000)};
  context_ = address_.unix_socket.empty()
                 ? redisConnectWithTimeout(address_.host.c_str(), address_.port, wait)
                 : redisConnectUnixWithTimeout(address_.unix_socket.c_str(), wait);
  if (context_ == nullptr) return unavailable("out of memory");
  if (context_->err != 0) return unavailable(context_->errstr);
  redisSetTimeout(context_, wait);
  if (!address_.password.empty()) {
    send({"AUTH", address_.password});
    TRY(receive());
  }
  return {};
}

void RedisStorage::send(const Words& words) const {
  std::vector<const char*> pointers;
  std::vector<std::size_t> lengths;
  for (std::string_view word : words) {
    pointers.push_back(word.data());
    lengths.push_back(word.size());
  }
  redisAppendCommandArgv(context_, static_cast<int>(words.size()), pointers.data(), lengths.data());
}

Result<RedisStorage::Reply> RedisStorage::receive() const {
  void* raw = nullptr;
  WithoutSigpipe guard;
  if (redisGetReply(context_, &raw) != REDIS_OK) {
    std::string detail = context_->errstr;
    disconnect();
    return unavailable(std::move(detail));
  }
  Reply reply(static_cast<redisReply*>(raw));
  if (reply->type != REDIS_REPLY_ERROR) return reply;
  std::string detail(text(*reply));
  if (detail.starts_with("OOM"))
    return fail(Error(Code::no_space, "the storage is full").with_detail(detail));
  if (detail.starts_with("READONLY"))
    return fail(Error(Code::read_only, "the storage is read-only").with_detail(detail));
  if (detail.starts_with("WRONGTYPE"))
    return fail(Error(Code::data_loss, "the storage is damaged").with_detail(detail));
  if (detail.starts_with("NOAUTH") || detail.starts_with("WRONGPASS"))
    return fail(Error(Code::unauthenticated, "the storage wants another password").with_detail(detail));
  return unavailable(std::move(detail));
}

Result<RedisStorage::Reply> RedisStorage::ask(const Words& words) const {
  TRY(ensure_connected());
  send(words);
  return receive();
}

Result<std::optional<FileEntry>> RedisStorage::get(const Path& path) const {
  std::lock_guard lock(lock_);
  auto reply = TRY(ask({"HGET", entries_, path.str()}));
  if (reply->type == REDIS_REPLY_NIL) return std::nullopt;
  return TRY(decode(path.str(), text(*reply)));
}

Result<bool> RedisStorage::exists(const Path& path) const {
  std::lock_guard lock(lock_);
  auto reply = TRY(ask({"HEXISTS", entries_, path.str()}));
  return reply->integer == 1;
}

Error RedisStorage::lost() const {
  return {Code::conflict,
          "somebody else changed the storage first; nothing was changed, look again and repeat"};
}

Result<void> RedisStorage::begin_optimistic() {
  TRY(ask({"WATCH", version_}));
  auto reply = TRY(ask({"GET", version_}));
  const std::string now = reply->type == REDIS_REPLY_NIL ? "0" : std::string(text(*reply));
  if (known_version_.empty()) known_version_ = now;
  if (known_version_ == now) return {};
  TRY(ask({"UNWATCH"}));
  return fail(lost());
}

Result<void> RedisStorage::apply(const Batch& batch) {
  for (const FileEntry& entry : batch.entries)
    if (entry.path.is_root()) return fail(Code::invalid_argument, "the root is not an entry");
  std::lock_guard lock(lock_);
  TRY(ensure_connected());
  const bool is_optimistic = address_.writers == RedisWriters::several;
  if (is_optimistic) TRY(begin_optimistic());
  std::size_t sent = 1;
  send({"MULTI"});
  if (is_optimistic) {
    send({"INCR", version_});
    ++sent;
  }
  for (const Path& path : batch.removals) {
    std::string child = child_key(path);
    send({"HDEL", entries_, path.str()});
    send({"ZREM", paths_, path.str()});
    send({"ZREM", children_, child});
    sent += 3;
  }
  for (const FileEntry& entry : batch.entries) {
    std::string child = child_key(entry.path), bytes = encode(entry);
    send({"HSET", entries_, entry.path.str(), bytes});
    send({"ZADD", paths_, "0", entry.path.str()});
    send({"ZADD", children_, "0", child});
    sent += 3;
  }
  send({"EXEC"});
  // Every reply must be taken, also after one that says no.
  Result<void> refused{};
  for (std::size_t i = 0; i < sent; ++i) {
    auto reply = receive();
    if (reply) continue;
    if (refused) refused = fail(std::move(reply).error());
    if (context_ == nullptr) return refused;
  }
  auto done = receive();
  if (!refused) return refused;
  if (!done) return fail(std::move(done).error());
  // Somebody wrote between our look at the version and here.
  if (is_optimistic && (*done)->type == REDIS_REPLY_NIL) return fail(lost());
  bool whole = (*done)->type == REDIS_REPLY_ARRAY;
  for (std::size_t i = 0; whole && i < (*done)->elements; ++i)
    whole = (*done)->element[i]->type != REDIS_REPLY_ERROR;
  if (!whole) return fail(Code::data_loss, "the storage holds keys of another kind");
  if (is_optimistic) known_version_ = std::to_string((*done)->element[0]->integer);
  return {};
}

Result<std::vector<Path>> RedisStorage::paths_by_prefix(std::string_view prefix) const {
  std::lock_guard lock(lock_);
  std::string first = "[" + std::string(prefix), last = after(prefix);
  auto reply = TRY(ask({"ZRANGEBYLEX", paths_, first, last}));
  std::vector<Path> out;
  for (std::size_t i = 0; i < reply->elements; ++i) {
    auto path = Path::posix(text(*reply->element[i]));
    if (!path) return fail(Code::data_loss, "a stored path is malformed");
    out.push_back(std::move(*path));
  }
  return out;
}

Result<std::vector<Path>> RedisStorage::children(const Path& directory) const {
  std::lock_guard lock(lock_);
  std::string prefix = directory.str() + '\0';
  std::string first = "[" + prefix, last = after(prefix);
  auto reply = TRY(ask({"ZRANGEBYLEX", children_, first, last}));
  std::vector<Path> out;
  for (std::size_t i = 0; i < reply->elements; ++i) {
    auto member = text(*reply->element[i]);
    if (member.size() < prefix.size()) return fail(Code::data_loss, "a stored name is malformed");
    out.push_back(TRY(directory.child(member.substr(prefix.size()))));
  }
  return out;
}

Result<std::vector<FileEntry>> RedisStorage::get_all() const {
  std::lock_guard lock(lock_);
  if (address_.writers == RedisWriters::several) {
    // Before the entries: a version that is older than what is read costs a needless conflict, never a loss.
    auto version = TRY(ask({"GET", version_}));
    known_version_ = version->type == REDIS_REPLY_NIL ? "0" : std::string(text(*version));
  }
  auto reply = TRY(ask({"HGETALL", entries_}));
  std::vector<FileEntry> out;
  for (std::size_t i = 0; i + 1 < reply->elements; i += 2)
    out.push_back(TRY(decode(text(*reply->element[i]), text(*reply->element[i + 1]))));
  std::ranges::sort(out, {}, [](const FileEntry& entry) -> const Path& { return entry.path; });
  return out;
}

Result<std::uint64_t> RedisStorage::count() const {
  std::lock_guard lock(lock_);
  auto reply = TRY(ask({"HLEN", entries_}));
  return static_cast<std::uint64_t>(reply->integer);
}

Result<void> RedisStorage::clear() {
  std::lock_guard lock(lock_);
  TRY(ask({"DEL", entries_, paths_, children_}));
  if (address_.writers == RedisWriters::several) {
    auto reply = TRY(ask({"INCR", version_}));
    known_version_ = std::to_string(reply->integer);
  }
  return {};
}

}  // namespace atl::vfs
