#include "sandbox/native/wire.h"

#include <bit>
#include <concepts>

#include "guest/protocol.h"
#include "sandbox/limit_table.h"
#include "sandbox/native/wire_check.h"

namespace atl::sandbox::native {
namespace {

constexpr std::uint32_t kListMax = 16384;

struct Out {
  std::string bytes;
  guest::Writer<std::string> writer{bytes};
  void text(const std::string& value) { writer.text(value.data(), value.size()); }
  void number(std::uint64_t value) { writer.u64(value); }
  void flag(bool value) { writer.u8(value ? 1 : 0); }
  template <class List, class Put>
  void list(const List& values, Put put) {
    writer.u32(static_cast<std::uint32_t>(values.size()));
    for (const auto& value : values) put(value);
  }
};

struct In {
  explicit In(const std::string& bytes) : reader(bytes.data(), bytes.size()) {}
  guest::Reader reader;
  std::string text() {
    const guest::Text value = reader.text();
    return std::string(value.data == nullptr ? "" : value.data, value.size);
  }
  std::uint64_t number() { return reader.u64(); }
  // Neither cut off nor wrapped round.
  std::uint32_t small() {
    const std::uint64_t value = reader.u64();
    is_sound &= value <= UINT32_MAX;
    return static_cast<std::uint32_t>(value);
  }
  bool flag() {
    const std::uint8_t value = reader.u8();
    is_sound &= value <= 1;
    return value == 1;
  }
  template <class Get>
  void list(Get get) {
    const std::uint32_t count = reader.u32();
    is_sound &= count <= kListMax;
    for (std::uint32_t i = 0; i < count && is_sound && reader.ok(); ++i) get();
  }
  bool done() const { return is_sound && reader.done(); }
  bool is_sound = true;
};

template <std::unsigned_integral T>
void put(Out& out, T value) {
  out.number(value);
}
void put(Out& out, double value) {
  out.number(std::bit_cast<std::uint64_t>(value));
}
void put(Out& out, std::chrono::milliseconds value) {
  out.number(static_cast<std::uint64_t>(value.count()));
}
void put(Out& out, const std::optional<std::chrono::milliseconds>& value) {
  out.flag(value.has_value());
  put(out, value.value_or(std::chrono::milliseconds(0)));
}

void get(In& in, std::uint64_t& value) {
  value = in.number();
}
void get(In& in, std::uint32_t& value) {
  value = in.small();
}
void get(In& in, double& value) {
  value = std::bit_cast<double>(in.number());
}
void get(In& in, std::chrono::milliseconds& value) {
  value = std::chrono::milliseconds(in.number());
}
void get(In& in, std::optional<std::chrono::milliseconds>& value) {
  const bool is_set = in.flag();
  std::chrono::milliseconds time{};
  get(in, time);
  if (is_set) value = time;
}

void put_limits(Out& out, const Limits& limits) {
  for (const LimitRow& row : kLimits) std::visit([&](auto member) { put(out, limits.*member); }, row.member);
}

Limits get_limits(In& in) {
  Limits limits;
  for (const LimitRow& row : kLimits) std::visit([&](auto member) { get(in, limits.*member); }, row.member);
  return limits;
}

void put_spec(Out& out, const Spec& spec) {
  out.text(spec.id);
  out.list(spec.layers, [&](const std::string& layer) { out.text(layer); });
  out.flag(spec.trusted_layers);
  out.flag(spec.snapshot.has_value());
  out.text(spec.snapshot.value_or(""));
  out.flag(spec.with_kernels);
  out.list(spec.preimport, [&](const std::string& name) { out.text(name); });
  out.text(spec.hostname);
  out.text(spec.user);
  out.text(spec.working_directory);
  out.flag(spec.sudo);
  out.flag(spec.network == Network::egress);
  put_limits(out, spec.limits);
  out.list(spec.env, [&](const auto& pair) {
    out.text(pair.first);
    out.text(pair.second);
  });
  out.list(spec.host_mounts, [&](const HostMount& mount) {
    out.text(mount.host_path);
    out.text(mount.guest_path);
    out.flag(mount.writable);
    out.flag(mount.ids == MountIds::inside);
  });
  out.list(spec.required_walls, [&](const std::string& wall) { out.text(wall); });
}

Spec get_spec(In& in) {
  Spec spec;
  spec.id = in.text();
  in.list([&] { spec.layers.push_back(in.text()); });
  spec.trusted_layers = in.flag();
  const bool has_snapshot = in.flag();
  std::string snapshot = in.text();
  if (has_snapshot) spec.snapshot = std::move(snapshot);
  spec.with_kernels = in.flag();
  in.list([&] { spec.preimport.push_back(in.text()); });
  spec.hostname = in.text();
  spec.user = in.text();
  spec.working_directory = in.text();
  spec.sudo = in.flag();
  spec.network = in.flag() ? Network::egress : Network::none;
  spec.limits = get_limits(in);
  in.list([&] {
    std::string key = in.text();
    spec.env[std::move(key)] = in.text();
  });
  in.list([&] {
    HostMount mount;
    mount.host_path = in.text();
    mount.guest_path = in.text();
    mount.writable = in.flag();
    mount.ids = in.flag() ? MountIds::inside : MountIds::owner;
    spec.host_mounts.push_back(std::move(mount));
  });
  in.list([&] { spec.required_walls.push_back(in.text()); });
  return spec;
}

void put_walls(Out& out, const std::vector<Wall>& walls) {
  out.list(walls, [&](const Wall& wall) {
    out.text(wall.name);
    out.text(wall.value);
  });
}

std::vector<Wall> get_walls(In& in) {
  std::vector<Wall> walls;
  in.list([&] {
    Wall wall;
    wall.name = in.text();
    wall.value = in.text();
    walls.push_back(std::move(wall));
  });
  return walls;
}

void put_capture(Out& out, const Capture& capture) {
  out.list(capture.kernels, [&](const Capture::Kernel& kernel) {
    out.text(kernel.id), out.text(kernel.user), out.text(kernel.directory);
    out.number(kernel.pid), out.number(kernel.born);
  });
  out.list(capture.known, [&](std::uint32_t pid) { out.number(pid); });
  out.list(capture.left_behind, [&](const std::string& name) { out.text(name); });
  out.flag(capture.whole), out.flag(capture.strict);
}

Capture get_capture(In& in) {
  Capture capture;
  in.list([&] {
    Capture::Kernel kernel;
    kernel.id = in.text(), kernel.user = in.text(), kernel.directory = in.text();
    kernel.pid = in.small();
    kernel.born = in.small();
    capture.kernels.push_back(std::move(kernel));
  });
  in.list([&] { capture.known.push_back(in.small()); });
  in.list([&] { capture.left_behind.push_back(in.text()); });
  capture.whole = in.flag(), capture.strict = in.flag();
  return capture;
}

void put_kernel(Out& out, const ParkedKernel& kernel) {
  out.text(kernel.id), out.text(kernel.directory), out.text(kernel.user), out.text(kernel.zygote);
  out.number(kernel.layout), out.flag(kernel.extent == Extent::whole);
  out.writer.u32(static_cast<std::uint32_t>(kernel.pid)),
      out.writer.u32(static_cast<std::uint32_t>(kernel.control));
}

ParkedKernel get_kernel(In& in) {
  ParkedKernel kernel;
  kernel.id = in.text(), kernel.directory = in.text(), kernel.user = in.text(), kernel.zygote = in.text();
  kernel.layout = in.number(), kernel.extent = in.flag() ? Extent::whole : Extent::difference;
  kernel.pid = static_cast<std::int32_t>(in.reader.u32()),
  kernel.control = static_cast<std::int32_t>(in.reader.u32());
  return kernel;
}

bool has_spec(Verb verb) {
  return verb == Verb::create || verb == Verb::open_volume;
}

bool names_user(Verb verb) {
  return verb == Verb::bear || verb == Verb::revive;
}

}  // namespace

std::string encode(const Request& request) {
  Out out;
  out.writer.u8(static_cast<std::uint8_t>(request.verb));
  out.number(request.token);
  out.text(request.name);
  if (has_spec(request.verb)) put_spec(out, request.spec);
  out.text(request.text);
  if (names_user(request.verb)) out.text(request.user), out.text(request.directory), out.number(request.number);
  if (request.verb == Verb::capture) put_capture(out, request.capture);
  if (request.verb == Verb::revive) put_kernel(out, request.kernel);
  return std::move(out.bytes);
}

Result<Request> decode_request(const std::string& bytes) {
  In in(bytes);
  Request request;
  request.verb = static_cast<Verb>(in.reader.u8());
  request.token = in.number();
  request.name = in.text();
  if (has_spec(request.verb)) request.spec = get_spec(in);
  request.text = in.text();
  if (names_user(request.verb)) {
    request.user = in.text(), request.directory = in.text();
    request.number = in.small();
  }
  if (request.verb == Verb::capture) request.capture = get_capture(in);
  if (request.verb == Verb::revive) request.kernel = get_kernel(in);
  if (!in.done()) return fail(Code::invalid_argument, "a request to the spawner is malformed");
  TRY(check(request));
  return request;
}

std::optional<std::uint64_t> token_of(const std::string& request_bytes) {
  In in(request_bytes);
  (void)in.reader.u8();
  const std::uint64_t token = in.number();
  if (!in.reader.ok()) return std::nullopt;
  return token;
}

std::string encode(const Reply& reply) {
  Out out;
  out.writer.u8(static_cast<std::uint8_t>(reply.verb));
  out.number(reply.token);
  out.flag(reply.error.has_value());
  if (reply.error) {
    out.writer.u8(static_cast<std::uint8_t>(reply.error->code()));
    out.text(reply.error->message());
    out.text(reply.error->detail());
  }
  out.text(reply.name);
  out.text(reply.group);
  out.number(reply.pid);
  put_walls(out, reply.isolation.walls);
  put_walls(out, reply.isolation.missing);
  out.list(reply.names, [&](const std::string& name) { out.text(name); });
  out.text(reply.text);
  out.number(reply.version);
  out.flag(reply.verb == Verb::adopt);
  if (reply.verb == Verb::adopt) put_spec(out, reply.spec);
  out.list(reply.carried, [&](const std::string& id) { out.text(id); });
  out.number(reply.micros);
  out.number(reply.bytes);
  return std::move(out.bytes);
}

Result<Reply> decode_reply(const std::string& bytes) {
  In in(bytes);
  Reply reply;
  reply.verb = static_cast<Verb>(in.reader.u8());
  reply.token = in.number();
  if (in.flag()) {
    const auto code = static_cast<Code>(in.reader.u8());
    std::string message = in.text();
    reply.error = Error(code, std::move(message)).with_detail(in.text());
  }
  reply.name = in.text();
  reply.group = in.text();
  reply.pid = in.small();
  reply.isolation.walls = get_walls(in);
  reply.isolation.missing = get_walls(in);
  in.list([&] { reply.names.push_back(in.text()); });
  reply.text = in.text();
  reply.version = in.small();
  if (in.flag()) reply.spec = get_spec(in);
  in.list([&] { reply.carried.push_back(in.text()); });
  reply.micros = in.number();
  reply.bytes = in.number();
  if (!in.done()) return fail(Code::internal, "a reply of the spawner is malformed");
  return reply;
}

}  // namespace atl::sandbox::native
