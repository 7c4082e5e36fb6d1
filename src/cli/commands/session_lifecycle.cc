#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/commands/session.h"
#include "cli/interruption.h"
#include "config/checked.h"

// create, pause, resume, snapshot, fork, rm.
namespace atl::cli {
namespace {

namespace bj = boost::json;

struct CreateFlags {
  std::string environment, provider, image, agent, snapshot, policy, network, ttl, storage;
  std::string memory, cpus, seconds, disk, processes;
  std::vector<std::string> env, metadata, allow, deny, skills;
};

struct OneFlags {
  std::string id, name, count, env_text, seconds;
  std::vector<std::string> ids;
  bool to_disk = false, force = false, fresh = false;
};

Result<bj::object> pairs_of(std::string_view flag, const std::vector<std::string>& given) {
  bj::object pairs;
  for (const std::string& text : given) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(config::Checked(flag, text).wrong("is no pair", "write NAME=VALUE"));
    pairs[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return pairs;
}

bj::array texts_of(const std::vector<std::string>& given) {
  bj::array list;
  for (const std::string& one : given) list.emplace_back(one);
  return list;
}

Result<bj::object> limits_of_session(const CreateFlags& flags) {
  constexpr std::uint64_t mega = 1U << 20U, most = 1ULL << 50U;
  bj::object limits;
  const auto megabytes = [](std::string_view flag, const std::string& text) -> Result<std::uint64_t> {
    return (TRY(config::Checked(flag, text).bytes(mega, most)) + mega - 1) / mega;
  };
  if (!flags.memory.empty()) limits["memory_mb"] = TRY(megabytes("--memory", flags.memory));
  if (!flags.disk.empty()) limits["disk_mb"] = TRY(megabytes("--disk", flags.disk));
  if (!flags.cpus.empty())
    limits["cpu_cores"] = TRY(config::Checked("--cpus", flags.cpus).number(0.01, 8192));
  if (!flags.processes.empty())
    limits["max_processes"] = TRY(config::Checked("--processes", flags.processes).whole_number(1, 4'194'304));
  if (!flags.seconds.empty())
    limits["execution_time_seconds"] = TRY(config::Checked("--time", flags.seconds).number(0.001, 86400));
  return limits;
}

Result<bj::object> body_of(const CreateFlags& flags) {
  bj::object body;
  for (const auto& [name, value] :
       {std::pair("environment", &flags.environment), std::pair("provider", &flags.provider),
        std::pair("image", &flags.image), std::pair("agent", &flags.agent),
        std::pair("snapshot", &flags.snapshot), std::pair("policy", &flags.policy),
        std::pair("network", &flags.network), std::pair("storage", &flags.storage)})
    if (!value->empty()) body[name] = *value;
  if (!flags.ttl.empty())
    body["ttl_seconds"] = TRY(config::Checked("--ttl", flags.ttl).number(0.1, 2'592'000));
  if (bj::object limits = TRY(limits_of_session(flags)); !limits.empty()) body["limits"] = std::move(limits);
  if (!flags.env.empty()) body["env"] = TRY(pairs_of("--env", flags.env));
  if (!flags.metadata.empty()) body["metadata"] = TRY(pairs_of("--metadata", flags.metadata));
  if (!flags.skills.empty()) body["skills"] = texts_of(flags.skills);
  if (!flags.allow.empty() || !flags.deny.empty()) {
    bj::object rules;
    if (!flags.allow.empty()) rules["allow"] = texts_of(flags.allow);
    if (!flags.deny.empty()) rules["deny"] = texts_of(flags.deny);
    body["network"] = std::move(rules);
  }
  return body;
}

// The routes by which what an answer names is removed again.
using Removal = std::function<std::vector<std::string>(const bj::value& answer)>;

// Makes something. Ctrl-C leaves nothing of which nobody knows the name: the answer is waited for, and what
// it names is removed. A second ctrl-C ends the wait.
Result<bj::value> make(const Remote& remote, const std::string& target, const bj::object& body,
                       const Removal& removal) {
  const Interruption interruption(true);
  bj::value answer = TRY(remote.json("POST", target, body));
  if (!interruption.token().stop_requested()) return answer;
  for (const std::string& one : removal(answer)) TRY(remote.json("DELETE", one));
  return fail(Code::canceled, "interrupted; what was made is removed again");
}

std::vector<std::string> removal_of_sessions(const bj::value& answer) {
  std::vector<std::string> targets;
  for (const bj::value& copy : list_at(member(answer, "fork"), "copies"))
    if (const std::string id = text_at(member(copy, "session"), "session_id"); !id.empty())
      targets.push_back(session_target(id));
  if (targets.empty()) targets.push_back(session_target(text_at(answer, "session_id")));
  return targets;
}

std::vector<std::string> removal_of_snapshot(const bj::value& answer) {
  return {"/api/snapshots/" + net::percent_encode(text_at(answer, "snapshot_id"))};
}

// The answer as it is, or one member of it on a line.
Result<int> show_answer(const SessionFlags& shared, const bj::value& answer, std::string_view name) {
  return print((shared.json ? bj::serialize(answer) : config::shown(text_at(answer, name))) + "\n");
}

void say_left_behind(const bj::value& session) {
  for (const bj::value& one : list_at(session, "left_behind"))
    if (one.is_string())
      fmt::print(stderr, "atoll: left behind: {}\n", config::shown(std::string_view(one.as_string()), 200));
}

void add_create(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<CreateFlags>();
  Command command =
      group.add(session, "create", "Create a session and print its id", [&shared, flags]() -> Result<int> {
        const bj::object body = TRY(body_of(*flags));
        const Remote remote = TRY(Remote::open(shared.connection));
        const bj::value answer = TRY(make(remote, "/api/sessions", body, removal_of_sessions));
        return show_answer(shared, answer, "session_id");
      });
  command.add_option("--environment", flags->environment, "What is inside; `atoll env list` has names")
      .value("ENVIRONMENT");
  command.add_option("--provider", flags->provider, "What makes the sandbox")
      .value("native|virtual|docker|gvisor|e2b|auto");
  command.add_option("--image", flags->image, "An image to make it from, such as python:3.13-slim");
  command.add_option("--agent", flags->agent, "An agent of the registry, with all that it declares");
  command.add_option("--snapshot", flags->snapshot, "A snapshot to begin with");
  command.add_option("--policy", flags->policy, "Policy for code and commands")
      .value("strict|standard|off|NAME");
  command.add_option("--network", flags->network, "Whether anything gets out").value("none|egress");
  command
      .add_option("--allow", flags->allow,
                  "A name, *.name, address or range that it may reach; may be repeated")
      .one_value_each();
  command.add_option("--deny", flags->deny, "The same, refused; may be repeated").one_value_each();
  command.add_option("--ttl", flags->ttl, "Seconds until it ends").value("SECONDS");
  command.add_option("--storage", flags->storage, "A storage for its files (provider virtual)");
  command.add_option("-m,--memory", flags->memory, "Memory limit, such as 256M").value("SIZE");
  command.add_option("--cpus", flags->cpus, "CPU cores").value("NUMBER");
  command.add_option("--time", flags->seconds, "Seconds that one execution may take").value("SECONDS");
  command.add_option("--disk", flags->disk, "Disk limit, such as 1G").value("SIZE");
  command.add_option("--processes", flags->processes, "Processes at once").value("NUMBER");
  command.add_option("-e,--env", flags->env, "NAME=VALUE inside; may be repeated")
      .any_text()
      .one_value_each();
  command.add_option("--metadata", flags->metadata, "NAME=VALUE to find it by; may be repeated")
      .any_text()
      .one_value_each();
  command.add_option("--skill", flags->skills, "A skill to show inside, or '*'; may be repeated")
      .one_value_each();
}

void add_pause(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<OneFlags>();
  Command command = group.add(
      session, "pause", "Freeze a session, or put it on the disk", [&shared, flags]() -> Result<int> {
        const Remote remote = TRY(Remote::open(shared.connection));
        bj::object body;
        if (flags->to_disk) body["to"] = "disk";
        if (flags->force) body["force"] = true;
        const bj::value answer = TRY(remote.json("POST", session_target(flags->id, "/pause"), body));
        say_left_behind(answer);
        return show_answer(shared, answer, "state");
      });
  command.add_option("ID", flags->id, "The session").required().value("SESSION");
  command.add_flag("--disk", flags->to_disk, "Nothing of it stays in memory");
  command.add_flag("--force", flags->force, "To the disk even if something cannot come along");
}

void add_resume(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<OneFlags>();
  Command command =
      group.add(session, "resume", "Let a paused session go on", [&shared, flags]() -> Result<int> {
        const Remote remote = TRY(Remote::open(shared.connection));
        const bj::value answer = TRY(remote.json("POST", session_target(flags->id, "/resume"), bj::object()));
        say_left_behind(answer);
        return show_answer(shared, answer, "state");
      });
  command.add_option("ID", flags->id, "The session").required().value("SESSION");
}

void add_snapshot(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<OneFlags>();
  Command command = group.add(
      session, "snapshot", "Store a session's files and print the snapshot's id",
      [&shared, flags]() -> Result<int> {
        const Remote remote = TRY(Remote::open(shared.connection));
        bj::object body;
        if (!flags->name.empty()) body["name"] = flags->name;
        const std::string target = session_target(flags->id, "/snapshots");
        return show_answer(shared, TRY(make(remote, target, body, removal_of_snapshot)), "snapshot_id");
      });
  command.add_option("ID", flags->id, "The session").required().value("SESSION");
  command.add_option("--name", flags->name, "A name to recognise it by");
}

// The ids of the copies; what could not be made is told, and is the command's failure.
Result<int> show_copies(const bj::value& answer) {
  const bj::array& copies = list_at(member(answer, "fork"), "copies");
  std::string ids;
  int status = 0;
  for (const bj::value& copy : copies) {
    if (const std::string id = text_at(member(copy, "session"), "session_id"); !id.empty()) {
      ids += config::shown(id) + "\n";
    } else {
      fmt::print(stderr, "atoll: a copy could not be made: {}\n",
                 config::shown(text_at(member(copy, "error"), "message"), 400));
      status = 1;
    }
  }
  if (copies.empty()) ids = config::shown(text_at(answer, "session_id")) + "\n";
  for (const bj::value& one : list_at(member(answer, "fork"), "left_behind"))
    if (one.is_string())
      fmt::print(stderr, "atoll: left behind: {}\n", config::shown(std::string_view(one.as_string()), 200));
  const int printed = print(ids);
  return printed != 0 ? printed : status;
}

void add_fork(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<OneFlags>();
  Command command = group.add(
      session, "fork", "Copy a session with its files and variables, and print the ids of the copies",
      [&shared, flags]() -> Result<int> {
        const Remote remote = TRY(Remote::open(shared.connection));
        bj::object body;
        if (!flags->count.empty())
          body["count"] = TRY(config::Checked("--count", flags->count).whole_number(1, 100));
        if (flags->fresh) body["kernels"] = "fresh";
        const std::string target = session_target(flags->id, "/fork");
        const bj::value answer = TRY(make(remote, target, body, removal_of_sessions));
        return shared.json ? Result<int>(print(bj::serialize(answer) + "\n")) : show_copies(answer);
      });
  command.add_option("ID", flags->id, "The session").required().value("SESSION");
  command.add_option("--count", flags->count, "How many copies (default 1)").value("NUMBER");
  command.add_flag("--files-only", flags->fresh, "Leave the interpreters' variables behind");
}

void add_remove(Command& session, const SessionFlags& shared, Group& group) {
  auto* flags = group.keep<OneFlags>();
  Command command =
      group.add(session, "rm", "End sessions; their history stays", [&shared, flags]() -> Result<int> {
        const Remote remote = TRY(Remote::open(shared.connection));
        int status = 0;
        bj::array ended;
        for (const std::string& id : flags->ids) {
          auto answer = remote.json("DELETE", session_target(id));
          if (!answer)
            status = report(std::move(answer).error().context(config::shown(id)));
          else if (shared.json)
            ended.push_back(std::move(*answer));
          else if (const int printed = print(id + "\n"); printed != 0)
            return printed;
        }
        if (!shared.json) return status;
        const int printed = print(bj::serialize(ended.size() == 1 ? ended[0] : bj::value(ended)) + "\n");
        return printed != 0 ? printed : status;
      });
  command.add_option("ID", flags->ids, "The sessions").required().value("SESSION");
}

}  // namespace

void add_session_lifecycle(Command& session, const SessionFlags& flags, Group& group) {
  add_create(session, flags, group);
  add_pause(session, flags, group);
  add_resume(session, flags, group);
  add_snapshot(session, flags, group);
  add_fork(session, flags, group);
  add_remove(session, flags, group);
}

}  // namespace atl::cli
