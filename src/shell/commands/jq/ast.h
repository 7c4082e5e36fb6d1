#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "shell/commands/jq/value.h"

namespace atl::shell::jq {

struct Node;
class Machine;

// What a node does. Which of Node's members mean something follows from it.
enum class Op : unsigned char {
  identity,
  recurse_default,
  field,
  index,
  slice,
  iterate,
  literal,
  format_string,
  format,
  pipe,
  comma,
  negate,
  and_,
  or_,
  alternative,
  assign,
  update,
  arithmetic_update,
  alternative_update,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  if_,
  try_,
  reduce,
  foreach_,
  bind,
  bind_alternatives,
  label,
  break_,
  def,
  call_definition,
  call_parameter,
  call_builtin,
  variable,
  array,
  object,
  location,
  environment,
  input_arguments,
};

// What `as` binds: a variable, or the parts of an array or object.
// Owned by the node that binds.
struct Pattern {
  enum class Kind : unsigned char { variable, array, object } kind = Kind::variable;
  std::string name;
  struct Entry {
    Node* key = nullptr;   // an expression that gives the key
    std::string variable;  // {$name}: also binds
    std::unique_ptr<Pattern> pattern;
  };
  std::vector<Entry> entries;
};

// def name(parameters): body;
struct Definition {
  std::string name;
  std::vector<std::string> parameters;  // "$x" for value parameters
  Node* body = nullptr;
};

using Builtin = struct BuiltinRow;

// A node of a program. Owned by Program::nodes; pointers between nodes are borrowed.
// Members beyond `op`: `a` to `d` are the parts in the order in which they are written, `list` the arguments
// of a call or the parts of a string, `members` the keys and values of an object.
struct Node {
  Op op = Op::identity;
  Node* a = nullptr;
  Node* b = nullptr;
  Node* c = nullptr;
  Node* d = nullptr;
  std::vector<Node*> list;
  std::vector<std::pair<Node*, Node*>> members;
  Value value;
  std::string text;
  int levels = 0;  // how many links up the environment
  std::unique_ptr<Pattern> pattern;
  std::vector<std::unique_ptr<Pattern>> patterns;
  std::vector<std::string> all_variables;  // of alternatives: every name, bound to null before
  std::unique_ptr<Definition> definition;
  const Builtin* builtin = nullptr;
  Op arithmetic = Op::add;
};

// A parsed program; nobody changes it afterwards.
struct Program {
  std::vector<std::unique_ptr<Node>> nodes;
  Node* top = nullptr;
};

// `globals` are names of variables the caller binds, innermost last.
// Code::invalid_argument with jq's words. The program owns what it needs; `text` may go away.
Result<std::unique_ptr<Program>> parse(std::string_view text, const std::vector<std::string>& globals);

}  // namespace atl::shell::jq
