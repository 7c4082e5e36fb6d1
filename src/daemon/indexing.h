#pragma once

#include <atomic>
#include <boost/asio/any_io_executor.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "config/configuration.h"
#include "index/index.h"
#include "os/task.h"
#include "registry/registry.h"
#include "session/observer.h"
#include "skill/library.h"
#include "store/sqlite.h"
#include "telemetry/health.h"
#include "tools/tool_registry.h"

namespace atl::daemon {

// Keeps the index up to date: executions and relations as sessions report them, from a thread of its own, so
// that no session waits; tools, prompts and skills when somebody searches and they have changed. What
// sessions report is collected for up to a second and written together, which takes a fraction of what one by
// one takes; whoever searches has it written first. Belongs to the loop thread. Shares the index with
// searches under way on worker threads.
class Indexing final : public session::Observer {
 public:
  // From the settings `index.*`; a bad one is Code::invalid_argument that names it. What the store (atoll.db
  // of the data directory) has and the index lacks is written first, and all of it when the index is rebuilt.
  static Result<std::unique_ptr<Indexing>> open(const config::Configuration& configuration,
                                                const std::string& data);
  // Ends the thread; what waits is written first.
  ~Indexing() override;

  // What is declared: they must outlive this.
  void watch(const registry::Registry& registry, const tools::ToolRegistry& tools,
             const skill::Library& skills);
  // Called on the loop before somebody searches. What it gives is called on a worker thread and brings the
  // tools, prompts and skills that the tenant sees into the index, if they have changed, after catch_up().
  std::function<Result<void>()> refresher(const std::string& tenant);

  // Writes what sessions have reported so far. Waits for it, but not longer than two seconds: a model or a
  // disk may be slow, and then the newest is found later. Not for the loop thread.
  void catch_up();

  // Where keys of servers come from that are secrets of ours: a secret by its name.
  using Reveal = std::function<Task<std::string>(std::string name)>;
  void use_secrets(const boost::asio::any_io_executor& executor, Reveal reveal);

  index::Index& index() { return *index_; }
  telemetry::ComponentState state() const;

  void created(const session::Session& session, std::chrono::nanoseconds took,
               const trace::Context& trace) override;
  void create_failed(std::string_view, Code) override {}
  void changed(const session::Session& session, session::State from, session::State to,
               const trace::Context& trace) override;
  void finished(const session::Session& session, const session::ExecutionRecord& record,
                std::chrono::nanoseconds took) override;

 private:
  struct Job {
    std::string tenant;
    std::vector<index::Document> documents;
    std::vector<index::Edge> edges;
  };
  Indexing(std::unique_ptr<index::Index> index, std::string data, bool with_history);
  void hand_over(Job job);
  void run();
  // The same jobs, those of one tenant as one, in the order in which they came.
  static std::vector<Job> by_tenant(std::deque<Job> jobs);
  Result<void> write(Job job);
  static Job job_of(const session::Session& session);
  static Job job_of(const session::Session& session, const session::ExecutionRecord& record);
  static Job job_of(const session::Snapshot& snapshot);
  // Of the store: records after that number, what sessions and snapshots are related to, all of it.
  Result<store::Connection> open_store() const;
  Result<void> write_records(store::Connection& store, std::int64_t after,
                             const std::function<bool(std::uint64_t)>& step);
  Result<void> write_relations(store::Connection& store);
  // `after` moves to the number of the last one.
  Result<void> write_snapshots(store::Connection& store, std::int64_t& after);
  // Those that came since this was last called. Belongs to the thread.
  Result<void> write_new_snapshots();
  Result<void> write_history(const index::Index::Step& step);
  // Whatever was not written when the service ended without warning, or when the index was lost.
  Result<void> write_lacking();

  std::shared_ptr<index::Index> index_;
  const std::string data_;
  const bool with_history_;
  std::string qdrant_secret_, neo4j_secret_, neo4j_user_;
  const registry::Registry* registry_ = nullptr;
  const tools::ToolRegistry* tools_ = nullptr;
  const skill::Library* skills_ = nullptr;
  using ByKind = std::map<std::string, std::vector<index::Document>>;
  Result<void> refresh(const std::string& tenant, ByKind declared);

  std::optional<store::Connection> reader_;  // of write_new_snapshots(), as the next
  std::int64_t snapshots_known_ = 0;
  std::mutex refreshing_;
  std::map<std::string, std::string> refreshed_;  // by tenant and kind: a digest of what the index has
  mutable std::mutex mutex_;
  std::condition_variable wake_, written_;
  std::deque<Job> waiting_;
  std::chrono::steady_clock::time_point oldest_;  // when the first of waiting_ came
  bool is_hurried_ = false;                       // somebody waits for what is in waiting_
  std::uint64_t handed_ = 0, done_ = 0;           // jobs since the beginning
  std::uint64_t dropped_ = 0;
  std::string failure_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace atl::daemon
