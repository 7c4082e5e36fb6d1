#include "storage/plugin_server.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "storage/plugin_protocol.h"
#include "vfs/batch_format.h"
#include "vfs/wire.h"

namespace atl::storage {
namespace {

// A daemon that asks nothing keeps its connection.
constexpr std::chrono::milliseconds kIdleMax = std::chrono::hours(24 * 365);
constexpr std::chrono::milliseconds kSendMax{30'000};
constexpr int kHungStatus = 71;

void append_text(void* to, const char* bytes, std::size_t size) {
  static_cast<std::string*>(to)->append(bytes, size);
}

atoll_bytes bytes_of(std::string_view text) {
  return {text.data(), text.size()};
}

// Ends the process when one call takes too long: the plugin holds the only turn, and nothing can take it
// back.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::milliseconds longest) : longest_(longest), thread_([this] { watch(); }) {
    thread_.detach();
  }
  void begin() {
    const std::lock_guard hold(lock_);
    ++calls_;
    is_busy_ = true;
    changed_.notify_one();
  }
  void end() {
    const std::lock_guard hold(lock_);
    is_busy_ = false;
    changed_.notify_one();
  }

 private:
  void watch() {
    std::unique_lock hold(lock_);
    while (true) {
      changed_.wait(hold, [this] { return is_busy_; });
      const std::uint64_t call = calls_;
      const auto is_over = [&] { return !is_busy_ || calls_ != call; };
      if (!changed_.wait_for(hold, longest_, is_over)) ::_exit(kHungStatus);
    }
  }

  std::chrono::milliseconds longest_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::uint64_t calls_ = 0;
  bool is_busy_ = false;
  std::thread thread_;
};

// The plugin, one call at a time.
class Plugin {
 public:
  Plugin(const atoll_storage* storage, const PluginServerOptions& options)
      : storage_(storage), directory_(options.directory), watchdog_(options.call_max) {}

  template <class Call>
  auto call(Call body) {
    const std::lock_guard turn(turn_);
    watchdog_.begin();
    auto answer = body(*storage_, directory_.c_str());
    watchdog_.end();
    return answer;
  }

 private:
  const atoll_storage* storage_;
  std::string directory_;
  std::mutex turn_;
  Watchdog watchdog_;
};

// One daemon's connection, which has one space.
class Connection {
 public:
  Connection(Plugin& plugin, os::Fd socket) : plugin_(plugin), socket_(std::move(socket)) {}
  ~Connection() { close_space(); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void serve() {
    while (true) {
      auto frame = receive_frame(socket_.get(), kIdleMax);
      if (!frame || !*frame) return;
      const Result<void> done = answer(**frame);
      const FrameKind kind = done ? FrameKind::done : FrameKind::refused;
      const std::string why = done ? "" : done.error().message();
      if (!send_frame(socket_.get(), kind, why, kSendMax)) return;
    }
  }

 private:
  Result<void> answer(const Frame& frame) {
    switch (frame.kind) {
      case FrameKind::open: return open(frame.body);
      case FrameKind::load: return load();
      case FrameKind::apply: return apply(frame.body);
      case FrameKind::discard: return discard(frame.body);
      default: return fail(Code::invalid_argument, "no such question");
    }
  }

  Result<void> open(const std::string& space) {
    close_space();
    std::string why;
    space_ = plugin_.call([&](const atoll_storage& storage, const char* directory) {
      return storage.open(directory, space.c_str(), append_text, &why);
    });
    if (space_ == nullptr) return fail(Code::provider_failed, why.empty() ? "open failed" : why);
    return {};
  }

  void close_space() {
    if (space_ == nullptr) return;
    plugin_.call([&](const atoll_storage& storage, const char*) {
      storage.close(space_);
      return 0;
    });
    space_ = nullptr;
  }

  Result<void> discard(const std::string& space) {
    std::string why;
    bool is_there = true;
    const int failed = plugin_.call([&](const atoll_storage& storage, const char* directory) {
      is_there = storage.discard != nullptr;
      return is_there ? storage.discard(directory, space.c_str(), append_text, &why) : 0;
    });
    if (failed != 0) return fail(Code::provider_failed, why.empty() ? "discard failed" : why);
    if (is_there) return {};
    TRY(open(space));
    const Values all = TRY(values());
    std::vector<atoll_storage_change> changes;
    for (const auto& [key, value] : all) changes.push_back({bytes_of(key), {nullptr, 0}, 1});
    auto removed = apply_changes(changes);
    close_space();
    return removed;
  }

  using Values = std::vector<std::pair<std::string, std::string>>;
  Result<Values> values() {
    if (space_ == nullptr) return fail(Code::invalid_argument, "no space is open");
    std::string why;
    Values all;
    const auto keep = [](void* to, atoll_bytes key, atoll_bytes value) {
      static_cast<Values*>(to)->emplace_back(std::string(key.data, key.size),
                                             std::string(value.data, value.size));
    };
    const int failed = plugin_.call([&](const atoll_storage& storage, const char*) {
      return storage.load(space_, keep, &all, append_text, &why);
    });
    if (failed != 0) return fail(Code::provider_failed, why.empty() ? "load failed" : why);
    return all;
  }

  Result<void> load() {
    for (const auto& [key, value] : TRY(values())) {
      std::string body;
      vfs::put_bytes(body, key);
      body += value;
      TRY(send_frame(socket_.get(), FrameKind::entry, body, kSendMax));
    }
    return {};
  }

  Result<void> apply(const std::string& body) {
    if (space_ == nullptr) return fail(Code::invalid_argument, "no space is open");
    const vfs::Batch batch = TRY(vfs::decode_batch(body));
    std::vector<std::string> encoded;
    encoded.reserve(batch.entries.size());
    std::vector<atoll_storage_change> changes;
    for (const vfs::Path& path : batch.removals) changes.push_back({bytes_of(path.str()), {nullptr, 0}, 1});
    for (const vfs::FileEntry& entry : batch.entries) {
      encoded.push_back(vfs::encode_entry(entry));
      changes.push_back({bytes_of(entry.path.str()), bytes_of(encoded.back()), 0});
    }
    return apply_changes(changes);
  }

  Result<void> apply_changes(const std::vector<atoll_storage_change>& changes) {
    std::string why;
    const int failed = plugin_.call([&](const atoll_storage& storage, const char*) {
      return storage.apply(space_, changes.data(), changes.size(), append_text, &why);
    });
    if (failed != 0) return fail(Code::provider_failed, why.empty() ? "apply failed" : why);
    return {};
  }

  Plugin& plugin_;
  os::Fd socket_;
  void* space_ = nullptr;
};

Result<const atoll_storage*> loaded_storage(const PluginServerOptions& options) {
  void* library = ::dlopen(options.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return fail(Code::provider_failed, fmt::format("the plugin cannot be loaded: {}", ::dlerror()));
  // JUSTIFICATION: dlsym gives every symbol as void*; the header says what this one is.
  const auto entry =
      reinterpret_cast<decltype(&atoll_storage_plugin)>(::dlsym(library, "atoll_storage_plugin"));
  if (entry == nullptr)
    return fail(Code::provider_failed, "the plugin does not export atoll_storage_plugin()");
  const atoll_storage_table* table = entry();
  if (table == nullptr || table->abi != ATOLL_STORAGE_ABI)
    return fail(Code::provider_failed,
                fmt::format("the plugin was built for interface {}, this program has {}",
                            table == nullptr ? 0 : table->abi, ATOLL_STORAGE_ABI));
  for (std::uint32_t i = 0; i < table->count; ++i)
    if (options.storage.empty() ? table->count == 1 : options.storage == table->storages[i].name)
      return &table->storages[i];
  return fail(Code::provider_failed, fmt::format("the plugin has no storage '{}'", options.storage));
}

// The socket appears under its name only once somebody listens on it.
Result<os::Fd> listening(const std::string& path) {
  const std::string hidden = path + ".new";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (hidden.size() >= sizeof address.sun_path)
    return fail(Code::invalid_argument, "the socket's path is too long");
  std::memcpy(address.sun_path, hidden.c_str(), hidden.size() + 1);
  ::unlink(hidden.c_str());
  os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // JUSTIFICATION: bind() takes every kind of address as the general one.
  const auto* general = reinterpret_cast<const sockaddr*>(&address);
  if (!socket.is_open() || ::bind(socket.get(), general, sizeof address) < 0 ||
      ::listen(socket.get(), 64) < 0 || ::chmod(hidden.c_str(), 0600) < 0 ||
      ::rename(hidden.c_str(), path.c_str()) < 0)
    return fail(errno_error(errno, "listen on the plugin's socket"));
  return socket;
}

}  // namespace

Result<void> serve_plugin(const PluginServerOptions& options) {
  const atoll_storage* storage = TRY(loaded_storage(options));
  const os::Fd listener = TRY(listening(options.socket));
  // From here on this does not return: threads use the plugin as long as the process lives.
  Plugin plugin(storage, options);
  while (true) {
    os::Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open()) {
      // Too many open files, for one: some are closed sooner or later.
      if (errno != EINTR) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    std::thread([&plugin, connection = std::move(socket)]() mutable {
      Connection(plugin, std::move(connection)).serve();
    }).detach();
  }
}

}  // namespace atl::storage
