#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "shell/commands/bc/ast.h"

namespace atl::shell::bc {

// In bc's words, without file and line. Thrown by next(); nothing of the line has been run.
struct SyntaxError {
  std::string message;
};
// `quit` takes effect where it is read.
struct Quit {};

// Reads one line of a program (or a definition, however long) at a time, so that what stands before a mistake
// has been done when it is found.
// Borrows the text.
class Parser {
 public:
  // `stack_low` tells when nesting must end.
  Parser(std::string_view text, std::function<bool()> stack_low)
      : text_(text), stack_low_(std::move(stack_low)) {}

  // The statements of the next line; definitions go to `functions`. Nothing at the end. Throws SyntaxError,
  // after which the rest of the line has been skipped, and Quit.
  std::optional<std::vector<StatementPtr>> next(Functions& functions);
  // The line at which the parser stands, from 1.
  int line() const { return line_; }
  // The next line of the text itself, for read().
  std::optional<std::string> take_line();

 private:
  enum class Type : unsigned char { end, newline, number, name, text, symbol };
  struct Token {
    Type type = Type::end;
    std::string text;
  };

  void advance();
  void skip_blanks();
  std::string read_string();
  bool is(std::string_view symbol) const { return token_.type == Type::symbol && token_.text == symbol; }
  bool word(std::string_view name) const { return token_.type == Type::name && token_.text == name; }
  bool take(std::string_view symbol);
  void expect(std::string_view symbol);
  void newlines();
  [[noreturn]] void wrong(std::string message = "syntax error");

  // define name(...) {...}: reads it whole and puts it into `functions`.
  void definition(Functions& functions);
  std::vector<Parameter> names();
  std::vector<StatementPtr> body();
  StatementPtr statement();
  StatementPtr if_statement();
  StatementPtr while_statement();
  StatementPtr for_statement();
  StatementPtr print_statement();
  bool ends_statement() const;
  // Up to the closing brace, which stays the current token.
  void statements_to_brace(std::vector<StatementPtr>& out);

  // Loosest first, as everywhere in this file: || && ! comparisons, assignments and sums, products, powers,
  // signs.
  ExprPtr expression();
  ExprPtr conjunction();
  ExprPtr negation();
  ExprPtr relation();
  // Operands joined by any of the one-character operators, from left to right.
  ExprPtr chain(std::string_view operators, ExprPtr (Parser::*operand)());
  ExprPtr sum();
  ExprPtr product();
  ExprPtr raised();
  ExprPtr unary();
  ExprPtr primary();
  ExprPtr named(std::string name);
  ExprPtr after_name(ExprPtr target);

  std::string_view text_;
  std::function<bool()> stack_low_;
  std::size_t at_ = 0;
  int line_ = 1;
  Token token_;
  bool in_function_ = false;
};

}  // namespace atl::shell::bc
