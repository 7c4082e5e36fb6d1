#include "sandbox/guest_ports.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "sandbox/receive_window.h"

namespace atl::sandbox {
using guest::Type;

namespace {

constexpr std::size_t kWaitingConnectionsMax = 128;

// What the channels of this file have in common. The handle that a caller holds closes its channel when it
// goes.
class RelayChannel : public FrameChannel {
 public:
  explicit RelayChannel(std::shared_ptr<FrameStream> frames)
      : frames_(std::move(frames)), changed_(frames_->executor()) {}

  // The first reason stays.
  void lost(const Error& why) override {
    changed_.notify();
    if (!failure_) failure_ = why;
  }
  // The guest says that it failed, and that it knows this channel no more.
  bool failed(std::string_view payload) {
    lost(failure_of(payload));
    frames_->forget(id_);
    return true;
  }
  void close() {
    frames_->send(id_, Type::close, 0, {});
    frames_->forget(id_);
  }

  std::shared_ptr<FrameStream> frames_;
  os::Event changed_;
  std::uint32_t id_ = 0;
  std::optional<Error> failure_;
};

// The oldest of what waits at a channel, as soon as there is something; what had come before a failure is
// given out first.
template <class Channel>
auto take_waiting(std::shared_ptr<Channel> channel)
    -> Task<typename decltype(channel->waiting_)::value_type> {
  while (channel->waiting_.empty() && !channel->failure_) CO_CHECK(co_await channel->changed_.wait());
  if (channel->waiting_.empty()) co_return fail(*channel->failure_);
  auto first = std::move(channel->waiting_.front());
  channel->waiting_.pop_front();
  co_return first;
}

class Connection final : public RelayChannel {
 public:
  using RelayChannel::RelayChannel;

  bool frame(Type type, std::uint16_t, std::string_view payload) override {
    changed_.notify();
    guest::Reader in(payload.data(), payload.size());
    switch (type) {
      case Type::reply: return !std::exchange(connected_, true);
      case Type::data: return connected_ && !ended_ && received_.add(payload);
      case Type::end: return connected_ && !std::exchange(ended_, true);
      case Type::credit: {
        const std::uint32_t bytes = in.u32();
        if (!in.done() || bytes > guest::kInputWindow - credit_) return false;
        credit_ += bytes;
        return true;
      }
      case Type::failed: return failed(payload);
      default: return false;
    }
  }
  // A client outside would wait for a server that stands still. What programs inside opened goes on with
  // them.
  void frozen(const Error& why) override {
    if ((id_ & guest::kGuestChannel) == 0) lost(why);
  }

  bool connected_ = false, ended_ = false, input_ended_ = false;
  std::uint32_t credit_ = guest::kInputWindow;
  ReceiveWindow received_{guest::kInputWindow / 4};
};

class RelayStream final : public ByteStream {
 public:
  explicit RelayStream(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  ~RelayStream() override { connection_->close(); }

  Task<std::string> read() override {
    Connection& from = *connection_;
    while (from.received_.empty() && !from.ended_ && !from.failure_) CO_CHECK(co_await from.changed_.wait());
    if (from.received_.empty()) {
      if (from.ended_) co_return std::string();
      co_return fail(*from.failure_);
    }
    std::string piece = from.received_.take();
    if (const std::uint32_t more = from.received_.grant(); more > 0)
      from.frames_->send_credit(from.id_, more);
    co_return piece;
  }

  Task<void> write(std::string bytes) override {
    Connection& to = *connection_;
    for (std::string_view left = bytes; !left.empty();) {
      while (to.credit_ == 0 && !to.failure_) CO_CHECK(co_await to.changed_.wait());
      if (to.failure_) co_return fail(*to.failure_);
      if (to.input_ended_) co_return fail(Code::conflict, "the connection is closed for writing");
      const std::string_view piece = left.substr(0, std::min(to.credit_, guest::kDataMax));
      to.frames_->send(to.id_, Type::data, 0, piece);
      to.credit_ -= static_cast<std::uint32_t>(piece.size());
      left.remove_prefix(piece.size());
    }
    co_return Result<void>();
  }

  Task<void> close_write() override {
    Connection& to = *connection_;
    if (to.failure_) co_return fail(*to.failure_);
    if (!std::exchange(to.input_ended_, true)) to.frames_->send(to.id_, Type::end, 0, {});
    co_return Result<void>();
  }

 private:
  std::shared_ptr<Connection> connection_;
};

class Server final : public RelayChannel {
 public:
  using RelayChannel::RelayChannel;

  bool frame(Type type, std::uint16_t, std::string_view payload) override {
    changed_.notify();
    guest::Reader in(payload.data(), payload.size());
    switch (type) {
      case Type::reply: {
        const std::uint16_t port = in.u16();
        if (!in.done() || port_ != 0) return false;
        port_ = port;
        return true;
      }
      case Type::accepted: return accepted(in);
      case Type::failed: return failed(payload);
      default: return false;
    }
  }

  bool accepted(guest::Reader in) {
    const std::uint32_t id = in.u32();
    if (!in.done() || (id & guest::kGuestChannel) == 0 || id <= newest_) return false;
    newest_ = id;
    if (waiting_.size() >= kWaitingConnectionsMax) {
      frames_->send(id, Type::close, 0, {});
      return true;
    }
    const auto connection = std::make_shared<Connection>(frames_);
    connection->id_ = id;
    connection->connected_ = true;
    frames_->adopt(id, connection);
    waiting_.push_back(std::make_unique<RelayStream>(connection));
    return true;
  }

  std::uint32_t newest_ = 0;
  std::uint16_t port_ = 0;
  std::deque<std::unique_ptr<ByteStream>> waiting_;
};

class RelayListener final : public PortListener {
 public:
  explicit RelayListener(std::shared_ptr<Server> server) : server_(std::move(server)) {}
  ~RelayListener() override { server_->close(); }
  std::uint16_t port() const override { return server_->port_; }
  Task<std::unique_ptr<ByteStream>> accept() override { return take_waiting(server_); }

 private:
  std::shared_ptr<Server> server_;
};

class DatagramServer final : public RelayChannel {
 public:
  using RelayChannel::RelayChannel;

  bool frame(Type type, std::uint16_t, std::string_view payload) override {
    changed_.notify();
    guest::Reader in(payload.data(), payload.size());
    switch (type) {
      case Type::reply: return !std::exchange(bound_, true);
      case Type::datagram: {
        const std::uint32_t sender = in.u32();
        const guest::Text bytes = in.rest();
        if (!bound_ || !in.ok() || bytes.size > guest::kDatagramBytesMax) return false;
        if (waiting_.size() < guest::kDatagramsMax)
          waiting_.push_back({sender, std::string(bytes.data, bytes.size)});
        return true;
      }
      case Type::failed: return failed(payload);
      default: return false;
    }
  }

  bool bound_ = false;
  std::deque<DatagramPort::Datagram> waiting_;
};

class RelayDatagrams final : public DatagramPort {
 public:
  explicit RelayDatagrams(std::shared_ptr<DatagramServer> server) : server_(std::move(server)) {}
  ~RelayDatagrams() override { server_->close(); }
  Task<Datagram> receive() override { return take_waiting(server_); }
  void answer(std::uint32_t sender, std::string_view bytes) override {
    if (bytes.size() > guest::kDatagramBytesMax) return;
    std::string frame;
    FramePayload(frame).u32(sender);
    frame += bytes;
    server_->frames_->send(server_->id_, Type::datagram, 0, frame);
  }

 private:
  std::shared_ptr<DatagramServer> server_;
};

}  // namespace

Task<std::unique_ptr<ByteStream>> relay_connect(std::shared_ptr<FrameStream> frames, std::uint16_t port) {
  if (port == 0) co_return fail(Code::invalid_argument, "there is no port 0");
  std::string request;
  FramePayload out(request);
  out.u16(port), out.u32(guest::kInputWindow);
  const auto connection = std::make_shared<Connection>(frames);
  connection->id_ = frames->open(connection, Type::connect, request);
  auto stream = std::make_unique<RelayStream>(connection);
  while (!connection->connected_ && !connection->failure_) CO_CHECK(co_await connection->changed_.wait());
  if (!connection->connected_)
    co_return fail(Error(*connection->failure_).context(fmt::format("port {}", port)));
  co_return std::unique_ptr<ByteStream>(std::move(stream));
}

Task<std::unique_ptr<PortListener>> relay_listen(std::shared_ptr<FrameStream> frames, std::uint16_t port) {
  std::string request;
  FramePayload(request).u16(port);
  const auto server = std::make_shared<Server>(frames);
  server->id_ = frames->open(server, Type::listen, request);
  auto listener = std::make_unique<RelayListener>(server);
  while (server->port_ == 0 && !server->failure_) CO_CHECK(co_await server->changed_.wait());
  if (server->port_ == 0)
    co_return fail(Error(*server->failure_).context(fmt::format("listen on port {}", port)));
  co_return std::unique_ptr<PortListener>(std::move(listener));
}

Task<std::shared_ptr<DatagramPort>> relay_datagrams(std::shared_ptr<FrameStream> frames, std::uint16_t port) {
  std::string request;
  FramePayload(request).u16(port);
  const auto server = std::make_shared<DatagramServer>(frames);
  server->id_ = frames->open(server, Type::datagrams, request);
  auto datagrams = std::make_shared<RelayDatagrams>(server);
  while (!server->bound_ && !server->failure_) CO_CHECK(co_await server->changed_.wait());
  if (!server->bound_)
    co_return fail(Error(*server->failure_).context(fmt::format("datagrams of port {}", port)));
  co_return std::shared_ptr<DatagramPort>(std::move(datagrams));
}

Task<std::vector<std::uint16_t>> relay_ports(std::shared_ptr<FrameStream> frames) {
  std::string nothing;
  CO_TRY(const std::string reply, co_await frames->call(Type::ports, std::move(nothing)));
  guest::Reader in(reply.data(), reply.size());
  std::vector<std::uint16_t> ports;
  while (in.left() > 0 && in.ok()) ports.push_back(in.u16());
  std::ranges::sort(ports);
  co_return ports;
}

}  // namespace atl::sandbox
