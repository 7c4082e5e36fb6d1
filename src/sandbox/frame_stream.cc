#include "sandbox/frame_stream.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>

#include "base/bytes.h"

namespace atl::sandbox {
namespace asio = boost::asio;
using guest::Header;
using guest::Type;

namespace {

constexpr std::size_t kInputBuffer = 2 * (sizeof(Header) + guest::kFrameMax);
// Requests that a guest does not read pile up here; data cannot, it needs credit.
constexpr std::size_t kOutputMax = 64U << 20;
constexpr std::chrono::seconds kSilence{20};

// A request with one answer.
class Call final : public FrameChannel {
 public:
  explicit Call(asio::any_io_executor executor) : changed(std::move(executor)) {}
  bool frame(Type type, std::uint16_t, std::string_view payload) override {
    if (answer) return false;
    if (type == Type::reply) {
      answer = std::string(payload);
    } else if (type == Type::failed) {
      answer = fail(failure_of(payload));
    } else {
      return false;
    }
    changed.notify();
    return true;
  }
  void lost(const Error& why) override {
    if (!answer) answer = fail(why);
    changed.notify();
  }
  void frozen(const Error& why) override { lost(why); }

  os::Event changed;
  std::optional<Result<std::string>> answer;
};

}  // namespace

Error failure_of(std::string_view payload) {
  guest::Reader in(payload.data(), payload.size());
  const auto number = static_cast<int>(in.u32());
  const guest::Text text = in.text();
  if (!in.ok()) return Error(Code::provider_failed, "the guest reported a failure in a form nobody knows");
  // What is busy inside (a mount point that is to be removed, say) stays so: trying again would not help.
  const Code code = number == EBUSY ? Code::conflict : errno_error(number, "").code();
  return Error(code, to_valid_utf8(std::string_view(text.data, text.size)));
}

FrameStream::FrameStream(asio::any_io_executor executor, os::Fd stream)
    : executor_(executor), stream_(executor, stream.release()), watchdog_(executor), changed_(executor) {
  stream_.non_blocking(true);
}

FrameStream::~FrameStream() = default;

Task<void> FrameStream::greet(std::chrono::milliseconds patience) {
  const auto self = shared_from_this();
  read_more();
  asio::steady_timer deadline(executor_, patience);
  deadline.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto frames = weak.lock();
    if (error || !frames || (frames->greeted_ && frames->live_left_ == 0)) return;
    frames->end(Error(Code::provider_failed, "the guest did not answer in time"));
  });
  while (is_open() && (!greeted_ || live_left_ > 0)) CO_CHECK(co_await changed_.wait());
  if (!is_open()) co_return fail(*ended_);
  co_return Result<void>();
}

void FrameStream::read_more() {
  if (!is_open() || stands_still_) return;
  stream_.async_wait(asio::posix::stream_descriptor::wait_read,
                     [weak = weak_from_this(), stream = streams_](boost::system::error_code error) {
                       const auto frames = weak.lock();
                       if (!error && frames && frames->streams_ == stream) frames->receive();
                     });
}

void FrameStream::receive() {
  if (stands_still_) return;
  // One buffer for all streams of this loop; a stream keeps only the frame that is not complete yet.
  static thread_local std::array<char, kInputBuffer> buffer;
  // A few rounds, so that a flood on one stream does not starve the loop.
  for (int round = 0; round < 4 && is_open(); ++round) {
    // The incomplete frame of the last time goes in front of what is read now.
    std::memcpy(buffer.data(), input_.data(), input_.size());
    const std::size_t room = buffer.size() - input_.size();
    const ssize_t got = ::recv(stream_.native_handle(), buffer.data() + input_.size(), room, MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (got <= 0)
      return end(Error(Code::provider_failed, "the sandbox is gone: its guest closed the stream"));
    if (!parse(std::string_view(buffer.data(), input_.size() + static_cast<std::size_t>(got))))
      return end(Error(Code::provider_failed, "the guest broke the protocol"));
    if (static_cast<std::size_t>(got) < room) break;
  }
  read_more();
}

bool FrameStream::parse(std::string_view bytes) {
  while (is_open() && bytes.size() >= sizeof(Header)) {
    Header header;
    std::memcpy(&header, bytes.data(), sizeof header);
    // Checked before anything waits for so many bytes.
    if (header.size > guest::kFrameMax) return false;
    if (bytes.size() < sizeof header + header.size) break;
    ++frames_seen_;
    if (!dispatch(header, bytes.substr(sizeof header, header.size))) return false;
    bytes.remove_prefix(sizeof header + header.size);
  }
  input_.assign(bytes);
  if (input_.empty() && input_.capacity() > 4096) input_.shrink_to_fit();
  return true;
}

bool FrameStream::greeting(const Header& header, std::string_view payload) {
  guest::Reader in(payload.data(), payload.size());
  if (!greeted_) {
    if (header.channel != 0 || header.type != static_cast<std::uint16_t>(Type::hello)) return false;
    const std::uint32_t magic = in.u32(), version = in.u32();
    live_left_ = in.u32();
    if (!in.done() || magic != guest::kMagic || version != guest::kVersion) return false;
    if (live_left_ > guest::kChannelsMax) return false;
    greeted_ = true;
  } else {
    if (header.type != static_cast<std::uint16_t>(Type::live) || channels_.contains(header.channel))
      return false;
    if (header.channel == 0 || (header.channel & guest::kGuestChannel) != 0) return false;
    auto channel = revive_ ? revive_(header.channel, payload) : nullptr;
    // Channels that survived the service which opened them: live processes.
    if (channel) channels_.emplace(header.channel, std::move(channel));
    next_channel_ = std::max(next_channel_, header.channel + 1);
    --live_left_;
  }
  changed_.notify();
  return true;
}

bool FrameStream::dispatch(const Header& header, std::string_view payload) {
  if (!greeted_ || header.type == static_cast<std::uint16_t>(Type::live)) return greeting(header, payload);
  const auto found = channels_.find(header.channel);
  if (found != channels_.end()) {
    // Held, because the channel may take itself out of the table.
    const std::shared_ptr<FrameChannel> channel = found->second;
    return channel->frame(static_cast<Type>(header.type), header.flags, payload);
  }
  // Late messages of a channel that has been closed are ignored; a channel that never was open breaks the
  // protocol.
  return header.channel != 0 &&
         ((header.channel & guest::kGuestChannel) != 0 || header.channel < next_channel_);
}

std::uint32_t FrameStream::open(std::shared_ptr<FrameChannel> channel, Type type, std::string_view request) {
  if (!is_open()) {
    channel->lost(*ended_);
    return 0;
  }
  if (paused_) {
    channel->lost(Error(Code::conflict, "the sandbox is paused: resume it first"));
    return 0;
  }
  const std::uint32_t id = next_channel_++;
  channels_.emplace(id, std::move(channel));
  do {
    const std::string_view piece = request.substr(0, guest::kFrameMax);
    request.remove_prefix(piece.size());
    send(id, type, request.empty() ? std::uint16_t{0} : guest::kMore, piece);
  } while (!request.empty());
  return id;
}

void FrameStream::adopt(std::uint32_t id, std::shared_ptr<FrameChannel> channel) {
  if (!is_open()) return channel->lost(*ended_);
  channels_.insert_or_assign(id, std::move(channel));
}

void FrameStream::forget(std::uint32_t channel) {
  channels_.erase(channel);
}

void FrameStream::send(std::uint32_t channel, Type type, std::uint16_t flags, std::string_view payload) {
  if (!is_open()) return;
  const Header header{static_cast<std::uint32_t>(payload.size()), channel, static_cast<std::uint16_t>(type),
                      flags};
  // While the guest is being saved nothing may be on its way to it: what is sent waits.
  std::string& queue = held_ ? held_output_ : output_;
  queue.append(reinterpret_cast<const char*>(&header), sizeof header);
  queue.append(payload);
  if (held_output_.size() > kOutputMax)
    return end(Error(Code::provider_failed, "too much was sent to a guest that is being saved"));
  if (!held_ && !writing_) flush();
}

Task<void> FrameStream::hold() {
  const auto self = shared_from_this();
  if (held_) co_return fail(Code::conflict, "the sandbox is being saved");
  const auto channel = std::make_shared<Call>(executor_);
  const std::uint32_t id = open(channel, Type::hold, {});
  held_ = id != 0;
  ++calls_;
  watch_silence();
  Result<void> waited;
  while (!channel->answer && waited) waited = co_await channel->changed.wait();
  --calls_;
  forget(id);
  if (waited && !*channel->answer) waited = fail(channel->answer->error());
  if (!waited) {
    release();
    co_return waited;
  }
  stands_still_ = true;
  co_return Result<void>();
}

void FrameStream::release(os::Fd replacement) {
  if (!held_) return;
  held_ = false;
  const bool reads_again = std::exchange(stands_still_, false);
  if (!is_open()) return;
  if (replacement.is_open()) {
    boost::system::error_code ignored;
    stream_.close(ignored);
    stream_.assign(replacement.release(), ignored);
    stream_.non_blocking(true);
    // Callbacks of the old stream that are still queued see another number and do nothing.
    ++streams_;
    writing_ = false;
    output_.clear(), output_sent_ = 0;
  }
  const std::string waiting = std::exchange(held_output_, {});
  const Header header{0, 0, static_cast<std::uint16_t>(Type::release), 0};
  output_.append(reinterpret_cast<const char*>(&header), sizeof header);
  output_ += waiting;
  if (!writing_) flush();
  if (reads_again) read_more();
}

void FrameStream::send_credit(std::uint32_t channel, std::uint32_t bytes) {
  send(channel, Type::credit, 0, std::string_view(reinterpret_cast<const char*>(&bytes), sizeof bytes));
}

void FrameStream::flush() {
  while (is_open() && output_sent_ < output_.size()) {
    const ssize_t sent = ::send(stream_.native_handle(), output_.data() + output_sent_,
                                output_.size() - output_sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) break;
    // The reading side sees the same end and tells everyone; doing it here would call back into our caller.
    if (sent <= 0) break;
    output_sent_ += static_cast<std::size_t>(sent);
  }
  if (output_sent_ == output_.size()) {
    output_.clear(), output_sent_ = 0;
    if (output_.capacity() > kInputBuffer) output_.shrink_to_fit();
    return;
  }
  if (output_.size() - output_sent_ > kOutputMax) {
    asio::post(executor_, [weak = weak_from_this()] {
      if (const auto frames = weak.lock())
        frames->end(Error(Code::provider_failed, "the guest does not read its stream"));
    });
    return;
  }
  if (output_sent_ > kInputBuffer) output_.erase(0, output_sent_), output_sent_ = 0;
  writing_ = true;
  stream_.async_wait(asio::posix::stream_descriptor::wait_write,
                     [weak = weak_from_this(), stream = streams_](boost::system::error_code error) {
                       const auto frames = weak.lock();
                       if (!frames || frames->streams_ != stream) return;
                       frames->writing_ = false;
                       if (!error) frames->flush();
                     });
}

Task<std::string> FrameStream::call(Type type, std::string request) {
  const auto self = shared_from_this();
  const auto channel = std::make_shared<Call>(executor_);
  const std::uint32_t id = open(channel, type, request);
  ++calls_;
  watch_silence();
  Result<void> waited;
  while (!channel->answer && waited) waited = co_await channel->changed.wait();
  --calls_;
  forget(id);
  if (!waited) {
    send(id, Type::close, 0, {});
    co_return fail(waited.error());
  }
  co_return std::move(*channel->answer);
}

// An answer is awaited and nothing at all was heard for a while: ask; still nothing: the guest is lost.
void FrameStream::watch_silence() {
  if (watching_ || !is_open()) return;
  watching_ = true;
  frames_at_check_ = frames_seen_;
  watchdog_.expires_after(probed_ ? kSilence / 2 : kSilence);
  watchdog_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto frames = weak.lock();
    if (error || !frames) return;
    frames->watching_ = false;
    if (!frames->is_open()) return;
    const bool silent =
        frames->frames_seen_ == frames->frames_at_check_ && !frames->paused_ && !frames->stands_still_;
    if (!silent || frames->calls_ == 0) {
      frames->probed_ = false;
    } else if (frames->probed_) {
      return frames->end(Error(Code::provider_failed, "the guest is silent"));
    } else {
      frames->probed_ = true;
      frames->open(std::make_shared<Call>(frames->executor_), Type::ping, {});
    }
    if (frames->calls_ > 0) frames->watch_silence();
  });
}

void FrameStream::fail_waiting() {
  const Error why(Code::conflict,
                  "the sandbox was paused before it answered: resume it and look what was done");
  const auto channels = channels_;  // a channel that fails leaves the table
  for (const auto& [id, channel] : channels) channel->frozen(why);
}

void FrameStream::end(Error why) {
  if (ended_) return;
  ended_ = std::move(why);
  const auto self = weak_from_this().lock();
  boost::system::error_code ignored;
  stream_.close(ignored);
  watchdog_.cancel();
  // Emptied first: a channel that is told of the loss may open another, or take itself out.
  auto channels = std::move(channels_);
  channels_.clear();
  for (auto& [id, channel] : channels) channel->lost(*ended_);
  changed_.notify();
}

Task<Error> FrameStream::wait_for_end() {
  const auto self = shared_from_this();
  while (is_open()) CO_CHECK(co_await changed_.wait());
  co_return *ended_;
}

}  // namespace atl::sandbox
