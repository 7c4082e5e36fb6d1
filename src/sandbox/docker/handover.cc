#include "sandbox/docker/handover.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>
#include <utility>

#include "os/file.h"
#include "os/message.h"

namespace atl::sandbox::docker {
namespace {

using boost::asio::posix::stream_descriptor;
// Processes inside that connect before the guest did; it is the first one there.
constexpr int kBacklog = 8;

}  // namespace

Result<std::shared_ptr<Handover>> Handover::listen(const boost::asio::any_io_executor& executor,
                                                   const std::string& directory, const std::string& name) {
  TRY(os::make_directories(directory, 0700));
  const os::Fd place = TRY(os::open(directory.c_str(), O_RDONLY | O_DIRECTORY));
  os::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Below the directory's descriptor: paths of data directories may be longer than an address.
  const std::string path = fmt::format("/proc/self/fd/{}/{}", place.get(), name);
  if (path.size() >= sizeof address.sun_path)
    return fail(Code::invalid_argument, "the name of the sandbox is too long");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ::unlinkat(place.get(), name.c_str(), 0);
  // JUSTIFICATION: the system call takes addresses of every kind by this type
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
      // The guest is whichever user the image has.
      ::fchmodat(place.get(), name.c_str(), 0666, 0) < 0 || ::listen(socket.get(), kBacklog) < 0)
    return fail(errno_error(errno, "listen for a guest"));
  return std::shared_ptr<Handover>(new Handover(executor, std::move(socket), directory + "/" + name));
}

Handover::Handover(const boost::asio::any_io_executor& executor, os::Fd listener, std::string path)
    : executor_(executor), path_(std::move(path)) {
  listener_.emplace(executor, listener.release());
}

Handover::~Handover() {
  stop_listening();
}

void Handover::stop_listening() {
  if (!listener_) return;
  listener_.reset();
  ::unlink(path_.c_str());
}

bool Handover::take(pid_t guest) {
  for (;;) {
    os::Fd came(::accept4(listener_->native_handle(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!came.is_open()) return false;
    ucred peer{};
    socklen_t size = sizeof peer;
    if (::getsockopt(came.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid != guest) continue;
    guest_.emplace(executor_, came.release());
    stop_listening();
    return true;
  }
}

Task<void> Handover::accept(pid_t guest, std::chrono::milliseconds patience) {
  using namespace boost::asio::experimental::awaitable_operators;
  const auto self = shared_from_this();
  boost::asio::steady_timer late(executor_, patience);
  while (listener_ && !take(guest)) {
    if (late.expiry() <= std::chrono::steady_clock::now())
      co_return fail(Code::deadline_exceeded, "the guest did not come");
    constexpr auto kAwait = boost::asio::as_tuple(boost::asio::use_awaitable);
    auto first =
        co_await (listener_->async_wait(stream_descriptor::wait_read, kAwait) || late.async_wait(kAwait));
    (void)first;
  }
  if (!guest_) co_return fail(Code::canceled, "nobody waits for the guest any more");
  co_return Result<void>();
}

void Handover::start(std::function<void(std::string)> on_end) {
  on_end_ = std::move(on_end);
  await_end();
}

// The guest never says anything here: what can be read is its end.
void Handover::await_end() {
  if (!guest_) return;
  guest_->async_wait(stream_descriptor::wait_read,
                     [weak = weak_from_this()](boost::system::error_code error) {
                       const auto self = weak.lock();
                       if (!self || error) return;
                       char byte = 0;
                       const ssize_t got = ::recv(self->guest_->native_handle(), &byte, 1, MSG_DONTWAIT);
                       if (got > 0 || (got < 0 && errno == EAGAIN)) return self->await_end();
                       if (auto on_end = std::exchange(self->on_end_, nullptr)) on_end("its guest ended");
                     });
}

Result<os::Fd> Handover::open() {
  if (!guest_) return fail(Code::provider_failed, "the guest is gone");
  os::SocketPair pair = TRY(os::socket_pair(os::SocketKind::stream));
  const int inside[] = {pair.second.get()};
  // Not Code::unavailable, which would mean the engine: a guest that is gone says nothing about that.
  if (auto sent = os::send_message(guest_->native_handle(), "s", inside, os::Wait::no); !sent)
    return fail(Error(Code::provider_failed, "the container ended before it was of use")
                    .with_detail(sent.error().message()));
  return std::move(pair.first);
}

// The daemon's own end closes with it; the guest waits for another.
void Handover::close() {}

}  // namespace atl::sandbox::docker
