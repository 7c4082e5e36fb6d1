#include <fmt/format.h>

#include <algorithm>

#include "shell/quoting.h"
#include "shell/reserved_words.h"
#include "shell/runner.h"
#include "shell/stack.h"

namespace atl::shell {

namespace {

// What stands before a command, and the |& behind it.
struct Prefix {
  // `time` and `!` stand before the whole command, behind the indentation, wherever in the tree they were
  // found.
  bool timed = false, posix = false, negate = false;
  bool both = false;
};

// Writes commands the way bash does, step by step: its oddities (where a line ends, where the body of a
// here-document comes) follow from the order of the steps, so they are the same here.
class Printer {
 public:
  explicit Printer(bool substitution = false) : in_substitution_(substitution) {}
  std::string out;

  void command(const Node& node) { make(node); }

  // What `declare -f` shows.
  void function(const std::string& name, const FunctionDef& definition) {
    if (is_reserved_word(name)) out += "function ";
    if (!name.empty()) out += name + " ";
    out += "() \n";
    braced_body(*definition.body);
  }

 private:
  // Nested deeper than can be shown: the text ends there.
  bool deep() {
    if (stack_left_here() >= stack_reserve) return false;
    out += "...";
    return true;
  }

  void indent() { out.append(static_cast<std::size_t>(level_) * 4, ' '); }
  void newline(std::string_view text) {
    out += '\n';
    indent();
    out += text;
  }
  // Behind & and behind the body of a here-document the command has ended already.
  void semicolon() {
    if (!out.empty() && (out.back() == '&' || out.back() == '\n')) return;
    out += ';';
  }

  // ---- here-documents: in a connection their bodies wait until the connector is printed ----

  void bodies(const std::vector<const HereDoc*>& docs) {
    out += '\n';
    for (const HereDoc* doc : docs) out += body_of(*doc) + doc->delimiter + "\n";
    was_here_doc_ = true;
  }
  static std::string body_of(const HereDoc& doc) {
    if (doc.quoted) return doc.raw;
    std::string text;  // joined lines are one line
    for (std::size_t i = 0; i < doc.raw.size(); ++i) {
      if (doc.raw[i] == '\\' && i + 1 < doc.raw.size()) {
        if (doc.raw[i + 1] != '\n') text.append(doc.raw, i, 2);
        ++i;
      } else {
        text += doc.raw[i];
      }
    }
    return text;
  }
  void connector(std::string_view text) {
    bool shown = !text.empty() && text != ";";
    if (shown) out += text;
    if (deferred_.empty()) return;
    std::vector<const HereDoc*> docs;
    docs.swap(deferred_);
    bodies(docs);
    if (shown) out += ' ';
  }
  void flush_deferred() {
    if (!deferred_.empty()) connector("");
  }

  // ---- connections ----

  void make(const Node& node, Prefix prefix = {}) {
    if (deep()) return;
    if (node.kind == NodeKind::list) {
      const auto& items = static_cast<const List&>(node).items;
      // A connection of one part is that part: it must not count as a connection, which would hold back
      // here-documents.
      if (items.size() == 1 && !items[0].background) return make(*items[0].command, prefix);
    } else if (node.kind == NodeKind::and_or && static_cast<const AndOr&>(node).rest.empty()) {
      return make(*static_cast<const AndOr&>(node).first, prefix);
    } else if (node.kind == NodeKind::pipeline) {
      const auto& pipe = static_cast<const Pipeline&>(node);
      prefix.timed |= pipe.timed;
      prefix.posix |= pipe.time_posix;
      prefix.negate ^= pipe.negate;
      if (pipe.stages.size() == 1) return make(*pipe.stages[0], prefix);
    }
    // Whoever has begun the line already asks by ++skip_indent_ that the next command does not begin it
    // again.
    if (skip_indent_ > 0)
      --skip_indent_;
    else
      indent();
    if (prefix.timed) out += prefix.posix ? "time -p " : "time ";
    if (prefix.negate) out += "! ";
    body(node);
    redirects(node, prefix.both);
  }

  void list(const List& list) {
    ++skip_indent_;
    ++connections_;
    const auto& items = list.items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      make(*items[i].command);
      bool last = i + 1 == items.size();
      // `a; b & c` is a and then (b & c): what waits of b waits on.
      bool joins = items[i].background && i > 0 && !items[i - 1].background;
      if (i > 0 && !joins) flush_deferred();
      if (items[i].background) {
        connector(" &");
        if (!last) {
          out += ' ';
          ++skip_indent_;
        }
      } else if (!last) {
        next_command(in_substitution_ && items[i].line);
      }
    }
    flush_deferred();
    --connections_;
  }

  // Between two commands of a list.
  void next_command(bool line) {
    if (!deferred_.empty())
      connector(inside_function_ > 0 ? "" : ";");
    else if (was_here_doc_)
      was_here_doc_ = false;
    else
      out += line ? '\n' : ';';
    // Inside a function every command has a line of its own; elsewhere a list stays on one.
    if (inside_function_ > 0) {
      out += '\n';
      return;
    }
    if (!line) out += ' ';
    ++skip_indent_;
  }

  void and_or(const AndOr& chain) {
    ++skip_indent_;
    ++connections_;
    make(*chain.first);
    for (const auto& next : chain.rest) {
      connector(next.is_and ? " && " : " || ");
      ++skip_indent_;
      make(*next.command);
      flush_deferred();
    }
    --connections_;
  }

  void pipeline(const Pipeline& pipe) {
    ++skip_indent_;
    ++connections_;
    for (std::size_t i = 0; i < pipe.stages.size(); ++i) {
      if (i) {
        connector(" |");
        out += ' ';
        ++skip_indent_;
      }
      Prefix prefix;
      prefix.both = i < pipe.both.size() && pipe.both[i];
      make(*pipe.stages[i], prefix);
    }
    flush_deferred();
    --connections_;
  }

  // ---- words and redirections ----

  void word(const Word& word) {
    if (word.assign) return assign(*word.assign);
    if (!word.reprints) {
      out += word.raw;
      return;
    }
    std::size_t at = 0;
    for (const Reprint& piece : *word.reprints) {
      // Pieces inside a piece that is printed as a whole are covered by it.
      if (piece.begin < at || piece.end > word.raw.size()) continue;
      out.append(word.raw, at, piece.begin - at);
      out += piece.text;
      if (piece.command) substitution(*piece.command);
      if (piece.substitution) out += ')';
      at = piece.end;
    }
    out.append(word.raw, at);
  }

  void substitution(const Node& command) {
    if (deep()) return;
    // bash starts anew inside a substitution: no indentation, no function around it.
    Printer inner(true);
    inner.command(command);
    if (inner.out.starts_with('(')) out += ' ';  // not to be taken for arithmetic
    out += inner.out;
  }

  void words(const std::vector<Word>& words, std::string_view between = " ") {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i) out += between;
      word(words[i]);
    }
  }

  void subscript(const Word& index) { out += "[" + index.raw + "]"; }

  void assign(const Assign& assign) {
    out += assign.name;
    if (assign.has_index) subscript(assign.index);
    out += assign.append ? "+=" : "=";
    if (!assign.is_array) return word(assign.value);
    out += '(';
    for (std::size_t i = 0; i < assign.items.size(); ++i) {
      const ArrayItem& item = assign.items[i];
      if (i) out += ' ';
      if (item.has_index) {
        subscript(item.index);
        out += item.append ? "+=" : "=";
      }
      word(item.value);
    }
    out += ')';
  }

  void redirects(const Node& node, bool both) {
    if (node.redirects.empty() && !both) return;
    // A command that is only a redirection has nothing before it to be separated from.
    if (node.kind != NodeKind::simple || !static_cast<const SimpleCommand&>(node).words.empty() ||
        !static_cast<const SimpleCommand&>(node).assigns.empty())
      out += ' ';
    std::vector<const HereDoc*> docs;
    was_here_doc_ = false;
    bool first = true;
    for (const Redirect& item : node.redirects) {
      if (!first) out += ' ';
      first = false;
      redirect(item);
      if (item.here) docs.push_back(item.here.get());
    }
    if (both) out += first ? "2>&1" : " 2>&1";
    if (docs.empty()) return;
    if (connections_ > 0)
      deferred_ = std::move(docs);
    else
      bodies(docs);
  }

  void redirect(const Redirect& redirect) {
    // The descriptor is left out where it is the one that bash leaves out, which for <> is not its default.
    auto file = [&](std::string_view op, int silent, int usual) {
      int fd = redirect.fd < 0 ? usual : redirect.fd;
      if (!redirect.fd_var.empty())
        out += "{" + redirect.fd_var + "}";
      else if (fd != silent)
        out += std::to_string(fd);
      out += op;
    };
    switch (redirect.kind) {
      case RedirectKind::in: file("< ", 0, 0); break;
      case RedirectKind::out: file("> ", 1, 1); break;
      case RedirectKind::append: file(">> ", 1, 1); break;
      case RedirectKind::clobber: file(">| ", 1, 1); break;
      case RedirectKind::in_out: file("<> ", 1, 0); break;
      case RedirectKind::both: out += "&> "; break;
      case RedirectKind::both_append: out += "&>> "; break;
      case RedirectKind::here_string: file("<<< ", 0, 0); break;
      case RedirectKind::dup_in:
      case RedirectKind::dup_out: {
        bool in = redirect.kind == RedirectKind::dup_in;
        std::string_view target = redirect.target.raw;
        bool close = target == "-";
        std::string_view digits = target.ends_with('-') ? target.substr(0, target.size() - 1) : target;
        // bash prints the descriptor before >&2 and >&2- always (1>&2), before a word only if it is not the
        // usual one.
        bool number = target.ends_with('-') ||
                      (!digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos);
        int usual = in ? 0 : 1;
        file(in && !close ? "<&" : ">&", number ? -1 : usual, usual);
        break;
      }
      case RedirectKind::here_doc:
        file(redirect.here->strip_tabs ? "<<-" : "<<", 0, 0);
        out += redirect.here->quoted ? quote_verbatim(redirect.here->delimiter) : redirect.here->delimiter;
        return;
    }
    word(redirect.target);
  }

  // ---- commands ----

  void body(const Node& node) {
    switch (node.kind) {
      case NodeKind::simple: {
        const auto& simple = static_cast<const SimpleCommand&>(node);
        for (std::size_t i = 0; i < simple.assigns.size(); ++i) {
          if (i) out += ' ';
          assign(simple.assigns[i]);
        }
        if (!simple.assigns.empty() && !simple.words.empty()) out += ' ';
        return words(simple.words);
      }
      case NodeKind::pipeline: return pipeline(static_cast<const Pipeline&>(node));
      case NodeKind::and_or: return and_or(static_cast<const AndOr&>(node));
      case NodeKind::list: return list(static_cast<const List&>(node));
      case NodeKind::group: return group(static_cast<const Grouped&>(node));
      case NodeKind::subshell:
        out += "( ";
        ++skip_indent_;
        make(*static_cast<const Grouped&>(node).body);
        flush_deferred();
        out += " )";
        return;
      case NodeKind::if_: return conditional(static_cast<const If&>(node), 0);
      case NodeKind::for_:
      case NodeKind::select: {
        const auto& loop = static_cast<const For&>(node);
        out += (node.kind == NodeKind::for_ ? "for " : "select ") + loop.name + " in ";
        if (loop.has_words)
          words(loop.words);
        else
          out += "\"$@\"";
        out += ';';
        return do_block(*loop.body);
      }
      case NodeKind::arith_for: {
        const auto& loop = static_cast<const ArithFor&>(node);
        out +=
            fmt::format("for (({}; {}; {}))", section(*loop.init), section(*loop.test), section(*loop.step));
        return do_block(*loop.body);
      }
      case NodeKind::while_: {
        const auto& loop = static_cast<const While&>(node);
        out += loop.until ? "until " : "while ";
        ++skip_indent_;
        make(*loop.condition);
        flush_deferred();
        semicolon();
        out += " do\n";
        block(*loop.body);
        semicolon();
        return newline("done");
      }
      case NodeKind::case_: return cases(static_cast<const Case&>(node));
      case NodeKind::function: {
        const auto& definition = static_cast<const FunctionDef&>(node);
        out += "function " + definition.name + " () \n";
        indent();
        return braced_body(*definition.body);
      }
      case NodeKind::cond:
        out += "[[ ";
        condition(*static_cast<const Cond&>(node).root, false);
        out += " ]]";
        return;
      case NodeKind::arith:
        out += "((" + static_cast<const ArithCommand&>(node).text->word.raw + "))";
        return;
      case NodeKind::coproc:
        out += "coproc " + static_cast<const Coproc&>(node).name + " ";
        ++skip_indent_;
        return make(*static_cast<const Coproc&>(node).body);
    }
  }

  // From the brace on. The redirections of a group are the function's.
  void braced_body(const Node& node) {
    out += "{ \n";
    ++inside_function_;
    ++level_;
    bool group = node.kind == NodeKind::group;
    make(group ? *static_cast<const Grouped&>(node).body : node);
    flush_deferred();
    --level_;
    --inside_function_;
    was_here_doc_ = false;
    newline("}");
    if (group) redirects(node, false);
  }

  void group(const Grouped& node) {
    out += "{ ";
    if (inside_function_ == 0) {
      ++skip_indent_;
    } else {
      out += '\n';
      ++level_;
    }
    make(*node.body);
    flush_deferred();
    if (inside_function_ > 0) {
      --level_;
      newline("");
    } else {
      semicolon();
      out += ' ';
    }
    out += '}';
  }

  void block(const Node& node) {
    ++level_;
    make(node);
    flush_deferred();
    --level_;
  }

  void do_block(const Node& node) {
    newline("do\n");
    block(node);
    semicolon();
    newline("done");
  }

  // An empty section of for ((;;)) is printed as 1, as bash does.
  static std::string section(const ArithText& part) {
    const std::string& text = part.word.raw;
    std::size_t begin = text.find_first_not_of(" \t\n");
    return begin == std::string::npos ? "1" : text.substr(begin);
  }

  void conditional(const If& branch, std::size_t arm) {
    if (deep()) return;
    out += "if ";
    ++skip_indent_;
    make(*branch.arms[arm].condition);
    semicolon();
    out += " then\n";
    block(*branch.arms[arm].body);
    bool more = arm + 1 < branch.arms.size();
    if (more || branch.otherwise) {
      semicolon();
      newline("else\n");
      // `elif` is printed as an `else` with an `if` in it: bash's tree has no other form.
      if (more) {
        ++level_;
        indent();
        conditional(branch, arm + 1);
        flush_deferred();
        --level_;
      } else {
        block(*branch.otherwise);
      }
    }
    semicolon();
    newline("fi");
  }

  void cases(const Case& node) {
    out += "case ";
    word(node.subject);
    out += " in ";
    ++level_;
    for (const Case::Arm& arm : node.arms) {
      newline("");
      words(arm.patterns, " | ");
      out += ")\n";
      if (arm.body) block(*arm.body);
      newline(arm.end == Case::End::stop ? ";;" : arm.end == Case::End::fall ? ";&" : ";;&");
    }
    --level_;
    newline("esac");
  }

  void condition(const CondNode& node, bool negate) {
    using Kind = CondNode::Kind;
    if (deep()) return;
    if (node.kind == Kind::not_) return condition(*node.a, !negate);
    if (negate) out += "! ";
    switch (node.kind) {
      // [[ x ]] is [[ -n x ]].
      case Kind::word:
      case Kind::unary:
        out += node.kind == Kind::word ? "-n " : node.op + " ";
        word(node.left);
        break;
      case Kind::binary:
        word(node.left);
        out += " " + node.op + " ";
        word(node.right);
        break;
      case Kind::group:
        out += "( ";
        condition(*node.a, false);
        out += " )";
        break;
      case Kind::and_:
      case Kind::or_:
        condition(*node.a, false);
        out += node.kind == Kind::and_ ? " && " : " || ";
        condition(*node.b, false);
        break;
      case Kind::not_: break;
    }
  }

  bool in_substitution_;
  int level_ = 0;
  int skip_indent_ = 0;
  int inside_function_ = 0;
  int connections_ = 0;
  bool was_here_doc_ = false;
  std::vector<const HereDoc*> deferred_;
};

}  // namespace

std::string print_function(const std::string& name, const FunctionDef& function) {
  Printer printer;
  printer.function(name, function);
  return std::move(printer.out);
}

std::string print_command(const Node& command) {
  Printer printer;
  printer.command(command);
  return std::move(printer.out);
}

}  // namespace atl::shell
