#include "storage/plugin_server.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/plugin_protocol.h"
#include "vfs/batch_format.h"
#include "vfs/wire.h"

namespace atl::storage {
namespace {

constexpr std::chrono::milliseconds kFrameTimeMax{30'000};
// Each session of the storage has a connection: without bounds they would take all threads and descriptors of
// this process, and its end would be everybody's. The one that was used longest ago is closed for a new one;
// whoever has it connects anew.
constexpr std::size_t kConnectionsMax = 256;
constexpr int kThreads = 4;
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

  int socket() const { return socket_.get(); }
  // One question, which has begun to arrive, and its answer. False: nothing more is to be expected.
  bool serve_one() {
    auto frame = receive_frame(socket_.get(), kFrameTimeMax);
    if (!frame || !*frame) return false;
    const Result<void> done = answer(**frame);
    const FrameKind kind = done ? FrameKind::done : FrameKind::refused;
    const std::string why = done ? "" : done.error().message();
    return send_frame(socket_.get(), kind, why, kFrameTimeMax).has_value();
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
      TRY(send_frame(socket_.get(), FrameKind::entry, body, kFrameTimeMax));
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

// Waits for questions on all connections with one thread, and answers them with a few.
class Server {
 public:
  Server(Plugin& plugin, os::Fd listener)
      : plugin_(plugin), listener_(std::move(listener)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  [[noreturn]] void run() {
    for (int i = 0; i < kThreads; ++i) std::thread([this] { answer(); }).detach();
    while (true) {
      std::vector<pollfd> all{{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                              {.fd = listener_.get(), .events = POLLIN, .revents = 0}};
      for (const auto& one : idle_) all.push_back({.fd = one->socket(), .events = POLLIN, .revents = 0});
      if (::poll(all.data(), all.size(), -1) <= 0) continue;
      hand_out(all);
      take_back();
      if (all[1].revents != 0) welcome();
    }
  }

 private:
  using ConnectionPtr = std::unique_ptr<Connection>;
  struct Job {
    ConnectionPtr connection;
    bool is_last = false;  // it is to be closed
  };

  // `polled` has the idle ones from its third on, in their order.
  void hand_out(const std::vector<pollfd>& polled) {
    std::size_t at = 2;
    for (auto one = idle_.begin(); one != idle_.end(); ++at) {
      if (polled[at].revents == 0) {
        ++one;
        continue;
      }
      push({.connection = std::move(*one)});
      one = idle_.erase(one);
    }
  }

  void take_back() {
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
    const std::lock_guard hold(lock_);
    for (ConnectionPtr& one : answered_) idle_.push_back(std::move(one));
    answered_.clear();
  }

  void welcome() {
    os::Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket.is_open()) {
      // Too many open files, for one: some are closed sooner or later.
      if (errno != EINTR) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      return;
    }
    idle_.push_back(std::make_unique<Connection>(plugin_, std::move(socket)));
    if (idle_.size() <= kConnectionsMax) return;
    push({.connection = std::move(idle_.front()), .is_last = true});
    idle_.pop_front();
  }

  void push(Job job) {
    const std::lock_guard hold(lock_);
    jobs_.push_back(std::move(job));
    has_jobs_.notify_one();
  }

  [[noreturn]] void answer() {
    while (true) {
      std::unique_lock hold(lock_);
      has_jobs_.wait(hold, [this] { return !jobs_.empty(); });
      Job job = std::move(jobs_.front());
      jobs_.pop_front();
      hold.unlock();
      if (job.is_last || !job.connection->serve_one()) continue;
      hold.lock();
      answered_.push_back(std::move(job.connection));
      const std::uint64_t one = 1;
      (void)!::write(wake_.get(), &one, sizeof one);
    }
  }

  Plugin& plugin_;
  os::Fd listener_, wake_;
  std::list<ConnectionPtr> idle_;  // the thread that waits; the one that was used longest ago first
  std::mutex lock_;
  std::condition_variable has_jobs_;
  std::deque<Job> jobs_;
  std::vector<ConnectionPtr> answered_;
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
  os::Fd listener = TRY(listening(options.socket));
  // From here on this does not return: threads use the plugin as long as the process lives.
  Plugin plugin(storage, options);
  Server(plugin, std::move(listener)).run();
}

}  // namespace atl::storage
