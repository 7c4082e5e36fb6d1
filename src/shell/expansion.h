#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/ast.h"
#include "shell/pattern.h"

namespace atl::shell {

class ShellRunner;
struct Variable;

// The expansion of one word (or of a whole command line): collects fields while the parts are walked. Inside
// a field a character that is special in patterns but was quoted carries a quote_mark (\x01) before it.
// Used once, on the fiber of the shell, which must outlive it. Every member may run commands, change
// variables and throw Abandoned (after a message) or Stopped; what was collected by then is lost with the
// object.
class Expansion {
 public:
  enum class Mode : unsigned char {
    fields,  // split and glob
    single,  // one string
  };
  Expansion(ShellRunner& shell, Mode mode) : shell_(shell), mode_(mode) {}

  void word(const Word& word);
  // Ends the current field; `out` gets the fields, globbed.
  void finish(std::vector<std::string>& out);
  // mode single: the text with marks.
  const std::string& marked() const { return text_; }
  std::string plain() const;
  std::string pattern() const;  // marks as backslashes
  bool assignment = false;      // ~ after ':' too
  bool no_tilde = false;
  bool quoted_all = false;  // here-documents, arithmetic: nothing is split, tilde is text

 private:
  // What a parameter is: not set, one text, or a list of items.
  struct Value {
    bool set = false;
    bool list = false;  // several items, from @ or *
    bool star = false;
    std::string text;
    std::vector<std::string> items;
  };

  // The parts in their order. `quoted`: inside double quotes, where nothing is split. `split_literals`:
  // literal text is split as well, as in the word of ${x:-word}.
  void parts(const std::vector<Part>& parts, bool quoted, bool split_literals);
  void part(const Part& part, bool quoted, bool split_literals);
  void literal(std::string_view text, bool first, bool last, bool split);
  void quoted(std::string_view text);
  void unquoted(std::string_view text);
  void split(std::string_view text);
  void boundary();  // the current field ends here
  void param(const Param& param, bool quoted);
  // Appends the value to the current field, or to several: unquoted text is split by IFS, "$@" begins a field
  // for each item.
  void emit(Value& value, bool quoted);
  void emit_scalar(std::string_view text, bool quoted);
  Value fetch(const Param& param);
  Value fetch_name(const std::string& name, Subscript subscript, const Word* index,
                   const std::string& index_text, const ArithText* index_arith);
  // The cases of fetch_name(): $@ $? $1 ..., ${12}, ${a[@]}, ${a[i]}, $a. What is not set has `set` false.
  Value special_parameter(char name);
  Value positional_parameter(std::string_view digits);
  Value all_elements(const Variable* variable, bool star);
  Value one_element(const std::string& name, const Variable* variable, const Word* index,
                    const std::string& index_text, const ArithText* index_arith);
  static Value whole_variable(const Variable& variable);
  // `name` refers to another variable: its value, or nothing and that variable, which may be null, to go on
  // with.
  std::optional<Value> follow_reference(const std::string& name, Subscript subscript, std::string& target,
                                        const Variable*& variable);
  Value positional(bool star, bool from_zero = false);
  // Changes the value as the operator behind the name says.
  void operate(const Param& param, Value& value);
  // The operators - = ? +. True: the value was appended already; ? with a message may end the shell.
  bool conditional(const Param& param, Value& value, bool quoted);
  void default_word(const Word& word, bool quoted);
  void assign_default(const Param& param, const std::string& text);
  void length(const Param& param);
  void names(const Param& param, bool quoted);
  void keys(const Param& param, bool quoted);
  void slice(const Param& param, Value& value);
  template <class F>
  void map(Value& value, F&& change);
  std::string replace(const Param& param, const Pattern& pattern, const std::string& replacement,
                      bool literal, const std::string& text);
  // ^ ^^ , ,, and ~: the characters that the pattern matches, or all of them.
  std::string recase(const Param& param, const Pattern* pattern, const std::string& text);
  // ${x@Q} and its kind.
  void transform(const Param& param, Value& value);
  void transform_assignment(const Param& param, const std::string& name, const Variable* variable,
                            Value& value);
  void transform_pairs(const Param& param, const Variable* variable, Value& value);
  void indirect(const Param& param, Value& value);
  void command(const Part& part, bool quoted);
  void process(const Part& part);
  std::string describe_name(const Param& param);
  Pattern make_pattern(const Word& word, bool ignore_case = false);
  // Ends the script when a word grows beyond its limit.
  void check_size();

  ShellRunner& shell_;
  Mode mode_;
  std::string text_;
  bool started_ = false;           // the current field exists even if empty (quotes were seen)
  std::vector<std::string> done_;  // finished fields with marks
};

// Stops with `too_many` set when there are more than `limit`.
// The words that brace expansion makes of one word.
std::vector<Word> expand_braces(const Word& word, std::uint64_t limit, bool& too_many);

// Stands before a character that was quoted and would be special in a pattern.
inline constexpr char quote_mark = '\x01';
// Whether a quoted character needs the quote_mark.
bool special_in_pattern(char c);
// The text without marks.
std::string unmark(std::string_view text);

}  // namespace atl::shell
