#include "api/mcp/watch.h"

#include "api/mcp/methods.h"
#include "api/mcp/toolbox.h"
#include "base/bytes.h"
#include "os/timer.h"

namespace atl::api::mcp {
namespace {

constexpr std::chrono::milliseconds kTick{250};
constexpr int kTicksOfDisk = 8;  // what is read from the disk is looked at this rarely

struct Marks {
  std::uint64_t revision = 0, fixtures = 0;
  std::string tools, prompts, resources;
  std::map<std::string, std::string> uris;
};

// What the registry has of a kind for this caller. Every stream asks after every change of anybody's, so that
// nothing is written out for it.
std::string registry_mark(const Call& call, std::string_view kind) {
  std::string mark;
  for (const registry::Entry* entry : call.parts().registry->entries(kind, call.who.tenant))
    mark += entry->name + " " + entry->digest + "\n";
  return sha256_hex(mark);
}

class Watcher {
 public:
  Watcher(CallPtr call, std::function<void(bj::object&)> finish)
      : call_(std::move(call)), finish_(std::move(finish)) {}

  void tell(std::string_view method, bj::object params = {}) {
    finish_(params);
    call_->outbox->put(notification(method, std::move(params)));
  }

  void look_at_catalog(const Watched& watched, bool tells) {
    const std::uint64_t revision = call_->parts().registry->revision();
    const std::uint64_t fixtures = call_->shared->fixture_changes;
    if (tells && revision == marks_.revision && fixtures == marks_.fixtures) return;
    const bool touched = fixtures != marks_.fixtures;
    marks_.revision = revision;
    marks_.fixtures = fixtures;
    if (watched.tools) {
      std::string mark = registry_mark(*call_, "tools");
      if (tells && (touched || mark != marks_.tools)) tell("notifications/tools/list_changed");
      marks_.tools = std::move(mark);
    }
    if (watched.prompts) {
      std::string mark = registry_mark(*call_, "prompts");
      if (tells && (touched || mark != marks_.prompts)) tell("notifications/prompts/list_changed");
      marks_.prompts = std::move(mark);
    }
  }

  boost::asio::awaitable<void> look_at_disk(const Watched& watched, bool tells) {
    if (watched.resources) {
      auto mark = co_await resources_mark(call_);
      if (mark && tells && *mark != marks_.resources) tell("notifications/resources/list_changed");
      if (mark) marks_.resources = std::move(*mark);
    }
    std::erase_if(marks_.uris, [&](const auto& entry) { return !watched.uris.contains(entry.first); });
    for (const std::string& uri : watched.uris) {
      auto mark = co_await resource_mark(call_, uri);
      if (!mark) continue;
      const auto [known, is_new] = marks_.uris.try_emplace(uri, *mark);
      if (!is_new && known->second != *mark) {
        bj::object params{{"uri", uri}};
        tell("notifications/resources/updated", std::move(params));
        known->second = *mark;
      }
    }
  }

 private:
  CallPtr call_;
  std::function<void(bj::object&)> finish_;
  Marks marks_;
};

}  // namespace

boost::asio::awaitable<void> watch(CallPtr call, std::function<Watched()> watched,
                                   std::function<void(bj::object& params)> finish) {
  Watcher watcher(call, std::move(finish));
  const Watched first = watched();
  watcher.look_at_catalog(first, false);
  co_await watcher.look_at_disk(first, false);
  for (int ticks = 1; !call->outbox->is_closed(); ++ticks) {
    if (auto slept = co_await os::sleep_for(call->parts().executor, kTick); !slept) co_return;
    const Watched now = watched();
    watcher.look_at_catalog(now, true);
    if (ticks % kTicksOfDisk == 0) co_await watcher.look_at_disk(now, true);
  }
}

}  // namespace atl::api::mcp
