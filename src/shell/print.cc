#include <fmt/format.h>

#include "shell/interpreter.h"

namespace atl::shell {

namespace {

// Writes commands the way bash prints functions: four spaces a level, one command a line.
class Printer {
 public:
  std::string out;

  void command(const Node& node) {
    body(node);
    redirects(node.redirects);
  }

  void function(const std::string& name, const FunctionDef& definition) {
    if (!name.empty()) out += name + " ";
    out += "() \n";
    function_body(*definition.body);
  }

 private:
  void indent() { out.append(static_cast<std::size_t>(level_) * 4, ' '); }
  void newline() {
    out += '\n';
    if (!heredocs_.empty()) {
      for (const HereDoc* doc : heredocs_) out += doc->raw + doc->delimiter + "\n";
      heredocs_.clear();
    }
  }

  void function_body(const Node& node) {
    if (node.kind == NodeKind::group) {
      indent();
      out += "{ \n";
      ++level_;
      list(*static_cast<const Grouped&>(node).body);
      --level_;
      newline();
      indent();
      out += "}";
      redirects(node.redirects);
      return;
    }
    out += "{ \n";
    ++level_;
    indent();
    command(node);
    --level_;
    newline();
    indent();
    out += "}";
  }

  // The items of a list, each on its line, without a final newline.
  void list(const Node& node) {
    if (node.kind != NodeKind::list) {
      indent();
      command(node);
      return;
    }
    const auto& items = static_cast<const List&>(node).items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      indent();
      command(*items[i].command);
      bool last = i + 1 == items.size();
      if (items[i].background)
        out += " &";
      else if (!last && heredocs_.empty())
        out += ";";
      if (!last) newline();
    }
  }

  void inline_list(const Node& node) {
    if (node.kind != NodeKind::list) return command(node);
    const auto& items = static_cast<const List&>(node).items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      command(*items[i].command);
      bool last = i + 1 == items.size();
      if (items[i].background)
        out += last ? " &" : " & ";
      else if (!last)
        out += "; ";
    }
  }

  void block(const Node& node) {
    ++level_;
    list(node);
    --level_;
    if (heredocs_.empty()) out += ";";
    newline();
  }

  void redirects(const std::vector<Redirect>& redirects) {
    for (const Redirect& redirect : redirects) {
      out += ' ';
      if (!redirect.fd_var.empty())
        out += "{" + redirect.fd_var + "}";
      else if (redirect.fd >= 0)
        out += std::to_string(redirect.fd);
      switch (redirect.kind) {
        case RedirectKind::in:
          out += "< " + redirect.target.raw;
          break;
        case RedirectKind::out:
          out += "> " + redirect.target.raw;
          break;
        case RedirectKind::append:
          out += ">> " + redirect.target.raw;
          break;
        case RedirectKind::clobber:
          out += ">| " + redirect.target.raw;
          break;
        case RedirectKind::in_out:
          out += "<> " + redirect.target.raw;
          break;
        case RedirectKind::dup_in:
          out += (redirect.fd < 0 ? "0<&" : "<&") + redirect.target.raw;
          break;
        case RedirectKind::dup_out:
          out += (redirect.fd < 0 ? "1>&" : ">&") + redirect.target.raw;
          break;
        case RedirectKind::both:
          out += "&> " + redirect.target.raw;
          break;
        case RedirectKind::both_append:
          out += "&>> " + redirect.target.raw;
          break;
        case RedirectKind::here_string:
          out += "<<< " + redirect.target.raw;
          break;
        case RedirectKind::here_doc:
          out += (redirect.here->strip_tabs ? "<<-" : "<<") + redirect.target.raw;
          heredocs_.push_back(redirect.here.get());
          break;
      }
    }
  }

  void words(const std::vector<Word>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (i) out += ' ';
      out += words[i].raw;
    }
  }

  void body(const Node& node) {
    switch (node.kind) {
      case NodeKind::simple: {
        const auto& simple = static_cast<const SimpleCommand&>(node);
        for (std::size_t i = 0; i < simple.assigns.size(); ++i) out += (i ? " " : "") + simple.assigns[i].raw;
        if (!simple.assigns.empty() && !simple.words.empty()) out += ' ';
        words(simple.words);
        if (simple.assigns.empty() && simple.words.empty() && !simple.redirects.empty()) trim_ = true;
        break;
      }
      case NodeKind::pipeline: {
        const auto& pipe = static_cast<const Pipeline&>(node);
        if (pipe.timed) out += pipe.time_posix ? "time -p " : "time ";
        if (pipe.negate) out += "! ";
        for (std::size_t i = 0; i < pipe.stages.size(); ++i) {
          if (i) out += pipe.both[i - 1] ? " 2>&1 | " : " | ";
          command(*pipe.stages[i]);
        }
        break;
      }
      case NodeKind::and_or: {
        const auto& chain = static_cast<const AndOr&>(node);
        command(*chain.first);
        for (const auto& next : chain.rest) {
          out += next.is_and ? " && " : " || ";
          command(*next.command);
        }
        break;
      }
      case NodeKind::list:
        inline_list(node);
        break;
      case NodeKind::group:
        if (level_ == 0) {
          out += "{ ";
          inline_list(*static_cast<const Grouped&>(node).body);
          out += "; }";
          break;
        }
        out += "{ \n";
        ++level_;
        list(*static_cast<const Grouped&>(node).body);
        --level_;
        newline();
        indent();
        out += "}";
        break;
      case NodeKind::subshell:
        out += "( ";
        inline_list(*static_cast<const Grouped&>(node).body);
        out += " )";
        break;
      case NodeKind::if_: {
        const auto& branch = static_cast<const If&>(node);
        conditional(branch, 0);
        break;
      }
      case NodeKind::for_:
      case NodeKind::select: {
        const auto& loop = static_cast<const For&>(node);
        out += (node.kind == NodeKind::for_ ? "for " : "select ") + loop.name + " in ";
        if (loop.has_words)
          words(loop.words);
        else
          out += "\"$@\"";
        out += ";\n";
        do_block(*loop.body);
        break;
      }
      case NodeKind::arith_for: {
        const auto& loop = static_cast<const ArithFor&>(node);
        out += fmt::format("for (({}; {}; {}))\n", trimmed(loop.init->word.raw), trimmed(loop.test->word.raw),
                           trimmed(loop.step->word.raw));
        do_block(*loop.body);
        break;
      }
      case NodeKind::while_: {
        const auto& loop = static_cast<const While&>(node);
        out += loop.until ? "until " : "while ";
        inline_list(*loop.condition);
        out += "; do\n";
        block(*loop.body);
        indent();
        out += "done";
        break;
      }
      case NodeKind::case_:
        cases(static_cast<const Case&>(node));
        break;
      case NodeKind::function: {
        const auto& definition = static_cast<const FunctionDef&>(node);
        out += "function " + definition.name + " () \n";
        function_body(*definition.body);
        break;
      }
      case NodeKind::cond:
        out += "[[ ";
        condition(*static_cast<const Cond&>(node).root);
        out += " ]]";
        break;
      case NodeKind::arith:
        out += "((" + static_cast<const ArithCommand&>(node).text->word.raw + "))";
        break;
      case NodeKind::coproc: {
        const auto& process = static_cast<const Coproc&>(node);
        out += "coproc " +
               (process.name == "COPROC" && process.body->kind == NodeKind::simple ? "" : process.name + " ");
        command(*process.body);
        break;
      }
    }
  }

  static std::string trimmed(const std::string& text) {
    std::size_t begin = text.find_first_not_of(" \t\n");
    if (begin == std::string::npos) return "1";
    return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
  }

  void do_block(const Node& node) {
    indent();
    out += "do\n";
    block(node);
    indent();
    out += "done";
  }

  void conditional(const If& branch, std::size_t arm) {
    out += "if ";
    inline_list(*branch.arms[arm].condition);
    out += "; then\n";
    block(*branch.arms[arm].body);
    indent();
    if (arm + 1 < branch.arms.size()) {
      out += "else\n";
      ++level_;
      indent();
      conditional(branch, arm + 1);
      --level_;
      out += ";\n";
      indent();
    } else if (branch.otherwise) {
      out += "else\n";
      block(*branch.otherwise);
      indent();
    }
    out += "fi";
  }

  void cases(const Case& node) {
    out += "case " + node.subject.raw + " in \n";
    ++level_;
    for (const Case::Arm& arm : node.arms) {
      indent();
      for (std::size_t i = 0; i < arm.patterns.size(); ++i) out += (i ? " | " : "") + arm.patterns[i].raw;
      out += ")\n";
      if (arm.body) {
        ++level_;
        list(*arm.body);
        --level_;
      }
      newline();
      indent();
      out += arm.end == Case::End::stop ? ";;" : arm.end == Case::End::fall ? ";&" : ";;&";
      out += '\n';
    }
    --level_;
    indent();
    out += "esac";
  }

  void condition(const CondNode& node) {
    switch (node.kind) {
      case CondNode::Kind::word:
        out += node.left.raw;
        break;
      case CondNode::Kind::unary:
        out += node.op + " " + node.left.raw;
        break;
      case CondNode::Kind::binary:
        out += node.left.raw + " " + node.op + " " + node.right.raw;
        break;
      case CondNode::Kind::not_:
        out += "! ";
        condition(*node.a);
        break;
      case CondNode::Kind::and_:
        condition(*node.a);
        out += " && ";
        condition(*node.b);
        break;
      case CondNode::Kind::or_:
        condition(*node.a);
        out += " || ";
        condition(*node.b);
        break;
    }
  }

  int level_ = 0;
  bool trim_ = false;
  std::vector<const HereDoc*> heredocs_;
};

}  // namespace

std::string print_function(const std::string& name, const FunctionDef& function) {
  Printer printer;
  printer.function(name, function);
  return printer.out;
}

std::string print_command(const Node& command) {
  Printer printer;
  printer.command(command);
  std::size_t begin = printer.out.find_first_not_of(' ');
  return begin == std::string::npos ? std::string() : printer.out.substr(begin);
}

}  // namespace atl::shell
