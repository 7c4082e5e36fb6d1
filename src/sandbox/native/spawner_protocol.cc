#include "sandbox/native/spawner_protocol.h"

#include <bit>
#include <concepts>

#include "guest/protocol.h"
#include "sandbox/limit_table.h"
#include "sandbox/native/spawner_protocol_check.h"

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
  out.flag(spec.with_interpreters);
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
  spec.with_interpreters = in.flag();
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

void put_checkpoint(Out& out, const ask::Checkpoint& checkpoint) {
  out.text(checkpoint.directory);
  out.list(checkpoint.interpreters, [&](const ask::Checkpoint::Interpreter& interpreter) {
    out.text(interpreter.id), out.text(interpreter.user), out.text(interpreter.directory);
    out.number(interpreter.pid), out.number(interpreter.forked_pid);
  });
  out.list(checkpoint.known, [&](std::uint32_t pid) { out.number(pid); });
  out.list(checkpoint.left_behind, [&](const std::string& name) { out.text(name); });
  out.flag(checkpoint.whole), out.flag(checkpoint.strict);
}

ask::Checkpoint get_checkpoint(In& in) {
  ask::Checkpoint checkpoint;
  checkpoint.directory = in.text();
  in.list([&] {
    ask::Checkpoint::Interpreter interpreter;
    interpreter.id = in.text(), interpreter.user = in.text(), interpreter.directory = in.text();
    interpreter.pid = in.small();
    interpreter.forked_pid = in.small();
    checkpoint.interpreters.push_back(std::move(interpreter));
  });
  in.list([&] { checkpoint.known.push_back(in.small()); });
  in.list([&] { checkpoint.left_behind.push_back(in.text()); });
  checkpoint.whole = in.flag(), checkpoint.strict = in.flag();
  return checkpoint;
}

void put_interpreter(Out& out, const CheckpointedInterpreter& interpreter) {
  out.text(interpreter.id), out.text(interpreter.directory), out.text(interpreter.user),
      out.text(interpreter.zygote);
  out.number(interpreter.layout), out.flag(interpreter.extent == Extent::whole);
  out.writer.u32(static_cast<std::uint32_t>(interpreter.pid)),
      out.writer.u32(static_cast<std::uint32_t>(interpreter.control));
}

CheckpointedInterpreter get_interpreter(In& in) {
  CheckpointedInterpreter interpreter;
  interpreter.id = in.text(), interpreter.directory = in.text(), interpreter.user = in.text(),
  interpreter.zygote = in.text();
  interpreter.layout = in.number(), interpreter.extent = in.flag() ? Extent::whole : Extent::difference;
  interpreter.pid = static_cast<std::int32_t>(in.reader.u32()),
  interpreter.control = static_cast<std::int32_t>(in.reader.u32());
  return interpreter;
}

template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

void put_ask(Out& out, const Ask& ask) {
  // Spawners of all versions expect one text behind the name, for these too.
  const auto nothing = [&] { out.text(""); };
  std::visit(Overloaded{
                 [&](const ask::Create& create) { put_spec(out, create.spec); },
                 [&](const ask::Rename& rename) { out.text(rename.to); },
                 [&](const ask::Snapshot& snapshot) { out.text(snapshot.directory); },
                 [&](const ask::Discard& discard) { out.text(discard.directory); },
                 [&](const ask::Measure& measure) { out.text(measure.directory); },
                 [&](const ask::OpenInterpreters& open) { out.text(open.directory); },
                 [&](const ask::DiscardInterpreters& discard) { out.text(discard.directory); },
                 [&](const ask::ForkInterpreter& fork) { out.text(fork.user), out.text(fork.directory); },
                 [&](const ask::Checkpoint& checkpoint) { put_checkpoint(out, checkpoint); },
                 [&](const ask::Revive& revive) {
                   out.number(revive.index), put_interpreter(out, revive.interpreter);
                 },
                 [&](const ask::OpenVolume& open) {
                   out.text(open.directory), out.number(open.bytes), out.number(open.inodes);
                 },
                 [&](const ask::CloseVolume& close) { out.text(close.directory); },
                 [&](const auto&) { nothing(); },
             },
             ask);
}

// None: no verb that can be asked for.
std::optional<Ask> get_ask(In& in, Verb verb) {
  const auto plain = [&](Ask ask) {
    (void)in.text();
    return ask;
  };
  switch (verb) {
    case Verb::hello: return plain(ask::Hello{});
    case Verb::list: return plain(ask::List{});
    case Verb::create: return ask::Create{get_spec(in)};
    case Verb::adopt: return plain(ask::Adopt{});
    case Verb::destroy: return plain(ask::Destroy{});
    case Verb::freeze: return plain(ask::Freeze{});
    case Verb::thaw: return plain(ask::Thaw{});
    case Verb::rename: return ask::Rename{in.text()};
    case Verb::snapshot: return ask::Snapshot{in.text()};
    case Verb::discard: return ask::Discard{in.text()};
    case Verb::measure: return ask::Measure{in.text()};
    case Verb::open_interpreters: return ask::OpenInterpreters{in.text()};
    case Verb::discard_interpreters: return ask::DiscardInterpreters{in.text()};
    case Verb::shut_down: return plain(ask::ShutDown{});
    case Verb::fork_interpreter: {
      ask::ForkInterpreter fork{.user = in.text()};
      fork.directory = in.text();
      return fork;
    }
    case Verb::checkpoint: return get_checkpoint(in);
    case Verb::revive: {
      ask::Revive revive{.index = in.small()};
      revive.interpreter = get_interpreter(in);
      return revive;
    }
    case Verb::second_connection: return plain(ask::SecondConnection{});
    case Verb::open_volume: {
      ask::OpenVolume open{.directory = in.text()};
      open.bytes = in.number(), open.inodes = in.number();
      return open;
    }
    case Verb::close_volume: return ask::CloseVolume{in.text()};
    case Verb::ended:
    case Verb::files_written:
    case Verb::image_made:
    case Verb::zygotes: break;
  }
  return std::nullopt;
}

}  // namespace

std::string encode(const Request& request) {
  Out out;
  out.writer.u8(static_cast<std::uint8_t>(request.verb()));
  out.number(request.token);
  out.text(request.name);
  put_ask(out, request.ask);
  return std::move(out.bytes);
}

Result<Request> decode_request(const std::string& bytes) {
  In in(bytes);
  Request request;
  const auto verb = static_cast<Verb>(in.reader.u8());
  request.token = in.number();
  request.name = in.text();
  auto ask = get_ask(in, verb);
  if (!ask)
    return fail(Error(Code::invalid_argument, "a request to the spawner: verb is none that can be asked for")
                    .with_field("verb"));
  request.ask = std::move(*ask);
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

namespace {

// A reply as it stands in the bytes: the same fields for every verb, so that daemon and spawner of different
// versions understand each other's hello and shut_down. What a verb does not use is empty.
struct ReplyFields {
  std::string group;
  std::uint32_t pid = 0;
  Isolation isolation;
  std::vector<std::string> names;
  std::string text;
  std::uint32_t version = kSpawnerProtocolVersion;
  std::optional<Spec> spec;
  std::vector<std::string> carried;
  std::uint64_t micros = 0;
  std::uint64_t bytes = 0;
};

constexpr const char* kFrozen = "frozen";

ReplyFields fields_of(const AnyAnswer& answer) {
  ReplyFields fields;
  std::visit(
      Overloaded{
          [](std::monostate) {},
          [&](const answers::Hello& hello) {
            fields.version = hello.version, fields.pid = hello.pid, fields.text = hello.parent_group;
            fields.isolation = hello.isolation, fields.names = hello.names;
            fields.group = hello.zygotes_away;
          },
          [&](const answers::Sandbox& sandbox) {
            fields.group = sandbox.group, fields.pid = sandbox.pid, fields.spec = sandbox.spec;
            fields.isolation = sandbox.isolation, fields.text = sandbox.frozen ? kFrozen : "";
          },
          [&](const answers::Interpreter& interpreter) { fields.pid = interpreter.pid; },
          [&](const answers::Checkpoint& checkpoint) {
            fields.carried = checkpoint.carried, fields.names = checkpoint.left_behind;
            fields.micros = checkpoint.micros;
          },
          [&](const answers::Size& size) { fields.bytes = size.bytes; },
          [&](const answers::Ended& ended) { fields.text = ended.why; },
          [&](const answers::Zygotes& zygotes) { fields.text = zygotes.away; },
          [&](const answers::Image& image) { fields.bytes = image.bytes, fields.micros = image.inodes; },
      },
      answer);
  return fields;
}

AnyAnswer answer_of(Verb verb, ReplyFields fields) {
  switch (verb) {
    case Verb::hello:
    case Verb::list:
      return answers::Hello{.version = fields.version,
                            .pid = fields.pid,
                            .parent_group = std::move(fields.text),
                            .isolation = std::move(fields.isolation),
                            .names = std::move(fields.names),
                            .zygotes_away = std::move(fields.group)};
    case Verb::create:
    case Verb::adopt:
      return answers::Sandbox{.group = std::move(fields.group),
                              .pid = fields.pid,
                              .isolation = std::move(fields.isolation),
                              .frozen = fields.text == kFrozen,
                              .spec = std::move(fields.spec)};
    case Verb::fork_interpreter:
    case Verb::revive: return answers::Interpreter{fields.pid};
    case Verb::checkpoint:
      return answers::Checkpoint{std::move(fields.carried), std::move(fields.names), fields.micros};
    case Verb::measure: return answers::Size{fields.bytes};
    case Verb::ended: return answers::Ended{std::move(fields.text)};
    case Verb::zygotes: return answers::Zygotes{std::move(fields.text)};
    case Verb::image_made: return answers::Image{fields.bytes, fields.micros};
    default: return std::monostate{};
  }
}

void put_fields(Out& out, const ReplyFields& fields) {
  out.text(fields.group);
  out.number(fields.pid);
  put_walls(out, fields.isolation.walls);
  put_walls(out, fields.isolation.missing);
  out.list(fields.names, [&](const std::string& name) { out.text(name); });
  out.text(fields.text);
  out.number(fields.version);
  out.flag(fields.spec.has_value());
  if (fields.spec) put_spec(out, *fields.spec);
  out.list(fields.carried, [&](const std::string& id) { out.text(id); });
  out.number(fields.micros);
  out.number(fields.bytes);
}

ReplyFields get_fields(In& in) {
  ReplyFields fields;
  fields.group = in.text();
  fields.pid = in.small();
  fields.isolation.walls = get_walls(in);
  fields.isolation.missing = get_walls(in);
  in.list([&] { fields.names.push_back(in.text()); });
  fields.text = in.text();
  fields.version = in.small();
  if (in.flag()) fields.spec = get_spec(in);
  in.list([&] { fields.carried.push_back(in.text()); });
  fields.micros = in.number();
  fields.bytes = in.number();
  return fields;
}

}  // namespace

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
  put_fields(out, fields_of(reply.answer));
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
  reply.answer = answer_of(reply.verb, get_fields(in));
  if (!in.done()) return fail(Code::internal, "a reply of the spawner is malformed");
  return reply;
}

}  // namespace atl::sandbox::native
