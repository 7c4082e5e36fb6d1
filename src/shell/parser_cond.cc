#include <cctype>

#include "shell/parser_nested.h"

namespace atl::shell {

namespace {

bool binary_operator(std::string_view text) {
  for (std::string_view op :
       {"==", "=", "!=", "=~", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"})
    if (op == text) return true;
  return false;
}

bool unary_operator(std::string_view text) {
  return text.size() == 2 && text[0] == '-' &&
         std::string_view("abcdefghknoprstuvwxzGLNORS").find(text[1]) != std::string_view::npos;
}

}  // namespace

void Parser::cond_skip() {
  skip_newlines();
}

// The next token as text, not consumed; only good for recognising operators.
std::string_view Parser::cond_peek() {
  cond_skip();
  std::string_view rest = std::string_view(src_).substr(pos_);
  for (std::string_view op : {"&&", "||", "(", ")", "<", ">"})
    if (rest.starts_with(op)) return rest.substr(0, op.size());
  std::size_t end = rest.find_first_of(" \t\n;&|<>()");
  return rest.substr(0, end);
}

NodePtr Parser::cond_command() {
  auto out = std::make_shared<Cond>();
  out->line = line_at(pos_);
  pos_ += 2;
  try {
    out->root = cond_or();
    if (cond_peek() != "]]") {
      if (at_end()) unexpected_end("");
      unexpected();
    }
  } catch (SyntaxError& failure) {
    if (!failure.incomplete) failure.status = 0;  // as bash ends, which gives up the script without a status
    throw;
  }
  pos_ += 2;
  return out;
}

std::unique_ptr<CondNode> Parser::cond_or() {
  auto left = cond_and();
  while (cond_peek() == "||") {
    pos_ += 2;
    auto node = std::make_unique<CondNode>();
    node->kind = CondNode::Kind::or_;
    node->a = std::move(left);
    node->b = cond_and();
    left = std::move(node);
  }
  return left;
}

std::unique_ptr<CondNode> Parser::cond_and() {
  auto left = cond_not();
  while (cond_peek() == "&&") {
    pos_ += 2;
    auto node = std::make_unique<CondNode>();
    node->kind = CondNode::Kind::and_;
    node->a = std::move(left);
    node->b = cond_not();
    left = std::move(node);
  }
  return left;
}

std::unique_ptr<CondNode> Parser::cond_not() {
  Nested nested(*this);
  auto node = std::make_unique<CondNode>();
  // !(a|b) is a pattern.
  if (cond_peek() == "!" && !(peek(1) == '(' && context_.extglob())) {
    ++pos_;
    node->kind = CondNode::Kind::not_;
    node->a = cond_not();
  } else {
    node = cond_primary();
  }
  return node;
}

std::unique_ptr<CondNode> Parser::cond_primary() {
  std::string token(cond_peek());
  if (token == "(") {
    ++pos_;
    auto inner = std::make_unique<CondNode>();
    inner->kind = CondNode::Kind::group;
    inner->a = cond_or();
    if (cond_peek() != ")") unexpected();
    ++pos_;
    return inner;
  }
  auto node = std::make_unique<CondNode>();
  if (unary_operator(token)) {
    pos_ += token.size();
    skip_blanks();
    std::string next(cond_peek());
    // [[ -f ]] is an error, unlike [ -f ].
    bool ends = next == "]]" || next == "&&" || next == "||" || next == ")" || next.empty();
    if (next.empty()) unexpected_end("");
    if (ends || next == "<" || next == ">") unexpected();
    node->kind = CondNode::Kind::unary;
    node->op = token;
    node->left = word();  // an operator that is spelled like a word is its operand
    return node;
  }
  if (token == "]]" || token == "&&" || token == "||" || token == ")" || token == "<" || token == ">" ||
      at_end()) {
    if (at_end()) unexpected_end("");
    unexpected();
  }
  node->left = word();
  skip_blanks();
  std::string op(cond_peek());
  if (!binary_operator(op)) {
    node->kind = CondNode::Kind::word;
    return node;
  }
  pos_ += op.size();
  node->kind = CondNode::Kind::binary;
  node->op = op;
  skip_blanks();
  if (op == "=~") {
    node->right = cond_regex();
  } else {
    // The right side of a comparison is a pattern.
    node->right = word(op == "==" || op == "=" || op == "!=");
  }
  if (node->right.parts.empty() && node->right.raw.empty()) unexpected();
  return node;
}

// The right side of =~: parentheses and bars belong to it.
Word Parser::cond_regex() {
  Word out;
  std::size_t start = pos_;
  forget_reprints(start);
  int depth = 0;
  while (!at_end()) {
    char c = peek();
    if (c == '(') ++depth;
    if (c == ')') {
      if (depth == 0) break;
      --depth;
    }
    bool blank = c == ' ' || c == '\t' || c == '\n';
    if (blank && depth == 0) break;
    if (blank || c == '(' || c == ')' || c == '|' || c == '<' || c == '>' || c == ';' || c == '&') {
      if (depth == 0 && (c == ';' || (c == '&' && peek(1) == '&'))) break;
      if (depth == 0 && c == '|' && peek(1) == '|') break;
      add_text(out.parts, PartKind::literal, std::string_view(src_).substr(pos_++, 1));
      continue;
    }
    if (!word_part(out, Mode::plain, false)) break;
  }
  keep_text(out, start);
  out.braces = false;
  return out;
}

}  // namespace atl::shell
