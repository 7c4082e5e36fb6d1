#include "daemon/indexing.h"

#include <fmt/format.h>
#include <pthread.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/bytes.h"
#include "base/json.h"
#include "base/log.h"
#include "base/utf8.h"
#include "index/onnx_embedder.h"
#include "store/blob_file.h"

namespace atl::daemon {
namespace {

constexpr std::size_t kWaitingMax = 10'000;
constexpr std::size_t kTextMax = 4096, kArtifactMax = 64U << 10;

std::string first_line(const std::string& code) {
  std::string line = code.substr(0, code.find('\n'));
  if (line.size() > 120) line.resize(120);
  return to_valid_utf8(line);
}

// The beginning of a file that is text; nothing of one that is not.
std::string text_of_artifact(const std::string& directory, const std::string& digest) {
  const auto bytes = store::beginning_of_blob(directory, digest, kArtifactMax);
  if (!bytes || bytes->find('\0') != std::string::npos) return "";
  // A character may be cut at the end; anything else that is no UTF-8 is no text.
  const std::string whole = bytes->substr(0, bytes->size() - utf8::incomplete_tail(*bytes));
  return is_utf8(whole) ? whole : "";
}

std::string cut(const std::string& text) {
  return text.size() <= kTextMax ? text : to_valid_utf8(text.substr(0, kTextMax));
}

index::Document document_of(const session::ExecutionRecord& record) {
  index::Document document{"execution", record.record_id, first_line(record.code)};
  document.body = cut(record.code) + "\n" + cut(record.out);
  if (!record.err.empty()) document.body += "\n" + cut(record.err);
  document.payload =
      fmt::format(R"({{"session_id":{},"type":{},"status":{}}})", json::quoted(record.session_id),
                  json::quoted(record.type), json::quoted(to_string(record.status)));
  return document;
}

Result<std::unique_ptr<index::Embedder>> embedder_of(const config::Configuration& configuration,
                                                     const std::string& data) {
  const std::string& kind = configuration.text("index.embedder");
  if (kind == "hash") return index::hash_embedder();
  if (kind == "onnx") {
    index::OnnxOptions options;
    options.directory = configuration.text("index.onnx.model");
    if (options.directory.empty()) options.directory = index::model_directory(data);
    auto made = index::onnx_embedder(std::move(options));
    if (!made) return fail(std::move(made).error().context("index.embedder").with_field("index.embedder"));
    return made;
  }
  if (kind == "http") {
    const auto dimension = static_cast<std::size_t>(configuration.integer("index.http.dimension"));
    auto made =
        index::http_embedder(configuration.text("index.http.url"), configuration.text("index.http.model"),
                             configuration.text("index.http.api_key"), dimension);
    if (!made) return fail(std::move(made).error().context("index.http.url").with_field("index.http.url"));
    return made;
  }
  return fail(Error(Code::invalid_argument,
                    fmt::format("index.embedder: hash, onnx or http is wanted, got '{}'", kind))
                  .with_field("index.embedder"));
}

// Unset: embedded.
Result<std::optional<index::ServerOptions>> server_of(const config::Configuration& configuration,
                                                      const std::string& setting, const std::string& server,
                                                      const std::string& url_setting) {
  const std::string& kind = configuration.text(setting);
  if (kind == "embedded") return std::optional<index::ServerOptions>();
  if (kind != server)
    return fail(Error(Code::invalid_argument,
                      fmt::format("{}: embedded or {} is wanted, got '{}'", setting, server, kind))
                    .with_field(setting));
  auto url = net::Url::parse(configuration.text(url_setting));
  if (!url) return fail(std::move(url).error().context(url_setting).with_field(url_setting));
  index::ServerOptions options;
  options.url = std::move(*url);
  return std::optional(std::move(options));
}

index::Index::Headers qdrant_headers(const std::string& key) {
  if (key.empty()) return {};
  return {{"api-key", key}};
}

index::Index::Headers neo4j_headers(const std::string& user, const std::string& password) {
  if (user.empty()) return {};
  return {{"Authorization", "Basic " + to_base64(user + ":" + password)}};
}

}  // namespace

Result<std::unique_ptr<Indexing>> Indexing::open(const config::Configuration& configuration,
                                                 const std::string& data) {
  auto embedder = TRY(embedder_of(configuration, data));
  index::Options options;
  options.directory = data + "/index";
  options.memory_max = configuration.bytes("index.memory");
  options.tenant_bytes = configuration.bytes("index.tenant_bytes");
  options.document_bytes = configuration.bytes("keep.record_bytes");
  options.qdrant = TRY(server_of(configuration, "index.backend", "qdrant", "index.qdrant.url"));
  if (options.qdrant) options.qdrant->headers = qdrant_headers(configuration.text("index.qdrant.api_key"));
  options.neo4j = TRY(server_of(configuration, "graph.backend", "neo4j", "graph.neo4j.url"));
  if (options.neo4j) {
    options.neo4j->headers =
        neo4j_headers(configuration.text("graph.neo4j.user"), configuration.text("graph.neo4j.password"));
    options.neo4j->database = configuration.text("graph.neo4j.database");
  }
  auto opened = TRY(index::Index::open(std::move(options), std::move(embedder)));
  auto indexing = std::unique_ptr<Indexing>(new Indexing(std::move(opened)));
  indexing->artifacts_ = data + "/artifacts";
  indexing->qdrant_secret_ = configuration.text("index.qdrant.api_key_secret");
  indexing->neo4j_secret_ = configuration.text("graph.neo4j.password_secret");
  indexing->neo4j_user_ = configuration.text("graph.neo4j.user");
  return indexing;
}

Indexing::Indexing(std::unique_ptr<index::Index> index) : index_(std::move(index)) {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "atoll-index");
}

Indexing::~Indexing() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Indexing::watch(const registry::Registry& registry, const tools::ToolRegistry& tools,
                     const skill::Library& skills) {
  registry_ = &registry;
  tools_ = &tools;
  skills_ = &skills;
}

// Secrets are looked up again and again, so that one that comes later or changes is used without a restart.
void Indexing::use_secrets(const boost::asio::any_io_executor& executor, Reveal reveal) {
  if (qdrant_secret_.empty() && neo4j_secret_.empty()) return;
  boost::asio::co_spawn(
      executor,
      [](std::weak_ptr<index::Index> index, Reveal reveal_, std::string qdrant, std::string neo4j,
         std::string user) -> boost::asio::awaitable<void> {
        boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
        while (true) {
          std::optional<index::Index::Headers> to_qdrant, to_neo4j;
          if (!qdrant.empty())
            if (const auto key = co_await reveal_(qdrant)) to_qdrant = qdrant_headers(*key);
          if (!neo4j.empty())
            if (const auto key = co_await reveal_(neo4j)) to_neo4j = neo4j_headers(user, *key);
          {
            const auto there = index.lock();
            if (!there) co_return;
            there->set_headers(std::move(to_qdrant), std::move(to_neo4j));
          }
          pause.expires_after(std::chrono::seconds(5));
          co_await pause.async_wait(boost::asio::use_awaitable);
        }
      }(index_, std::move(reveal), qdrant_secret_, neo4j_secret_, neo4j_user_),
      boost::asio::detached);
}

std::function<Result<void>()> Indexing::refresher(const std::string& tenant) {
  ByKind declared;
  for (const tools::ToolPtr& tool : tools_->list(tenant)) {
    std::string tags;
    for (const std::string& tag : tool->tags) tags += " " + tag;
    declared["tool"].push_back({"tool", tool->name, tool->name, tool->description + tags});
  }
  for (const registry::Entry* entry : registry_->entries("prompts", tenant))
    declared["prompt"].push_back({"prompt", entry->name, entry->name, entry->description});
  for (const registry::Entry* entry : registry_->entries("agents", tenant))
    declared["agent"].push_back({"agent", entry->name, entry->name, entry->description});
  return [this, tenant, declared = std::move(declared)]() mutable {
    return refresh(tenant, std::move(declared));
  };
}

Result<void> Indexing::refresh(const std::string& tenant, ByKind declared) {
  for (const skill::Skill& skill : skills_->list(tenant).skills)
    declared["skill"].push_back({"skill", skill.name, skill.name, skill.description});
  const std::lock_guard lock(refreshing_);
  for (const char* kind : {"tool", "prompt", "agent", "skill"}) {
    std::vector<index::Document>& documents = declared[kind];
    std::string all;
    for (const index::Document& one : documents) all += one.id + '\0' + one.body + '\0';
    std::string digest = sha256_hex(all);
    std::string& known = refreshed_[tenant + '\0' + kind];
    if (known == digest) continue;
    TRY(index_->replace_kind(tenant, kind, std::move(documents)));
    known = std::move(digest);
  }
  return {};
}

telemetry::ComponentState Indexing::state() const {
  std::string because = index_->degraded_because();
  if (because.empty()) because = index_->graph_degraded_because();
  const std::lock_guard lock(mutex_);
  if (!failure_.empty()) return {telemetry::Condition::degraded, "executions are not indexed: " + failure_};
  if (dropped_ > 0)
    return {telemetry::Condition::degraded,
            fmt::format("{} executions were not indexed: too many at once", dropped_)};
  if (!because.empty()) return {telemetry::Condition::degraded, because};
  return {};
}

void Indexing::created(const session::Session& session, std::chrono::nanoseconds) {
  Job job{session.tenant, {}, {}};
  const index::Node node{"session", session.session_id};
  if (!session.agent.empty()) job.edges.push_back({{"agent", session.agent}, node, "owns"});
  if (!session.parent.empty()) job.edges.push_back({{"session", session.parent}, node, "forked"});
  if (!session.snapshot.empty()) job.edges.push_back({{"snapshot", session.snapshot}, node, "started"});
  if (!job.edges.empty()) hand_over(std::move(job));
}

void Indexing::finished(const session::Session& session, const session::ExecutionRecord& record,
                        std::chrono::nanoseconds) {
  Job job{session.tenant, {document_of(record)}, {}};
  const index::Node execution{"execution", record.record_id};
  job.edges.push_back({{"session", session.session_id}, execution, "ran"});
  if (record.kind == "tool") job.edges.push_back({execution, {"tool", record.type}, "used"});
  for (const session::Artifact& artifact : record.artifacts) {
    job.edges.push_back({execution, {"artifact", artifact.digest}, "produced"});
    job.documents.push_back({"artifact", artifact.digest, artifact.path, artifact.media_type});
  }
  hand_over(std::move(job));
}

void Indexing::hand_over(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kWaitingMax) {
      ++dropped_;
      return;
    }
    waiting_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Indexing::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    // What one tenant did in a row is written in one transaction.
    Job batch = std::move(waiting_.front());
    waiting_.pop_front();
    while (!waiting_.empty() && waiting_.front().tenant == batch.tenant && batch.documents.size() < 200) {
      Job& next = waiting_.front();
      std::ranges::move(next.documents, std::back_inserter(batch.documents));
      std::ranges::move(next.edges, std::back_inserter(batch.edges));
      waiting_.pop_front();
    }
    lock.unlock();
    for (index::Document& document : batch.documents)
      if (document.kind == "artifact") document.body += "\n" + text_of_artifact(artifacts_, document.id);
    Result<void> done{};
    if (!batch.documents.empty()) done = index_->put(batch.tenant, "", std::move(batch.documents));
    if (done) done = index_->relate(batch.tenant, batch.edges);
    lock.lock();
    if (!done && failure_.empty())
      log::warn("executions are not indexed", {{"error", done.error().message()}});
    failure_ = done ? "" : done.error().message();
  }
}

}  // namespace atl::daemon
