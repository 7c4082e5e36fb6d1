#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shell/commands/awk/ast.h"
#include "shell/commands/awk/lexer.h"

namespace atl::shell::awk {

inline constexpr std::string_view kSpecialNames[] = {
    "NR",       "NF",     "FNR",    "FS",         "OFS",     "RS",          "ORS",
    "FILENAME", "SUBSEP", "RSTART", "RLENGTH",    "CONVFMT", "OFMT",        "ENVIRON",
    "ARGC",     "ARGV",   "RT",     "IGNORECASE", "FPAT",    "FIELDWIDTHS", "PROCINFO"};
static_assert(std::size(kSpecialNames) == kSpecialCount);

// How deep statements and expressions may stand in each other; deeper ones are a syntax error.
inline constexpr int kDepthMax = 250;

// Reads a program by recursive descent, one token ahead. Statements are in parser.cc, expressions in
// expressions.cc; parse() of ast.h is the way in. Used once: run() gives the program away.
class Parser {
 public:
  explicit Parser(std::string_view source) : lex_(source), program_(std::make_unique<Program>()) {
    for (auto name : kSpecialNames) program_->global(std::string(name));
  }

  // The whole program, or the first mistake. The nodes of a program that failed go with the parser.
  Result<std::unique_ptr<Program>> run();

 private:
  using R = Result<Node*>;

  // Statements. Each leaves the lexer at the first token that is not its own.
  Result<void> item();
  Result<void> function();
  R block();
  R statement();
  R simple_statement();
  R simple_or_block();
  R print_statement();
  R for_statement();
  R switch_statement();
  // Expressions, loosest first. awk's grammar depends on where an expression stands: no_in_, no_greater_ and
  // no_pipe_getline_ say what must not be read as part of it here.
  R expression() { return ternary_or_assign(); }
  R ternary_or_assign();
  R ternary();
  R logical_or();
  R logical_and();
  R membership();
  R matching();
  R comparison();
  R concatenation();
  R additive();
  R multiplicative();
  R unary();
  R power();
  R postfix();
  R primary();
  R grouping();
  R getline_tail(Op op, Node* source);
  R call(bool builtin);
  R name();
  Result<std::vector<Node*>> arguments(Token closing);

  // A node of the program, which owns it.
  Node* make(Op op, Node* a = nullptr, Node* b = nullptr, Node* c = nullptr) {
    program_->nodes.push_back(std::make_unique<Node>());
    Node* node = program_->nodes.back().get();
    node->op = op;
    node->line = lex_.line;
    node->a = a;
    node->b = b;
    node->c = c;
    return node;
  }
  bool is(Token token) const { return lex_.token == token; }
  Result<void> next() { return lex_.advance(); }
  Result<void> expect(Token token, std::string_view what) {
    if (!is(token)) return unexpected_token(what);
    return next();
  }
  // The error for the current token, with what would have been right.
  std::unexpected<Error> unexpected_token(std::string_view wanted = {});
  Result<void> skip_newlines() {
    while (is(Token::newline)) TRY(next());
    return {};
  }
  Result<void> skip_terminators() {
    while (is(Token::newline) || is(Token::semicolon)) TRY(next());
    return {};
  }
  // Whether it can be assigned to.
  bool lvalue(const Node* node) const {
    return node->op == Op::global || node->op == Op::local || node->op == Op::field || node->op == Op::index;
  }
  // Whether the current token can begin an operand: then what stands before it is concatenated with it.
  bool starts_operand() const;

  struct Deeper {
    explicit Deeper(int& depth) : depth_(depth) { ++depth_; }
    ~Deeper() { --depth_; }
    int& depth_;
  };

  Lexer lex_;
  std::unique_ptr<Program> program_;
  std::unordered_map<std::string, int> locals_;
  int depth_ = 0;
  int loop_depth_ = 0;
  bool in_function_ = false;
  bool no_in_ = false;
  bool no_greater_ = false;
  bool no_pipe_getline_ = false;
};

}  // namespace atl::shell::awk
