#include <fmt/format.h>

#include "shell/arguments/command_line.h"
#include "shell/arguments/usage.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/file_names.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::identity_program {

int run_whoami(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  if (!options.operands().empty())
    return usage_error(call, fmt::format("extra operand {}", quote_operand(options.operands()[0])));
  call.out().write(user_name(call, current_uid(call)) + "\n");
  return 0;
}

int run_logname(Invocation& call) {
  return run_whoami(call);
}

int run_id(Invocation& call) {
  static constexpr Option kOptions[] = {{'u', 'u', "user"}, {'g', 'g', "group"}, {'G', 'G', "groups"},
                                        {'n', 'n', "name"}, {'r', 'r', "real"},  {'z', 'z', "zero"},
                                        {'a', 'a', ""}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  char what = 0, end = '\n';
  bool names = false, real = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'n') names = true;
    if (id == 'r') real = true;  // the same here
    if (id == 'z') end = '\0';
    if (id == 'u' || id == 'g' || id == 'G') {
      if (what && what != id) return call.fail("cannot print \"only\" of more than one choice");
      what = static_cast<char>(id);
    }
  }
  std::uint32_t uid = current_uid(call);
  if (!options.operands().empty()) {
    const std::string& who = options.operands()[0];
    if (who == "root" || who == "0")
      uid = 0;
    else if (who != user_name(call, uid) && who != std::to_string(uid))
      return call.fail(fmt::format("{}: no such user", quote_operand(who)));
  }
  std::string name = user_name(call, uid);
  if ((names || real) && !what) return call.fail("cannot print only names or real IDs in default format");
  if (end == '\0' && !what) return call.fail("option --zero not permitted in default format");
  if (what)
    call.out().write((names ? name : std::to_string(uid)) + end);
  else
    call.out().write(fmt::format("uid={0}({1}) gid={0}({1}) groups={0}({1})\n", uid, name));
  return 0;
}

int run_groups(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  std::string own = user_name(call, current_uid(call));
  int status = 0;
  for (const std::string& who : options.operands()) {
    if (who == own || who == "root")
      call.out().write(fmt::format("{0} : {0}\n", who));
    else
      status = call.fail(fmt::format("{}: no such user", quote_operand(who)));
  }
  if (!options.operands().empty()) return status;
  call.out().write(user_name(call, current_uid(call)) + "\n");
  return 0;
}

int run_hostname(Invocation& call) {
  static constexpr Option kOptions[] = {{'f', 'f', "fqdn"},
                                        {'s', 's', "short"},
                                        {'i', 'i', "ip-address"},
                                        {'I', 'I', "all-ip-addresses"},
                                        {'d', 'd', "domain"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  if (!options.operands().empty()) return call.fail("you must be root to change the host name");
  std::string name = call.variable("HOSTNAME").value_or("atoll");
  std::size_t dot = name.find('.');
  char what = options.found().empty() ? '\0' : static_cast<char>(options.found().back().id);
  if (what == 's') name = name.substr(0, dot);
  if (what == 'd') name = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (what == 'i' || what == 'I') name = "127.0.0.1";
  call.out().write(name + "\n");
  return 0;
}

int run_uname(Invocation& call) {
  static constexpr Option kOptions[] = {{'a', 'a', "all"},
                                        {'s', 's', "kernel-name"},
                                        {'n', 'n', "nodename"},
                                        {'r', 'r', "kernel-release"},
                                        {'v', 'v', "kernel-version"},
                                        {'m', 'm', "machine"},
                                        {'p', 'p', "processor"},
                                        {'i', 'i', "hardware-platform"},
                                        {'o', 'o', "operating-system"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  if (!options.operands().empty())
    return usage_error(call, fmt::format("extra operand {}", quote_operand(options.operands()[0])));
  std::string wanted;
  for (auto& [id, value] : options.found())
    wanted += id == 'a' ? std::string("snrvmo") : std::string(1, static_cast<char>(id));
  if (wanted.empty()) wanted = "s";
  std::string out;
  for (char c : std::string_view("snrvmpio")) {
    if (wanted.find(c) == std::string::npos) continue;
    if (!out.empty()) out += ' ';
    switch (c) {
      case 's': out += "Linux"; break;
      case 'n': out += call.variable("HOSTNAME").value_or("atoll"); break;
      case 'r': out += "6.1.0-atoll"; break;
      case 'v': out += "#1 SMP Atoll"; break;
      case 'o': out += "GNU/Linux"; break;
      case 'm': out += "x86_64"; break;
      default: out += "unknown";
    }
  }
  call.out().write(out + "\n");
  return 0;
}

int run_arch(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  if (!options.operands().empty())
    return usage_error(call, fmt::format("extra operand {}", quote_operand(options.operands()[0])));
  call.out().write("x86_64\n");
  return 0;
}

int run_nproc(Invocation& call) {
  static constexpr Option kOptions[] = {{'a', 0, "all"}, {'i', 0, "ignore", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::uint64_t ignored = 0;
  for (auto& [id, value] : options.found())
    if (id == 'i' && !parse_size(value, ignored))
      return call.fail(fmt::format("invalid number: {}", quote_operand(value)));
  if (!options.operands().empty())
    return usage_error(call, fmt::format("extra operand {}", quote_operand(options.operands()[0])));
  call.out().write("1\n");
  return 0;
}

int run_tty(Invocation& call) {
  static constexpr Option kOptions[] = {{'s', 's', "silent"}, {'s', 0, "quiet"}};
  CommandLine options(call, kOptions, {.status = 2});
  if (options.stopped()) return options.status();
  if (options.found().empty()) call.out().write("not a tty\n");
  return 1;
}

int run_clear(Invocation& call) {
  static constexpr Option kOptions[] = {{'x', 'x', ""}, {'V', 'V', ""}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool scrollback = true;
  for (auto& [id, value] : options.found()) {
    if (id == 'V') return call.out().write(fmt::format("clear (Atoll) {}\n", ATOLL_VERSION)), 0;
    scrollback = false;
  }
  call.out().write(scrollback ? "\33[H\33[2J\33[3J" : "\33[H\33[2J");
  return 0;
}

// All that is written is there at once; only what does not exist can go wrong.
int run_sync(Invocation& call) {
  static constexpr Option kOptions[] = {{'d', 'd', "data"}, {'f', 'f', "file-system"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool data = false, system = false;
  for (auto& [id, value] : options.found()) (id == 'd' ? data : system) = true;
  if (data && system) return call.fail("cannot specify both --data and --file-system");
  if (data && options.operands().empty()) return call.fail("--data needs at least one argument");
  int status = 0;
  for (const std::string& operand : options.operands()) {
    auto path = call.resolve(operand);
    if (path && call.fs().find(*path)) continue;
    status = call.fail(fmt::format("error opening {}: No such file or directory", quote_operand(operand)));
  }
  return status;
}

}  // namespace atl::shell::identity_program
