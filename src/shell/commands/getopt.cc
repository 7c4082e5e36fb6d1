#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/text/quotes.h"

namespace atl::shell::getopt_program {

namespace {

struct LongName {
  std::string name;
  Arg arg;
};

class Normaliser {
 public:
  Normaliser(Invocation& call, std::string letters, std::vector<LongName> names, std::string program,
             bool alternative, bool quiet, bool quote)
      : call_(call),
        letters_(std::move(letters)),
        names_(std::move(names)),
        program_(std::move(program)),
        alternative_(alternative),
        quiet_(quiet),
        quote_(quote) {
    // +: options end at the first operand. -: operands stay where they are among the options.
    while (!letters_.empty() && (letters_[0] == '+' || letters_[0] == '-' || letters_[0] == ':')) {
      if (letters_[0] == '+') stop_ = true;
      if (letters_[0] == '-') in_order_ = true;
      letters_.erase(0, 1);
    }
  }

  int run(const std::vector<std::string>& args, std::string& out) {
    std::vector<std::string> rest;
    std::size_t i = 0;
    for (; i < args.size(); ++i) {
      const std::string& arg = args[i];
      if (arg == "--") {
        ++i;
        break;
      }
      if (arg.size() < 2 || arg[0] != '-') {
        if (stop_) break;
        if (in_order_)
          out_ += " " + quoted_arg(arg);
        else
          rest.push_back(arg);
        continue;
      }
      // With -a one dash begins a long option too, unless it is a known letter.
      if (arg[1] == '-' || (alternative_ && (arg.size() > 2 || letters_.find(arg[1]) == std::string::npos) &&
                            known(arg.substr(1))))
        long_option(args, i);
      else
        short_options(args, i);
    }
    rest.insert(rest.end(), args.begin() + static_cast<std::ptrdiff_t>(std::min(i, args.size())), args.end());
    out_ += " --";
    for (const std::string& arg : rest) out_ += " " + quoted_arg(arg);
    out = out_;
    return failed_ ? 1 : 0;
  }

 private:
  std::string quoted_arg(const std::string& text) const { return quote_ ? quote_operand(text) : text; }
  void complain(const std::string& message) {
    failed_ = true;
    if (!quiet_) call_.err().write(fmt::format("{}: {}\n", program_, message));
  }
  bool known(const std::string& body) const {
    std::string name = body.substr(0, body.find('='));
    for (const LongName& row : names_)
      if (row.name.starts_with(name)) return true;
    return false;
  }
  void long_option(const std::vector<std::string>& args, std::size_t& i) {
    std::string body = args[i].substr(args[i][1] == '-' ? 2 : 1);
    std::size_t equals = body.find('=');
    std::string name = body.substr(0, equals);
    const LongName* match = nullptr;
    std::size_t count = 0;
    // Any unambiguous beginning of a name is the name; the whole name wins over longer ones.
    for (const LongName& row : names_) {
      if (!row.name.starts_with(name)) continue;
      if (row.name == name) {
        match = &row;
        count = 1;
        break;
      }
      match = &row;
      ++count;
    }
    std::string dashes = args[i][1] == '-' ? "--" : "-";
    if (count == 0) return complain(fmt::format("unrecognized option '{}{}'", dashes, name));
    if (count > 1) {
      std::string candidates;
      for (const LongName& row : names_)
        if (row.name.starts_with(name)) candidates += fmt::format(" '{}{}'", dashes, row.name);
      return complain(fmt::format("option '{}{}' is ambiguous; possibilities:{}", dashes, name, candidates));
    }
    out_ += " --" + match->name;
    if (equals != std::string::npos) {
      if (match->arg == Arg::none)
        return complain(fmt::format("option '{}{}' doesn't allow an argument", dashes, match->name));
      out_ += " " + quoted_arg(body.substr(equals + 1));
    } else if (match->arg == Arg::required) {
      if (i + 1 >= args.size())
        return complain(fmt::format("option '{}{}' requires an argument", dashes, match->name));
      out_ += " " + quoted_arg(args[++i]);
    } else if (match->arg == Arg::optional) {
      // An optional argument that is missing is written as an empty one, so that scripts can always shift
      // twice.
      out_ += " " + quoted_arg("");
    }
  }
  void short_options(const std::vector<std::string>& args, std::size_t& i) {
    const std::string cluster = args[i];
    for (std::size_t at = 1; at < cluster.size(); ++at) {
      std::size_t found = cluster[at] == ':' ? std::string::npos : letters_.find(cluster[at]);
      if (found == std::string::npos) {
        complain(fmt::format("invalid option -- '{}'", cluster[at]));
        continue;
      }
      bool takes = found + 1 < letters_.size() && letters_[found + 1] == ':';
      bool optional = takes && found + 2 < letters_.size() && letters_[found + 2] == ':';
      bool last = at + 1 == cluster.size() && i + 1 == args.size();
      if (takes && !optional && last)
        return complain(fmt::format("option requires an argument -- '{}'", cluster[at]));
      out_ += std::string(" -") + cluster[at];
      if (!takes) continue;
      if (at + 1 < cluster.size())
        out_ += " " + quoted_arg(cluster.substr(at + 1));
      else if (optional)
        out_ += " " + quoted_arg("");
      else
        out_ += " " + quoted_arg(args[++i]);
      return;
    }
  }

  Invocation& call_;
  std::string letters_;
  std::vector<LongName> names_;
  std::string program_;
  bool alternative_, quiet_, quote_, stop_ = false, in_order_ = false, failed_ = false;
  std::string out_;
};

}  // namespace

int run_getopt(Invocation& call) {
  static constexpr Option kOptions[] = {{'a', 'a', "alternative"},
                                        {'l', 'l', "longoptions", Arg::required},
                                        {'l', 0, "long", Arg::required},
                                        {'n', 'n', "name", Arg::required},
                                        {'o', 'o', "options", Arg::required},
                                        {'q', 'q', "quiet"},
                                        {'Q', 'Q', "quiet-output"},
                                        {'s', 's', "shell", Arg::required},
                                        {'T', 'T', "test"},
                                        {'u', 'u', "unquoted"}};
  std::vector<std::string> words(call.args().begin() + 1, call.args().end());
  // The old form: getopt LETTERS arguments, unquoted.
  if (!words.empty() && (words[0].empty() || words[0][0] != '-')) {
    std::string letters = words[0];
    words.erase(words.begin());
    std::string out;
    int status = Normaliser(call, letters, {}, "getopt", false, false, false).run(words, out);
    call.out().write(out + "\n");
    return status;
  }
  CommandLine options(call, kOptions, {.permute = false, .status = 2});
  if (options.stopped()) return options.status();
  std::string letters, program = "getopt";
  std::vector<LongName> names;
  bool alternative = false, quiet = false, silent = false, quote = true, has_letters = false;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'a': alternative = true; break;
      case 'n': program = value; break;
      case 'o':
        letters = value;
        has_letters = true;
        break;
      case 'q': quiet = true; break;
      case 'Q': silent = true; break;
      // By this status scripts tell this getopt from the old one.
      case 'T': return 4;
      case 'u': quote = false; break;
      case 's':
        if (value != "sh" && value != "bash")
          return call.fail(value == "csh" || value == "tcsh" ? "quoting for csh is not supported"
                                                             : "unknown shell after -s or --shell argument",
                           2);
        break;
      case 'l': {
        std::string word;
        for (char c : value + ",") {
          if (c != ',' && !isspace(static_cast<unsigned char>(c))) {
            word += c;
            continue;
          }
          if (word.empty()) continue;
          Arg arg = word.ends_with("::") ? Arg::optional : word.ends_with(':') ? Arg::required : Arg::none;
          while (word.ends_with(':')) word.pop_back();
          names.push_back({word, arg});
          word.clear();
        }
        break;
      }
      default: break;
    }
  }
  auto operands = options.operands();
  if (!has_letters) {
    if (operands.empty()) {
      call.err().write("getopt: missing optstring argument\nTry 'getopt --help' for more information.\n");
      return 2;
    }
    letters = operands.front();
    operands.erase(operands.begin());
  }
  std::string out;
  int status = Normaliser(call, letters, names, program, alternative, quiet, quote).run(operands, out);
  if (!silent) call.out().write(out + "\n");
  return status;
}

}  // namespace atl::shell::getopt_program
