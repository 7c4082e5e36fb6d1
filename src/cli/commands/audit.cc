#include <fmt/format.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <charconv>

#include "audit/entry.h"
#include "audit/pages.h"
#include "audit/paths.h"
#include "audit/signer.h"
#include "audit/verify.h"
#include "base/json.h"
#include "cli/answer.h"
#include "cli/command.h"
#include "cli/remote.h"
#include "cli/table.h"
#include "config/checked.h"
#include "daemon/data_directory.h"
#include "net/http.h"
#include "os/file.h"

// The audit log, straight from its files: it works beside a service and without one. `list` and `show` ask
// the service that --url or ATOLL_URL names; what is exported and verified are always the files.
namespace atl::cli {
namespace {

struct AuditFlags {
  ConnectionFlags connection;
  std::string after, limit, actor, action, object, outcome, tenant, seq, public_key, head;
  bool json = false, print_key = false;
};

Result<std::string> data_of(const AuditFlags& flags) {
  const config::Configuration configuration = TRY(flags.connection.settings().load());
  return daemon::existing_data_directory(configuration);
}

Result<std::uint64_t> number_of(std::string_view flag, const std::string& text, std::uint64_t otherwise) {
  if (text.empty()) return otherwise;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return fail(Code::invalid_argument, fmt::format("{}: a whole number is wanted, got '{}'", flag, text));
  return number;
}

Result<audit::Query> query_of(const AuditFlags& flags) {
  audit::Query query;
  query.after = TRY(number_of("--after", flags.after, 0));
  query.actor = flags.actor;
  query.action = flags.action;
  query.object = flags.object;
  query.outcome = flags.outcome;
  if (!flags.tenant.empty()) query.tenant = flags.tenant;
  return query;
}

void print_entry(const boost::json::value& entry) {
  const std::string address = text_at(entry, "address"), reason = text_at(entry, "reason");
  fmt::print("{:>6.0f}  {}  {:<8} {:<18} {}  actor={} tenant={}{}{}\n", number_at(entry, "seq"),
             config::shown(text_at(entry, "time")), config::shown(text_at(entry, "outcome")),
             config::shown(text_at(entry, "action")), config::shown(text_at(entry, "object")),
             config::shown(text_at(entry, "actor")), config::shown(text_at(entry, "tenant")),
             address.empty() ? "" : " from=" + config::shown(address),
             reason.empty() ? "" : "  " + config::shown(reason));
}

// How entries are shown: on a terminal as a table, in pipes a line for each, with --json as they stand.
class Entries {
 public:
  explicit Entries(bool as_json) : json_(as_json), terminal_(::isatty(STDOUT_FILENO) == 1) {}

  void add(const boost::json::value& entry) {
    if (json_)
      fmt::print("{}\n", boost::json::serialize(entry));
    else if (terminal_)
      add_row(entry);
    else
      print_entry(entry);
  }
  // As it stands in the log. What its digest does not fit is left out: 'verify' tells about it.
  void add_line(const std::string& line) {
    if (json_) {
      fmt::print("{}\n", line);
    } else if (audit::parse_line(line)) {
      if (const auto entry = json::parse(line)) add(*entry);
    }
  }
  void finish() const {
    if (terminal_ && !json_) fmt::print("{}", table_.text(paint_of_output()));
  }

 private:
  void add_row(const boost::json::value& entry) {
    const std::string outcome = text_at(entry, "outcome");
    table_.add({{fmt::format("{:.0f}", number_at(entry, "seq"))},
                {local_time(text_at(entry, "time")), Tone::dim},
                {outcome, outcome == "ok" ? Tone::good : Tone::bad},
                {text_at(entry, "action"), Tone::strong},
                {text_at(entry, "object")},
                {text_at(entry, "actor")},
                {text_at(entry, "tenant")},
                {text_at(entry, "address"), Tone::dim},
                {config::shown(text_at(entry, "reason"), 120)}});
  }

  bool json_, terminal_;
  Table table_{{{"SEQ", Table::Align::right},
                {"TIME"},
                {"OUTCOME"},
                {"ACTION"},
                {"OBJECT"},
                {"ACTOR"},
                {"TENANT"},
                {"FROM"},
                {"REASON"}}};
};

// Every page of what is wanted, until `most` lines were given to `each`.
template <class Each>
Result<void> each_of_service(const ConnectionFlags& connection, audit::Query query, std::uint64_t most,
                             Each each) {
  const Remote service = TRY(Remote::open(connection));
  while (most > 0) {
    std::string target =
        fmt::format("/api/audit?after={}&limit={}", query.after, std::min<std::uint64_t>(most, 1000));
    for (const auto& [name, value] :
         {std::pair("actor", &query.actor), std::pair("action", &query.action),
          std::pair("object", &query.object), std::pair("outcome", &query.outcome)})
      if (!value->empty()) target += fmt::format("&{}={}", name, net::percent_encode(*value));
    if (query.tenant) target += "&tenant=" + net::percent_encode(*query.tenant);
    const auto page = TRY(service.json("GET", target));
    for (const boost::json::value& entry : list_at(page, "entries")) each(entry);
    most -= std::min<std::uint64_t>(most, list_at(page, "entries").size());
    const std::uint64_t next = TRY(number_of("next_cursor", text_at(page, "next_cursor"), 0));
    if (next <= query.after) break;
    query.after = next;
  }
  return {};
}

template <class Each>
Result<void> each_line(const std::string& data, audit::Query query, std::uint64_t most, Each each) {
  while (most > 0) {
    query.limit = std::min<std::uint64_t>(most, 1000);
    const audit::Page page = TRY(audit::read_page(data, query));
    for (const std::string& line : page.lines) each(line);
    most -= page.lines.size();
    if (page.next == 0) break;
    query.after = page.next;
  }
  return {};
}

Result<void> list(const AuditFlags& flags) {
  const audit::Query query = TRY(query_of(flags));
  const std::uint64_t most = TRY(number_of("--limit", flags.limit, 100));
  Entries entries(flags.json);
  if (flags.connection.name_a_service()) {
    TRY(each_of_service(flags.connection, query, most,
                        [&](const boost::json::value& entry) { entries.add(entry); }));
  } else {
    const std::string data = TRY(data_of(flags));
    TRY(each_line(data, query, most, [&](const std::string& line) { entries.add_line(line); }));
  }
  entries.finish();
  return {};
}

// The entry's line, from the service or from the files; empty if there is none.
Result<std::string> line_of(const AuditFlags& flags, std::uint64_t seq) {
  audit::Query query;
  query.after = seq > 0 ? seq - 1 : 0;
  std::string found;
  if (flags.connection.name_a_service()) {
    TRY(each_of_service(flags.connection, query, 1,
                        [&](const boost::json::value& entry) { found = boost::json::serialize(entry); }));
  } else {
    const std::string data = TRY(data_of(flags));
    TRY(each_line(data, query, 1, [&](const std::string& line) { found = line; }));
  }
  const auto number = found.empty() ? Result<std::uint64_t>(0) : audit::seq_of(found);
  return seq > 0 && number && *number == seq ? found : std::string();
}

Result<void> show(const AuditFlags& flags) {
  const std::uint64_t seq = TRY(number_of("SEQ", flags.seq, 0));
  const std::string line = TRY(line_of(flags, seq));
  if (line.empty())
    return fail(Code::not_found,
                fmt::format("there is no entry {}; 'atoll audit list' shows what there is", seq));
  if (flags.json) {
    fmt::print("{}\n", line);
    return {};
  }
  const auto value = TRY(json::parse(line));
  for (const auto& [name, member] : value.get_object())
    fmt::print("{:<12}{}\n", std::string(name),
               member.is_string() ? config::shown(std::string(member.get_string()))
                                  : boost::json::serialize(member));
  return {};
}

Result<void> export_all(const AuditFlags& flags) {
  const std::string data = TRY(data_of(flags));
  if (flags.print_key) {
    const std::string pem = TRY(os::read_file(audit::Paths(data).public_key));
    fmt::print("{}", pem);
    return {};
  }
  const audit::Query query = TRY(query_of(flags));
  const std::uint64_t most = TRY(number_of("--limit", flags.limit, UINT64_MAX));
  return each_line(data, query, most, [](const std::string& line) { fmt::print("{}\n", line); });
}

Result<bool> check(const AuditFlags& flags) {
  audit::VerifyOptions options;
  options.data = TRY(data_of(flags));
  options.public_key = flags.public_key;
  options.head = flags.head;
  const audit::Verdict verdict = TRY(audit::verify(options));
  if (flags.json) {
    boost::json::object object{
        {"good", verdict.good},         {"entries", verdict.entries},       {"first_seq", verdict.first_seq},
        {"last_seq", verdict.last_seq}, {"signed_seq", verdict.signed_seq}, {"key", verdict.key}};
    if (!verdict.good) {
      object["wrong_seq"] = verdict.wrong_seq;
      object["problem"] = verdict.problem;
      object["place"] = verdict.place;
    }
    fmt::print("{}\n", boost::json::serialize(object));
  } else if (verdict.good) {
    fmt::print("good: {} entries, {} to {}, signed up to {} by key {}\n", verdict.entries, verdict.first_seq,
               verdict.last_seq, verdict.signed_seq, verdict.key);
  } else {
    fmt::print("wrong: {}{}\n", config::shown(verdict.problem),
               verdict.place.empty() ? "" : " (" + verdict.place + ")");
  }
  return verdict.good;
}

int done(const Result<void>& result) {
  if (!result) return report(result.error());
  return flush_output() ? 0 : 1;
}

void add_filters(Command& command, AuditFlags& flags) {
  command.add_option("--after", flags.after, "only entries with a higher number");
  command.add_option("--actor", flags.actor, "only of this key, 'system' or 'anonymous'");
  command.add_option("--action", flags.action, "only this action: file.write, or file.* for all of a noun");
  command.add_option("--object", flags.object, "only of this object: a session's id, a path, a key's id");
  command.add_option("--outcome", flags.outcome, "only ok, denied or error");
  command.add_option("--tenant", flags.tenant, "only of this tenant");
  command.add_option("--limit", flags.limit, "how many at most");
}

}  // namespace

Action define_audit(Command& top) {
  Command command = top.add_command("audit", "Show, export and verify the log of who did what");
  auto flags = std::make_unique<AuditFlags>();
  flags->connection.add_to(command);
  command.require_command();
  Command show_list = command.add_command(
      "list", "List entries, oldest first, of these files or of the service that --url names");
  add_filters(show_list, *flags);
  show_list.add_flag("--json", flags->json, "as JSON lines, exactly as they stand in the log");
  Command show_one = command.add_command("show", "Show all of one entry");
  show_one.add_option("SEQ", flags->seq, "its number").required();
  show_one.add_flag("--json", flags->json, "as it stands in the log");
  Command give = command.add_command("export", "Print entries as JSON lines, or the public key");
  add_filters(give, *flags);
  give.add_flag("--json", flags->json, "entries always are");
  give.add_flag("--public-key", flags->print_key,
                "print the key that heads are checked with, to keep it elsewhere");
  Command verify = command.add_command("verify", "Check that no entry was changed, removed, added or moved");
  verify.add_option("--public-key", flags->public_key, "PEM file with the public key, kept elsewhere");
  verify.add_option("--head", flags->head, "file with a signed head that was sent elsewhere");
  verify.add_flag("--json", flags->json, "the verdict as JSON");
  return [flags = std::move(flags), show_list, show_one, give, verify] {
    if (show_list.was_chosen()) return done(list(*flags));
    if (show_one.was_chosen()) return done(show(*flags));
    if (give.was_chosen()) return done(export_all(*flags));
    if (verify.was_chosen()) {
      const auto good = check(*flags);
      if (!good) {
        (void)report(good.error());
        return 1;
      }
      return *good && flush_output() ? 0 : 1;
    }
    return 2;
  };
}

}  // namespace atl::cli
