#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "config/configuration.h"
#include "index/index.h"
#include "os/task.h"
#include "registry/registry.h"
#include "session/observer.h"
#include "skill/library.h"
#include "telemetry/health.h"
#include "tools/tool_registry.h"

namespace atl::daemon {

// Keeps the index up to date: executions and relations as sessions report them, from a thread of its own, so
// that no session waits; tools, prompts and skills when somebody searches and they have changed. Belongs to
// the loop thread. Shares the index with searches under way on worker threads.
class Indexing final : public session::Observer {
 public:
  // From the settings `index.*`; a bad one is Code::invalid_argument that names it.
  static Result<std::unique_ptr<Indexing>> open(const config::Configuration& configuration,
                                                const std::string& data);
  // Ends the thread; what waits is written first.
  ~Indexing() override;

  // What is declared: they must outlive this.
  void watch(const registry::Registry& registry, const tools::ToolRegistry& tools,
             const skill::Library& skills);
  // Called on the loop before somebody searches. What it gives is called on a worker thread and brings the
  // tools, prompts and skills that the tenant sees into the index, if they have changed.
  std::function<Result<void>()> refresher(const std::string& tenant);

  // Where keys of servers come from that are secrets of ours: a secret by its name.
  using Reveal = std::function<Task<std::string>(std::string name)>;
  void use_secrets(const boost::asio::any_io_executor& executor, Reveal reveal);

  index::Index& index() { return *index_; }
  telemetry::ComponentState state() const;

  void created(const session::Session& session, std::chrono::nanoseconds took) override;
  void create_failed(std::string_view, Code) override {}
  void changed(const session::Session&, session::State, session::State) override {}
  void finished(const session::Session& session, const session::ExecutionRecord& record,
                std::chrono::nanoseconds took) override;

 private:
  struct Job {
    std::string tenant;
    std::vector<index::Document> documents;
    std::vector<index::Edge> edges;
  };
  explicit Indexing(std::unique_ptr<index::Index> index);
  void hand_over(Job job);
  void run();

  std::shared_ptr<index::Index> index_;
  std::string artifacts_;  // where their files are
  std::string qdrant_secret_, neo4j_secret_, neo4j_user_;
  const registry::Registry* registry_ = nullptr;
  const tools::ToolRegistry* tools_ = nullptr;
  const skill::Library* skills_ = nullptr;
  using ByKind = std::map<std::string, std::vector<index::Document>>;
  Result<void> refresh(const std::string& tenant, ByKind declared);

  std::mutex refreshing_;
  std::map<std::string, std::string> refreshed_;  // by tenant and kind: a digest of what the index has
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Job> waiting_;
  std::uint64_t dropped_ = 0;
  std::string failure_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace atl::daemon
