#include "sandbox/guest_files.h"

#include <fmt/format.h>

#include "base/bytes.h"
#include "sandbox/receive_window.h"

namespace atl::sandbox {
using guest::Type;

namespace {

FileType type_of(std::uint8_t number) {
  return number <= static_cast<std::uint8_t>(FileType::other) ? static_cast<FileType>(number)
                                                              : FileType::unknown;
}

Result<FileInfo> entry_of(std::string_view payload) {
  guest::Reader in(payload.data(), payload.size());
  FileInfo info;
  if (!read_entry(in, info) || !in.done())
    return fail(Code::provider_failed, "the guest told a file in a form nobody knows");
  return info;
}

// A channel with a stream on it: what came, and how it ended.
class FileChannel : public FrameChannel {
 public:
  explicit FileChannel(std::shared_ptr<FrameStream> frames)
      : frames_(std::move(frames)), changed_(frames_->executor()) {}

  void open(Type type, std::string_view request, std::shared_ptr<FrameChannel> self) {
    id_ = frames_->open(std::move(self), type, request);
  }
  // The stream's reference to this goes; the guest is told unless it is over already.
  void close() {
    if (!over_) frames_->send(id_, Type::close, 0, {});
    over_ = true;
    frames_->forget(id_);
  }
  // Waits for the reply to the request.
  Task<std::string> replied() {
    while (!reply_ && !failure_) CO_CHECK(co_await changed_.wait());
    if (!reply_) co_return fail(*failure_);
    co_return *reply_;
  }

  bool frame(Type type, std::uint16_t, std::string_view payload) override {
    changed_.notify();
    switch (type) {
      case Type::reply:
        if (reply_) return false;
        reply_ = std::string(payload);
        return true;
      case Type::failed: fail_with(failure_of(payload)); return true;
      default: return !over_ && told(type, payload);
    }
  }
  void lost(const Error& why) override {
    changed_.notify();
    fail_with(why);
  }
  void frozen(const Error& why) override {
    if (over_) return;
    frames_->send(id_, Type::close, 0, {});
    lost(why);
  }

 protected:
  // Everything but reply and failed.
  virtual bool told(Type type, std::string_view payload) = 0;
  void fail_with(Error why) {
    if (!over_) failure_ = std::move(why);
    over_ = true;
    frames_->forget(id_);
  }
  void finish() {
    over_ = true;
    frames_->forget(id_);
  }

 public:
  std::shared_ptr<FrameStream> frames_;
  os::Event changed_;
  std::uint32_t id_ = 0;
  std::optional<std::string> reply_;
  std::optional<Error> failure_;
  bool over_ = false;
};

class ListStream final : public FileChannel {
 public:
  ListStream(std::shared_ptr<FrameStream> frames, ListBounds bounds)
      : FileChannel(std::move(frames)), bounds_(std::move(bounds)), left_(bounds_.entries_max) {}
  std::vector<FileInfo> entries;
  // Ended by our bounds, not by the guest.
  bool is_cut() const { return bytes_ > bounds_.bytes_max; }

 protected:
  bool told(Type type, std::string_view payload) override {
    if (type == Type::finished) return finish(), true;
    if (type != Type::data) return false;
    const std::size_t had = entries.size();
    guest::Reader in(payload.data(), payload.size());
    while (in.left() > 0) {
      FileInfo info;
      // A guest that sends more entries than it was asked for breaks the protocol.
      if (!read_entry(in, info) || left_ == 0) return false;
      --left_;
      entries.push_back(std::move(info));
    }
    if (auto taken = take(payload.size(), entries.size() - had); !taken) {
      frames_->send(id_, Type::close, 0, {});
      fail_with(std::move(taken).error());
    }
    return true;
  }

 private:
  Result<void> take(std::size_t bytes, std::size_t count) {
    bytes_ += bytes;
    if (bytes_ > bounds_.bytes_max) {
      return fail(Code::too_large,
                  fmt::format("more than {} bytes of names and attributes: list fewer levels, or a "
                              "directory below",
                              bounds_.bytes_max));
    }
    return bounds_.take ? bounds_.take(bytes + count * sizeof(FileInfo)) : Result<void>();
  }

  ListBounds bounds_;
  std::size_t left_;
  std::size_t bytes_ = 0;
};

class ReadStream final : public FileChannel {
 public:
  using FileChannel::FileChannel;
  ReceiveWindow received{guest::kOutputWindow / 4};

 protected:
  bool told(Type type, std::string_view payload) override {
    if (type == Type::finished) return finish(), true;
    return type == Type::data && received.add(payload);
  }
};

class GuestFileReader final : public FileReader {
 public:
  GuestFileReader(std::shared_ptr<ReadStream> stream, FileInfo info)
      : stream_(std::move(stream)), info_(std::move(info)) {}
  ~GuestFileReader() override { stream_->close(); }
  const FileInfo& info() const override { return info_; }

  Task<std::string> next() override {
    ReadStream& stream = *stream_;
    while (stream.received.empty() && !stream.over_) CO_CHECK(co_await stream.changed_.wait());
    if (stream.received.empty()) {
      if (stream.failure_) co_return fail(*stream.failure_);
      co_return std::string();
    }
    std::string piece = stream.received.take();
    if (const std::uint32_t more = stream.over_ ? 0 : stream.received.grant(); more > 0)
      stream.frames_->send_credit(stream.id_, more);
    co_return piece;
  }

 private:
  std::shared_ptr<ReadStream> stream_;
  FileInfo info_;
};

class WriteStream final : public FileChannel {
 public:
  using FileChannel::FileChannel;
  std::uint32_t credit = guest::kInputWindow;
  std::optional<std::string> written;

 protected:
  bool told(Type type, std::string_view payload) override {
    if (type == Type::finished) {
      written = std::string(payload);
      return finish(), true;
    }
    guest::Reader in(payload.data(), payload.size());
    const std::uint32_t bytes = in.u32();
    if (type != Type::credit || !in.done() || bytes > guest::kInputWindow - credit) return false;
    credit += bytes;
    return true;
  }
};

class GuestFileWriter final : public FileWriter {
 public:
  explicit GuestFileWriter(std::shared_ptr<WriteStream> stream) : stream_(std::move(stream)) {}
  ~GuestFileWriter() override { stream_->close(); }

  Task<void> write(std::string bytes) override {
    WriteStream& stream = *stream_;
    for (std::string_view left = bytes; !left.empty();) {
      while (stream.credit == 0 && !stream.over_) CO_CHECK(co_await stream.changed_.wait());
      if (stream.over_)
        co_return fail(stream.failure_.value_or(Error(Code::conflict, "the file is finished")));
      const std::string_view piece = left.substr(0, std::min(stream.credit, guest::kDataMax));
      stream.frames_->send(stream.id_, Type::data, 0, piece);
      stream.credit -= static_cast<std::uint32_t>(piece.size());
      left.remove_prefix(piece.size());
    }
    co_return Result<void>();
  }

  Task<FileInfo> finish() override {
    WriteStream& stream = *stream_;
    if (!stream.over_) stream.frames_->send(stream.id_, Type::end, 0, {});
    while (!stream.over_) CO_CHECK(co_await stream.changed_.wait());
    if (!stream.written)
      co_return fail(stream.failure_.value_or(Error(Code::conflict, "the file is finished")));
    co_return entry_of(*stream.written);
  }

 private:
  std::shared_ptr<WriteStream> stream_;
};

class WatchStream final : public FileChannel {
 public:
  using FileChannel::FileChannel;
  static constexpr std::size_t kEventsMax = 16384;
  std::vector<WatchEvent> events;
  // A watch that stands only listens: it goes on when the guest does.
  void frozen(const Error& why) override {
    if (!reply_) FileChannel::frozen(why);
  }

 protected:
  bool told(Type type, std::string_view payload) override {
    if (type != Type::events) return false;
    guest::Reader in(payload.data(), payload.size());
    while (in.left() > 0) {
      const std::uint8_t kind = in.u8();
      std::string name(view(in.text()));
      if (!in.ok() || kind > static_cast<std::uint8_t>(WatchEventType::chmod)) return false;
      // A listener that does not read loses the newest events, so that they do not fill our memory.
      if (events.size() >= kEventsMax) continue;
      const WatchEvent event{static_cast<WatchEventType>(kind), std::move(name)};
      const bool repeats =
          !events.empty() && events.back().type == event.type && events.back().name == event.name;
      if (!repeats) events.push_back(event);
    }
    return true;
  }
};

class GuestWatch final : public Watch {
 public:
  explicit GuestWatch(std::shared_ptr<WatchStream> stream) : stream_(std::move(stream)) {}
  ~GuestWatch() override { stream_->close(); }

  Task<std::vector<WatchEvent>> next() override {
    WatchStream& stream = *stream_;
    while (stream.events.empty() && !stream.over_) CO_CHECK(co_await stream.changed_.wait());
    if (stream.events.empty())
      co_return fail(stream.failure_.value_or(Error(Code::unavailable, "the watch has ended")));
    co_return std::exchange(stream.events, {});
  }

  // The guest tells what its watches have seen before it answers a ping.
  Task<std::vector<WatchEvent>> poll() override {
    const auto stream = stream_;
    std::string nothing;
    CO_CHECK(co_await stream->frames_->call(Type::ping, std::move(nothing)));
    if (stream->events.empty() && stream->over_)
      co_return fail(stream->failure_.value_or(Error(Code::unavailable, "the watch has ended")));
    co_return std::exchange(stream->events, {});
  }

 private:
  std::shared_ptr<WatchStream> stream_;
};

}  // namespace

bool read_entry(guest::Reader& in, FileInfo& info) {
  info.name = view(in.text());
  info.path = view(in.text());
  info.type = type_of(in.u8());
  info.target_type = type_of(in.u8());
  info.size = in.u64();
  // Everything in here comes from the guest: numbers are cut to what they may be, and text is checked by
  // whoever shows it.
  info.mode = in.u32() & 07777, info.link_mode = in.u32() & 07777;
  info.uid = in.u32(), info.gid = in.u32();
  info.owner = view(in.text()), info.group = view(in.text());
  info.modified_at = time_of(in.i64());
  info.target = view(in.text());
  for (std::uint32_t count = in.u32(); count > 0 && in.ok(); --count) {
    const std::string_view name = view(in.text()), value = view(in.text());
    if (in.ok()) info.attributes.insert_or_assign(std::string(name), std::string(value));
  }
  return in.ok();
}

std::string GuestFiles::begin(const std::string& user, const std::string& path) const {
  std::string bytes;
  FramePayload out(bytes);
  const std::string& who = user.empty() ? user_ : user;
  out.text(who.data(), who.size()), out.text(path.data(), path.size());
  return bytes;
}

Task<FileInfo> GuestFiles::stat(std::string path, std::string user) {
  const auto frames = frames_;
  std::string request = begin(user, path);
  CO_TRY(const std::string reply, co_await frames->call(Type::stat, std::move(request)));
  co_return entry_of(reply);
}

Task<FileInfo> GuestFiles::make_directory(std::string path, std::string user, Ownership ownership) {
  const auto frames = frames_;
  std::string request = begin(user, path);
  FramePayload(request).u8(ownership == Ownership::hand_over ? 1 : 0);
  CO_TRY(const std::string reply, co_await frames->call(Type::make_directory, std::move(request)));
  co_return entry_of(reply);
}

Task<std::vector<FileInfo>> GuestFiles::list(std::string path, std::uint32_t depth, ListBounds bounds,
                                             std::string user) {
  std::string request = begin(user, path);
  FramePayload out(request);
  bounds.entries_max = std::min<std::size_t>(bounds.entries_max, 10'000'000);
  const std::size_t entries_max = bounds.entries_max;
  out.u32(depth), out.u32(static_cast<std::uint32_t>(entries_max));
  const auto stream = std::make_shared<ListStream>(frames_, std::move(bounds));
  // However this ends, cancellation included: what `bounds.take` refers to may be gone afterwards.
  struct CloseAtTheEnd {
    ListStream& stream;
    ~CloseAtTheEnd() {
      if (!stream.over_) stream.close();
    }
  } const closing{*stream};
  stream->open(Type::list, request, stream);
  Result<void> waited;
  while (!stream->over_ && waited) waited = co_await stream->changed_.wait();
  if (!waited) co_return fail(waited.error());
  if (stream->failure_) {
    if (stream->failure_->code() == Code::too_large && !stream->is_cut())
      co_return fail(Code::too_large, fmt::format("{}: more than {} entries", path, entries_max));
    co_return fail(*stream->failure_);
  }
  co_return std::move(stream->entries);
}

Task<FileInfo> GuestFiles::two_paths(Type type, std::string from, std::string to, std::string user,
                                     Overwrite overwrite) {
  const auto frames = frames_;
  std::string request = begin(user, from);
  FramePayload out(request);
  out.text(to.data(), to.size()), out.u8(overwrite == Overwrite::yes ? 1 : 0);
  CO_TRY(const std::string reply, co_await frames->call(type, std::move(request)));
  co_return entry_of(reply);
}

Task<FileInfo> GuestFiles::move(std::string from, std::string to, std::string user, Overwrite overwrite) {
  return two_paths(Type::move, std::move(from), std::move(to), std::move(user), overwrite);
}

Task<FileInfo> GuestFiles::copy(std::string from, std::string to, std::string user, Overwrite overwrite) {
  return two_paths(Type::copy, std::move(from), std::move(to), std::move(user), overwrite);
}

Task<void> GuestFiles::remove(std::string path, Recursive recursive, std::string user) {
  const auto frames = frames_;
  std::string request = begin(user, path);
  FramePayload(request).u8(recursive == Recursive::yes ? 1 : 0);
  CO_CHECK(co_await frames->call(Type::remove, std::move(request)));
  co_return Result<void>();
}

Task<void> GuestFiles::chmod(std::string path, std::uint32_t mode, std::string user) {
  const auto frames = frames_;
  std::string request = begin(user, path);
  FramePayload(request).u32(mode);
  CO_CHECK(co_await frames->call(Type::chmod, std::move(request)));
  co_return Result<void>();
}

Task<std::unique_ptr<FileReader>> GuestFiles::open_read(std::string path, std::uint64_t offset,
                                                        std::optional<std::uint64_t> length,
                                                        std::string user) {
  std::string request = begin(user, path);
  FramePayload out(request);
  out.u64(offset), out.u64(length.value_or(std::numeric_limits<std::uint64_t>::max())),
      out.u32(guest::kOutputWindow);
  const auto stream = std::make_shared<ReadStream>(frames_);
  stream->open(Type::read, request, stream);
  const Result<std::string> reply = co_await stream->replied();
  if (!reply) {
    stream->close();
    co_return fail(reply.error());
  }
  CO_TRY(FileInfo info, entry_of(*reply));
  co_return std::unique_ptr<FileReader>(std::make_unique<GuestFileReader>(stream, std::move(info)));
}

Task<std::unique_ptr<FileWriter>> GuestFiles::open_write(std::string path, WriteOptions options) {
  std::string request = begin(options.user, path);
  FramePayload out(request);
  out.u32(options.mode);
  out.u8(static_cast<std::uint8_t>((options.create_parents ? guest::kWriteParents : 0) |
                                   (options.append ? guest::kWriteAppend : 0) |
                                   (options.attributes ? guest::kWriteAttributes : 0) |
                                   (options.ownership == Ownership::hand_over ? guest::kWriteHandOver : 0)));
  out.text(options.attribute_prefix.data(), options.attribute_prefix.size());
  out.u32(options.attributes ? static_cast<std::uint32_t>(options.attributes->size()) : 0);
  if (options.attributes)
    for (const auto& [name, value] : *options.attributes)
      out.text(name.data(), name.size()), out.text(value.data(), value.size());
  const auto stream = std::make_shared<WriteStream>(frames_);
  stream->open(Type::write, request, stream);
  const Result<std::string> reply = co_await stream->replied();
  if (!reply) {
    stream->close();
    co_return fail(reply.error());
  }
  co_return std::unique_ptr<FileWriter>(std::make_unique<GuestFileWriter>(stream));
}

Task<std::unique_ptr<Watch>> GuestFiles::watch(std::string path, Recursive recursive, std::string user) {
  std::string request = begin(user, path);
  FramePayload(request).u8(recursive == Recursive::yes ? 1 : 0);
  const auto stream = std::make_shared<WatchStream>(frames_);
  stream->open(Type::watch, request, stream);
  const Result<std::string> reply = co_await stream->replied();
  if (!reply) {
    stream->close();
    co_return fail(reply.error());
  }
  co_return std::unique_ptr<Watch>(std::make_unique<GuestWatch>(stream));
}

}  // namespace atl::sandbox
