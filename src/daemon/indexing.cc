#include "daemon/indexing.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cctype>

#include "base/bytes.h"
#include "base/json.h"
#include "base/log.h"
#include "base/utf8.h"
#include "index/onnx_embedder.h"
#include "store/blob_file.h"

namespace atl::daemon {
namespace {

constexpr std::size_t kWaitingMax = 10'000, kTogether = 256;
constexpr auto kCollect = std::chrono::seconds(1);     // how long jobs are collected
constexpr auto kCatchUpMax = std::chrono::seconds(2);  // how long a search waits for them
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

// Whether a call or a piece of code names the directory or the Python package of a skill: that it was used is
// known by this alone.
bool names_skill(const std::string& code, std::string name) {
  const auto names = [&](const std::string& words) {
    for (auto at = code.find(words); at != std::string::npos; at = code.find(words, at + 1)) {
      const char next = at + words.size() < code.size() ? code[at + words.size()] : '/';
      if (std::isalnum(static_cast<unsigned char>(next)) == 0 && next != '-' && next != '_') return true;
    }
    return false;
  };
  if (names("skills/" + name)) return true;
  std::ranges::replace(name, '-', '_');
  return names("skills." + name) || names("skills/" + name) || names("from skills import " + name);
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
  auto indexing = std::unique_ptr<Indexing>(
      new Indexing(std::move(opened), data, configuration.boolean("index.history")));
  indexing->qdrant_secret_ = configuration.text("index.qdrant.api_key_secret");
  indexing->neo4j_secret_ = configuration.text("graph.neo4j.password_secret");
  indexing->neo4j_user_ = configuration.text("graph.neo4j.user");
  return indexing;
}

Indexing::Indexing(std::unique_ptr<index::Index> index, std::string data, bool with_history)
    : index_(std::move(index)), data_(std::move(data)), with_history_(with_history) {
  if (!with_history_) return;
  index_->rebuild_from([this](const index::Index::Step& step) { return write_history(step); });
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "atoll-index");
}

Indexing::~Indexing() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  index_->rebuild_from({});
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
  catch_up();
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

Indexing::Job Indexing::job_of(const session::Session& session) {
  Job job{session.tenant, {}, {}};
  const index::Node node{"session", session.session_id};
  if (!session.agent.empty()) job.edges.push_back({{"agent", session.agent}, node, "owns"});
  if (!session.parent.empty()) job.edges.push_back({{"session", session.parent}, node, "forked"});
  for (const session::SkillUse& skill : session.skills)
    job.edges.push_back({node, {"skill", skill.name}, "given"});
  // A fork is made from a state that nobody else sees.
  if (!session.snapshot.empty() && session.parent.empty())
    job.edges.push_back({{"snapshot", session.snapshot}, node, "started"});
  return job;
}

Indexing::Job Indexing::job_of(const session::Session& session, const session::ExecutionRecord& record) {
  Job job{session.tenant, {document_of(record)}, {}};
  const index::Node execution{"execution", record.record_id};
  job.edges.push_back({{"session", session.session_id}, execution, "ran"});
  const bool is_tool = record.kind == "tool";
  if (is_tool) job.edges.push_back({execution, {"tool", record.type}, "used"});
  for (const session::SkillUse& skill : session.skills) {
    if (!names_skill(record.code, skill.name)) continue;
    job.edges.push_back({execution, {"skill", skill.name}, "used"});
    if (is_tool) job.edges.push_back({{"tool", record.type}, {"skill", skill.name}, "used"});
  }
  for (const session::Artifact& artifact : record.artifacts) {
    job.edges.push_back({execution, {"artifact", artifact.digest}, "produced"});
    job.documents.push_back({"artifact", artifact.digest, artifact.path, artifact.media_type});
  }
  return job;
}

Indexing::Job Indexing::job_of(const session::Snapshot& snapshot) {
  return {
      snapshot.tenant, {}, {{{"session", snapshot.session_id}, {"snapshot", snapshot.snapshot_id}, "took"}}};
}

void Indexing::created(const session::Session& session, std::chrono::nanoseconds, const trace::Context&) {
  Job job = job_of(session);
  if (!job.edges.empty()) hand_over(std::move(job));
}

void Indexing::finished(const session::Session& session, const session::ExecutionRecord& record,
                        std::chrono::nanoseconds) {
  if (with_history_) hand_over(job_of(session, record));
}

// One that was put back to a snapshot begins with it from then on.
void Indexing::changed(const session::Session& session, session::State from, session::State to,
                       const trace::Context& trace) {
  if (from == session::State::creating && to == session::State::running && !session.snapshot.empty())
    created(session, {}, trace);
}

void Indexing::hand_over(Job job) {
  if (!with_history_) return;
  bool is_time = false;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= kWaitingMax) {
      ++dropped_;
      return;
    }
    if (waiting_.empty()) oldest_ = std::chrono::steady_clock::now();
    waiting_.push_back(std::move(job));
    ++handed_;
    // The others are seen when the first of them has waited long enough.
    is_time = waiting_.size() == 1 || waiting_.size() == kTogether;
  }
  if (is_time) wake_.notify_one();
}

void Indexing::catch_up() {
  if (!with_history_) return;
  std::unique_lock lock(mutex_);
  const std::uint64_t until = ++handed_;
  if (waiting_.empty()) oldest_ = std::chrono::steady_clock::now();
  waiting_.push_back({});  // also what is not handed over is looked for: snapshots
  is_hurried_ = true;
  wake_.notify_one();
  written_.wait_for(lock, kCatchUpMax, [&] { return done_ >= until; });
}

std::vector<Indexing::Job> Indexing::by_tenant(std::deque<Job> jobs) {
  std::vector<Job> all;
  for (Job& job : jobs) {
    const auto same = std::ranges::find(all, job.tenant, &Job::tenant);
    if (same == all.end()) {
      all.push_back(std::move(job));
      continue;
    }
    std::ranges::move(job.documents, std::back_inserter(same->documents));
    std::ranges::move(job.edges, std::back_inserter(same->edges));
  }
  return all;
}

Result<void> Indexing::write(Job job) {
  for (index::Document& document : job.documents)
    if (document.kind == "artifact")
      document.body += "\n" + text_of_artifact(data_ + "/artifacts", document.id);
  if (!job.documents.empty()) TRY(index_->put(job.tenant, "", std::move(job.documents)));
  return index_->relate(job.tenant, job.edges);
}

void Indexing::run() {
  if (const auto done = write_lacking(); !done)
    log::warn("the history was not indexed", {{"error", done.error().message()}});
  std::unique_lock lock(mutex_);
  while (true) {
    wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    wake_.wait_until(lock, oldest_ + kCollect,
                     [this] { return stopping_ || is_hurried_ || waiting_.size() >= kTogether; });
    std::deque<Job> jobs;
    while (!waiting_.empty() && jobs.size() < kTogether) {
      jobs.push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    oldest_ = std::chrono::steady_clock::now();
    is_hurried_ = is_hurried_ && !waiting_.empty();
    const std::uint64_t count = jobs.size();
    const bool was_well = failure_.empty();
    lock.unlock();
    Result<void> done = write_new_snapshots();
    for (Job& job : by_tenant(std::move(jobs))) {
      const std::string tenant = job.tenant;
      auto written = write(std::move(job));
      if (written) continue;
      if (was_well)
        log::warn("executions are not indexed", {{"tenant", tenant}, {"error", written.error().message()}});
      done = std::move(written);
    }
    lock.lock();
    failure_ = done ? "" : done.error().message();
    done_ += count;
    written_.notify_all();
  }
}

}  // namespace atl::daemon
