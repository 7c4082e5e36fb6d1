#include "egress/client_hello.h"

#include <cstdint>

namespace atl::egress {
namespace {

// Reads numbers and blocks off the front; `ok` turns false at the first read past the end and stays so.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }

  std::size_t number(std::size_t width) {
    const auto bytes = block(width);
    std::size_t value = 0;
    for (const unsigned char c : bytes) value = value << 8 | c;
    return value;
  }
  std::string_view block(std::size_t length) {
    if (length > rest_.size()) {
      ok_ = false;
      rest_ = {};
      return {};
    }
    const auto bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return bytes;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

constexpr unsigned char kHandshakeRecord = 22, kClientHello = 1;
constexpr std::size_t kServerNameExtension = 0, kEncryptedHelloExtension = 0xfe0d, kHelloMax = 64U << 10;

ClientHello malformed() {
  return {.kind = ClientHello::Kind::malformed};
}
ClientHello incomplete() {
  return {.kind = ClientHello::Kind::incomplete};
}

ClientHello parse_hello(std::string_view body) {
  Reader reader(body);
  reader.block(2 + 32);            // version, random
  reader.block(reader.number(1));  // session id
  reader.block(reader.number(2));  // cipher suites
  reader.block(reader.number(1));  // compression
  if (!reader.ok()) return malformed();
  ClientHello hello{.kind = ClientHello::Kind::hello};
  if (reader.empty()) return hello;
  Reader extensions(reader.block(reader.number(2)));
  while (reader.ok() && extensions.ok() && !extensions.empty()) {
    const auto type = extensions.number(2);
    Reader extension(extensions.block(extensions.number(2)));
    if (type == kEncryptedHelloExtension) hello.encrypted = true;
    if (type != kServerNameExtension) continue;
    Reader names(extension.block(extension.number(2)));
    const auto kind = names.number(1);
    const auto name = names.block(names.number(2));
    if (!names.ok() || !names.empty() || kind != 0 || hello.server_name) return malformed();
    hello.server_name = std::string(name);
  }
  return reader.ok() && extensions.ok() ? hello : malformed();
}

}  // namespace

ClientHello inspect_client_hello(std::string_view bytes) {
  if (bytes.empty()) return incomplete();
  if (static_cast<unsigned char>(bytes[0]) != kHandshakeRecord) return {.kind = ClientHello::Kind::not_tls};
  std::string handshake;
  Reader records(bytes);
  while (!records.empty()) {
    const auto type = records.number(1);
    records.number(2);
    const auto length = records.number(2);
    const auto fragment = records.block(length);
    if (!records.ok()) return bytes.size() > kHelloMax ? malformed() : incomplete();
    if (type != kHandshakeRecord || length == 0) return malformed();
    handshake += fragment;
    if (handshake.size() >= 4) {
      if (static_cast<unsigned char>(handshake[0]) != kClientHello) return malformed();
      Reader head(handshake);
      head.number(1);
      const auto size = head.number(3);
      if (size > kHelloMax) return malformed();
      if (handshake.size() >= 4 + size) return parse_hello(std::string_view(handshake).substr(4, size));
    }
  }
  return bytes.size() > kHelloMax ? malformed() : incomplete();
}

}  // namespace atl::egress
