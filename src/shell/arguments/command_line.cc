#include "shell/arguments/command_line.h"

#include <fmt/format.h>

#include "shell/arguments/usage.h"
#include "shell/command_table.h"

namespace atl::shell {

namespace {

bool looks_numeric(std::string_view text) {
  if (text.size() < 2 || text[0] != '-') return false;
  return (text[1] >= '0' && text[1] <= '9') || text[1] == '.';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What every command knows, behind its own rows.
enum Everywhere { kHelp = -2, kVersion = -3 };
constexpr Option kEverywhere[] = {{kHelp, 0, "help"}, {kVersion, 0, "version"}};

}  // namespace

CommandLine::CommandLine(Invocation& call, std::span<const Option> table, OptionRules rules)
    : call_(call),
      args_(rules.args ? std::span<const std::string>(*rules.args) : call.args()),
      table_(table),
      rules_(rules) {
  auto args = args_;
  for (std::size_t i = 1; i < args.size() && !stopped_; ++i) {
    const std::string& arg = args[i];
    if (arg == "--") {
      operands_.insert(operands_.end(), args.begin() + static_cast<std::ptrdiff_t>(i) + 1, args.end());
      if (rules_.args)
        for (++i; i < args.size(); ++i) found_.push_back({kOperand, args[i]});
      return;
    }
    if (arg.size() < 2 || arg[0] != '-' || (rules_.negative_numbers && looks_numeric(arg))) {
      if (!rules_.permute) {
        operands_.insert(operands_.end(), args.begin() + static_cast<std::ptrdiff_t>(i), args.end());
        return;
      }
      operands_.push_back(arg);
      if (rules_.args) found_.push_back({kOperand, arg});
    } else if (arg[1] == '-') {
      parse_long(i);
    } else {
      parse_short(i);
    }
  }
}

void CommandLine::refuse(std::string_view message) {
  call_.complain(message);
  call_.err().write(usage_hint(call_.args()[0]));
  stopped_ = true;
  status_ = rules_.status;
}

void CommandLine::answer(std::string_view what) {
  std::string_view name = call_.args()[0];
  if (what == "version") {
    call_.out().write(fmt::format("{} (Atoll) {}\n", name, ATOLL_VERSION));
  } else {
    std::string text = fmt::format("Usage: {} [OPTION]... [ARGUMENT]...\n", name);
    if (const Command* row = find_command(name.substr(name.rfind('/') + 1)))
      text += fmt::format("{}\n", row->summary);
    text += "\nOptions:\n";
    for (const Option& option : table_) {
      std::string spelled = option.letter ? fmt::format("  -{}", option.letter) : "    ";
      if (!option.long_name.empty()) {
        spelled += fmt::format("{} --{}{}", option.letter ? "," : " ", option.long_name,
                               option.arg == Arg::required   ? "=VALUE"
                               : option.arg == Arg::optional ? "[=VALUE]"
                                                             : "");
      } else if (option.arg == Arg::required) {
        spelled += " VALUE";
      }
      text += spelled + "\n";
    }
    text += "      --help\n      --version\n";
    call_.out().write(text);
  }
  stopped_ = true;
  status_ = 0;
}

void CommandLine::parse_long(std::size_t& index) {
  auto args = args_;
  std::string_view body = std::string_view(args[index]).substr(2);
  std::size_t equals = body.find('=');
  std::string_view name = body.substr(0, equals);
  const Option* match = nullptr;
  std::string candidates;
  bool ambiguous = false, exact = false;
  auto look = [&](std::span<const Option> rows) {
    for (const Option& option : rows) {
      if (exact || option.long_name.empty() || !option.long_name.starts_with(name)) continue;
      exact = option.long_name.size() == name.size();
      candidates += fmt::format(" '--{}'", option.long_name);
      if (match && (match->id != option.id || match->arg != option.arg)) ambiguous = true;
      if (!match || exact) match = &option;
    }
  };
  look(table_);
  look(kEverywhere);
  if (ambiguous && !exact)
    return refuse(fmt::format("option '--{}' is ambiguous; possibilities:{}", body, candidates));
  if (!match) return refuse(fmt::format("unrecognized option '--{}'", body));
  if (match->id <= kHelp && equals == std::string_view::npos) return answer(match->long_name);
  if (equals != std::string_view::npos) {
    if (match->arg == Arg::none)
      return refuse(fmt::format("option '--{}' doesn't allow an argument", match->long_name));
    found_.push_back({match->id, std::string(body.substr(equals + 1))});
  } else if (match->arg == Arg::required) {
    if (index + 1 >= args.size())
      return refuse(fmt::format("option '--{}' requires an argument", match->long_name));
    found_.push_back({match->id, args[++index]});
  } else {
    found_.push_back({match->id, {}});
  }
}

void CommandLine::parse_short(std::size_t& index) {
  auto args = args_;
  std::string_view cluster = args[index];
  for (std::size_t at = 1; at < cluster.size(); ++at) {
    char letter = cluster[at];
    if (rules_.digits && is_digit(letter)) {
      std::size_t end = at;
      while (end < cluster.size() && is_digit(cluster[end])) ++end;
      found_.push_back({'0', std::string(cluster.substr(at, end - at))});
      at = end - 1;
      continue;
    }
    const Option* match = nullptr;
    for (const Option& option : table_) {
      if (option.letter == letter && letter != 0) {
        match = &option;
        break;
      }
    }
    if (!match) return refuse(fmt::format("invalid option -- '{}'", letter));
    if (match->arg == Arg::none) {
      found_.push_back({match->id, {}});
      continue;
    }
    std::string_view rest = cluster.substr(at + 1);
    if (!rest.empty() || match->arg == Arg::optional) {
      found_.push_back({match->id, std::string(rest)});
    } else if (index + 1 < args.size()) {
      found_.push_back({match->id, args[++index]});
    } else {
      return refuse(fmt::format("option requires an argument -- '{}'", letter));
    }
    return;
  }
}

}  // namespace atl::shell
