#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// What the parser makes of a script. The tree is plain data: the parser builds it, nobody changes it
// afterwards, and it holds nothing of the shell that runs it, so one tree may be run many times and by
// several subshells. (The one exception is ArithText, which keeps the parsed form of its text.) Line numbers
// begin with 1.
namespace atl::shell {

namespace arith {
struct Node;
}
struct Node;
struct Param;
struct Assign;
struct ArithText;
struct Part;

// One or more commands as the parser found them. Shared: a background job or a function may outlive the
// script.
using NodePtr = std::shared_ptr<const Node>;

// A piece of a word that is printed in another form than it was written in: a substitution anew from its
// command, $'..' decoded, a continued line joined. Offsets into the raw text.
struct Reprint {
  std::size_t begin = 0, end = 0;
  std::string text;  // before the command
  NodePtr command;   // may be null
  bool substitution = false;
};

// A shell word: the concatenation of its parts, not yet expanded.
struct Word {
  std::vector<Part> parts;
  std::string raw;  // as written; for printing functions and for messages
  std::shared_ptr<const std::vector<Reprint>>
      reprints;         // where printing differs from raw; in order, not nested
  bool braces = false;  // an unquoted { was seen: brace expansion may apply
  std::shared_ptr<const Assign>
      assign;  // `declare x=(1 2)`: the argument of a declaration command as an assignment
};

enum class PartKind : std::uint8_t {
  literal,  // unquoted text: tilde, glob and brace characters are live
  quoted,   // text that stands for itself
  dquote,   // "..." : children are expanded but not split
  param,    // $x ${x...}
  command,  // $(...) `...`
  arith,    // $((...))
  process,  // <(...) >(...)
};

// One piece of a word. Which members mean something depends on the kind.
struct Part {
  PartKind kind = PartKind::literal;
  char direction = 0;          // process: '<' or '>'; command: '<' for $(<file)
  std::string text;            // literal, quoted
  std::vector<Part> children;  // dquote
  std::shared_ptr<const Param> param;
  std::shared_ptr<const Node> command;
  std::shared_ptr<const ArithText> arith;
};

// Arithmetic as written. When no part needs expansion, the parsed form is kept after the first use.
struct ArithText {
  Word word;
  bool constant = false;
  std::string text;  // if constant
  mutable std::shared_ptr<const arith::Node> parsed;
  mutable std::string parsed_from;
};

// What follows the name in ${name...}.
enum class ParamOp : std::uint8_t {
  none,
  length,        // ${#x}
  defaulted,     // - :-
  assign,        // = :=
  error,         // ? :?
  alternate,     // + :+
  strip_prefix,  // # ##
  strip_suffix,  // % %%
  replace,       // / // /# /%
  substring,     // :o:l
  upper,         // ^ ^^
  lower,         // , ,,
  toggle,        // ~ ~~
  transform,     // @Q ...
  names,         // ${!prefix*} ${!prefix@}
  keys,          // ${!a[@]} ${!a[*]}
};

// [index], [@], [*].
enum class Subscript : std::uint8_t { none, index, at, star };

// One parameter expansion. `arg` and `arg2` are the operator's words: the default, the pattern and its
// replacement.
struct Param {
  std::string name;
  Subscript subscript = Subscript::none;
  Word index;
  std::shared_ptr<const ArithText> index_arith;
  bool indirect = false;
  ParamOp op = ParamOp::none;
  bool colon = false;    // the form that also tests for emptiness
  bool longest = false;  // ## %% // ^^ ,,
  char mode = 0;         // replace: 0 '#' '%'; transform: the letter; names: '*' or '@'
  bool has_arg2 = false;
  Word arg;
  Word arg2;
  std::shared_ptr<const ArithText> offset;  // substring
  std::shared_ptr<const ArithText> length;
  std::string raw;  // without ${ }
  bool braced = false;
  bool plain = false;  // a name and nothing else: $x, ${x}
  bool bad = false;    // bad substitution, reported when expanded
};

// One item of name=( ... ): [index]=value, [index]+=value, or a word that may expand to several values.
struct ArrayItem {
  bool has_index = false;
  bool append = false;
  Word index;
  Word value;
};

// name=value, name+=value, name[index]=value or name=( items ).
struct Assign {
  std::string name;
  bool append = false;
  bool has_index = false;
  bool is_array = false;
  Word index;
  std::shared_ptr<const ArithText> index_arith;
  Word value;
  std::vector<ArrayItem> items;
  std::string raw;
};

enum class RedirectKind : std::uint8_t {
  in,           // <
  out,          // >
  append,       // >>
  clobber,      // >|
  in_out,       // <>
  dup_in,       // <&
  dup_out,      // >&
  both,         // &> (and >& word)
  both_append,  // &>>
  here_doc,     // << <<-
  here_string,  // <<<
};

// A here-document. If its delimiter was quoted, `raw` is the text; otherwise `body` is expanded.
struct HereDoc {
  std::string delimiter;
  bool strip_tabs = false;
  bool quoted = false;
  std::string raw;  // the body as written
  Word body;
};

// One redirection of a command.
struct Redirect {
  RedirectKind kind = RedirectKind::in;
  int fd = -1;         // -1: the default of the kind
  std::string fd_var;  // {name}>
  Word target;
  std::shared_ptr<HereDoc> here;
};

// Which struct below a Node is.
enum class NodeKind : std::uint8_t {
  simple,
  pipeline,
  and_or,
  list,
  group,
  subshell,
  if_,
  for_,
  arith_for,
  while_,
  case_,
  select,
  function,
  cond,
  arith,
  coproc,
};

// A command of any kind. Redirections belong to compound commands too.
struct Node {
  explicit Node(NodeKind k) : kind(k) {}
  virtual ~Node() = default;
  NodeKind kind;
  int line = 0;
  std::vector<Redirect> redirects;
};

// Assignments and words. Without words the assignments are for the shell itself.
struct SimpleCommand final : Node {
  SimpleCommand() : Node(NodeKind::simple) {}
  std::vector<Assign> assigns;
  std::vector<Word> words;
};

// Commands joined by |, with what may stand before them: ! and time.
struct Pipeline final : Node {
  Pipeline() : Node(NodeKind::pipeline) {}
  std::vector<NodePtr> stages;
  std::vector<bool> both;  // stage i is followed by |&
  bool negate = false;
  bool timed = false;
  bool time_posix = false;
};

// Commands joined by && and ||, which bind equally and from left to right.
struct AndOr final : Node {
  AndOr() : Node(NodeKind::and_or) {}
  NodePtr first;
  struct Next {
    bool is_and;
    NodePtr command;
  };
  std::vector<Next> rest;
};

// Commands joined by ; & or newlines.
struct List final : Node {
  List() : Node(NodeKind::list) {}
  struct Item {
    NodePtr command;
    bool background = false;
    bool line = false;  // ended by a newline, not by ;
  };
  std::vector<Item> items;
};

// ( list ) and { list; }
struct Grouped final : Node {
  explicit Grouped(NodeKind k) : Node(k) {}
  NodePtr body;
};

// if and elif are arms; `otherwise` is null without else.
struct If final : Node {
  If() : Node(NodeKind::if_) {}
  struct Arm {
    NodePtr condition;
    NodePtr body;
  };
  std::vector<Arm> arms;
  NodePtr otherwise;
};

// for and select
struct For final : Node {
  explicit For(NodeKind k) : Node(k) {}
  std::string name;
  bool has_words = false;
  std::vector<Word> words;
  NodePtr body;
};

// for ((init; test; step)). An empty part is an empty text.
struct ArithFor final : Node {
  ArithFor() : Node(NodeKind::arith_for) {}
  std::shared_ptr<const ArithText> init, test, step;
  NodePtr body;
};

// while and until.
struct While final : Node {
  While() : Node(NodeKind::while_) {}
  bool until = false;
  NodePtr condition;
  NodePtr body;
};

// Every arm's `end` says what follows it: ;; leaves, ;& runs the next arm, ;;& goes on testing.
struct Case final : Node {
  Case() : Node(NodeKind::case_) {}
  Word subject;
  enum class End : std::uint8_t { stop, fall, test };  // ;; ;& ;;&
  struct Arm {
    std::vector<Word> patterns;
    NodePtr body;  // may be null
    End end = End::stop;
  };
  std::vector<Arm> arms;
};

// name() body. `keyword`: it was written with the word `function`.
struct FunctionDef final : Node {
  FunctionDef() : Node(NodeKind::function) {}
  std::string name;
  NodePtr body;
  bool keyword = false;
};

// [[ ... ]]
struct CondNode {
  enum class Kind : std::uint8_t { word, unary, binary, not_, and_, or_, group };
  Kind kind = Kind::word;
  std::string op;
  Word left, right;
  std::unique_ptr<CondNode> a, b;
};
struct Cond final : Node {
  Cond() : Node(NodeKind::cond) {}
  std::unique_ptr<CondNode> root;
};

// (( ... ))
struct ArithCommand final : Node {
  ArithCommand() : Node(NodeKind::arith) {}
  std::shared_ptr<const ArithText> text;
};

// coproc [name] command
struct Coproc final : Node {
  Coproc() : Node(NodeKind::coproc) {}
  std::string name;
  NodePtr body;
};

}  // namespace atl::shell
