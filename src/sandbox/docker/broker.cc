#include "sandbox/docker/broker.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <cstring>

#include "base/ids.h"
#include "base/json.h"
#include "base/log.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"
#include "sandbox/docker/broker_state.h"
#include "sandbox/docker/json_access.h"

namespace atl::sandbox::docker {
namespace {

namespace bj = boost::json;
constexpr const char* kSocketName = "docker.sock";

// Below a directory's descriptor: paths of data directories may be longer than an address.
sockaddr_un broker_address(int directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = fmt::format("/proc/self/fd/{}/{}", directory, kSocketName);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

Result<os::Fd> listen_for_daemons(const std::string& run_directory) {
  const os::Fd directory = TRY(os::open(run_directory.c_str(), O_RDONLY | O_DIRECTORY));
  ::unlinkat(directory.get(), kSocketName, 0);
  os::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const sockaddr_un address = broker_address(directory.get());
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
      ::fchmodat(directory.get(), kSocketName, 0600, 0) < 0 || ::listen(socket.get(), 4) < 0)
    return fail(errno_error(errno, "listen for a daemon"));
  return socket;
}

// All but the one by which root reaches its own files below a data directory that was given to another user.
void give_up_capabilities() {
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  for (int number = 0; number <= 63; ++number)
    if (number != CAP_DAC_OVERRIDE) ::prctl(PR_CAPBSET_DROP, number, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct kept[2]{};
  kept[0].permitted = kept[0].effective = 1U << CAP_DAC_OVERRIDE;
  if (::syscall(SYS_capset, &header, kept) == 0) return;
  // An ordinary user has none to keep.
  kept[0] = {};
  ::syscall(SYS_capset, &header, kept);
}

[[noreturn]] void broker_main(os::Fd daemon, const BrokerOptions& options) {
  ::setsid();
  ::prctl(PR_SET_NAME, "atoll-broker");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  const int number = ::fcntl(daemon.get(), F_DUPFD_CLOEXEC, 60);
  (void)daemon.release();
  (void)os::close_range(3, 59, os::UnshareTable::no);
  (void)os::close_range(61, ~0U, os::UnshareTable::no);
  daemon = os::Fd(number);
  ::umask(022);
  auto listener = listen_for_daemons(options.run_directory);
  auto snapshots = os::open(options.snapshot_directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!listener || !snapshots) ::_exit(1);
  give_up_capabilities();
  Broker broker(options, std::move(daemon), std::move(*listener), std::move(*snapshots));
  broker.run();
  ::_exit(0);
}

bj::object error_object(const Error& error) {
  return {{"code", static_cast<int>(error.code())},
          {"message", error.message()},
          {"field", error.field()},
          {"detail", error.detail()}};
}

}  // namespace

Result<os::Fd> start_broker(const BrokerOptions& options) {
  if (options.guest_program.empty()) return fail(Code::internal, "the guest's program is not in this build");
  TRY(os::make_directories(options.run_directory, 0700));
  TRY(os::make_directories(options.snapshot_directory));
  os::SocketPair pair = TRY(os::socket_pair(os::SocketKind::packets));
  TRY(os::fork_detached("fork the broker", [&] {
    pair.first.reset();
    broker_main(std::move(pair.second), options);
  }));
  pair.second.reset();
  return std::move(pair.first);
}

Result<os::Fd> find_broker(const std::string& run_directory) {
  auto directory = os::open(run_directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (!directory) return fail(Code::not_found, "no broker is there");
  os::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  const sockaddr_un address = broker_address(directory->get());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return fail(Code::not_found, "no broker is there");
  return socket;
}

Result<void> check_image(const std::string& image, const std::vector<std::string>& patterns) {
  const bool is_clean =
      image.size() <= 512 &&
      image.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@") ==
          std::string::npos;
  if (image.empty() || !is_clean || image.find("..") != std::string::npos)
    return fail(Error(Code::invalid_argument, "'" + image.substr(0, 100) +
                                                  "' is no name of an image: write "
                                                  "NAME[:TAG] or NAME@DIGEST")
                    .with_field("image"));
  if (patterns.empty()) return {};
  for (const std::string& pattern : patterns)
    if (::fnmatch(pattern.c_str(), image.c_str(), 0) == 0) return {};
  return fail(
      Error(Code::permission_denied, fmt::format("the image '{}' is not among those that the operator allows "
                                                 "(provider.docker.images)",
                                                 image))
          .with_field("image"));
}

bool is_word(const std::string& name) {
  return !name.empty() && name.size() <= 128 && name.front() != '.' && name.front() != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
             std::string::npos;
}

Broker::Broker(BrokerOptions options, os::Fd daemon, os::Fd listener, os::Fd snapshots)
    : options_(std::move(options)),
      engine_(loop_.get_executor(), options_.engine, options_.patience),
      daemon_(loop_, daemon.release()),
      listener_(loop_, listener.release()),
      orphaned_(loop_),
      snapshots_(std::move(snapshots)),
      generation_(random_word(12)) {}

void Broker::run() {
  listen_to_daemon();
  accept_daemon();
  loop_.run();
}

void Broker::listen_to_daemon() {
  daemon_.async_wait(boost::asio::posix::stream_descriptor::wait_read,
                     [this](boost::system::error_code error) {
                       if (!error && daemon_.is_open()) receive();
                     });
}

void Broker::receive() {
  for (;;) {
    auto message = os::receive_message(daemon_.native_handle(), os::Wait::no);
    if (!message && message.error().code() == Code::unavailable) return listen_to_daemon();
    if (!message || message->bytes.empty()) return lose_daemon();
    auto parsed = json::parse(message->bytes);
    if (!parsed || !parsed->is_object()) return lose_daemon();
    boost::asio::co_spawn(loop_, serve(std::move(parsed->as_object())), boost::asio::detached);
  }
}

void Broker::accept_daemon() {
  listener_.async_wait(
      boost::asio::posix::stream_descriptor::wait_read, [this](boost::system::error_code error) {
        if (error) return;
        const int accepted =
            ::accept4(listener_.native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        // One daemon at a time: whoever comes while it is there is turned away.
        if (accepted >= 0 && daemon_.is_open()) ::close(accepted);
        if (accepted >= 0 && !daemon_.is_open()) {
          orphaned_.cancel();
          daemon_.assign(accepted);
          listen_to_daemon();
        }
        accept_daemon();
      });
}

// Sandboxes wait for another daemon for a while; those that nobody had asked for go at once.
void Broker::lose_daemon() {
  daemon_.close();
  std::vector<std::string> unused;
  for (const auto& [name, container] : containers_) {
    if (container->line) container->line->close();
    if (name.starts_with(kPoolPrefix)) unused.push_back(name);
  }
  for (const std::string& name : unused) boost::asio::co_spawn(loop_, destroy(name), boost::asio::detached);
  orphaned_.expires_after(options_.orphan_time);
  orphaned_.async_wait([this](boost::system::error_code error) {
    if (error || daemon_.is_open()) return;
    boost::asio::co_spawn(loop_, shut_down(), [this](std::exception_ptr, Result<Reply>) { loop_.stop(); });
  });
}

void Broker::tell(const Object& message, int fd) {
  if (!daemon_.is_open()) return;
  const std::string bytes = bj::serialize(message);
  const int fds[] = {fd};
  const std::span<const int> beside = fd >= 0 ? std::span<const int>(fds) : std::span<const int>();
  (void)os::send_message(daemon_.native_handle(), bytes, beside);
}

boost::asio::awaitable<void> Broker::serve(Object request) {
  const bj::value* token = request.if_contains("token");
  const bj::value* verb = request.if_contains("verb");
  Object reply;
  if (token != nullptr) reply["token"] = *token;
  reply["name"] = text_in(request, "name");
  if (verb == nullptr || !verb->is_string()) co_return;
  const std::string what(verb->as_string());
  auto done = co_await answer(what, request);
  if (!done) {
    reply["error"] = error_object(done.error());
    tell(reply);
    if (what == "shut_down") loop_.stop();
    co_return;
  }
  for (auto& [key, value] : done->body) reply[key] = value;
  tell(reply, done->fd.is_open() ? done->fd.get() : -1);
  if (what == "shut_down") loop_.stop();
}

Task<Broker::Reply> Broker::answer(const std::string& verb, const Object& request) {
  const auto text = [&](const char* key) { return text_in(request, key); };
  if (verb == "hello") co_return co_await hello();
  if (verb == "probe") co_return co_await probe();
  if (verb == "create") co_return co_await create(request);
  if (verb == "adopt") co_return co_await adopt(text("name"));
  if (verb == "assign") co_return co_await assign(request);
  if (verb == "freeze") co_return co_await freeze(text("name"), true);
  if (verb == "thaw") co_return co_await freeze(text("name"), false);
  if (verb == "destroy") co_return co_await destroy(text("name"));
  if (verb == "snapshot") co_return co_await snapshot(text("name"), text("target"));
  if (verb == "discard") co_return co_await discard(text("target"));
  if (verb == "snapshot_bytes") co_return co_await snapshot_bytes(text("target"));
  if (verb == "measure") co_return co_await measure(text("name"));
  if (verb == "shut_down") co_return co_await shut_down();
  co_return fail(Code::invalid_argument, "the broker knows no verb '" + verb + "'");
}

}  // namespace atl::sandbox::docker
