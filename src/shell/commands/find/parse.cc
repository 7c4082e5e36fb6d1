#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "shell/calendar/calendar.h"
#include "shell/commands/find/expression.h"
#include "shell/commands/find/print.h"
#include "shell/files/file_names.h"
#include "shell/files/inputs.h"
#include "shell/program_start.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"

namespace atl::shell::find {

const vfs::Stat* Context::stat(Subject& subject) {
  if (!subject.stat) {
    subject.stat = call.fs().find(subject.visit->path, follow ? vfs::Follow::yes : vfs::Follow::no);
    if (!subject.stat) subject.stat = call.fs().find(subject.visit->path, vfs::Follow::no);
  }
  return subject.stat ? &*subject.stat : nullptr;
}

namespace {

using Node = std::unique_ptr<Expression>;

template <class F>
class Test final : public Expression {
 public:
  explicit Test(F f) : f_(std::move(f)) {}
  bool test(Context& context, Subject& subject) override { return f_(context, subject); }

 private:
  F f_;
};

template <class F>
Node make_test(F f) {
  return std::make_unique<Test<F>>(std::move(f));
}

class Both final : public Expression {
 public:
  Both(Node a, Node b, char op) : a_(std::move(a)), b_(std::move(b)), op_(op) {}
  bool test(Context& context, Subject& subject) override {
    bool first = a_->test(context, subject);
    if (context.quit) return first;
    if (op_ == '&') return first && b_->test(context, subject);
    if (op_ == '|') return first || b_->test(context, subject);
    return b_->test(context, subject);
  }
  void finish(Context& context) override {
    a_->finish(context);
    b_->finish(context);
  }

 private:
  Node a_, b_;
  char op_;
};

class Not final : public Expression {
 public:
  explicit Not(Node a) : a_(std::move(a)) {}
  bool test(Context& context, Subject& subject) override { return !a_->test(context, subject); }
  void finish(Context& context) override { a_->finish(context); }

 private:
  Node a_;
};

class Exec final : public Expression {
 public:
  Exec(std::vector<std::string> argv, bool many, bool in_directory, bool ask)
      : argv_(std::move(argv)), many_(many), in_directory_(in_directory), ask_(ask) {}
  bool test(Context& context, Subject& subject) override {
    const std::string& shown = subject.visit->shown;
    std::string name = in_directory_ ? "./" + std::string(base_name(shown)) : shown;
    // -exec ... {} + collects names; 128 KiB is what an argument list may hold.
    if (many_) {
      batch_.push_back(name);
      bytes_ += name.size() + 1;
      if (bytes_ > 128 * 1024) run(context);
      return true;
    }
    std::vector<std::string> argv;
    for (const std::string& arg : argv_) {
      std::string out;
      for (std::size_t at = 0; at < arg.size();) {
        std::size_t braces = arg.find("{}", at);
        if (braces == std::string::npos) braces = arg.size();
        out.append(arg, at, braces - at);
        if (braces < arg.size()) out += name;
        at = braces + 2;
      }
      argv.push_back(std::move(out));
    }
    context.out.flush();
    if (ask_) {
      context.call.err().write(fmt::format("< {} ... {} > ? ", argv[0], name));
      std::string answer;
      if (!context.call.in().read_line(answer) || answer.empty() || (answer[0] != 'y' && answer[0] != 'Y'))
        return false;
    }
    // In another directory a path of the program's leads elsewhere: there the shell itself says what it
    // finds.
    if (!in_directory_ && refuse_start(context.call, argv[0], "'{}'") != 0) return false;
    Invocation::Redirects redirects;
    vfs::Path parent = subject.visit->path.parent();
    if (in_directory_) redirects.cwd = &parent;
    return context.call.run(std::move(argv), redirects) == 0;
  }
  void finish(Context& context) override {
    if (many_ && !batch_.empty()) run(context);
  }

 private:
  void run(Context& context) {
    std::vector<std::string> argv(argv_.begin(), argv_.end() - 1);
    argv.insert(argv.end(), batch_.begin(), batch_.end());
    batch_.clear();
    bytes_ = 0;
    context.out.flush();
    if (refuse_start(context.call, argv[0], "'{}'") != 0 || context.call.run(std::move(argv), {}) != 0)
      context.status = 1;
  }

  std::vector<std::string> argv_, batch_;
  std::size_t bytes_ = 0;
  bool many_, in_directory_, ask_;
};

// +n, -n or n.
struct Number {
  char sign = '=';
  double value = 0;
  bool matches(double x) const { return sign == '+' ? x > value : sign == '-' ? x < value : x == value; }
};

class Parser {
 public:
  Parser(Invocation& call, const std::vector<std::string>& args, Settings& settings)
      : call_(call), args_(args), settings_(settings) {}

  Result<Node> run() {
    if (args_.empty()) return Node();
    Node node = TRY(list());
    if (at_ < args_.size()) {
      if (args_[at_] == ")") return fail(Code::invalid_argument, "you have too many ')'");
      return fail(Code::invalid_argument, fmt::format("paths must precede expression: `{}'", args_[at_]));
    }
    return node;
  }

 private:
  bool is(std::string_view word) const { return at_ < args_.size() && args_[at_] == word; }
  bool ends() const { return at_ >= args_.size() || is(")"); }

  Result<Node> list() {
    Node left = TRY(either());
    while (is(",")) {
      ++at_;
      Node right = TRY(either());
      left = std::make_unique<Both>(std::move(left), std::move(right), ',');
    }
    return left;
  }
  Result<Node> either() {
    Node left = TRY(both());
    while (is("-o") || is("-or")) {
      ++at_;
      Node right = TRY(both());
      left = std::make_unique<Both>(std::move(left), std::move(right), '|');
    }
    return left;
  }
  Result<Node> both() {
    Node left = TRY(negation());
    while (!ends() && !is("-o") && !is("-or") && !is(",")) {
      if (is("-a") || is("-and")) ++at_;
      Node right = TRY(negation());
      left = std::make_unique<Both>(std::move(left), std::move(right), '&');
    }
    return left;
  }
  Result<Node> negation() {
    bool negate = false;
    while (is("!") || is("-not")) {
      negate = !negate;
      ++at_;
    }
    Node node = TRY(primary());
    return negate ? std::make_unique<Not>(std::move(node)) : std::move(node);
  }
  Result<Node> primary() {
    if (at_ >= args_.size()) return fail(Code::invalid_argument, "expected an expression after an operator");
    if (is("(")) {
      if (++depth_ > 200) return fail(Code::invalid_argument, "expression nested too deeply");
      ++at_;
      if (at_ >= args_.size())
        return fail(Code::invalid_argument,
                    "invalid expression; expected to find a ')' but didn't see one. Perhaps you need an "
                    "extra predicate after '('");
      if (is(")"))
        return fail(Code::invalid_argument, "invalid expression; empty parentheses are not allowed.");
      Node node = TRY(list());
      if (!is(")"))
        return fail(Code::invalid_argument,
                    "invalid expression; I was expecting to find a ')' somewhere but did not see one.");
      ++at_;
      --depth_;
      return node;
    }
    std::string name = args_[at_++];
    if (name.size() < 2 || name[0] != '-') {
      if (name == ")")
        return fail(Code::invalid_argument,
                    "invalid expression; you have used a binary operator with nothing before it.");
      return fail(Code::invalid_argument, fmt::format("paths must precede expression: `{}'", name));
    }
    return named(name);
  }

  Result<std::string> argument(const std::string& name) {
    if (at_ >= args_.size())
      return fail(Code::invalid_argument, fmt::format("missing argument to `{}'", name));
    return args_[at_++];
  }
  Result<Number> number(const std::string& name) {
    std::string text = TRY(argument(name));
    Number n;
    std::size_t start = 0;
    if (text.starts_with('+') || text.starts_with('-')) n.sign = text[start++];
    char* end = nullptr;
    n.value = strtod(text.c_str() + start, &end);
    if (end == text.c_str() + start || *end)
      return fail(Code::invalid_argument, fmt::format("invalid argument `{}' to `{}'", text, name));
    return n;
  }

  Result<Node> named(const std::string& name);
  Result<Node> name_test(const std::string& name);
  Result<Node> time_test(const std::string& name);
  Result<Node> size_test(const std::string& name);
  Result<Node> perm_test(const std::string& name);
  Result<Node> type_test(const std::string& name);
  Result<Node> exec(const std::string& name);
  Result<Node> action(const std::string& name);

  Invocation& call_;
  const std::vector<std::string>& args_;
  Settings& settings_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Syntax regex_syntax_ = Syntax::basic;
  bool emacs_ = true;
};

Result<Node> Parser::name_test(const std::string& name) {
  std::string pattern = TRY(argument(name));
  bool ignore_case =
      name == "-iname" || name == "-ipath" || name == "-iwholename" || name == "-iregex" || name == "-ilname";
  if (name.ends_with("regex")) {
    RegexOptions options;
    options.ignore_case = ignore_case;
    // -regex matches the whole path, not a part of it.
    options.whole_line = true;
    // Emacs syntax is POSIX basic with bare + and ?.
    std::string text = pattern;
    if (emacs_) {
      std::string changed;
      for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == '\\' && i + 1 < pattern.size()) {
          changed += pattern[i];
          changed += pattern[++i];
        } else if (pattern[i] == '+' || pattern[i] == '?') {
          changed += '\\';
          changed += pattern[i];
        } else {
          changed += pattern[i];
        }
      }
      text = changed;
    }
    auto regex = Regex::compile(text, regex_syntax_, options);
    if (!regex)
      return fail(Code::invalid_argument, fmt::format("failed to compile regular expression '{}': {}",
                                                      pattern, regex.error().message()));
    auto shared = std::make_shared<Regex>(std::move(*regex));
    return make_test([shared](Context&, Subject& s) { return shared->matches(s.visit->shown); });
  }
  if (name == "-name" || name == "-iname")
    return make_test([pattern, ignore_case](Context&, Subject& s) {
      return glob_match(pattern, base_name(s.visit->shown), ignore_case);
    });
  if (name == "-lname" || name == "-ilname")
    return make_test([pattern, ignore_case](Context& c, Subject& s) {
      auto target = c.call.fs().read_link(s.visit->path);
      return target && glob_match(pattern, *target, ignore_case);
    });
  return make_test([pattern, ignore_case](Context&, Subject& s) {
    return glob_match(pattern, s.visit->shown, ignore_case);
  });
}

Result<Node> Parser::time_test(const std::string& name) {
  char which = name[1];
  if (name == "-newer" || name == "-anewer" || name == "-cnewer" || name.starts_with("-newer")) {
    std::string_view kinds = "aBcmt";
    if (name.starts_with("-newer") && name != "-newer" &&
        (name.size() != 8 || kinds.substr(0, 4).find(name[6]) == std::string_view::npos ||
         kinds.find(name[7]) == std::string_view::npos))
      return fail(Code::invalid_argument, fmt::format("invalid predicate `{}'", name));
    std::string file = TRY(argument(name));
    WallTime limit;
    if (name.size() == 8 && name.ends_with('t')) {
      auto time = parse_date(file, call_.now(), Zone::of(call_));
      if (!time)
        return fail(Code::invalid_argument,
                    fmt::format("I cannot figure out how to interpret `{}' as a date or time", file));
      limit = time->wall();
    } else {
      auto path = call_.resolve(file);
      auto stat = path ? call_.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
      if (!stat)
        return fail(Code::invalid_argument, fmt::format("{}: {}", quote_operand(file), reason(stat.error())));
      // -newerXY: X of the file that is looked at is compared with Y of the one that is named.
      char reference = name.size() == 8 ? name[7] : 'm';
      limit = reference == 'a'   ? stat->accessed.value_or(stat->modified)
              : reference == 'c' ? stat->changed
              : reference == 'B' ? stat->created
                                 : stat->modified;
    }
    if (name.size() == 8) which = name[6];
    return make_test([limit, which](Context& c, Subject& s) {
      auto* stat = c.stat(s);
      if (!stat) return false;
      return (which == 'a'   ? stat->accessed.value_or(stat->modified)
              : which == 'c' ? stat->changed
              : which == 'B' ? stat->created
                             : stat->modified) > limit;
    });
  }
  bool minutes = name.ends_with("min");
  Number n = TRY(number(name));
  WallTime now = call_.now();
  if (settings_.days_start && !minutes) {
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
    CivilTime civil = to_civil(seconds, Zone::of(call_));
    civil.hour = civil.minute = civil.second = 0;
    // -daystart counts from the end of today.
    civil.day += 1;
    now = WallTime(std::chrono::seconds(to_unix_seconds(civil, Zone::of(call_))));
  }
  return make_test([n, now, minutes, which](Context& c, Subject& s) {
    auto* stat = c.stat(s);
    if (!stat) return false;
    WallTime time = which == 'a'   ? stat->accessed.value_or(stat->modified)
                    : which == 'c' ? stat->changed
                                   : stat->modified;
    double seconds = static_cast<double>((now - time).count()) / 1e9;
    double unit = minutes ? 60 : 86400;
    // Minutes are compared with their fraction, days as whole days.
    if (minutes) {
      double age = seconds / unit;
      return n.sign == '=' ? std::ceil(age) == n.value : n.matches(age);
    }
    return n.matches(std::floor(seconds / unit));
  });
}

Result<Node> Parser::size_test(const std::string& name) {
  std::string text = TRY(argument(name));
  char unit = text.empty() ? 'b' : text.back();
  double scale = 512;
  std::string digits = text;
  if (!text.empty() && !isdigit(static_cast<unsigned char>(unit))) {
    switch (unit) {
      case 'c': scale = 1; break;
      case 'w': scale = 2; break;
      case 'b': scale = 512; break;
      case 'k': scale = 1024; break;
      case 'M': scale = 1024.0 * 1024; break;
      case 'G': scale = 1024.0 * 1024 * 1024; break;
      default: return fail(Code::invalid_argument, fmt::format("invalid -size type `{}'", unit));
    }
    digits.pop_back();
  }
  Number n;
  std::size_t start = 0;
  if (digits.starts_with('+') || digits.starts_with('-')) n.sign = digits[start++];
  if (start >= digits.size() || digits.find_first_not_of("0123456789", start) != std::string::npos)
    return fail(Code::invalid_argument, fmt::format("Invalid argument `{}' to -size", text));
  n.value = strtod(digits.c_str() + start, nullptr);
  return make_test([n, scale](Context& c, Subject& s) {
    auto* stat = c.stat(s);
    if (!stat) return false;
    double size = stat->is_directory() ? 4096 : static_cast<double>(stat->size);
    // Sizes are rounded up to the unit: -size 1k is 1 to 1024 bytes, -size -1k only empty files.
    return n.matches(std::ceil(size / scale));
  });
}

Result<Node> Parser::perm_test(const std::string& name) {
  std::string text = TRY(argument(name));
  char kind = '=';
  std::string spec = text;
  if (spec.starts_with('-') || spec.starts_with('/')) {
    kind = spec[0];
    spec.erase(0, 1);
  }
  std::uint32_t mode = 0;
  if (!apply_mode(spec, mode, false, 0))
    return fail(Code::invalid_argument, fmt::format("invalid mode '{}'", text));
  return make_test([mode, kind](Context& c, Subject& s) {
    auto* stat = c.stat(s);
    if (!stat) return false;
    if (kind == '-') return (stat->mode & mode) == mode;
    // -perm -0 and /0 match everything.
    if (kind == '/') return mode == 0 || (stat->mode & mode) != 0;
    return (stat->mode & 07777) == mode;
  });
}

Result<Node> Parser::type_test(const std::string& name) {
  std::string list = TRY(argument(name));
  std::string letters;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i % 2 == 1) {
      if (list[i] != ',')
        return fail(Code::invalid_argument,
                    fmt::format("Must separate multiple arguments to {} using: ','", name));
      continue;
    }
    if (!std::strchr("fdlpsbcD", list[i]))
      return fail(Code::invalid_argument, fmt::format("Unknown argument to {}: {}", name, list[i]));
    letters += list[i];
  }
  bool through = name == "-xtype";
  return make_test([letters, through](Context& c, Subject& s) {
    vfs::Type type = s.visit->type;
    if (through && type == vfs::Type::symlink)
      if (auto followed = c.call.fs().find(s.visit->path)) type = followed->type;
    char letter = type == vfs::Type::directory ? 'd'
                  : type == vfs::Type::symlink ? 'l'
                  : type == vfs::Type::fifo    ? 'p'
                                               : 'f';
    return letters.find(letter) != std::string::npos;
  });
}

Result<Node> Parser::exec(const std::string& name) {
  settings_.has_action = true;
  std::vector<std::string> argv;
  bool many = false;
  while (true) {
    if (at_ >= args_.size())
      return fail(Code::invalid_argument, fmt::format("missing argument to `{}'", name));
    const std::string& arg = args_[at_++];
    if (arg == ";") break;
    if (arg == "+" && !argv.empty() && argv.back() == "{}") {
      many = true;
      break;
    }
    argv.push_back(arg);
  }
  if (argv.empty()) return fail(Code::invalid_argument, fmt::format("invalid argument `;' to `{}'", name));
  return std::make_unique<Exec>(std::move(argv), many, name.ends_with("dir"), name.starts_with("-ok"));
}

Result<Node> Parser::action(const std::string& name) {
  settings_.has_action = true;
  bool to_file = name.starts_with("-f");
  std::string file;
  if (to_file) file = TRY(argument(name));
  std::string kind = to_file ? "-" + name.substr(2) : name;
  std::string format;
  if (kind == "-printf") format = TRY(argument(name));
  std::shared_ptr<Output> output;
  std::shared_ptr<Sink> sink;
  if (to_file) {
    auto opened = call_.open_output(file, false);
    if (!opened) return fail(Code::invalid_argument, fmt::format("{}: {}", file, reason(opened.error())));
    output = std::move(*opened);
    sink = std::make_shared<Sink>(*output);
  }
  return make_test([kind, format, output, sink](Context& c, Subject& s) {
    Sink& out = sink ? *sink : c.out;
    if (kind == "-print")
      out.line(s.visit->shown);
    else if (kind == "-print0")
      out.line(s.visit->shown, '\0');
    else if (kind == "-ls")
      print_ls(c, s, out);
    else
      print_formatted(c, s, format, out);
    if (sink) {
      sink->flush();
      output->flush();
    }
    return true;
  });
}

Result<Node> Parser::named(const std::string& name) {
  auto always = [](bool value) { return make_test([value](Context&, Subject&) { return value; }); };
  if (name == "-name" || name == "-iname" || name == "-path" || name == "-ipath" || name == "-wholename" ||
      name == "-iwholename" || name == "-regex" || name == "-iregex" || name == "-lname" || name == "-ilname")
    return name_test(name);
  if (name == "-type" || name == "-xtype") return type_test(name);
  if (name == "-size") return size_test(name);
  if (name == "-perm") return perm_test(name);
  if (name == "-mtime" || name == "-atime" || name == "-ctime" || name == "-mmin" || name == "-amin" ||
      name == "-cmin" || name.starts_with("-newer") || name == "-anewer" || name == "-cnewer")
    return time_test(name);
  if (name == "-exec" || name == "-execdir" || name == "-ok" || name == "-okdir") return exec(name);
  if (name == "-print" || name == "-print0" || name == "-printf" || name == "-ls" || name == "-fprint" ||
      name == "-fprint0" || name == "-fprintf" || name == "-fls")
    return action(name);
  if (name == "-true") return always(true);
  if (name == "-false") return always(false);
  if (name == "-maxdepth" || name == "-mindepth") {
    std::string text = TRY(argument(name));
    std::int64_t value = 0;
    if (!parse_integer(text, value) || value < 0 || text[0] == '+')
      return fail(Code::invalid_argument,
                  fmt::format("Expected a positive decimal integer argument to {}, but got {}", name,
                              quote_operand(text)));
    (name == "-maxdepth" ? settings_.max_depth : settings_.min_depth) =
        static_cast<int>(std::min<std::int64_t>(value, 1 << 30));
    return always(true);
  }
  if (name == "-depth" || name == "-d") {
    settings_.depth_first = true;
    return always(true);
  }
  if (name == "-daystart") {
    settings_.days_start = true;
    return always(true);
  }
  if (name == "-mount" || name == "-xdev" || name == "-noleaf" || name == "-follow" ||
      name == "-ignore_readdir_race" || name == "-noignore_readdir_race" || name == "-warn" ||
      name == "-nowarn")
    return always(true);
  if (name == "-regextype") {
    std::string type = TRY(argument(name));
    static constexpr std::string_view kTypes[] = {
        "awk",       "ed",          "egrep",       "emacs",          "findutils-default",   "gnu-awk", "grep",
        "posix-awk", "posix-basic", "posix-egrep", "posix-extended", "posix-minimal-basic", "sed"};
    if (std::find(std::begin(kTypes), std::end(kTypes), type) == std::end(kTypes))
      return fail(Code::invalid_argument,
                  fmt::format("Unknown regular expression type '{}'; valid types are 'findutils-default', "
                              "'ed', 'emacs', 'gnu-awk', 'grep', 'posix-awk', 'awk', 'posix-basic', "
                              "'posix-egrep', 'egrep', 'posix-extended', 'posix-minimal-basic', 'sed'.",
                              type));
    emacs_ = type == "emacs" || type == "findutils-default";
    regex_syntax_ = type == "posix-extended" || type == "egrep" || type == "posix-egrep" || type == "awk" ||
                            type == "posix-awk" || type == "gnu-awk"
                        ? Syntax::extended
                        : Syntax::basic;
    return always(true);
  }
  if (name == "-prune")
    return make_test([](Context& c, Subject&) {
      c.prune = true;
      return true;
    });
  if (name == "-quit") {
    settings_.has_action = true;
    return make_test([](Context& c, Subject&) {
      c.quit = true;
      return true;
    });
  }
  if (name == "-delete") {
    // A directory can be removed only after what is in it.
    settings_.has_action = settings_.depth_first = true;
    return make_test([](Context& c, Subject& s) {
      if (s.visit->shown == ".") return true;
      auto removed = c.call.fs().remove(s.visit->path);
      if (removed) return true;
      c.call.complain(
          fmt::format("cannot delete {}: {}", quote_operand(s.visit->shown), reason(removed.error())));
      c.status = 1;
      return false;
    });
  }
  if (name == "-empty")
    return make_test([](Context& c, Subject& s) {
      if (s.visit->type == vfs::Type::directory) {
        auto listing = c.call.fs().list(s.visit->path);
        return listing && listing->empty();
      }
      auto* stat = c.stat(s);
      return stat && s.visit->type == vfs::Type::file && stat->size == 0;
    });
  if (name == "-readable" || name == "-writable" || name == "-executable") {
    std::uint32_t bit = name == "-readable" ? 0444 : name == "-writable" ? 0222 : 0111;
    return make_test([bit](Context& c, Subject& s) {
      auto* stat = c.stat(s);
      return stat && (stat->mode & bit) != 0;
    });
  }
  if (name == "-user" || name == "-group") {
    std::string who = TRY(argument(name));
    bool user = name == "-user",
         number = !who.empty() && who.find_first_not_of("0123456789") == std::string::npos;
    if (!number && who != "root" && who != user_name(call_, 1000))
      return fail(Code::invalid_argument, fmt::format("'{}' is not the name of {}", who,
                                                      user ? "a known user" : "an existing group"));
    return make_test([who, user](Context& c, Subject& s) {
      auto* stat = c.stat(s);
      if (!stat) return false;
      std::uint32_t id = user ? stat->uid : stat->gid;
      return who == user_name(c.call, id) || who == std::to_string(id);
    });
  }
  if (name == "-nouser" || name == "-nogroup") return always(false);
  if (name == "-links" || name == "-inum" || name == "-uid" || name == "-gid") {
    Number n = TRY(number(name));
    char which = name[1];
    return make_test([n, which](Context& c, Subject& s) {
      auto* stat = c.stat(s);
      if (!stat) return false;
      double value = which == 'l'   ? std::max<std::uint32_t>(stat->links, stat->is_directory() ? 2 : 1)
                     : which == 'i' ? static_cast<double>(stat->inode)
                     : which == 'u' ? stat->uid
                                    : stat->gid;
      return n.matches(value);
    });
  }
  if (name == "-samefile") {
    std::string file = TRY(argument(name));
    auto path = call_.resolve(file);
    auto stat = path ? call_.fs().stat(*path) : Result<vfs::Stat>(fail(path.error()));
    if (!stat)
      return fail(Code::invalid_argument, fmt::format("{}: {}", quote_operand(file), reason(stat.error())));
    std::uint64_t inode = stat->inode;
    return make_test([inode](Context& c, Subject& s) {
      auto* found = c.stat(s);
      return found && found->inode == inode;
    });
  }
  return fail(Code::invalid_argument, fmt::format("unknown predicate `{}'", name));
}

}  // namespace

Result<std::unique_ptr<Expression>> parse(Invocation& call, const std::vector<std::string>& args,
                                          Settings& settings) {
  return Parser(call, args, settings).run();
}

}  // namespace atl::shell::find
