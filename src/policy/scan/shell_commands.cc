// Which commands run other commands, and how their arguments are laid out.
#include <algorithm>
#include <array>

#include "policy/scan/shell_words.h"

namespace atl::policy {

namespace {

struct Wrapper {
  std::string_view name;
  std::string_view with_value;   // short options that take a value, e.g. "nI"
  int positional = 0;            // own arguments before the command
  std::string_view no_run = {};  // options after which nothing is run
};

constexpr std::array<Wrapper, 38> wrappers_table{{
    {"command", "", 0, "vV"},
    {"builtin", ""},
    {"exec", "a"},
    {"env", "uCS"},
    {"nohup", ""},
    {"nice", "n"},
    {"ionice", "cnp"},
    {"time", "fo"},
    {"timeout", "ks", 1},
    {"stdbuf", "ioe"},
    {"setsid", ""},
    {"sudo", "ugpCDhrtTRU"},
    {"doas", "uC"},
    {"xargs", "aEILnPsd"},
    {"parallel", "jSN"},
    {"watch", "n"},
    {"chroot", "", 1},
    {"unshare", ""},
    {"nsenter", "tSG"},
    {"busybox", ""},
    {"toybox", ""},
    {"strace", "eopsuEPa"},
    {"ltrace", "eopsu"},
    {"flock", "wE", 1},
    {"taskset", "", 1},
    {"chrt", "", 1},
    {"runuser", "ug"},
    {"setpriv", ""},
    {"systemd-run", "pu"},
    {"fakeroot", ""},
    {"proot", "rbw"},
    {"unbuffer", ""},
    {"catchsegv", ""},
    {"prlimit", ""},
    {"cpulimit", "lp"},
    {"firejail", ""},
    {"bwrap", ""},
    {"coproc", ""},
}};

// Skips the options of `wrapper` after `at`; the index of the first word that is none.
std::size_t skip_options(const std::vector<Word>& words, std::size_t at, const Wrapper& wrapper, bool& runs) {
  runs = true;
  while (at < words.size()) {
    std::string text = words[at].text();
    if (text == "--") return at + 1;
    bool assignment = wrapper.name == "env" && text.contains('=') && !text.starts_with('-');
    if (assignment) {
      ++at;
      continue;
    }
    if (text.size() < 2 || text.front() != '-') return at;
    if (text[1] != '-') {
      if (text.find_first_of(wrapper.no_run) != std::string::npos) {
        runs = false;
        return words.size();
      }
      // The value follows unless it is glued to its letter.
      bool takes_next = wrapper.with_value.contains(text.back()) && text.size() == 2;
      at += takes_next ? 2 : 1;
      continue;
    }
    ++at;
  }
  return at;
}

}  // namespace

std::string_view base_name(std::string_view command) {
  std::size_t slash = command.rfind('/');
  return slash == std::string_view::npos ? command : command.substr(slash + 1);
}

bool is_shell(std::string_view command) {
  constexpr std::array<std::string_view, 10> shells{"sh",  "bash", "dash",  "zsh",  "ksh",
                                                    "ash", "fish", "rbash", "mksh", "csh"};
  return std::ranges::find(shells, base_name(command)) != shells.end();
}

std::optional<Interpreter> interpreter_of(std::string_view command) {
  std::string_view name = base_name(command);
  if (is_shell(name)) return Interpreter{Language::shell, "-c"};
  if (name == "python" || name == "python3" || name == "python2" || name == "pypy" || name == "pypy3" ||
      name.starts_with("python3.")) {
    return Interpreter{Language::python, "-c"};
  }
  if (name == "node" || name == "nodejs" || name == "deno" || name == "bun")
    return Interpreter{Language::javascript, "-e"};
  return std::nullopt;
}

std::size_t unwrap(const std::vector<Word>& words, std::vector<std::size_t>& wrappers) {
  std::size_t at = 0;
  for (int rounds = 0; rounds < 16 && at < words.size(); ++rounds) {
    std::string text = words[at].text();
    std::string_view name = base_name(text);
    auto found = std::ranges::find(wrappers_table, name, &Wrapper::name);
    if (found == wrappers_table.end()) return at;
    bool runs = true;
    std::size_t next = skip_options(words, at + 1, *found, runs);
    // env -S 'rm x' holds the command in one word.
    if (found->name == "env" && at + 2 < words.size() && words[at + 1].text() == "-S") next = at + 2;
    next += static_cast<std::size_t>(found->positional);
    if (!runs || next >= words.size()) return at;
    wrappers.push_back(at);
    at = next;
  }
  return at;
}

std::string plain_path(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  std::vector<std::string_view> parts;
  bool directory = path.ends_with('/');
  while (!path.empty()) {
    std::size_t slash = path.find('/');
    std::string_view part = path.substr(0, slash);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
    if (part.empty() || part == ".") continue;
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  std::string out;
  for (std::string_view part : parts) out += "/" + std::string(part);
  if (out.empty() || directory) out += '/';
  return out;
}

}  // namespace atl::policy
