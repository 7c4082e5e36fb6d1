#include <algorithm>
#include <cctype>

#include "shell/parser_characters.h"
#include "shell/parser_nested.h"
#include "shell/reserved_words.h"

namespace atl::shell {

namespace {

// Builtins whose arguments may be assignments, lists included: `local a=(1 2)` would otherwise be a syntax
// error.
bool declaration_command(std::string_view name) {
  return name == "declare" || name == "typeset" || name == "local" || name == "export" ||
         name == "readonly" || name == "let";
}

// The text of a word that is one literal, else empty.
std::string_view literal_text(const Word& word) {
  if (word.parts.size() != 1 || word.parts[0].kind != PartKind::literal) return {};
  return word.parts[0].text;
}

}  // namespace

Parser::Parser(std::string source, const ParserContext& context, int first_line, std::uint32_t depth)
    : src_(std::move(source)), context_(context), first_line_(first_line), depth_(depth) {
  // The text counts against the memory of the script for as long as the parser lives, and reading it against
  // its steps.
  held_ = static_cast<std::int64_t>(src_.size());
  context_.hold(held_);
  context_.charge(src_.size() / 16);
}

Parser::~Parser() {
  context_.hold(-held_);
}

int Parser::line_at(std::size_t at) {
  at = std::min(at, src_.size());
  // Counting goes on from the last question: asking for every command's line stays linear in the length of
  // the script.
  if (at < counted_pos_) counted_pos_ = 0, counted_lines_ = 0;
  counted_lines_ += static_cast<int>(std::count(src_.begin() + static_cast<std::ptrdiff_t>(counted_pos_),
                                                src_.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  counted_pos_ = at;
  return first_line_ + counted_lines_;
}

void Parser::error(std::string message) {
  int line = line_at(pos_);
  // Nothing behind an error is read, not even by a caller that asks for the next command.
  pos_ = src_.size();
  throw SyntaxError{std::move(message), line, {}, false};
}

std::string Parser::token_here() {
  if (at_end()) return "newline";
  char c = peek();
  if (c == '\n') return "newline";
  // Longest first: `<<-` must not be taken for `<<`.
  for (std::string_view op :
       {"<<<", "<<-", "&>>", ";;&", "&&", "||", ";;", ";&", "<<", ">>", "<&", ">&", "<>", ">|", "&>", "|&"})
    if (looking_at(op)) return std::string(op);
  if (meta(c)) return std::string(1, c);
  std::size_t end = pos_;
  while (end < src_.size() && !meta(src_[end])) ++end;
  return src_.substr(pos_, end - pos_);
}

void Parser::unexpected() {
  skip_blanks();
  if (at_end()) unexpected_end("");
  // bash shows the whole line of the error below its message.
  std::size_t begin = src_.rfind('\n', pos_ == 0 ? 0 : pos_ - 1);
  begin = begin == std::string::npos ? 0 : begin + 1;
  if (begin > pos_) begin = pos_;
  std::size_t end = src_.find('\n', pos_);
  if (end == std::string::npos) end = src_.size();
  SyntaxError out{"syntax error near unexpected token `" + token_here() + "'", line_at(pos_),
                  src_.substr(begin, end - begin), false};
  pos_ = src_.size();
  throw out;
}

void Parser::unexpected_end(std::string_view looking_for) {
  int line = line_at(pos_);
  pos_ = src_.size();
  SyntaxError out;
  out.incomplete = true;
  if (looking_for.empty() || looking_for.size() > 1) {
    out.message = "syntax error: unexpected end of file";
    // The end of the file is one line behind the last one, with or without a newline at its end.
    out.line = line_at(src_.size()) + (src_.empty() || src_.back() == '\n' ? 0 : 1);
  } else {
    out.message = "unexpected EOF while looking for matching `" + std::string(looking_for) + "'";
    out.line = line;
  }
  throw out;
}

// Skips blanks, continued lines and comments. A # begins a comment only where a word could begin: a#b is a
// word.
void Parser::skip_blanks() {
  while (!at_end()) {
    char c = src_[pos_];
    if (c == ' ' || c == '\t')
      ++pos_;
    else if (c == '\\' && peek(1) == '\n')
      pos_ += 2;
    else if (c == '#' && (pos_ == 0 || meta(src_[pos_ - 1]) || src_[pos_ - 1] == '`')) {
      while (!at_end() && src_[pos_] != '\n') ++pos_;
    } else
      break;
  }
}

bool Parser::take_newline() {
  skip_blanks();
  if (at_end() || src_[pos_] != '\n') return false;
  ++pos_;
  // The bodies of here-documents begin behind the line that names them.
  if (!pending_.empty()) read_here_docs();
  return true;
}

void Parser::skip_newlines() {
  while (take_newline()) {
  }
}

bool Parser::plain_word_end(std::size_t at) const {
  return at >= src_.size() || meta(src_[at]);
}

// The reserved word at pos_, or an empty view.
std::string_view Parser::reserved() {
  skip_blanks();
  for (std::string_view word : reserved_words)
    if (looking_at(word) && plain_word_end(pos_ + word.size())) return word;
  return {};
}

bool Parser::at_list_end() {
  skip_blanks();
  if (at_end() || peek() == ')' || looking_at(";;") || looking_at(";&")) return true;
  std::string_view word = reserved();
  return word == "then" || word == "do" || word == "done" || word == "fi" || word == "elif" ||
         word == "else" || word == "esac" || word == "}";
}

void Parser::expect_reserved(std::string_view word) {
  skip_blanks();
  if (reserved() != word) {
    if (at_end()) unexpected_end("");
    unexpected();
  }
  pos_ += word.size();
}

NodePtr Parser::next() {
  reprints_.clear();
  skip_newlines();
  if (at_end()) {
    if (!pending_.empty()) read_here_docs();
    return nullptr;
  }
  NodePtr out = list_until_newline();
  skip_blanks();
  if (!at_end() && !take_newline()) unexpected();
  if (at_end() && !pending_.empty()) read_here_docs();
  return out;
}

NodePtr Parser::all() {
  auto list = std::make_shared<List>();
  while (NodePtr command = next()) {
    if (list->items.empty()) list->line = command->line;
    if (command->kind == NodeKind::list) {
      const auto& inner = static_cast<const List&>(*command);
      list->items.insert(list->items.end(), inner.items.begin(), inner.items.end());
    } else {
      list->items.push_back({command, false, false});
    }
  }
  if (list->items.empty()) return nullptr;
  return list;
}

NodePtr Parser::list_until_newline() {
  auto list = std::make_shared<List>();
  list->line = line_at(pos_);
  while (true) {
    List::Item item;
    item.command = and_or();
    skip_blanks();
    // `&>` is a redirection; `&&` and `;;` belong to the caller.
    if (peek() == '&' && peek(1) != '&' && peek(1) != '>') item.background = true;
    bool separator = item.background || (peek() == ';' && peek(1) != ';' && peek(1) != '&');
    if (separator) ++pos_;
    list->items.push_back(std::move(item));
    if (!separator) break;
    skip_blanks();
    if (at_end() || peek() == '\n') break;
  }
  if (list->items.size() == 1 && !list->items[0].background) return list->items[0].command;
  return list;
}

// A list inside a construct: newlines separate. Ends before the reserved word or ')' that closes the
// construct.
NodePtr Parser::compound_list() {
  auto list = std::make_shared<List>();
  skip_newlines();
  list->line = line_at(pos_);
  if (at_end()) unexpected_end("");
  while (!at_list_end()) {
    List::Item item;
    item.command = and_or();
    skip_blanks();
    if (peek() == '&' && peek(1) != '&' && peek(1) != '>') {
      item.background = true;
      ++pos_;
      list->items.push_back(std::move(item));
      skip_newlines();
      continue;
    }
    list->items.push_back(std::move(item));
    if (peek() == ';' && peek(1) != ';' && peek(1) != '&') {
      ++pos_;
      skip_newlines();
      continue;
    }
    if (!take_newline()) break;
    list->items.back().line = true;
    skip_newlines();
  }
  // `if then` and `( )` are errors: a list inside a construct has at least one command.
  if (list->items.empty()) unexpected();
  return list;
}

NodePtr Parser::and_or() {
  NodePtr first = pipeline();
  skip_blanks();
  if (!looking_at("&&") && !looking_at("||")) return first;
  auto out = std::make_shared<AndOr>();
  out->line = first->line;
  out->first = std::move(first);
  while (true) {
    skip_blanks();
    bool is_and = looking_at("&&");
    if (!is_and && !looking_at("||")) break;
    pos_ += 2;
    skip_newlines();
    out->rest.push_back({is_and, pipeline()});
  }
  return out;
}

NodePtr Parser::pipeline() {
  skip_blanks();
  auto out = std::make_shared<Pipeline>();
  out->line = line_at(pos_);
  bool any = false;
  while (true) {
    std::string_view word = reserved();
    // `! ! x` is allowed and cancels out.
    if (word == "!") {
      out->negate = !out->negate;
      ++pos_;
    } else if (word == "time") {
      pos_ += 4;
      out->timed = true;
      skip_blanks();
      if (looking_at("-p") && plain_word_end(pos_ + 2)) out->time_posix = true, pos_ += 2;
      skip_blanks();
      if (looking_at("--") && plain_word_end(pos_ + 2)) out->time_posix = true, pos_ += 2;  // as bash has it
    } else {
      break;
    }
    any = true;
  }
  skip_blanks();
  if (any && (at_end() || peek() == '\n' || peek() == ';')) {
    return out;  // a lone ! or time
  }
  while (true) {
    out->stages.push_back(command());
    skip_blanks();
    if (peek() != '|' || peek(1) == '|') break;
    bool both = peek(1) == '&';
    out->both.push_back(both);
    pos_ += both ? 2 : 1;
    skip_newlines();
  }
  out->both.push_back(false);
  if (out->stages.size() == 1 && !any) return out->stages[0];
  return out;
}

NodePtr Parser::command() {
  Nested nested(*this);
  skip_blanks();
  if (at_end()) unexpected_end("");
  NodePtr out;
  std::string_view word = reserved();
  if (word.empty() && context_.expand_aliases()) {
    std::size_t start = pos_;
    // The text of an alias may begin with an alias, or be a reserved word (alias begin='{').
    while (expand_alias(start)) {
      skip_blanks();
      start = pos_;
    }
    word = reserved();
  }
  if (peek() == '(') {
    // `((` may also open two subshells; arith_command() gives nothing if no `))` closes it.
    if (peek(1) == '(') out = arith_command();
    if (!out) out = subshell();
  } else if (!word.empty() && word != "]]" && word != "time") {
    out = compound(word);
  } else {
    out = simple();
  }
  return out;
}

NodePtr Parser::compound(std::string_view word) {
  NodePtr out;
  // Constructs that are open are kept with their line for messages about what is missing at the end.
  open_.emplace_back(std::string(word), line_at(pos_));
  if (word == "if")
    out = if_command();
  else if (word == "for")
    out = for_command(false);
  else if (word == "select")
    out = for_command(true);
  else if (word == "while")
    out = while_command(false);
  else if (word == "until")
    out = while_command(true);
  else if (word == "case")
    out = case_command();
  else if (word == "{")
    out = group();
  else if (word == "[[")
    out = cond_command();
  else if (word == "function")
    out = function_keyword();
  else if (word == "coproc")
    out = coproc();
  else
    unexpected();
  open_.pop_back();
  if (out->kind != NodeKind::function && out->kind != NodeKind::coproc) {
    // JUSTIFICATION: the node is new and still ours alone.
    redirects(const_cast<Node&>(*out).redirects);  // still ours alone
    skip_blanks();
    char c = peek();
    // Behind `fi` or `}` only redirections and separators may stand, not words.
    if (!at_end() && !meta(c) && reserved().empty()) unexpected();
    if (c == '(') unexpected();
  }
  return out;
}

void Parser::redirects(std::vector<Redirect>& out) {
  skip_blanks();
  while (redirect(out)) skip_blanks();
}

NodePtr Parser::if_command() {
  auto out = std::make_shared<If>();
  out->line = line_at(pos_);
  pos_ += 2;
  while (true) {
    If::Arm arm;
    arm.condition = compound_list();
    expect_reserved("then");
    arm.body = compound_list();
    out->arms.push_back(std::move(arm));
    std::string_view word = reserved();
    if (word == "elif") {
      pos_ += 4;
      continue;
    }
    if (word == "else") {
      pos_ += 4;
      out->otherwise = compound_list();
    }
    expect_reserved("fi");
    return out;
  }
}

NodePtr Parser::do_group() {
  skip_newlines();
  // `for x in a; { ...; }` is an old form that bash still reads.
  if (reserved() == "{") {
    ++pos_;
    NodePtr body = compound_list();
    expect_reserved("}");
    return body;
  }
  expect_reserved("do");
  NodePtr body = compound_list();
  expect_reserved("done");
  return body;
}

NodePtr Parser::for_command(bool select) {
  int line = line_at(pos_);
  pos_ += select ? 6 : 3;
  skip_blanks();
  if (!select && looking_at("((")) return arith_for(line);
  auto out = std::make_shared<For>(select ? NodeKind::select : NodeKind::for_);
  out->line = line;
  Word name = word();
  if (name.raw.empty()) unexpected();
  out->name = name.raw;
  skip_blanks();
  // `for x; do` goes over the positional parameters; after that ; there can be no `in`.
  bool ended = peek() == ';' && peek(1) != ';';
  if (ended) ++pos_;
  skip_newlines();
  if (!ended && reserved() == "in") {
    pos_ += 2;
    out->has_words = true;
    while (true) {
      skip_blanks();
      if (at_end() || peek() == '\n' || peek() == ';') break;
      if (meta(peek()) && !((peek() == '<' || peek() == '>') && peek(1) == '(')) unexpected();
      out->words.push_back(word());
    }
    if (peek() == ';') ++pos_;
    skip_newlines();
  }
  out->body = do_group();
  return out;
}

NodePtr Parser::arith_for(int line) {
  std::size_t open = pos_ + 1;
  std::size_t close = matching_paren(open);
  if (close == std::string::npos || close + 1 >= src_.size() || src_[close + 1] != ')') unexpected();
  auto out = std::make_shared<ArithFor>();
  out->line = line;
  std::vector<std::pair<std::size_t, std::size_t>> pieces;
  std::size_t from = open + 1;
  // Semicolons inside parentheses belong to the expression.
  int depth = 0;
  for (std::size_t i = open + 1; i <= close; ++i) {
    char c = src_[i];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if ((c == ';' && depth == 0) || i == close) {
      pieces.emplace_back(from, i);
      from = i + 1;
    }
  }
  if (pieces.size() != 3) {
    pos_ = close;
    unexpected();
  }
  out->init = make_arith(text_word(pieces[0].first, pieces[0].second, Mode::arith));
  out->test = make_arith(text_word(pieces[1].first, pieces[1].second, Mode::arith));
  out->step = make_arith(text_word(pieces[2].first, pieces[2].second, Mode::arith));
  pos_ = close + 2;
  skip_blanks();
  if (peek() == ';') ++pos_;
  out->body = do_group();
  return out;
}

NodePtr Parser::while_command(bool until) {
  auto out = std::make_shared<While>();
  out->line = line_at(pos_);
  out->until = until;
  // `while` and `until` have the same length.
  pos_ += 5;
  out->condition = compound_list();
  out->body = do_group();
  return out;
}

NodePtr Parser::case_command() {
  auto out = std::make_shared<Case>();
  out->line = line_at(pos_);
  pos_ += 4;
  skip_blanks();
  out->subject = word();
  if (out->subject.raw.empty()) unexpected();
  skip_newlines();
  expect_reserved("in");
  while (true) {
    skip_newlines();
    if (at_end()) unexpected_end("");
    if (reserved() == "esac") break;
    Case::Arm arm;
    // The opening parenthesis of a pattern is optional.
    if (peek() == '(') ++pos_;
    while (true) {
      skip_blanks();
      Word pattern = word(false);
      if (pattern.raw.empty()) unexpected();
      arm.patterns.push_back(std::move(pattern));
      skip_blanks();
      if (peek() != '|') break;
      ++pos_;
    }
    if (peek() != ')') unexpected();
    ++pos_;
    skip_newlines();
    if (!at_list_end()) arm.body = compound_list();
    skip_blanks();
    bool ended = true;
    if (looking_at(";;&"))
      arm.end = Case::End::test, pos_ += 3;
    else if (looking_at(";&"))
      arm.end = Case::End::fall, pos_ += 2;
    else if (looking_at(";;"))
      pos_ += 2;
    else
      ended = false;
    out->arms.push_back(std::move(arm));
    // Only the last arm may go without ;;.
    if (!ended) {
      skip_newlines();
      if (reserved() != "esac") unexpected();
    }
  }
  pos_ += 4;
  return out;
}

NodePtr Parser::group() {
  auto out = std::make_shared<Grouped>(NodeKind::group);
  out->line = line_at(pos_);
  ++pos_;
  out->body = compound_list();
  expect_reserved("}");
  return out;
}

NodePtr Parser::subshell() {
  auto out = std::make_shared<Grouped>(NodeKind::subshell);
  out->line = line_at(pos_);
  ++pos_;
  out->body = compound_list();
  skip_newlines();
  if (at_end()) unexpected_end("");
  if (peek() != ')') unexpected();
  ++pos_;
  redirects(out->redirects);
  return out;
}

NodePtr Parser::arith_command() {
  std::size_t close = matching_paren(pos_ + 1);
  // Two parentheses that are not closed together: the caller reads subshells instead.
  if (close == std::string::npos || close + 1 >= src_.size() || src_[close + 1] != ')') return nullptr;
  auto out = std::make_shared<ArithCommand>();
  out->line = line_at(pos_);
  out->text = make_arith(text_word(pos_ + 2, close, Mode::arith));
  pos_ = close + 2;
  redirects(out->redirects);
  return out;
}

NodePtr Parser::function_keyword() {
  int line = line_at(pos_);
  pos_ += 8;
  skip_blanks();
  Word name = word();
  if (name.raw.empty()) unexpected();
  skip_blanks();
  if (peek() == '(') {
    // `function f ()` and `function f` are the same; `function f (` opens a body that is a subshell.
    std::size_t save = pos_++;
    skip_blanks();
    if (peek() == ')')
      ++pos_;
    else
      pos_ = save;
  }
  return function_body(name.raw, line, true);
}

NodePtr Parser::function_body(std::string name, int line, bool keyword) {
  skip_newlines();
  if (at_end()) unexpected_end("");
  auto out = std::make_shared<FunctionDef>();
  out->line = line;
  out->name = std::move(name);
  out->keyword = keyword;
  std::string_view start = reserved();
  bool compound_start =
      peek() == '(' || (!start.empty() && start != "!" && start != "time" && start != "in" && start != "]]");
  // A body is a compound command: `f() echo` is an error.
  if (!compound_start || start == "function" || start == "coproc") unexpected();
  out->body = command();
  return out;
}

NodePtr Parser::coproc() {
  auto out = std::make_shared<Coproc>();
  out->line = line_at(pos_);
  pos_ += 6;
  skip_blanks();
  out->name = "COPROC";
  std::string_view start = reserved();
  if (start.empty() && peek() != '(') {
    // `coproc NAME { ...; }` has a name only before a compound command; in `coproc cat` the word is the
    // command.
    std::size_t save = pos_;
    Word first = word();
    skip_blanks();
    std::string_view next = reserved();
    if (is_name(first.raw) &&
        (peek() == '(' || (!next.empty() && next != "!" && next != "]]" && next != "in"))) {
      out->name = first.raw;
    } else {
      pos_ = save;
    }
  }
  out->body = command();
  return out;
}

bool Parser::expand_alias(std::size_t start) {
  if (!context_.expand_aliases()) return false;
  std::size_t end = start;
  while (end < src_.size() && !meta(src_[end])) {
    char c = src_[end];
    // Quoting any part of a word keeps it from being an alias: \ls.
    if (c == '\\' || c == '\'' || c == '"' || c == '$' || c == '`') return false;
    ++end;
  }
  if (end == start) return false;
  std::string name = src_.substr(start, end - start);
  const std::string* text = context_.alias(name);
  if (!text) return false;
  // Positions move when text is inserted before them, distances from the end do not: an alias is remembered
  // by where its text ends, and is not expanded again within it.
  std::size_t from_end = src_.size() - end;
  for (const auto& [used, limit] : alias_ends_)
    if (used == name && src_.size() - start > limit) return false;
  context_.hold(static_cast<std::int64_t>(text->size()));
  held_ += static_cast<std::int64_t>(text->size());
  context_.charge(src_.size() / 16);
  src_.replace(start, end - start, *text);
  // Lines counted so far may contain the text that was just replaced.
  counted_pos_ = 0;
  counted_lines_ = 0;
  alias_ends_.emplace_back(std::move(name), from_end);
  // An alias that ends with a blank lets the next word be an alias, too (alias sudo='sudo ').
  alias_next_ = !text->empty() && (text->back() == ' ' || text->back() == '\t');
  alias_next_at_ = src_.size() - from_end;
  return true;
}

NodePtr Parser::simple() {
  auto out = std::make_shared<SimpleCommand>();
  out->line = line_at(pos_);
  bool declaration = false;
  bool aliases = context_.expand_aliases();
  while (true) {
    skip_blanks();
    if (at_end()) break;
    if (redirect(out->redirects)) continue;
    char c = peek();
    if (meta(c) && !((c == '<' || c == '>') && peek(1) == '(')) break;
    // The first word of a command was expanded by command(); here are those behind assignments, redirections
    // and an alias that asks for it.
    if (aliases && ((out->words.empty() && (!out->assigns.empty() || !out->redirects.empty())) ||
                    (alias_next_ && pos_ >= alias_next_at_))) {
      alias_next_ = false;
      if (expand_alias(pos_)) continue;
    }
    if (out->words.empty()) {
      Assign assign;
      if (try_assignment(assign)) {
        out->assigns.push_back(std::move(assign));
        continue;
      }
    } else if (declaration) {
      auto assign = std::make_shared<Assign>();
      std::size_t before = pos_;
      // Arguments of let are arithmetic; `let a=(1+2)` is read as a list only so that its parenthesis is no
      // syntax error.
      bool only_lists = literal_text(out->words[0]) == "let";
      if (try_assignment(*assign) && (!only_lists || assign->is_array)) {
        Word holder;
        holder.raw = assign->raw;
        holder.assign = std::move(assign);
        out->words.push_back(std::move(holder));
        continue;
      }
      pos_ = before;
    }
    Word next = word();
    if (next.raw.empty() && next.parts.empty()) break;
    // name() defines a function only as the first word, and only without quotes or expansions.
    if (out->words.empty() && out->assigns.empty() && out->redirects.empty()) {
      skip_blanks();
      if (peek() == '(') {
        std::size_t save = pos_++;
        skip_blanks();
        if (peek() == ')' && !next.raw.empty() && next.raw.find_first_of("$`\"'\\") == std::string::npos) {
          ++pos_;
          return function_body(next.raw, out->line, false);
        }
        pos_ = peek() == ')' ? save : pos_;
        unexpected();
      }
    }
    std::string_view text = literal_text(next);
    if (!declaration) {
      // `command export x=1` is a declaration, too.
      bool wraps = std::all_of(out->words.begin(), out->words.end(), [](const Word& w) {
        std::string_view t = literal_text(w);
        return t == "command";
      });
      declaration = wraps && declaration_command(text);
    }
    out->words.push_back(std::move(next));
  }
  if (peek() == '(' && !out->words.empty()) unexpected();
  if (out->words.empty() && out->assigns.empty() && out->redirects.empty()) unexpected();
  return out;
}

namespace {

// Reads like the shell, and keeps quiet.
class Probe final : public ParserContext {
 public:
  explicit Probe(const ParserContext& shell) : shell_(shell) {}
  bool extglob() const override { return shell_.extglob(); }
  bool expand_aliases() const override { return shell_.expand_aliases(); }
  bool posix() const override { return shell_.posix(); }
  const std::string* alias(std::string_view name) const override { return shell_.alias(name); }
  std::size_t stack_left() const override { return shell_.stack_left(); }
  std::uint32_t nesting_max() const override { return shell_.nesting_max(); }
  void charge(std::size_t bytes) const override { shell_.charge(bytes); }
  void here_document_open(const std::string& delimiter) const override {
    open = true;
    until = delimiter;
  }
  mutable bool open = false;
  mutable std::string until;

 private:
  const ParserContext& shell_;
};

}  // namespace

bool incomplete(std::string text, const ParserContext& context, std::string& until) {
  until.clear();
  if (text.ends_with("\\\n")) {
    // An odd number of backslashes before the newline continues the line; an even number are quoted
    // backslashes.
    std::size_t slashes = 0;
    while (slashes + 1 < text.size() && text[text.size() - 2 - slashes] == '\\') ++slashes;
    if (slashes % 2 == 1) return true;
  }
  // A here-document without its delimiter is no error of the parser, which takes what is there: the probe is
  // told.
  Probe probe(context);
  try {
    Parser parser(std::move(text), probe);
    while (parser.next()) {
    }
  } catch (const SyntaxError& failure) {
    if (!probe.open) return failure.incomplete;
  }
  until = probe.until;
  return probe.open;
}

}  // namespace atl::shell
