#include "config/configuration.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <functional>

#include "config/checked.h"
#include "config/document.h"
#include "config/node_json.h"

extern char** environ;

namespace atl::config {
namespace {

constexpr std::array kSettings = {
    Setting{"listen", ValueType::text, "127.0.0.1:8000", "address of the API: HOST:PORT or unix:PATH"},
    Setting{"data", ValueType::text, "",
            "directory for everything that must survive; empty: the XDG data directory"},
    Setting{"api_key", ValueType::text, "", "presets the first API key", true},
    Setting{"log.level", ValueType::text, "info", "debug, info, warn, error or off"},
    Setting{"log.access", ValueType::text, "", "access log: a file, or 'stderr'; empty: none"},
    Setting{"tls.listen", ValueType::text, "", "address of a TLS listener; empty: none"},
    Setting{"tls.certificate", ValueType::text, "",
            "PEM file with the certificate chain; empty: self-signed"},
    Setting{"tls.key", ValueType::text, "", "PEM file with the private key"},
    Setting{"cors.origins", ValueType::list, "", "origins whose pages may call the API; '*' for any"},
    Setting{"http.header_time", ValueType::duration, "10s", "how long a request's head may take"},
    Setting{"http.idle_time", ValueType::duration, "2m", "how long an idle connection is kept"},
    Setting{"http.body_stall_time", ValueType::duration, "1m", "how long a body may stand still"},
    Setting{"http.write_stall_time", ValueType::duration, "5m", "how long a client may not read"},
    Setting{"http.stop_time", ValueType::duration, "10s", "how long running requests may take when stopping"},
    Setting{"http.connections", ValueType::integer, "0",
            "connections of clients at once; 0: by the limit on open files"},
    Setting{"http.body_bytes", ValueType::bytes, "0",
            "memory for the bodies of all requests that are being gathered; 0: a thirty-second of the "
            "machine's, 64M to 512M"},
    Setting{"http.connection_body_bytes", ValueType::bytes, "64M", "the same for one connection"},
    Setting{
        "mcp.url", ValueType::text, "",
        "where clients of /mcp reach the service from outside, such as https://atoll.example.org; empty: as "
        "their requests say"},
    Setting{"mcp.fixtures", ValueType::boolean, "false",
            "tools for the conformance tests of MCP; refused where others can reach the service"},
    Setting{"tools.plugins", ValueType::list, "",
            "directories with plugins (shared objects) that tools of the registry may name"},
    Setting{"registry", ValueType::text, "",
            "directory with environments, agents, tools, prompts, policies, limits, skills, roles over the "
            "shipped ones"},
    Setting{"registry_watch", ValueType::boolean, "false",
            "read the registry's directory again when a file in it changes"},
    Setting{"skills", ValueType::text, "",
            "directory with skills for everybody: one directory each, with SKILL.md"},
    Setting{
        "storages", ValueType::document, "",
        "where virtual sessions may keep files: {NAME: {kind: sqlite | redis | directory, share: session | "
        "tenant | all, access: read_write | read_only, tenants: [...], path, host, port, socket, password, "
        "keys}}",
        true},
    Setting{"provider.default", ValueType::text, "",
            "provider of sessions that name none; empty: native where it works, else virtual"},
    Setting{"provider.rules", ValueType::text, "",
            "YAML file with the rules by which 'auto' chooses a provider; empty: the shipped ones"},
    Setting{
        "provider.docker.host", ValueType::text, "",
        "container engine: unix:///PATH, tcp://HOST:PORT or https://HOST:PORT; empty: DOCKER_HOST, docker's "
        "context, then the usual sockets"},
    Setting{
        "provider.docker.certificates", ValueType::text, "",
        "directory with ca.pem, cert.pem and key.pem for an engine behind TLS; empty: DOCKER_CERT_PATH, or "
        "those of docker's context"},
    Setting{"provider.docker.images", ValueType::list, "",
            "patterns of images that tenants may name, such as python:*; empty: what the engine has already"},
    Setting{"provider.docker.pull", ValueType::boolean, "false",
            "let the engine fetch images that it does not have"},
    Setting{
        "provider.docker.build_network", ValueType::text, "default",
        "what the steps of recipes in the registry's containers/ may reach, in the engine's words: default, "
        "host or none"},
    Setting{"provider.docker.image", ValueType::text, "",
            "image of sessions with the provider docker that name none; empty: they are refused"},
    Setting{"provider.docker.pool", ValueType::integer, "1",
            "containers kept ready of each image that was asked for lately"},
    Setting{"provider.gvisor.runsc", ValueType::text, "",
            "gVisor's program; empty: runsc by the search path"},
    Setting{"provider.gvisor.pool", ValueType::integer, "1",
            "sandboxes of gvisor kept ready of each kind that was asked for once; 0: none"},
    Setting{"provider.e2b.api_url", ValueType::text, "",
            "control plane of the E2B service or Atoll that runs sandboxes for us; empty: E2B's own"},
    Setting{"provider.e2b.sandbox_url", ValueType::text, "",
            "where all of its sandboxes are reached; empty: each at its own host"},
    Setting{"provider.e2b.api_key", ValueType::text, "", "key for it", true},
    Setting{"provider.e2b.api_key_secret", ValueType::text, "",
            "name of a secret that holds the key; a tenant's own secret of this name goes before api_key"},
    Setting{"provider.e2b.templates", ValueType::map, "",
            "template for each environment, such as Python3=code-interpreter-v1 (which is so by itself); an "
            "environment that is not named is a template of the same name"},
    Setting{"provider.e2b.count", ValueType::integer, "20",
            "sandboxes that may run remotely at once, paused ones not counted; 0: any number"},
    Setting{"workers", ValueType::integer, "0", "threads for what computes or blocks; 0: by the machine"},
    Setting{"native.pool", ValueType::integer, "4", "sandboxes kept ready for the environment host"},
    Setting{"e2b.pool", ValueType::integer, "16",
            "sandboxes kept ready for the environment base, E2B's default; four times as many while they are "
            "wanted"},
    Setting{"native.favor_dynmods", ValueType::boolean, "false",
            "make joining a control group fast, by a mount option that concerns the whole machine"},
    Setting{"run_as", ValueType::text, "",
            "user that the service becomes when root started it; empty: root without power over the machine"},
    Setting{"native.cgroup_parent", ValueType::text, "",
            "parent control group of all sandboxes; empty: our own"},
    Setting{"session.ttl", ValueType::duration, "1h", "time to live of a session that names none"},
    Setting{"session.idle", ValueType::duration, "0s", "an unused session ends after this; 0s: never"},
    Setting{
        "session.to_disk", ValueType::duration, "1m",
        "what is paused in memory for this long goes to the disk, if nothing of it would be lost; 0s: never"},
    Setting{
        "session.count", ValueType::integer, "0",
        "sessions that a tenant may have running at once, unless its quota sessions says otherwise; 0: any "
        "number"},
    Setting{"session.machine_count", ValueType::integer, "0",
            "sandboxes that may stand on this machine, also paused in memory; 0: as many as it can hold"},
    Setting{"limits.max.memory_mb", ValueType::integer, "0",
            "the most memory that a session may ask for; 0: what the machine has"},
    Setting{"limits.max.cpu_cores", ValueType::integer, "0",
            "the most processors that a session may ask for; 0: what the machine has"},
    Setting{"limits.max.execution_time_seconds", ValueType::integer, "86400",
            "the longest time that one execution may ask for; 0: any"},
    Setting{"limits.max.cpu_time_seconds", ValueType::integer, "86400",
            "the longest processor time that one execution may ask for; 0: any"},
    Setting{"limits.max.max_processes", ValueType::integer, "0",
            "the most processes that a session may ask for; 0: what the machine has"},
    Setting{"limits.max.disk_mb", ValueType::integer, "0",
            "the largest disk that a session may ask for; 0: what the data directory's filesystem has"},
    Setting{
        "limits.max.max_inodes", ValueType::integer, "0",
        "the most files on its disk that a session may ask for; 0: what the data directory's filesystem has"},
    Setting{"limits.max.max_open_files", ValueType::integer, "0",
            "the most open files of a process that a session may ask for; 0: what the machine has"},
    Setting{"limits.max.output_mb", ValueType::integer, "1024",
            "the most output of one execution that a session may ask for; 0: any"},
    Setting{"limits.max.io_mb_per_second", ValueType::integer, "0",
            "the fastest disk that a session may ask for; 0: any"},
    Setting{"store.durability", ValueType::text, "process",
            "what acknowledged changes survive: process (its end, also by kill -9), power (a power failure)"},
    Setting{"audit.segment_bytes", ValueType::bytes, "64M",
            "size at which a file of the audit log is closed"},
    Setting{"audit.reserve_bytes", ValueType::bytes, "1M",
            "space kept for the audit entries of what ends and deletes when the disk is full"},
    Setting{"audit.sign_every", ValueType::duration, "10s", "how often the end of the audit log is signed"},
    Setting{"audit.keep", ValueType::duration, "400d", "how long audit entries are kept; 0s: for ever"},
    Setting{"audit.keep_bytes", ValueType::bytes, "8G",
            "how much audit entries take, the oldest go first; 0: any amount"},
    Setting{"audit.compact_after", ValueType::duration, "0s",
            "entries of reads that are older lose their text and keep their digests; 0s: never"},
    Setting{"audit.forward.file", ValueType::text, "",
            "file that gets a copy of every audit entry as a JSON line; empty: none"},
    Setting{"audit.forward.syslog", ValueType::text, "",
            "syslog that gets every audit entry: unix:PATH, udp://HOST:PORT or tcp://HOST:PORT; empty: none"},
    Setting{"audit.forward.webhook", ValueType::text, "",
            "URL that every audit entry is posted to, as JSON lines; empty: none"},
    Setting{"audit.forward.webhook_secret", ValueType::text, "",
            "secret that X-Atoll-Signature of these posts is made with", true},
    Setting{"audit.forward.spool_bytes", ValueType::bytes, "256M",
            "how far a target of audit entries may fall behind before it misses some"},
    Setting{"index.backend", ValueType::text, "embedded",
            "where the nearest vectors are looked up: embedded (in this process) or qdrant"},
    Setting{
        "index.history", ValueType::boolean, "true",
        "whether executions, artifacts and relations of sessions can be found; false: they are not indexed"},
    Setting{"index.memory", ValueType::bytes, "4G",
            "memory of embedded vectors; collections that nobody asks for go to the disk first"},
    Setting{"index.tenant_bytes", ValueType::bytes, "10G",
            "how much a tenant's collections may take, vectors and lists of words counted"},
    Setting{"index.qdrant.url", ValueType::text, "", "address of Qdrant, such as http://127.0.0.1:6333"},
    Setting{"index.qdrant.api_key", ValueType::text, "", "key for it", true},
    Setting{"index.qdrant.api_key_secret", ValueType::text, "",
            "name of a secret of the tenant 'default' that holds the key; goes before api_key"},
    Setting{"graph.backend", ValueType::text, "embedded",
            "where relations are looked up: embedded (in this process) or neo4j"},
    Setting{"graph.neo4j.url", ValueType::text, "",
            "address of Neo4j's HTTP connector, such as http://127.0.0.1:7474"},
    Setting{"graph.neo4j.database", ValueType::text, "neo4j", "which of its databases"},
    Setting{"graph.neo4j.user", ValueType::text, "", "name of the user there; empty: it asks for none"},
    Setting{"graph.neo4j.password", ValueType::text, "", "password for it", true},
    Setting{"graph.neo4j.password_secret", ValueType::text, "",
            "name of a secret of the tenant 'default' that holds the password; goes before password"},
    Setting{
        "index.embedder", ValueType::text, "hash",
        "what makes vectors of text: hash (shared words, needs nothing), onnx (a sentence model that 'atoll "
        "model install' fetched) or http (a server with OpenAI's interface)"},
    Setting{"index.onnx.model", ValueType::text, "",
            "directory of the model; empty: where 'atoll model install' puts it"},
    Setting{"index.http.url", ValueType::text, "",
            "its address, such as http://127.0.0.1:8080/v1/embeddings"},
    Setting{"index.http.model", ValueType::text, "", "the model it is asked for"},
    Setting{"index.http.dimension", ValueType::integer, "384", "how many numbers its vectors have"},
    Setting{"index.http.api_key", ValueType::text, "", "key for it", true},
    Setting{"trace.otlp_endpoint", ValueType::text, "",
            "OpenTelemetry collector that gets traces over HTTP, such as http://127.0.0.1:4318; empty: none"},
    Setting{"trace.sample", ValueType::text, "1",
            "which part of the requests is traced, 0 to 1; a caller's traceparent decides for its own"},
    Setting{"events.webhook", ValueType::text, "", "URL that every event is posted to; empty: none"},
    Setting{"events.webhook_secret", ValueType::text, "",
            "secret that X-Atoll-Signature of these posts is made with", true},
    Setting{"events.nats", ValueType::text, "",
            "NATS server that every event is published on, nats://HOST:PORT; empty: none", true},
    Setting{"events.keep_bytes", ValueType::bytes, "64M",
            "how much events take on the disk: what followers and targets that were away can catch up on"},
    Setting{"keep.sessions", ValueType::duration, "7d", "how long ended sessions stay readable"},
    Setting{"keep.records", ValueType::duration, "30d", "how long history is kept"},
    Setting{"keep.record_bytes", ValueType::bytes, "1G",
            "how much text of history a tenant has; its oldest goes first"},
    Setting{"keep.artifact_bytes", ValueType::bytes, "10G",
            "how much a tenant's artifacts take; its oldest go first"},
    Setting{"keep.snapshot_count", ValueType::integer, "1000",
            "snapshots that a tenant may have; 0: any number"},
    Setting{"keep.snapshot_bytes", ValueType::bytes, "200G",
            "how much a tenant's snapshots may take; 0: any amount"},
    Setting{"keep.snapshots", ValueType::duration, "0s",
            "how long a snapshot is kept; 0s: until it is removed"},
    Setting{"keep.paused_count", ValueType::integer, "1000",
            "sessions that a tenant may have paused on the disk; 0: any number"},
    Setting{"keep.paused_bytes", ValueType::bytes, "200G",
            "how much a tenant's sessions that are paused on the disk may take; 0: any amount"},
    Setting{"keep.paused", ValueType::duration, "90d",
            "a session that is paused on the disk for this long ends; 0s: never"},
    Setting{"keep.template_count", ValueType::integer, "200",
            "built templates that a tenant may have; 0: any number"},
    Setting{"keep.templates", ValueType::duration, "0s",
            "how long a template is kept after its last build; 0s: until it is removed"},
    Setting{"keep.builds", ValueType::integer, "20",
            "builds of one template that are kept beside those with a tag"},
    Setting{"keep.build_log_bytes", ValueType::bytes, "1M",
            "how much of a build's log is kept, beside its last word"},
    Setting{"keep.build_logs", ValueType::duration, "7d", "how long a build's log is kept"},
    Setting{"keep.upload_bytes", ValueType::bytes, "10G", "how much a tenant's uploads for builds may take"},
    Setting{"keep.uploads", ValueType::duration, "7d", "how long an upload for builds is kept"},
    Setting{"keep.upload_links", ValueType::duration, "1h", "how long the address of an upload is good"},
    Setting{"rate.per_second", ValueType::integer, "0",
            "requests a key may make each second, lastingly, in any dialect, unless its quota "
            "requests_per_second "
            "says otherwise; 0: any number"},
    Setting{"rate.burst", ValueType::integer, "0",
            "requests a key may make at once, unless its quota requests_burst says otherwise; 0: what five "
            "seconds "
            "of rate.per_second give"},
    Setting{
        "auth.delay_max", ValueType::duration, "200ms",
        "the longest that the refusal of a wrong credential is held back while somebody guesses; 0s: never"},
    Setting{"auth.oidc.issuer", ValueType::text, "",
            "address of an OpenID Connect issuer whose tokens are accepted; empty: none"},
    Setting{"auth.oidc.audience", ValueType::text, "", "the audience that its tokens must name"},
    Setting{
        "auth.oidc.roles", ValueType::text, "",
        "claim and map: 'groups: staff=developer@acme, root=admin' gives whoever has the group a role in a "
        "tenant (default: default)"},
    Setting{"auth.oidc.skew", ValueType::duration, "60s", "how far the issuer's clock may be off"},
    Setting{"auth.oidc.ca", ValueType::text, "",
            "PEM file with the authorities of the issuer's TLS; empty: the machine's"},
    Setting{
        "auth.mtls.ca", ValueType::text, "",
        "PEM file with the authorities whose client certificates are accepted on the TLS listener; empty: "
        "none"},
    Setting{"auth.mtls.subjects", ValueType::text, "",
            "map of common names: 'alice=developer@acme, root=admin'"},
    Setting{
        "auth.proxies", ValueType::list, "",
        "addresses and ranges of reverse proxies whose X-Forwarded-For and identity headers are believed"},
    Setting{"auth.proxy.user_header", ValueType::text, "",
            "header in which such a proxy names the user; empty: none"},
    Setting{"auth.proxy.groups_header", ValueType::text, "X-Forwarded-Groups",
            "header in which it lists the user's groups"},
    Setting{"auth.proxy.roles", ValueType::text, "", "map of groups, as in auth.mtls.subjects"},
    Setting{"tenants.grace", ValueType::duration, "7d",
            "how long a removed tenant can still be brought back"},
    Setting{
        "ports.public", ValueType::boolean, "true",
        "ports of sandboxes are open to whoever knows their URL; false: each asks for its session's traffic "
        "token, or a key of its tenant, whatever its creator said"},
    Setting{"volume.bytes", ValueType::bytes, "10G", "how much one volume holds"},
    Setting{"volume.inodes", ValueType::integer, "500000", "how many files and directories one volume holds"},
    Setting{"volume.count", ValueType::integer, "100", "how many volumes a tenant may have"},
    Setting{"network.internal", ValueType::list, "",
            "internal addresses and ranges that rules of a session may name: private ones, this machine's; "
            "empty: none"},
    Setting{"network.more_internal", ValueType::list, "",
            "addresses and ranges that are internal besides the known ones, such as this machine's public "
            "address "
            "in front of NAT; empty: none"},
    Setting{"network.proxies", ValueType::list, "",
            "internal addresses and ranges where a sandbox's owner may have an egress proxy; empty: none"},
    Setting{"e2b.domain", ValueType::text, "",
            "domain of sandbox hosts given to E2B clients; empty: by the listener"},
};

// Former names of settings, which are still read: in a file, in the environment and as a flag. Another
// setting may begin with such a name, so that a file has text there, or a map.
struct FormerName {
  std::string_view former, key;
};
constexpr FormerName kFormerNames[] = {{"provider", "provider.default"}};

std::string_view present_name(std::string_view key) {
  const auto* found = std::ranges::find(kFormerNames, key, &FormerName::former);
  return found == std::end(kFormerNames) ? key : found->key;
}

// The items between commas, without blanks around them; empty ones are left out.
std::vector<std::string> split_list(std::string_view left) {
  std::vector<std::string> items;
  while (!left.empty()) {
    auto comma = left.find(',');
    std::string_view item = left.substr(0, comma);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(item);
    left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
  }
  return items;
}

Result<void> check_pairs(std::string_view text) {
  for (const std::string& item : split_list(text)) {
    const auto equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size())
      return fail(Code::invalid_argument,
                  fmt::format("expected NAME=VALUE, with commas between several, got '{}'", shown(item)));
  }
  return {};
}

Result<void> check_type(ValueType type, std::string_view text) {
  switch (type) {
    case ValueType::text:
    case ValueType::list: return {};
    case ValueType::map: return check_pairs(text);
    case ValueType::document: TRY(Document::parse(text, "setting")); return {};
    case ValueType::boolean: TRY(parse_bool(text)); return {};
    case ValueType::bytes: TRY(parse_bytes(text)); return {};
    case ValueType::duration: TRY(parse_milliseconds(text)); return {};
    case ValueType::integer: {
      std::int64_t number = 0;
      auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error == std::errc() && end == text.data() + text.size()) return {};
      return fail(Code::invalid_argument, fmt::format("expected a whole number, got '{}'", text));
    }
  }
  std::unreachable();
}

// What a number may be, where not every number is possible: a thread or a sandbox too many ends the machine
// before the program says anything.
struct Range {
  std::string_view key;
  std::int64_t least, most;
};
constexpr Range kRanges[] = {
    {"workers", 0, 1024},
    {"native.pool", 0, 10'000},
    {"e2b.pool", 0, 10'000},
    {"session.count", 0, UINT32_MAX},
    {"session.machine_count", 0, UINT32_MAX},
    {"rate.per_second", 0, 1'000'000'000},
    {"rate.burst", 0, 1'000'000'000},
    {"volume.count", 0, UINT32_MAX},
    {"provider.e2b.count", 0, UINT32_MAX},
    {"provider.gvisor.pool", 0, 100},
    {"provider.docker.pool", 0, 1000},
    {"index.http.dimension", 1, 4096},
};

Result<void> check_value(const Setting& setting, std::string_view text) {
  TRY(check_type(setting.type, text));
  // A setting becomes a path, an address or a word in a log: never with control characters in it.
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      return fail(Code::invalid_argument, fmt::format("'{}' holds a control character", shown(text)));
  if (setting.key == "native.cgroup_parent" && !text.empty()) {
    if (!Checked("", text).control_group())
      return fail(
          Code::invalid_argument,
          fmt::format("'{}' is no control group below this process's own; write names with / between them",
                      shown(text)));
  }
  const auto* range = std::ranges::find(kRanges, setting.key, &Range::key);
  if (range == std::end(kRanges)) return {};
  if (!Checked("", text).whole_number(range->least, range->most))
    return fail(Code::invalid_argument, fmt::format("expected a whole number from {} to {}, got '{}'",
                                                    range->least, range->most, shown(text)));
  return {};
}

const Setting* find_setting(std::string_view key) {
  for (const Setting& setting : kSettings) {
    if (setting.key == key) return &setting;
  }
  return nullptr;
}

// The names one level below `prefix` ("tls." -> certificate, key, listen).
std::vector<std::string_view> names_below(std::string_view prefix) {
  std::vector<std::string_view> names;
  for (const Setting& setting : kSettings) {
    if (!setting.key.starts_with(prefix)) continue;
    std::string_view rest = setting.key.substr(prefix.size());
    std::string_view name = rest.substr(0, rest.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

Result<std::string> map_text(const Node& node, const Setting& setting) {
  std::string text;
  for (const Member& member : node.members()) {
    const std::string value = TRY(member.value.as<std::string>());
    if (member.key.find_first_of("=,") != std::string::npos || value.find(',') != std::string::npos)
      return fail(member.value.error("a name without '=' and ',' and a value without ',' are needed"));
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", member.key, value);
  }
  if (auto good = check_value(setting, text); !good) return fail(node.error(good.error().message()));
  return text;
}

Result<std::string> file_text(const Node& node, const Setting& setting) {
  if (setting.type == ValueType::list && node.is_sequence()) {
    std::vector<std::string> items = TRY(node.as<std::vector<std::string>>());
    return fmt::format("{}", fmt::join(items, ","));
  }
  if (setting.type == ValueType::map && node.is_map()) return map_text(node, setting);
  if (setting.type == ValueType::document) return to_json(node);
  std::string text = TRY(node.as<std::string>());
  if (auto good = check_value(setting, text); !good) return fail(node.error(good.error().message()));
  return text;
}

Result<void> read_level(const Node& node, const std::string& prefix,
                        std::map<std::string, Value, std::less<>>& values) {
  std::vector<std::string_view> names = names_below(prefix);
  TRY(node.check_keys(names));
  for (const Member& member : node.members()) {
    std::string key = prefix + member.key;
    if (member.value.is_scalar()) key = present_name(key);
    const Setting* setting = find_setting(key);
    if (setting == nullptr) {
      if (!member.value.is_null()) TRY(member.value.expect(Kind::map));
      TRY(read_level(member.value, key + ".", values));
      continue;
    }
    if (member.value.is_null()) continue;
    std::string text = TRY(file_text(member.value, *setting));
    std::string where = member.value.where();
    values[key] = Value{std::move(text), where.substr(0, where.rfind(':'))};
  }
  return {};
}

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : text;
}

[[noreturn]] void defect(std::string_view key) {
  std::fprintf(stderr, "no setting '%.*s' of that type\n", static_cast<int>(key.size()), key.data());
  std::abort();
}

}  // namespace

std::span<const Setting> settings() {
  return kSettings;
}

std::string environment_name(std::string_view key) {
  std::string name = "ATOLL_";
  for (char c : key) name += c == '.' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return name;
}

Result<Configuration> Configuration::load(const Sources& sources) {
  Configuration made;
  for (const Setting& setting : kSettings) {
    made.values_[std::string(setting.key)] = Value{std::string(setting.default_text), "default"};
  }
  if (!sources.file.empty()) {
    Document document = TRY(Document::load(sources.file));
    TRY(read_level(document.root, "", made.values_));
  }
  std::vector<std::string> known_names{"ATOLL_CONFIG", "ATOLL_URL", "ATOLL_TIMEOUT"};
  for (const Setting& setting : kSettings) {
    std::string name = environment_name(setting.key);
    known_names.push_back(name);
    auto found = sources.environment.find(name);
    const auto* former = std::ranges::find(kFormerNames, setting.key, &FormerName::key);
    if (former != std::end(kFormerNames)) {
      known_names.push_back(environment_name(former->former));
      if (found == sources.environment.end()) {
        name = known_names.back();
        found = sources.environment.find(name);
      }
    }
    if (found == sources.environment.end()) continue;
    if (auto good = check_value(setting, found->second); !good) {
      return fail(Code::invalid_argument, fmt::format("environment {}: {}", name, good.error().message()));
    }
    made.values_[std::string(setting.key)] = Value{found->second, "environment " + name};
  }
  std::vector<std::string_view> views(known_names.begin(), known_names.end());
  for (const auto& [name, text] : sources.environment) {
    if (!name.starts_with("ATOLL_") || std::find(views.begin(), views.end(), name) != views.end()) continue;
    made.warnings_.push_back(fmt::format("environment {} is no setting{}", name, did_you_mean(name, views)));
  }
  for (const auto& [key, text] : sources.flags) {
    const Setting* setting = find_setting(present_name(key));
    if (setting == nullptr) {
      std::vector<std::string_view> keys;
      for (const Setting& one : kSettings) keys.push_back(one.key);
      return fail(Code::invalid_argument,
                  fmt::format("--set: there is no setting '{}'{}; `atoll config` lists them", shown(key),
                              did_you_mean(key, keys)));
    }
    const auto given = sources.spelled.find(key);
    const std::string flag = given == sources.spelled.end() ? "--set " + key : given->second;
    if (auto good = check_value(*setting, text); !good)
      return fail(Code::invalid_argument, fmt::format("{}: {}", flag, good.error().message()));
    made.values_[std::string(setting->key)] = Value{text, flag};
  }
  return made;
}

const Value& Configuration::value(std::string_view key) const {
  auto found = values_.find(key);
  if (found == values_.end()) defect(key);
  return found->second;
}

bool Configuration::boolean(std::string_view key) const {
  auto parsed = parse_bool(text(key));
  if (!parsed) defect(key);
  return *parsed;
}

std::int64_t Configuration::integer(std::string_view key) const {
  const std::string& digits = text(key);
  std::int64_t number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc()) defect(key);
  return number;
}

std::uint64_t Configuration::bytes(std::string_view key) const {
  auto parsed = parse_bytes(text(key));
  if (!parsed) defect(key);
  return *parsed;
}

std::chrono::milliseconds Configuration::duration(std::string_view key) const {
  auto parsed = parse_milliseconds(text(key));
  if (!parsed) defect(key);
  return std::chrono::milliseconds(*parsed);
}

std::vector<std::string> Configuration::list(std::string_view key) const {
  return split_list(text(key));
}

std::map<std::string, std::string> Configuration::map(std::string_view key) const {
  std::map<std::string, std::string> pairs;
  for (const std::string& item : split_list(text(key))) {
    const auto equals = item.find('=');
    if (equals == std::string::npos) defect(key);
    pairs.insert_or_assign(item.substr(0, equals), item.substr(equals + 1));
  }
  return pairs;
}

std::map<std::string, std::string> atoll_environment() {
  std::map<std::string, std::string> found;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view pair = *entry;
    auto equals = pair.find('=');
    if (!pair.starts_with("ATOLL_") || equals == std::string_view::npos) continue;
    found.emplace(pair.substr(0, equals), pair.substr(equals + 1));
  }
  return found;
}

std::string find_file(const std::string& flag, const std::map<std::string, std::string>& variables) {
  auto variable = [&](const char* name) {
    auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  if (!flag.empty()) return flag;
  if (std::string named = variable("ATOLL_CONFIG"); !named.empty()) return named;
  const std::string home = variable("HOME");
  std::string directory = variable("XDG_CONFIG_HOME");
  if (directory.empty() && !home.empty()) directory = home + "/.config";
  for (const std::string& path :
       {directory.empty() ? "" : directory + "/atoll/config.yaml", std::string("/etc/atoll/config.yaml")}) {
    if (!path.empty() && ::access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

std::string find_file(const std::string& flag) {
  std::map<std::string, std::string> variables;
  for (const char* name : {"ATOLL_CONFIG", "HOME", "XDG_CONFIG_HOME"})
    variables.emplace(name, environment(name));
  return find_file(flag, variables);
}

std::string default_data_directory() {
  if (auto data = environment("XDG_DATA_HOME"); !data.empty()) return std::string(data) + "/atoll";
  if (auto home = environment("HOME"); !home.empty()) return std::string(home) + "/.local/share/atoll";
  return "/var/lib/atoll";
}

}  // namespace atl::config
