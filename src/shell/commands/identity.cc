#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/file_names.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

int run_whoami(Invocation& call) {
  CommandLine options(call, {});
  if (options.stopped()) return options.status();
  if (!options.operands().empty()) return usage_error(call, fmt::format("extra operand {}", quoted(options.operands()[0])));
  call.out().write(user_name(call, current_uid(call)) + "\n");
  return 0;
}

int run_logname(Invocation& call) { return run_whoami(call); }

int run_id(Invocation& call) {
  static constexpr Option kOptions[] = {{'u', 'u', "user"}, {'g', 'g', "group"}, {'G', 'G', "groups"}, {'n', 'n', "name"}, {'r', 'r', "real"}, {'z', 'z', "zero"}, {'a', 'a', ""}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  char what = 0, end = '\n';
  bool names = false;
  for (auto& [id, value] : options.found()) {
    if (id == 'n') names = true;
    if (id == 'z') end = '\0';
    if (id == 'u' || id == 'g' || id == 'G') {
      if (what && what != id) return call.fail("cannot print \"only\" of more than one choice");
      what = static_cast<char>(id);
    }
  }
  std::uint32_t uid = current_uid(call);
  if (!options.operands().empty()) {
    const std::string& who = options.operands()[0];
    if (who == "root" || who == "0") uid = 0;
    else if (who != user_name(call, uid) && who != std::to_string(uid)) return call.fail(fmt::format("{}: no such user", quoted(who)));
  }
  std::string name = user_name(call, uid);
  if (names && !what) return call.fail("cannot print only names or real IDs in default format");
  if (end == '\0' && !what) return call.fail("option --zero not permitted in default format");
  if (what) call.out().write((names ? name : std::to_string(uid)) + end);
  else call.out().write(fmt::format("uid={0}({1}) gid={0}({1}) groups={0}({1})\n", uid, name));
  return 0;
}

int run_groups(Invocation& call) {
  call.out().write(user_name(call, current_uid(call)) + "\n");
  return 0;
}

int run_hostname(Invocation& call) {
  static constexpr Option kOptions[] = {{'f', 'f', "fqdn"}, {'s', 's', "short"}, {'i', 'i', "ip-address"}, {'I', 'I', "all-ip-addresses"}, {'d', 'd', "domain"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  if (!options.operands().empty()) return call.fail("you must be root to change the host name");
  call.out().write(call.variable("HOSTNAME").value_or("atoll") + "\n");
  return 0;
}

int run_uname(Invocation& call) {
  static constexpr Option kOptions[] = {{'a', 'a', "all"}, {'s', 's', "kernel-name"}, {'n', 'n', "nodename"}, {'r', 'r', "kernel-release"}, {'v', 'v', "kernel-version"},
                                        {'m', 'm', "machine"}, {'p', 'p', "processor"}, {'i', 'i', "hardware-platform"}, {'o', 'o', "operating-system"}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  if (!options.operands().empty()) return usage_error(call, fmt::format("extra operand {}", quoted(options.operands()[0])));
  std::string wanted;
  for (auto& [id, value] : options.found()) wanted += id == 'a' ? std::string("snrvmo") : std::string(1, static_cast<char>(id));
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
  call.out().write("x86_64\n");
  return 0;
}

int run_nproc(Invocation& call) {
  static constexpr Option kOptions[] = {{'a', 0, "all"}, {'i', 0, "ignore", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::uint64_t ignored = 0;
  for (auto& [id, value] : options.found())
    if (id == 'i' && !parse_size(value, ignored)) return call.fail(fmt::format("invalid number: {}", quoted(value)));
  if (!options.operands().empty()) return usage_error(call, fmt::format("extra operand {}", quoted(options.operands()[0])));
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
  call.out().write("\33[H\33[2J\33[3J");
  return 0;
}

int run_sync(Invocation&) { return 0; }

}  // namespace atl::shell
