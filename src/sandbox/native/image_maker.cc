#include "sandbox/native/image_maker.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"
#include "sandbox/native/spawner_protocol.h"

namespace atl::sandbox::native {
namespace {

// From the spawner. A ticket of 0 in an answer: one to be kept ready.
struct Job {
  enum class Kind : std::uint32_t { make, take_down } kind = Kind::make;
  std::uint64_t ticket = 0;
  ImageSize size;
};

// The loop of the process that makes images. It does one thing at a time, but a child formats and a thread
// takes down, so that a request for a copy of a template waits for neither.
class Process {
 public:
  Process(int socket, const ImageMaker::Setting& setting) : socket_(socket), setting_(setting) {}
  [[noreturn]] void run();

 private:
  struct Template {
    os::Fd file;
    SteadyTime used;
  };
  struct Formatting {
    ImageSize size;
    os::Fd file, child;
    SteadyTime since;
    bool is_late = false;  // and was told to end
  };
  void on_message();
  void make(ImageSize size, std::uint64_t ticket);
  void answer(std::uint64_t ticket, ImageSize size, Result<os::Fd> mount);
  void format_next();
  void formatted();
  void keep(ImageSize size, os::Fd file);
  void close_behind(os::Fd last);
  int timeout_ms();

  int socket_;
  const ImageMaker::Setting& setting_;
  std::map<ImageSize, Template> templates_;
  std::deque<ImageSize> unformatted_;
  std::map<ImageSize, std::vector<std::uint64_t>> waiting_;
  std::optional<Formatting> formatting_;
  std::atomic<std::size_t> closing_ = 0;
};

int until(SteadyTime when) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(when - Clock::machine().steady()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left + 1, 0, 3'600'000));
}

int Process::timeout_ms() {
  int timeout = -1;
  const auto sooner = [&](SteadyTime when) {
    timeout = timeout < 0 ? until(when) : std::min(timeout, until(when));
  };
  if (formatting_ && !formatting_->is_late) sooner(formatting_->since + ImageMaker::kFormatTime);
  // Dropped here because this runs before every wait.
  std::erase_if(templates_, [&](const auto& one) {
    return Clock::machine().steady() - one.second.used >= ImageMaker::kTemplateAge;
  });
  for (const auto& [size, one] : templates_) sooner(one.used + ImageMaker::kTemplateAge);
  return timeout;
}

void Process::run() {
  for (;;) {
    pollfd sources[] = {{socket_, POLLIN, 0}, {formatting_ ? formatting_->child.get() : -1, POLLIN, 0}};
    const int timeout = timeout_ms();
    if (::poll(sources, 2, timeout) < 0 && errno != EINTR) ::_exit(1);
    if (formatting_ && !formatting_->is_late &&
        Clock::machine().steady() - formatting_->since >= ImageMaker::kFormatTime) {
      formatting_->is_late = true;
      (void)os::pidfd_kill(formatting_->child.get(), SIGKILL);
    }
    if (sources[1].revents != 0) formatted();
    if (sources[0].revents != 0) on_message();
  }
}

void Process::on_message() {
  auto message = os::receive_message(socket_, os::Wait::no);
  if (!message && message.error().code() == Code::unavailable) return;
  Job job;
  // The spawner is gone.
  if (!message || message->bytes.size() != sizeof job) ::_exit(0);
  std::memcpy(&job, message->bytes.data(), sizeof job);
  if (job.kind == Job::Kind::make) return make(job.size, job.ticket);
  if (!message->fds.empty()) close_behind(std::move(message->fds.front()));
}

void Process::make(ImageSize size, std::uint64_t ticket) {
  if (const auto found = templates_.find(size); found != templates_.end()) {
    found->second.used = Clock::machine().steady();
    return answer(ticket, size,
                  mount_copy(setting_.place, found->second.file.get(), size.bytes, setting_.nodes));
  }
  auto& waiting = waiting_[size];
  waiting.push_back(ticket);
  // One formatting serves all that wait for the size.
  if (waiting.size() == 1) unformatted_.push_back(size);
  format_next();
}

void Process::answer(std::uint64_t ticket, ImageSize size, Result<os::Fd> mount) {
  Reply reply{.verb = Verb::image_made, .token = ticket, .answer = answers::Image{size.bytes, size.inodes}};
  if (!mount) reply.error = mount.error();
  const int fd = mount ? mount->get() : -1;
  if (auto sent = os::send_message(socket_, encode(reply), std::span(&fd, mount ? 1 : 0)); !sent) {
    // Too many descriptors on their way: without the mount the answer itself still fits.
    if (sent.error().code() != Code::resource_exhausted) ::_exit(0);
    reply.error = sent.error();
    if (!os::send_message(socket_, encode(reply))) ::_exit(0);
  }
}

void Process::format_next() {
  while (!formatting_ && !unformatted_.empty()) {
    const ImageSize size = unformatted_.front();
    unformatted_.pop_front();
    auto begun = [&]() -> Result<void> {
      Formatting formatting{.size = size, .file = {}, .child = {}, .since = Clock::machine().steady()};
      formatting.file = TRY(nameless_file(setting_.place, size.bytes));
      formatting.child = TRY(start_format(formatting.file.get(), size.inodes, setting_.host_mounts));
      formatting_ = std::move(formatting);
      return {};
    }();
    if (begun) return;
    for (const std::uint64_t ticket : std::exchange(waiting_[size], {}))
      answer(ticket, size, fail(begun.error()));
    waiting_.erase(size);
  }
}

void Process::formatted() {
  Formatting done = std::move(*std::exchange(formatting_, std::nullopt));
  auto exit = os::pidfd_wait(done.child.get());
  Result<void> good = exit ? format_ended(*exit) : Result<void>(fail(exit.error()));
  if (!good && done.is_late)
    good = fail(Code::deadline_exceeded, "a disk image took too long to be formatted");
  auto waiting = waiting_.extract(done.size);
  if (good) keep(done.size, std::move(done.file));
  for (const std::uint64_t ticket : waiting.mapped()) {
    if (good)
      make(done.size, ticket);
    else
      answer(ticket, done.size, fail(good.error()));
  }
  format_next();
}

void Process::keep(ImageSize size, os::Fd file) {
  if (templates_.size() >= ImageMaker::kTemplatesMax)
    templates_.erase(
        std::ranges::min_element(templates_, {}, [](const auto& one) { return one.second.used; }));
  templates_.insert_or_assign(size, Template{std::move(file), Clock::machine().steady()});
}

// Closing the last descriptor writes the image to the disk although its file is gone, which the kernel does
// not know; that may take seconds. More of them at once than this would only wait for each other.
void Process::close_behind(os::Fd last) {
  constexpr std::size_t at_once = 32;
  if (closing_ >= at_once) return last.reset();
  ++closing_;
  std::thread([this, fd = std::move(last)]() mutable {
    fd.reset();
    --closing_;
  }).detach();
}

}  // namespace

ImageMaker::ImageMaker(Setting setting) : setting_(std::move(setting)) {
  restart();
}

void ImageMaker::restart() {
  socket_.reset(), pidfd_.reset();
  if (!setting_.place.usable()) return;
  auto pair = os::socket_pair(os::SocketKind::packets);
  if (!pair) return;
  const pid_t child = os::fork_alone();
  if (child < 0) return;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "atoll-images");
    const sched_param normal{};
    ::sched_setscheduler(0, SCHED_OTHER, &normal);
    std::vector<int> kept{pair->second.get(), setting_.place.control.get(), setting_.place.directory.get(),
                          setting_.host_mounts};
    // Closes every range between the descriptors that are kept.
    std::ranges::sort(kept);
    unsigned from = 3;
    for (const int fd : kept) {
      if (static_cast<unsigned>(fd) > from)
        (void)os::close_range(from, static_cast<unsigned>(fd) - 1, os::UnshareTable::no);
      from = static_cast<unsigned>(fd) + 1;
    }
    (void)os::close_range(from, ~0U, os::UnshareTable::no);
    Process(pair->second.get(), setting_).run();
  }
  auto pidfd = os::pidfd_open(child);
  if (!pidfd) return;
  pid_ = child, pidfd_ = std::move(*pidfd), socket_ = std::move(pair->first);
}

std::optional<os::Fd> ImageMaker::take(ImageSize size) {
  const auto found = std::ranges::find(ready_, size, &Ready::size);
  if (found == ready_.end()) return std::nullopt;
  os::Fd mount = std::move(found->mount);
  ready_.erase(found);
  want(size);
  return mount;
}

void ImageMaker::want(ImageSize size) {
  const auto have = static_cast<std::size_t>(std::ranges::count(ready_, size, &Ready::size));
  const auto coming = coming_.find(size);
  if (have + (coming == coming_.end() ? 0 : coming->second) >= kReadyOfASize) return;
  if (order(0, size)) ++coming_[size];
}

Result<void> ImageMaker::ask(std::uint64_t ticket, ImageSize size) {
  TRY(order(ticket, size));
  want(size);
  return {};
}

Result<void> ImageMaker::order(std::uint64_t ticket, ImageSize size) {
  if (!usable()) return fail(Code::unavailable, "nobody makes disk images");
  const Job job{.kind = Job::Kind::make, .ticket = ticket, .size = size};
  const std::string_view bytes(reinterpret_cast<const char*>(&job), sizeof job);
  if (!os::send_message(socket_.get(), bytes, {}, os::Wait::no))
    return fail(Code::unavailable, "too many disk images are being made");
  return {};
}

Result<ImageMaker::Made> ImageMaker::hear() {
  take_down_left();
  for (;;) {
    auto message = os::receive_message(socket_.get(), os::Wait::no);
    if (!message && message.error().code() == Code::unavailable) return fail(std::move(message).error());
    auto reply = message ? decode_reply(message->bytes) : Result<Reply>(fail(message.error()));
    if (!reply) {
      (void)os::pidfd_kill(pidfd_.get(), SIGKILL);
      socket_.reset(), coming_.clear();
      return fail(Code::provider_failed, "the process that makes disk images ended");
    }
    // The kernel drops descriptors that do not fit into our table and delivers the rest of the message.
    if (message->fds_lost || (!reply->error && message->fds.empty()))
      reply->error = Error(Code::resource_exhausted, "too many files are open for a disk image");
    const auto image = reply->as<answers::Image>();
    const ImageSize size{image.bytes, image.inodes};
    if (reply->token != 0) {
      if (reply->error) return Made{reply->token, fail(std::move(*reply->error))};
      return Made{reply->token, std::move(message->fds.front())};
    }
    if (const auto coming = coming_.find(size); coming != coming_.end() && --coming->second == 0)
      coming_.erase(coming);
    if (!reply->error) keep(size, std::move(message->fds.front()));
  }
}

void ImageMaker::keep(ImageSize size, os::Fd mount) {
  if (ready_.size() >= kReadyMax) {
    take_down(std::move(ready_.front().mount));
    ready_.pop_front();
  }
  ready_.push_back({size, std::move(mount), Clock::machine().steady()});
}

void ImageMaker::take_down(os::Fd last) {
  const int fd = last.get();
  const Job job{.kind = Job::Kind::take_down};
  const std::string_view bytes(reinterpret_cast<const char*>(&job), sizeof job);
  if (!last.is_open() || !usable()) return;
  // The message keeps the descriptor open until the other process has received it.
  if (!os::send_message(socket_.get(), bytes, {&fd, 1}, os::Wait::no)) left_.push_back(std::move(last));
}

void ImageMaker::take_down_left() {
  for (std::size_t count = left_.size(); count > 0; --count) {
    os::Fd next = std::move(left_.front());
    left_.pop_front();
    take_down(std::move(next));
  }
}

void ImageMaker::forget_old() {
  if (!left_.empty()) take_down_left();
  while (!ready_.empty() && Clock::machine().steady() - ready_.front().since >= kTemplateAge) {
    take_down(std::move(ready_.front().mount));
    ready_.pop_front();
  }
}

std::optional<SteadyTime> ImageMaker::oldest_expires() const {
  if (ready_.empty()) return std::nullopt;
  return ready_.front().since + kTemplateAge;
}

}  // namespace atl::sandbox::native
