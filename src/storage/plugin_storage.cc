#include "storage/plugin_storage.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "base/bytes.h"
#include "vfs/batch_format.h"
#include "vfs/wire.h"

namespace atl::storage {
namespace {

Result<os::Fd> connected(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    return fail(
        Error(Code::unsupported, "the data directory's path is too long for sockets").with_detail(path));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  os::Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // JUSTIFICATION: connect() takes every kind of address as the general one.
  const auto* general = reinterpret_cast<const sockaddr*>(&address);
  if (!socket.is_open() || ::connect(socket.get(), general, sizeof address) < 0)
    return fail(Error(Code::unavailable, "the process of the storage plugin does not run now")
                    .with_detail(std::strerror(errno)));
  return socket;
}

// False if the other side has closed the connection meanwhile, or says what nobody asked.
bool is_quiet(int socket) {
  char byte = 0;
  return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

Result<vfs::FileEntry> entry_in(std::string_view body) {
  vfs::WireReader reader(body);
  const std::string_view path = TRY(reader.bytes());
  return vfs::decode_entry(path, TRY(reader.take(reader.remaining())));
}

}  // namespace

Result<std::unique_ptr<PluginStorage>> PluginStorage::open(Options options, std::string space) {
  std::unique_ptr<PluginStorage> storage(new PluginStorage(std::move(options), std::move(space)));
  TRY(storage->get_all());
  return storage;
}

Result<void> PluginStorage::discard(const Options& options, const std::string& space) {
  PluginStorage storage(options, space);
  storage.socket_ = TRY(connected(options.socket));
  TRY(storage.ask(FrameKind::discard, space));
  return {};
}

Result<void> PluginStorage::connect() const {
  if (socket_.is_open() && is_quiet(socket_.get())) return {};
  socket_ = TRY(connected(options_.socket));
  TRY(ask(FrameKind::open, space_));
  return {};
}

Result<std::vector<vfs::FileEntry>> PluginStorage::ask(FrameKind kind, std::string_view body) const {
  const auto asked = [&]() -> Result<std::vector<vfs::FileEntry>> {
    TRY(send_frame(socket_.get(), kind, body, options_.call_max));
    std::vector<vfs::FileEntry> entries;
    std::size_t bytes = 0;
    while (true) {
      const auto frame = TRY(receive_frame(socket_.get(), options_.call_max));
      if (!frame) return fail(Code::unavailable, "the process of the storage plugin has ended");
      if (frame->kind == FrameKind::done) return entries;
      if (frame->kind == FrameKind::refused)
        return fail(Code::provider_failed,
                    fmt::format("the storage plugin refuses: {}", to_valid_utf8(frame->body.substr(0, 500))));
      if (frame->kind != FrameKind::entry || kind != FrameKind::load)
        return fail(Code::provider_failed, "the storage plugin's process says what nobody asked");
      // What comes without an end is nothing to wait for, and none of it was kept.
      bytes += frame->body.size() + sizeof(vfs::FileEntry);
      if (bytes > options_.load_max)
        return fail(Code::unavailable,
                    fmt::format("the storage plugin gives more than {} bytes", options_.load_max));
      entries.push_back(TRY(entry_in(frame->body)));
    }
  };
  auto answer = asked();
  if (!answer && answer.error().code() != Code::provider_failed) socket_.reset();
  return answer;
}

Result<std::vector<vfs::FileEntry>> PluginStorage::load() const {
  TRY(connect());
  return ask(FrameKind::load, "");
}

Result<void> PluginStorage::store(const vfs::Batch& batch) {
  TRY(connect());
  TRY(ask(FrameKind::apply, vfs::encode_batch(batch)));
  return {};
}

std::string plugin_socket(const std::string& sockets, const std::string& path) {
  return fmt::format("{}/{}/s", sockets, sha256_hex(path).substr(0, 12));
}

vfs::StorageKind plugin_kind(std::string sockets) {
  const auto options_of = [sockets](const vfs::StorageOptions& options) {
    return PluginStorage::Options{.socket = plugin_socket(sockets, options.find("path")->second)};
  };
  return {
      .options = {"library", "storage", "path"},
      .open = [options_of](const vfs::StorageOptions& options,
                           const std::string& space) -> Result<std::shared_ptr<vfs::FileStorage>> {
        return TRY(PluginStorage::open(options_of(options), space));
      },
      .discard = [options_of](const vfs::StorageOptions& options, const std::string& space) -> Result<void> {
        return PluginStorage::discard(options_of(options), space);
      }};
}

}  // namespace atl::storage
