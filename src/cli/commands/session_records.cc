#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "cli/answer.h"
#include "cli/commands/session.h"
#include "cli/table.h"
#include "config/checked.h"

// list, show, history, logs: what is known of sessions.
namespace atl::cli {
namespace {

namespace bj = boost::json;

struct RecordFlags {
  std::string id, watch, status, text, limit = "100";
  std::vector<std::string> states, metadata;
  std::string provider, environment;
  bool all = false, follow = false, times = false;
};

std::string list_target(const RecordFlags& flags) {
  std::string target = "/api/sessions?limit=1000";
  std::vector<std::string> states = flags.states;
  if (states.empty() && !flags.all) states = {"creating", "running", "paused", "stopping"};
  for (const std::string& state : states) target += "&state=" + net::percent_encode(state);
  if (!flags.provider.empty()) target += "&provider=" + net::percent_encode(flags.provider);
  if (!flags.environment.empty()) target += "&environment=" + net::percent_encode(flags.environment);
  for (const std::string& pair : flags.metadata) {
    const std::size_t equals = pair.find('=');
    target += fmt::format("&metadata.{}={}", net::percent_encode(pair.substr(0, equals)),
                          net::percent_encode(equals == std::string::npos ? "" : pair.substr(equals + 1)));
  }
  return target;
}

std::string sessions_table(const bj::value& page) {
  Table table({{"ID"},
               {"STATE"},
               {"PROVIDER"},
               {"ENVIRONMENT"},
               {"AGE", Table::Align::right},
               {"USED", Table::Align::right},
               {"METADATA"}});
  for (const bj::value& one : list_at(page, "sessions")) {
    const std::string state = text_at(one, "state");
    std::string notes;
    if (const bj::value& metadata = member(one, "metadata"); metadata.is_object())
      for (const auto& [name, value] : metadata.as_object())
        notes += fmt::format("{}{}={}", notes.empty() ? "" : " ", std::string_view(name),
                             value.is_string() ? std::string_view(value.as_string()) : "");
    table.add({{text_at(one, "session_id")},
               {state, tone_of(state)},
               {text_at(one, "provider")},
               {text_at(one, "environment")},
               {short_time(seconds_since(text_at(one, "created_at")))},
               {short_time(seconds_since(text_at(one, "last_used_at")))},
               {notes, Tone::dim}});
  }
  return table.text(paint_of_output());
}

Result<void> check_states(const RecordFlags& flags) {
  constexpr std::array<std::string_view, 7> words = {"creating", "running", "paused", "stopping",
                                                     "stopped",  "failed",  "lost"};
  for (const std::string& state : flags.states) TRY(config::Checked("--state", state).choice(words));
  return {};
}

void add_list(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<RecordFlags>();
  Command command =
      group.add(session, "list", "List the sessions that live", [&shared, flags]() -> Result<int> {
        TRY(check_states(*flags));
        const Remote remote = TRY(Remote::open(shared.connection));
        return repeat(flags->watch, [&]() -> Result<std::string> {
          const bj::value page = TRY(all_pages(remote, list_target(*flags), "sessions"));
          return shared.json ? bj::serialize(page) + "\n" : sessions_table(page);
        });
      });
  command.add_flag("-a,--all", flags->all, "Those that ended, too");
  command.add_option("--state", flags->states, "Only in this state; may be repeated")
      .one_value_each()
      .value("creating|running|paused|stopping|stopped|failed|lost");
  command.add_option("--provider", flags->provider, "Only of this provider")
      .value("native|virtual|docker|gvisor|e2b");
  command.add_option("--environment", flags->environment, "Only of this environment").value("ENVIRONMENT");
  command.add_option("--metadata", flags->metadata, "Only with NAME=VALUE; may be repeated").one_value_each();
  add_watch(command, flags->watch);
}

// As a person would write it: no quotes, and "-" for nothing.
std::string plain_text(const bj::value& value) {
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_null() || (value.is_array() && value.as_array().empty()) ||
      (value.is_object() && value.as_object().empty()))
    return "-";
  if (!value.is_array()) return bj::serialize(value);
  std::string text;
  for (const bj::value& one : value.as_array()) text += (text.empty() ? "" : ", ") + plain_text(one);
  return text;
}

void add_lines(std::string& text, std::string_view name, const bj::value& value, std::size_t depth) {
  const std::string indent(depth * 2, ' '), title = config::shown(name);
  if (value.is_object() && !value.as_object().empty()) {
    text += fmt::format("{}{}:\n", indent, title);
    for (const auto& [key, below] : value.as_object()) add_lines(text, key, below, depth + 1);
  } else if (value.is_array() && !value.as_array().empty() && value.as_array()[0].is_object()) {
    text += fmt::format("{}{}:\n", indent, title);
    for (const bj::value& one : value.as_array())
      if (const std::string key = text_at(one, "name"); !key.empty() && one.as_object().size() == 2)
        add_lines(text, key, member(one, "value"), depth + 1);
      else
        text += fmt::format("{}  {}\n", indent, config::shown(bj::serialize(one), 2000));
  } else {
    text += fmt::format("{}{}: {}\n", indent, title, config::shown(plain_text(value), 400));
  }
}

// Secrets are for --json, whose reader asked for all of it.
std::string session_sheet(const bj::value& session) {
  std::string text;
  for (const auto& [name, value] : session.as_object())
    if (name != "access_token" && name != "traffic_token") add_lines(text, name, value, 0);
  return text;
}

void add_show(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<RecordFlags>();
  Command command =
      group.add(session, "show", "Show all that is known of a session", [&shared, flags]() -> Result<int> {
        const Remote remote = TRY(Remote::open(shared.connection));
        return repeat(flags->watch, [&]() -> Result<std::string> {
          const bj::value answer = TRY(remote.json("GET", session_target(flags->id)));
          return shared.json || !answer.is_object() ? bj::serialize(answer) + "\n" : session_sheet(answer);
        });
      });
  command.add_option("ID", flags->id, "The session").required().value("SESSION");
  add_watch(command, flags->watch);
}

std::string first_line(std::string text) {
  text.resize(std::min(text.size(), text.find('\n')));
  return text;
}

std::string records_table(const bj::value& page) {
  Table table({{"TIME"}, {"RECORD"}, {"KIND"}, {"STATUS"}, {"TOOK", Table::Align::right}, {"WHAT"}});
  for (const bj::value& one : list_at(page, "records")) {
    const std::string status = text_at(one, "status"), language = text_at(one, "language");
    table.add({{local_time(text_at(one, "timestamp")), Tone::dim},
               {text_at(one, "record_id")},
               {language.empty() ? text_at(one, "kind") : language},
               {status, tone_of(status)},
               {fmt::format("{:.0f}ms", number_at(one, "duration_ms"))},
               {first_line(text_at(one, "code"))}});
  }
  return table.text(paint_of_output());
}

Result<std::string> history_target(const RecordFlags& flags) {
  std::string target = session_target(
      flags.id,
      fmt::format("/history?limit={}", TRY(config::Checked("--limit", flags.limit).whole_number(1, 1000))));
  if (!flags.status.empty()) target += "&status=" + net::percent_encode(flags.status);
  if (!flags.text.empty()) target += "&text=" + net::percent_encode(flags.text);
  return target;
}

void add_history(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<RecordFlags>();
  Command command =
      group.add(session, "history", "List what ran in a session", [&shared, flags]() -> Result<int> {
        const Remote remote = TRY(Remote::open(shared.connection));
        const std::string target = TRY(history_target(*flags));
        return repeat(flags->watch, [&]() -> Result<std::string> {
          const bj::value page = TRY(remote.json("GET", target));
          return shared.json ? bj::serialize(page) + "\n" : records_table(page);
        });
      });
  command.add_option("ID", flags->id, "The session").required().value("SESSION");
  command.add_option("--status", flags->status, "Only with this status")
      .value("success|error|denied|timeout|killed|oom|interrupted|admitted");
  command.add_option("--text", flags->text, "Only where this text is in the code");
  command.add_option("--limit", flags->limit, "At most so many").with_default_shown().value("NUMBER");
  add_watch(command, flags->watch);
}

// What one record wrote, each line as it was.
std::string output_of(const bj::value& record, const RecordFlags& flags) {
  std::string text;
  if (flags.times)
    text +=
        painted(fmt::format("{} {} {}\n", local_time(text_at(record, "timestamp")),
                            text_at(record, "record_id"), config::shown(first_line(text_at(record, "code")))),
                Tone::dim, paint_of_output());
  for (const std::string& part : {text_at(record, "stdout"), text_at(record, "stderr")}) {
    text += part;
    if (!part.empty() && !part.ends_with('\n')) text += '\n';
  }
  return text;
}

Result<int> show_logs(const SessionFlags& shared, const RecordFlags& flags) {
  const Remote remote = TRY(Remote::open(shared.connection));
  std::set<std::string> seen;
  while (true) {
    const bj::value page =
        TRY(all_pages(remote, session_target(flags.id, "/history?order=asc&limit=1000"), "records"));
    std::string text;
    for (const bj::value& record : list_at(page, "records")) {
      // What runs still has its output in the record only when it ends.
      if (text_at(record, "status") == "admitted" || !seen.insert(text_at(record, "record_id")).second)
        continue;
      text += shared.json ? bj::serialize(record) + "\n" : output_of(record, flags);
    }
    if (const int status = print(text); status != 0 || !flags.follow) return status;
    const bj::value session = TRY(remote.json("GET", session_target(flags.id)));
    if (!member(session, "ended_at").is_null()) return 0;
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

void add_logs(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<RecordFlags>();
  Command command =
      group.add(session, "logs", "Print what code and commands of a session wrote, oldest first",
                [&shared, flags] { return show_logs(shared, *flags); });
  command.add_option("ID", flags->id, "The session").required().value("SESSION");
  command.add_flag("-f,--follow", flags->follow, "Go on with what comes, until the session ends");
  command.add_flag("--times", flags->times, "A line before each with its time and record");
}

}  // namespace

void add_session_records(Command& session, const SessionFlags& flags, Group& group) {
  add_list(session, flags, group);
  add_show(session, flags, group);
  add_history(session, flags, group);
  add_logs(session, flags, group);
}

}  // namespace atl::cli
