#include "sandbox/direct_streams.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "guest/protocol.h"
#include "sandbox/guest_process.h"

namespace atl::sandbox {
namespace {

constexpr std::size_t kPiece = guest::kDataMax;

int nonblocking(os::Fd fd) {
  const int number = fd.release();
  ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) | O_NONBLOCK);
  return number;
}

std::size_t waiting_bytes(int fd) {
  int count = 0;
  return ::ioctl(fd, FIONREAD, &count) == 0 && count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

DirectStreams::DirectStreams(boost::asio::any_io_executor executor, os::Fd control, os::Fd out, os::Fd err)
    : out_{Descriptor(executor, nonblocking(std::move(out))), Stream::out},
      err_{Descriptor(executor, nonblocking(std::move(err))), Stream::err},
      control_(executor, nonblocking(std::move(control))) {}

void DirectStreams::start(std::weak_ptr<ProcessTap> tap, std::function<void()> broke) {
  tap_ = std::move(tap);
  broke_ = std::move(broke);
  wait_for(out_), wait_for(err_), wait_for_control();
}

bool DirectStreams::is_full() const {
  const auto tap = tap_.lock();
  return tap && tap->held() >= guest::kOutputWindow;
}

void DirectStreams::wait_for(Pipe& pipe) {
  if (pipe.waiting || stopped_ || !pipe.descriptor.is_open()) return;
  pipe.waiting = true;
  pipe.descriptor.async_wait(Descriptor::wait_read,
                             [self = shared_from_this(), &pipe](boost::system::error_code error) {
                               pipe.waiting = false;
                               if (error || !pipe.descriptor.is_open()) return;
                               if (self->pump(pipe, kPiece)) self->wait_for(pipe);
                             });
}

void DirectStreams::wait_for_control() {
  if (waiting_for_control_ || stopped_ || !control_.is_open()) return;
  waiting_for_control_ = true;
  control_.async_wait(Descriptor::wait_read, [self = shared_from_this()](boost::system::error_code error) {
    self->waiting_for_control_ = false;
    if (!error && self->control_.is_open()) self->hear_control();
  });
}

bool DirectStreams::pump(Pipe& pipe, std::size_t limit) {
  char bytes[kPiece];
  while (limit > 0 && pipe.descriptor.is_open()) {
    if (is_full()) return stopped_ = true, false;
    const ssize_t got = ::read(pipe.descriptor.native_handle(), bytes, std::min(limit, sizeof bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) return pipe.descriptor.close(), true;
    limit -= static_cast<std::size_t>(got);
    if (const auto tap = tap_.lock()) tap->output(pipe.stream, {bytes, static_cast<std::size_t>(got)});
  }
  return true;
}

void DirectStreams::hear_control() {
  for (Pipe* pipe : {&out_, &err_})
    if (pipe->descriptor.is_open() && !pump(*pipe, waiting_bytes(pipe->descriptor.native_handle()))) return;
  char bytes[kPiece];
  const ssize_t got = ::recv(control_.native_handle(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return control_.close();
  if (got > 0) {
    const auto tap = tap_.lock();
    if (tap && !tap->control({bytes, static_cast<std::size_t>(got)})) {
      control_.close();
      if (auto broke = std::exchange(broke_, nullptr)) broke();
      return;
    }
  }
  wait_for_control();
}

void DirectStreams::resume() {
  if (!stopped_ || is_full()) return;
  stopped_ = false;
  wait_for(out_), wait_for(err_), wait_for_control();
}

void DirectStreams::write(std::string_view bytes) {
  if (unsent_.empty() && control_.is_open()) {
    const ssize_t sent =
        ::send(control_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  if (bytes.empty() || !control_.is_open()) return;
  unsent_.append(bytes);
  flush();
}

void DirectStreams::flush() {
  if (writing_ || unsent_.empty()) return;
  writing_ = true;
  control_.async_wait(Descriptor::wait_write, [self = shared_from_this()](boost::system::error_code error) {
    self->writing_ = false;
    if (error || !self->control_.is_open()) return self->unsent_.clear();
    const ssize_t sent = ::send(self->control_.native_handle(), self->unsent_.data(), self->unsent_.size(),
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return self->unsent_.clear();
    if (sent > 0) self->unsent_.erase(0, static_cast<std::size_t>(sent));
    self->flush();
  });
}

void DirectStreams::tell_rest_of(Pipe& pipe) {
  if (!pipe.descriptor.is_open()) return;
  // A process that inherited the pipe may go on writing: only what is in it now belongs to this process.
  std::size_t left = waiting_bytes(pipe.descriptor.native_handle());
  const auto tap = tap_.lock();
  for (char bytes[kPiece]; tap && left > 0;) {
    const ssize_t got = ::read(pipe.descriptor.native_handle(), bytes, std::min(left, sizeof bytes));
    if (got <= 0) break;
    tap->output(pipe.stream, {bytes, static_cast<std::size_t>(got)});
    left -= static_cast<std::size_t>(got);
  }
}

bool DirectStreams::tell_rest() {
  tell_rest_of(out_), tell_rest_of(err_);
  const auto tap = tap_.lock();
  std::size_t left = control_.is_open() ? waiting_bytes(control_.native_handle()) : 0;
  for (char bytes[kPiece]; tap && left > 0;) {
    const ssize_t got = ::recv(control_.native_handle(), bytes, std::min(left, sizeof bytes), MSG_DONTWAIT);
    if (got <= 0) break;
    if (!tap->control({bytes, static_cast<std::size_t>(got)})) return false;
    left -= static_cast<std::size_t>(got);
  }
  return control_.is_open();
}

void DirectStreams::finish() {
  for (Pipe* pipe : {&out_, &err_}) {
    tell_rest_of(*pipe);
    if (pipe->descriptor.is_open()) pipe->descriptor.close();
  }
  if (control_.is_open()) control_.close();
}

}  // namespace atl::sandbox
