#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "shell/commands/awk/value.h"
#include "shell/regex/regex.h"

namespace atl::shell::awk {

// What a node is. Which of Node's members mean something follows from it: binary operators have `a` and `b`,
// the conditional `a`, `b` and `c`, a for loop all four, calls and blocks their `list`.
enum class Op : unsigned char {
  // expressions
  number,
  string,
  regex,
  global,
  local,
  field,
  index,
  group,
  assign,
  add_assign,
  subtract_assign,
  multiply_assign,
  divide_assign,
  modulo_assign,
  power_assign,
  conditional,
  logical_or,
  logical_and,
  in,
  match,
  no_match,
  less,
  less_equal,
  equal,
  not_equal,
  greater,
  greater_equal,
  concat,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  power,
  negate,
  plus,
  logical_not,
  pre_increment,
  pre_decrement,
  post_increment,
  post_decrement,
  call,
  indirect_call,
  builtin,
  getline,
  getline_file,
  getline_command,
  tuple,
  // statements
  block,
  expression,
  print,
  printf_,
  if_,
  while_,
  do_,
  for_,
  for_in,
  break_,
  continue_,
  next,
  nextfile,
  exit_,
  return_,
  delete_,
  delete_all,
  switch_,
};

// Where print writes.
enum class Redirect : unsigned char { none, file, append, pipe };

// The functions of the language, gawk's extensions included.
enum class Builtin : unsigned char {
  length,
  substr,
  index,
  split,
  sub,
  gsub,
  gensub,
  match,
  sprintf_,
  sin,
  cos,
  atan2,
  exp,
  log,
  sqrt,
  int_,
  rand,
  srand,
  tolower,
  toupper,
  system,
  close,
  fflush,
  systime,
  strftime,
  mktime,
  asort,
  asorti,
  patsplit,
  and_,
  or_,
  xor_,
  compl_,
  lshift,
  rshift,
  strtonum,
  typeof_,
  isarray,
};

// A node of a program. Owned by Program::nodes; pointers between nodes are borrowed.
// After parsing, nothing changes but the compiled form of a regular expression.
struct Node {
  Op op;
  int line = 0;
  int slot = 0;  // of a global or local; index of a function; Builtin
  double number = 0;
  std::string text;
  Value constant;  // of number and string
  Node* a = nullptr;
  Node* b = nullptr;
  Node* c = nullptr;
  Node* d = nullptr;
  std::vector<Node*> list;
  Redirect redirect = Redirect::none;
  // regex: compiled when it is first used.
  std::unique_ptr<Regex> compiled;
};

// A function of the program. `defined` is false while only calls of it were seen; at the end of parsing every
// one is defined.
struct Function {
  std::string name;
  std::vector<std::string> parameters;
  Node* body = nullptr;
  bool defined = false;
};

// pattern { body }, or one of the special patterns.
struct Rule {
  enum class Kind : unsigned char { begin, end, begin_file, end_file, pattern } kind;
  Node* pattern = nullptr;
  Node* pattern_end = nullptr;
  Node* body = nullptr;  // null: print
  // Between the two patterns of a range. The machine's own state, kept here because it belongs to the rule.
  bool in_range = false;
};

// Slots of the variables that awk itself reads or sets; the rest follow.
enum Special : int {
  kNR,
  kNF,
  kFNR,
  kFS,
  kOFS,
  kRS,
  kORS,
  kFILENAME,
  kSUBSEP,
  kRSTART,
  kRLENGTH,
  kCONVFMT,
  kOFMT,
  kENVIRON,
  kARGC,
  kARGV,
  kRT,
  kIGNORECASE,
  kFPAT,
  kFIELDWIDTHS,
  kPROCINFO,
  kSpecialCount
};

// A parsed program. Functions and globals are known by index.
struct Program {
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Rule> rules;
  std::vector<Function> functions;
  std::unordered_map<std::string, int> function_index;
  std::vector<std::string> globals;
  std::unordered_map<std::string, int> global_index;

  // The slot of that variable, made if it is new.
  int global(const std::string& name);
};

// Errors: "awk: cmd. line:1: ..." without the prefix.
// Code::invalid_argument with gawk's words for the first mistake. The program owns everything it needs;
// `source` may go away.
Result<std::unique_ptr<Program>> parse(std::string_view source);

}  // namespace atl::shell::awk
