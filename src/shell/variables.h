#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "shell/arith.h"
#include "shell/ast.h"
#include "shell/call_stack.h"
#include "shell/cow.h"
#include "shell/variable.h"

namespace atl::shell {

class ShellRunner;
class Zone;

// The variables of one shell: reading and assigning them with their attributes, locals, and those whose
// assignment has an effect (IFS, OPTIND, RANDOM, ...). Variables that are computed are in computed.h; a
// variable of the same name hides one.
//
// Assigning evaluates arithmetic, expands subscripts and may run command substitutions, any of which may
// change the table: do not keep a pointer or reference to a Variable across a call that can do so. Functions
// that return bool return false after a message in bash's words, and the variable keeps its value. All may
// throw Abandoned and Stopped.
class Variables final : public arith::Scope {
 public:
  // What stands behind RANDOM, SECONDS and getopts.
  struct Specials {
    std::uint64_t random = 42;
    SteadyTime seconds_base{};
    std::int64_t seconds_offset = 0;
    int getopts_at = 1;  // position within a cluster of options
  };
  // What a subshell inherits; copies share the table until one of them changes it.
  struct State {
    Cow<VariableTable> table;
    Specials specials;
  };

  Variables(ShellRunner& shell, State state) : shell_(shell), state_(std::move(state)) {}
  const State& state() const { return state_; }
  const Cow<VariableTable>& table() const { return state_.table; }
  Specials& specials() { return state_.specials; }

  // ---- the table, without attributes or effects ----
  // Null if there is no such variable; does not follow references.
  const Variable* find(std::string_view name) const;
  Variable* find_edit(std::string_view name);
  // The variable, made if it is missing.
  Variable& at(const std::string& name);
  void put(const std::string& name, Variable variable);
  void erase(const std::string& name);
  // Replaces all variables: what a program's redirections assigned is gone with the program.
  void replace_table(Cow<VariableTable> table);

  // Removes every exported variable.
  void erase_exported();
  // Exports these variables instead of those that were exported before.
  void replace_environment(const std::vector<std::pair<std::string, std::string>>& environment);

  // ---- reading ----
  // Follows references to the variable that is meant; its name may come with a subscript, which goes to
  // `subscript`. On a circular reference sets `loop`, or warns if that is null, and returns `name`.
  std::string resolve_name(const std::string& name, std::string* subscript = nullptr, bool* loop = nullptr);
  // The value of a variable, of element 0 of an array, or of a computed variable; nothing if it is unset.
  std::optional<std::string> get_value(std::string_view name);
  std::string get_or_empty(std::string_view name) { return get_value(name).value_or(std::string()); }
  // An element. `subscript` is its text; for an associative array `word`, if given, is expanded instead.
  std::optional<std::string> get_element(const std::string& name, const std::string& subscript,
                                         const Word* word);
  // The index that a subscript means; negative ones count from the end. `ok` is false after a message.
  std::int64_t array_index(const std::string& subscript, const Variable* variable, const std::string& name,
                           bool& ok);
  // Whether a name, a positional parameter or name[subscript] is set, as test -v asks.
  bool is_set(const std::string& reference);
  // Names of variables that have a value, sorted.
  std::vector<std::string> names(std::string_view prefix = {}) const;
  // Exported variables and functions, sorted: the environment of a program.
  std::vector<std::pair<std::string, std::string>> environment() const;
  // IFS, or its default if it is unset. Valid until a variable changes.
  const std::string& ifs();
  // The time zone that programs see: an exported TZ, or UTC.
  Zone zone() const;

  // ---- assigning ----
  bool assign(const std::string& name, std::string value, bool append = false);
  bool assign_element(const std::string& name, const std::string& subscript, std::string value,
                      bool append = false);
  // An assignment of the script; expands its right side.
  bool assign(const Assign& assign);
  // name or name[subscript], as read and printf -v take them.
  bool assign_reference(const std::string& reference, std::string value);
  // Replaces an indexed array.
  bool assign_array(const std::string& name, std::vector<std::string> values);
  // The items of name=( ... ). Everything is expanded before `variable`, which is the one called `name`,
  // changes.
  bool assign_compound(const std::string& name, const std::vector<ArrayItem>& items, bool append,
                       Variable& variable);
  // The same items as plain text, for a list whose variable hides what the items name (local x=($x)).
  std::vector<ArrayItem> expand_items(const std::vector<ArrayItem>& items, bool assoc);
  // The text "( ... )" as the right side of an array assignment; any other text as a value.
  bool assign_list_text(const std::string& name, const std::string& text, bool append);
  // The value as the variable's attributes make it: evaluated, in upper or lower case.
  std::string convert(const Variable& variable, std::string value);

  bool unset(const std::string& name);
  bool unset_element(const std::string& name, const std::string& subscript);

  // ---- locals ----
  void push_frame(Frame frame);
  // Removes the innermost frame and puts back what it hid.
  void pop_frame();
  // Removes frames until `count` are left.
  void pop_frames_to(std::size_t count);
  // The innermost frame, which must exist, remembers what the variable is and puts it back at its end.
  void save_in_frame(const std::string& name);
  // Makes the variable local to the running function; `inherit` keeps the value and attributes that it hides.
  Variable& make_local(const std::string& name, bool inherit = false);
  bool is_local(const std::string& name) const;
  // The variable outside all functions, made if it is missing. Valid until a variable or frame changes.
  Variable* find_global(const std::string& name);
  // The same, but null if no function's local hides it.
  Variable* find_global_saved(const std::string& name);
  bool is_hidden(const std::string& name) const;  // some function's local hides the global
  void save_local_options();                      // local -

  // ---- arith::Scope: how arithmetic reads and assigns ----
  std::string get(const std::string& name, const std::string* subscript) override;
  std::optional<std::int64_t> number(const std::string& name) const override;
  void set(const std::string& name, const std::string* subscript, std::int64_t value) override;
  bool is_assoc(const std::string& name) override;
  std::string expand_key(const std::string& text) override;
  bool stack_low() const override;

 private:
  bool set_scalar(Variable& variable, const std::string& name, std::string value, bool append);
  bool set_converted(Variable& variable, const std::string& name, std::string value, bool append);
  bool assign_assoc_element(const std::string& name, const std::string& key, std::string value, bool append);
  bool assign_indexed_element(const std::string& name, const std::string& subscript, std::string value,
                              bool append);
  bool assign_list(const Assign& assign);
  void begin_list(Variable& variable, bool append, bool assoc);
  void set_list_element(const std::string& name, std::int64_t index, std::string text, bool append);
  bool unset_local(const std::string& name);
  // Carries out what assigning one of the special variables does.
  void assigned_special(std::string_view name);
  // The sum of two expressions, as text: `x+=1` of an integer. Wraps around as 64-bit arithmetic does.
  std::string sum(const std::string& a, const std::string& b);
  // Says that the variable is read-only and returns false.
  bool refuse_readonly(const std::string& name);

  ShellRunner& shell_;
  State state_;
  std::string ifs_;
  bool ifs_known_ = false;  // ifs_ is what IFS is; every change of IFS clears it
};

}  // namespace atl::shell
