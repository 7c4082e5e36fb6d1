#include "cli/commands/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "cli/answer.h"
#include "config/checked.h"

// `atoll session`: everything that a service can do with sessions. One file for each part, session_*.cc.
namespace atl::cli {
namespace {

namespace bj = boost::json;
constexpr int kPagesMax = 10'000;
constexpr std::uint64_t kPagesBytesMax = 256U << 20U;

}  // namespace

Command Group::add(Command& parent, const std::string& name, const std::string& about, Body body) {
  entries_.push_back({parent.add_command(name, about), std::move(body)});
  return entries_.back().command;
}

int Group::run() {
  for (Entry& entry : entries_) {
    if (!entry.command.was_chosen()) continue;
    auto status = entry.body();
    if (!status) return report(status.error());
    return flush_output() || *status != 0 ? *status : 1;
  }
  return 2;
}

std::string session_target(const std::string& id, std::string_view rest) {
  return fmt::format("/api/sessions/{}{}", net::percent_encode(id), rest);
}

Result<bj::value> all_pages(const Remote& remote, const std::string& target, std::string_view list) {
  const char joint = target.contains('?') ? '&' : '?';
  std::uint64_t bytes = 0;
  const auto get = [&](std::string page) -> Result<bj::value> {
    const std::string answer =
        TRY(remote.text({.method = "GET", .target = std::move(page), .body = {}, .headers = {}}));
    bytes += answer.size();
    return parse_answer(answer);
  };
  bj::value all = TRY(get(target));
  for (int page = 1;; ++page) {
    const std::string cursor = text_at(all, "next_cursor");
    if (cursor.empty()) break;
    if (page >= kPagesMax || bytes > kPagesBytesMax)
      return fail(Code::unavailable, fmt::format("the service gives pages without an end: {} of them, {} MiB",
                                                 page, bytes >> 20U));
    const bj::value next = TRY(get(fmt::format("{}{}cursor={}", target, joint, net::percent_encode(cursor))));
    // It is an object: it has a cursor. The rest is what somebody else's program says.
    bj::value& into = all.as_object()[list];
    if (!into.is_array()) into = bj::array();
    for (const bj::value& one : list_at(next, list)) into.as_array().push_back(one);
    all.as_object()["next_cursor"] = member(next, "next_cursor");
  }
  return all;
}

int print(const std::string& text) {
  fmt::print("{}", text);
  return flush_output() ? 0 : 1;
}

Result<int> repeat(const std::string& interval, const std::function<Result<std::string>()>& once) {
  if (interval.empty()) return print(TRY(once()));
  const auto pause = TRY(config::Checked("--watch", interval).seconds(0.1, 86400));
  const bool in_place = ::isatty(STDOUT_FILENO) == 1;
  while (true) {
    const std::string text = TRY(once());
    if (const int status = print(in_place ? "\033[H\033[2J" + text : text); status != 0) return status;
    std::this_thread::sleep_for(pause);
  }
}

void add_watch(Command& command, std::string& interval) {
  command.add_option("--watch", interval, "Show it again every so many seconds").value("[SECONDS=2]");
}

Action define_session(Command& top) {
  Command command = top.add_command("session", "Create, look into, use and end sessions of a service");
  command.require_command();
  struct Room {
    SessionFlags flags;
    Group group;
  };
  auto room = std::make_unique<Room>();
  room->flags.connection.add_to(command);
  command.add_flag("--json", room->flags.json, "As JSON, as the service gives it");
  add_session_lifecycle(command, room->flags, room->group);
  add_session_records(command, room->flags, room->group);
  add_session_code(command, room->flags, room->group);
  add_session_files(command, room->flags, room->group);
  add_session_attach(command, room->flags, room->group);
  command.notes(
      "id=$(atoll session create)\n"
      "atoll session exec $id 'x = 6 * 7'\n"
      "atoll session exec $id 'print(x)'\n"
      "atoll session run $id -- ls -l\n"
      "atoll session rm $id");
  return [room = std::move(room)] { return room->group.run(); };
}

}  // namespace atl::cli
