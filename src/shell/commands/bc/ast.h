#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atl::shell::bc {

struct Expr;
struct Statement;
using ExprPtr = std::unique_ptr<Expr>;
using StatementPtr = std::unique_ptr<Statement>;

// What an expression is. `chain` is a sum or product of many operands, kept flat so that long ones need no
// deep stack.
enum class Op : unsigned char {
  number,
  variable,
  element,
  array,
  assign,
  increment_before,
  increment_after,
  negate,
  not_,
  and_,
  or_,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  call,
  length,
  scale_of,
  square_root,
  read,
  chain,
};

// An expression; owns its parts.
struct Expr {
  Op op = Op::number;
  std::string text;  // a constant's digits, a name
  ExprPtr a, b;
  std::vector<ExprPtr> list;  // arguments of a call; operands of a chain
  std::vector<Op> ops;        // of a chain: what stands before list[i + 1]
  Op with = Op::assign;       // of an assignment: the operator before '='; of ++ and --: add or subtract
  bool in_parentheses = false;
};

// What a statement is. `text` is a string by itself, which is printed.
enum class Kind : unsigned char {
  expression,
  text,
  print,
  block,
  if_,
  while_,
  for_,
  break_,
  continue_,
  return_,
  halt
};

// One part of a `print`: a text, or a value when `value` is there.
struct Printed {
  std::string text;
  ExprPtr value;
};

// A statement; owns its parts.
struct Statement {
  Kind kind = Kind::expression;
  std::string text;
  ExprPtr a, b, c;  // condition; of a for: start, condition, step
  std::vector<StatementPtr> body, otherwise;
  std::vector<Printed> printed;
};

// A parameter or an auto variable: name or name[].
struct Parameter {
  std::string name;
  bool array = false;
};

// define name(parameters) { body }. Shared because a function may be defined anew while it runs.
struct Function {
  std::vector<Parameter> parameters, locals;
  std::vector<StatementPtr> body;
};

// By name. A call that runs keeps its function alive when it is defined anew.
using Functions = std::map<std::string, std::shared_ptr<const Function>, std::less<>>;

}  // namespace atl::shell::bc
