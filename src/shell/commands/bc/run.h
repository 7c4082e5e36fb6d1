#pragma once

#include <map>
#include <string>
#include <vector>

#include "shell/commands/bc/parser.h"
#include "shell/decimal/number.h"
#include "shell/text/sink.h"

namespace atl::shell::bc {

// Runs programs: variables, functions and the output's column live from one line to the next.
// For the fiber of the invocation. A program's mistakes never leave run(); only what ends the script does.
class Runner {
 public:
  // Borrows both. `library`: -l, the functions s c a l e j and a scale of 20.
  Runner(Invocation& call, Sink& out, bool library);

  // A whole text; false when it asked to quit. Mistakes are told on standard error and end their line only.
  bool run(std::string_view text, const std::string& name, bool is_stdin);

 private:
  enum class Flow : unsigned char { normal, break_, continue_, return_, halt };
  using Number = decimal::Number;
  using Array = std::map<std::uint32_t, Number>;

  // Runs the statements until one of them leaves; everything but `normal` is for the caller.
  Flow execute(const std::vector<StatementPtr>& list);
  Flow execute(const Statement& statement);
  Flow loop(const Statement& statement);
  // Throws decimal::Trouble for what cannot be computed (a division by zero, a root of a negative number);
  // run() reports it and goes on with the next line.
  Number eval(const Expr& expr);
  Number apply(Op op, const Number& a, const Number& b);
  Number assigned(const Expr& expr);
  Number incremented(const Expr& expr);
  Number called(const Expr& expr);
  // s, c, a, l, e and j to the current scale.
  Number library_call(const Expr& expr);
  // The arguments of a call, evaluated in the caller's variables, for the callee's.
  void bind(const Function& function, const Expr& expr, std::map<std::string, Number>& numbers,
            std::map<std::string, Array>& arrays);
  // The value of a variable, an element or one of scale, ibase, obase, last. Unset ones are 0.
  Number load(const Expr& target);
  void store(const Expr& target, const Number& value);
  std::uint32_t index(const Expr& element);
  // read(): the next line of the input, as a number.
  Number input();
  bool truth(const Expr& expr) { return !eval(expr).is_zero(); }
  // In obase, with long numbers continued on the next line as bc does.
  void print(const Number& value);
  void write(std::string_view text);
  [[noreturn]] void trouble(std::string message) { throw decimal::Trouble{std::move(message)}; }
  bool stack_low();

  Invocation& call_;
  Sink& out_;
  decimal::Arithmetic arithmetic_;
  bool library_;
  Functions functions_;
  std::map<std::string, Number> variables_;
  std::map<std::string, Array> arrays_;
  Number last_, returned_;
  std::uint32_t scale_ = 0;
  unsigned ibase_ = 10;
  decimal::Integer obase_ = 10;
  std::string function_ = "(main)";
  std::size_t column_ = 0;
  int width_;
  Parser* parser_ = nullptr;  // of the text that runs, for read()
  bool from_stdin_ = false;
};

}  // namespace atl::shell::bc
