#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/utf8.h"
#include "shell/calendar/calendar.h"
#include "shell/computed.h"
#include "shell/runner.h"

namespace atl::shell {

namespace {

constexpr std::string_view default_ifs = " \t\n";

// Variables whose assignment does more than store a value. The answer is kept in Variable::special, so that
// ordinary assignments, which are the most frequent thing a script does, compare no names.
bool has_effect(std::string_view name) {
  return name == "IFS" || name == "OPTIND" || name == "RANDOM" || name == "SECONDS" ||
         name == "POSIXLY_CORRECT" || name == "GLOBIGNORE" || name == "SHELLOPTS" || name == "BASH_ARGV0";
}

// Computed variables that take an assignment without a word and stay what they are.
bool ignores_assignment(std::string_view name) {
  static constexpr std::string_view names[] = {"BASHPID",     "BASH_ARGC",   "BASH_ARGV",    "BASH_COMMAND",
                                               "BASH_LINENO", "BASH_SOURCE", "EPOCHSECONDS", "EPOCHREALTIME",
                                               "FUNCNAME",    "GROUPS",      "SRANDOM"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Tables of the shell that are shown as arrays: an element that is assigned goes into the table.
bool shown_table(std::string_view name) {
  return name == "BASH_ALIASES" || name == "BASH_CMDS";
}

bool put_in_table(ShellRunner& shell, const std::string& name, const std::string& key, std::string value,
                  bool append) {
  // 128 bytes stand for the node of the table and the two strings in it.
  if (append) value = shell.variables().get_element(name, key, nullptr).value_or("") + value;
  shell.machine().charge_memory(static_cast<std::int64_t>(value.size() + key.size()) + 128);
  if (name == "BASH_CMDS") {
    shell.names().hashed().edit()[key] = std::move(value);
  } else if (key.find_first_of(" \t\n;&|<>()$`\"'\\/") != std::string::npos) {
    // An alias is looked up by the text of one unquoted word, so a name that could not be such a word is
    // refused, as `alias` does.
    shell.error(fmt::format("`{}': invalid alias name", key));
  } else {
    shell.names().aliases().edit().insert_or_assign(key, std::move(value));
  }
  return true;
}

}  // namespace

const Variable* Variables::find(std::string_view name) const {
  const VariableTable& table = *state_.table;
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

Variable* Variables::find_edit(std::string_view name) {
  VariableTable& table = state_.table.edit();
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

Variable& Variables::at(const std::string& name) {
  if (name == "IFS") ifs_known_ = false;
  return state_.table.edit()[name];
}

void Variables::put(const std::string& name, Variable variable) {
  at(name) = std::move(variable);
}

void Variables::erase(const std::string& name) {
  if (name == "IFS") ifs_known_ = false;
  state_.table.edit().erase(name);
}

void Variables::replace_table(Cow<VariableTable> table) {
  state_.table = std::move(table);
  ifs_known_ = false;
}

void Variables::erase_exported() {
  ifs_known_ = false;
  std::erase_if(state_.table.edit(), [](const auto& entry) { return entry.second.is(attr::exported); });
}

void Variables::replace_environment(const std::vector<std::pair<std::string, std::string>>& environment) {
  erase_exported();
  for (const auto& [name, value] : environment) {
    Variable fresh;
    fresh.attrs = attr::exported;
    fresh.set = true;
    fresh.value = value;
    fresh.special = name == "IFS";
    put(name, std::move(fresh));
  }
}

std::string Variables::resolve_name(const std::string& name, std::string* subscript, bool* loop) {
  const Variable* variable = find(name);
  if (!variable || !variable->is(attr::nameref)) return name;
  std::string current = name;
  // References may refer to references; a chain this long is taken for a circle.
  for (int hops = 0; hops < 16; ++hops) {
    variable = find(current);
    if (!variable || !variable->is(attr::nameref) || variable->value.empty()) return current;
    std::string target = variable->value;
    std::size_t bracket = target.find('[');
    // `declare -n r=a[1]`: the target is an element, and an element cannot be a reference itself.
    if (bracket != std::string::npos) {
      if (subscript && target.back() == ']')
        *subscript = target.substr(bracket + 1, target.size() - bracket - 2);
      return target.substr(0, bracket);
    }
    if (target == current) {
      if (loop) *loop = true;
      return current;
    }
    current = target;
  }
  if (loop)
    *loop = true;
  else
    shell_.error(fmt::format("warning: {}: circular name reference", name));
  return name;
}

std::optional<std::string> Variables::get_value(std::string_view name) {
  const Variable* variable = find(name);
  if (variable && variable->is(attr::nameref)) {
    std::string subscript;
    std::string target = resolve_name(std::string(name), &subscript);
    if (!subscript.empty()) return get_element(target, subscript, nullptr);
    variable = find(target);
    // What is still a reference after following names nothing yet.
    if (variable && variable->is(attr::nameref)) return std::nullopt;
  }
  std::optional<Variable> computed;
  if (!variable) {
    computed = computed_variable(shell_, name);
    if (!computed) return std::nullopt;
    variable = &*computed;
  }
  // $name of an array is its element 0; of an associative one, the value of the key "0".
  if (variable->is(attr::array)) {
    auto it = variable->array->find(0);
    if (it == variable->array->end()) return std::nullopt;
    return it->second;
  }
  if (variable->is(attr::assoc)) {
    const std::string* value = variable->assoc->find("0");
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
  if (!variable->set) return std::nullopt;
  return variable->value;
}

std::int64_t Variables::array_index(const std::string& subscript, const Variable* variable,
                                    const std::string& name, bool& ok) {
  ok = true;
  std::int64_t at;
  if (auto number = arith::plain_number(subscript); number && !subscript.empty()) {
    at = *number;
  } else {
    if (subscript.empty()) {
      shell_.error(fmt::format("{}[]: bad array subscript", name));
      ok = false;
      return 0;
    }
    // Arithmetic knows names, not $: a subscript that came as plain text (from a reference or `read`) is
    // expanded first.
    at = shell_.expander().evaluate(subscript.find('$') != std::string::npos ||
                                            subscript.find('`') != std::string::npos
                                        ? shell_.expander().text(subscript)
                                        : subscript);
  }
  if (at < 0) {
    // Counted from one behind the largest index that is set, not from the number of elements: arrays have
    // holes.
    std::int64_t size = variable && !variable->array->empty() ? variable->array->rbegin()->first + 1 : 0;
    // A plain variable counts as an array of one.
    if (variable && !variable->is_array() && variable->set) size = 1;
    at += size;
    if (at < 0) {
      shell_.error(fmt::format("{}[{}]: bad array subscript", name, subscript));
      ok = false;
    }
  }
  return at;
}

std::optional<std::string> Variables::get_element(const std::string& name, const std::string& text,
                                                  const Word* word) {
  std::string target = resolve_name(name);
  const Variable* variable = find(target);
  std::optional<Variable> computed;
  if (!variable) {
    computed = computed_variable(shell_, target);
    if (!computed) return std::nullopt;
    variable = &*computed;
  }
  if (variable->is(attr::assoc)) {
    const std::string* value = variable->assoc->find(word ? shell_.expander().single(*word) : text);
    return value ? std::optional<std::string>(*value) : std::nullopt;
  }
  bool ok = true;
  std::int64_t at = array_index(text, variable, name, ok);
  if (!ok) return std::nullopt;
  if (variable->is(attr::array)) {
    auto it = variable->array->find(at);
    return it == variable->array->end() ? std::nullopt : std::optional<std::string>(it->second);
  }
  if (at == 0 && variable->set) return variable->value;
  return std::nullopt;
}

std::string Variables::convert(const Variable& variable, std::string value) {
  if (variable.is(attr::integer)) return std::to_string(shell_.expander().evaluate(value));
  if (variable.is(attr::lower)) return utf8::to_lower(value);
  if (variable.is(attr::upper)) return utf8::to_upper(value);
  if (variable.is(attr::capital) && !value.empty())
    return utf8::to_upper(value.substr(0, 1)) + utf8::to_lower(value.substr(1));
  return value;
}

std::string Variables::sum(const std::string& a, const std::string& b) {
  // Unsigned, because signed overflow is undefined and bash wraps around.
  auto left = static_cast<std::uint64_t>(shell_.expander().evaluate(a));
  auto right = static_cast<std::uint64_t>(shell_.expander().evaluate(b));
  return std::to_string(static_cast<std::int64_t>(left + right));
}

bool Variables::refuse_readonly(const std::string& name) {
  shell_.error(fmt::format("{}: readonly variable", name));
  return false;
}

bool Variables::set_scalar(Variable& variable, const std::string& name, std::string value, bool append) {
  // x=v of an associative array sets the key "0".
  if (variable.is(attr::assoc)) {
    std::string old;
    if (const std::string* found = variable.assoc->find("0")) old = *found;
    value = convert(variable, append ? old + value : value);
    variable.assoc.edit().set("0", std::move(value));
    variable.set = true;
    return true;
  }
  if (variable.is(attr::integer | attr::lower | attr::upper | attr::capital))
    return set_converted(variable, name, std::move(value), append);
  std::string& slot = variable.is(attr::array) ? variable.array.edit()[0] : variable.value;
  if (append) {
    slot.append(value);
    if (slot.size() > shell_.machine().limits.expansion_bytes)
      shell_.machine().stop_limit(Limit::expansion_bytes);
  } else {
    slot = std::move(value);
  }
  variable.set = true;
  if (variable.special) assigned_special(name);
  return true;
}

// For a variable whose attributes change what is assigned.
bool Variables::set_converted(Variable& variable, const std::string& name, std::string value, bool append) {
  std::string old = variable.is(attr::array) ? variable.array.edit()[0] : variable.value;
  if (append && variable.is(attr::integer))
    value = sum(old, value);
  else
    value = convert(variable, append ? old + value : value);
  Variable* again = find_edit(name);  // evaluating may have changed the table
  if (!again) return false;
  if (again->is(attr::array))
    again->array.edit()[0] = std::move(value);
  else
    again->value = std::move(value);
  again->set = true;
  if (again->special) assigned_special(name);
  return true;
}

bool Variables::assign(const std::string& given, std::string value, bool append) {
  Machine& machine = shell_.machine();
  std::string subscript;
  bool loop = false;
  const std::string name = resolve_name(given, &subscript, &loop);
  if (loop) {
    shell_.error(fmt::format("warning: {}: circular name reference", given));
    return false;
  }
  if (!subscript.empty()) return assign_element(name, subscript, std::move(value), append);
  if (value.size() > machine.limits.expansion_bytes) machine.stop_limit(Limit::expansion_bytes);
  VariableTable& table = state_.table.edit();
  // An assignment to a computed variable makes a real one that hides it, except for those that bash protects.
  auto it = table.find(name);
  if (it == table.end()) {
    if (ignores_assignment(name)) return true;
    if (auto computed = computed_variable(shell_, name); computed && computed->is(attr::readonly))
      return refuse_readonly(name);
    machine.charge_memory(static_cast<std::int64_t>(value.size() + name.size()) + 128);
    it = table.try_emplace(name).first;
    it->second.special = has_effect(name);
  }
  Variable& variable = it->second;
  if (variable.is(attr::nameref)) {
    // A reference that names nothing yet takes its target.
    if (!value.empty() && !is_name(value.substr(0, value.find('[')))) {
      shell_.error(fmt::format("`{}': not a valid identifier", value));
      return false;
    }
    variable.value = std::move(value);
    variable.set = true;
    return true;
  }
  if (variable.is(attr::readonly)) return refuse_readonly(name);
  // set -a exports what is assigned from then on, not what was there before.
  if (shell_.option(Opt::allexport)) variable.attrs |= attr::exported;
  return set_scalar(variable, name, std::move(value), append);
}

bool Variables::assign_element(const std::string& given, const std::string& subscript, std::string value,
                               bool append) {
  Machine& machine = shell_.machine();
  std::string inner;
  const std::string name = resolve_name(given, &inner);
  // r[1]=x where r refers to an element would be an element of an element.
  if (!inner.empty()) {
    shell_.error(fmt::format("`{}[{}]': not a valid identifier", name, inner));
    return false;
  }
  Variable* variable = find_edit(name);
  if (!variable && shown_table(name)) return put_in_table(shell_, name, subscript, std::move(value), append);
  if (!variable) variable = &state_.table.edit()[name];
  if (variable->is(attr::readonly)) return refuse_readonly(name);
  if (value.size() > machine.limits.expansion_bytes) machine.stop_limit(Limit::expansion_bytes);
  if (variable->is(attr::assoc)) return assign_assoc_element(name, subscript, std::move(value), append);
  if (subscript == "@" || subscript == "*") {
    shell_.error(fmt::format("{}[{}]: bad array subscript", name, subscript));
    return false;
  }
  return assign_indexed_element(name, subscript, std::move(value), append);
}

bool Variables::assign_assoc_element(const std::string& name, const std::string& key, std::string value,
                                     bool append) {
  Variable* variable = find_edit(name);
  // Evaluating an integer's value runs code of the script, which may drop or replace the variable: look it up
  // again afterwards.
  std::string old;
  if (const std::string* found = variable->assoc->find(key); found && append) old = *found;
  std::string text =
      append && variable->is(attr::integer) ? sum(old, value) : convert(*variable, old + value);
  variable = find_edit(name);
  if (!variable->assoc->find(key))
    shell_.machine().charge_memory(static_cast<std::int64_t>(text.size() + key.size()) + 128);
  variable->assoc.edit().set(key, std::move(text));
  variable->set = true;
  return true;
}

bool Variables::assign_indexed_element(const std::string& name, const std::string& subscript,
                                       std::string value, bool append) {
  bool ok = true;
  std::int64_t index = array_index(subscript, find(name), name, ok);
  if (!ok) return false;
  Variable* variable = find_edit(name);
  // x[3]=v turns a plain variable into an array whose element 0 is what the variable was.
  if (!variable->is(attr::array)) {
    if (variable->set) variable->array.edit()[0] = std::move(variable->value);
    variable->value.clear();
    variable->attrs |= attr::array;
  }
  std::string old;
  if (append) {
    auto it = variable->array->find(index);
    if (it != variable->array->end()) old = it->second;
  }
  std::string text =
      append && variable->is(attr::integer) ? sum(old, value) : convert(*variable, old + value);
  IndexedArray& array = find_edit(name)->array.edit();
  std::size_t before = array.size();
  std::string& slot = array[index];
  if (array.size() > before) shell_.machine().charge_memory(static_cast<std::int64_t>(text.size()) + 80);
  slot = std::move(text);
  find_edit(name)->set = true;
  return true;
}

bool Variables::assign_reference(const std::string& reference, std::string value) {
  std::size_t bracket = reference.find('[');
  std::string name = reference.substr(0, bracket);
  if (!is_name(name) || (bracket != std::string::npos && reference.back() != ']')) {
    shell_.error(fmt::format("`{}': not a valid identifier", reference));
    return false;
  }
  if (bracket == std::string::npos) return assign(name, std::move(value));
  std::string subscript = reference.substr(bracket + 1, reference.size() - bracket - 2);
  if (is_assoc(name)) {
    Word word = shell_.expander().parse_word(subscript);
    subscript = shell_.expander().single(word);
  }
  return assign_element(name, subscript, std::move(value));
}

bool Variables::assign_array(const std::string& given, std::vector<std::string> values) {
  const std::string name = resolve_name(given);
  Variable* variable = find_edit(name);
  if (!variable) variable = &state_.table.edit()[name];
  if (variable->is(attr::readonly)) return refuse_readonly(name);
  if (variable->is(attr::assoc)) {
    shell_.error(fmt::format("{}: cannot convert associative to indexed array", name));
    return false;
  }
  variable->value.clear();
  variable->attrs |= attr::array;
  variable->set = true;
  IndexedArray& array = variable->array.edit();
  array.clear();
  for (std::size_t i = 0; i < values.size(); ++i)
    // Ascending indices: the hint makes filling a large array (mapfile) linear.
    array.emplace_hint(array.end(), static_cast<std::int64_t>(i), std::move(values[i]));
  return true;
}

void Variables::assigned_special(std::string_view name) {
  if (name == "IFS")
    ifs_known_ = false;
  else if (name == "OPTIND")
    state_.specials.getopts_at = 1;
  else if (name == "RANDOM")
    state_.specials.random = static_cast<std::uint64_t>(shell_.expander().evaluate(get_or_empty("RANDOM"))),
    state_.table.edit().erase("RANDOM");
  else if (name == "SECONDS") {
    state_.specials.seconds_offset = shell_.expander().evaluate(get_or_empty("SECONDS"));
    state_.specials.seconds_base = std::chrono::steady_clock::now();
    state_.table.edit().erase("SECONDS");
  } else if (name == "BASH_ARGV0") {
    // RANDOM, SECONDS and BASH_ARGV0 keep nothing in the table: the assignment went into their state, and
    // reading computes them again.
    if (!is_local("BASH_ARGV0")) {
      shell_.calls().arg0 = get_or_empty("BASH_ARGV0");
      state_.table.edit().erase("BASH_ARGV0");
    }
  } else if (name == "POSIXLY_CORRECT")
    shell_.options().put(Opt::posix, true);
  else if (name == "GLOBIGNORE")
    shell_.options().put(Shopt::dotglob, !get_or_empty("GLOBIGNORE").empty());
}

const std::string& Variables::ifs() {
  if (!ifs_known_) {
    ifs_ = get_value("IFS").value_or(std::string(default_ifs));
    ifs_known_ = true;
  }
  return ifs_;
}

bool Variables::is_local(const std::string& name) const {
  std::size_t at = shell_.calls().function_frame();
  if (at == shell_.calls().frames.size()) return false;
  return std::ranges::any_of(shell_.calls().frames[at]->saved,
                             [&](const auto& entry) { return entry.first == name; });
}

Variable& Variables::make_local(const std::string& name, bool inherit) {
  std::size_t function = shell_.calls().function_frame();
  if (function < shell_.calls().frames.size() && !is_local(name)) {
    // The frame keeps what the local hides; pop_frame() puts it back. An empty optional means that there was
    // nothing.
    const Variable* old = find(name);
    std::optional<Variable> before;
    if (old) before = *old;
    shell_.machine().charge_memory(static_cast<std::int64_t>(name.size()) + 128);
    shell_.calls().frames[function].edit().saved.emplace_back(name, before);
    Variable fresh;
    if (before && (inherit || shell_.option(Shopt::localvar_inherit))) fresh = *before;
    fresh.special = has_effect(name);
    // `local r` must not assign through a reference that a caller made; only `local -I` keeps it.
    if (!inherit) fresh.attrs &= static_cast<std::uint16_t>(~attr::nameref);
    put(name, std::move(fresh));
  }
  return at(name);
}

// The outermost frame that hides the name holds the global's value; without such a frame the table does.
Variable* Variables::find_global(const std::string& name) {
  for (auto& frame : shell_.calls().frames) {
    for (const auto& entry : frame->saved) {
      if (entry.first != name) continue;
      for (auto& edit : frame.edit().saved)
        if (edit.first == name) {
          if (!edit.second) edit.second.emplace();
          return &*edit.second;
        }
    }
  }
  return &state_.table.edit()[name];
}

Variable* Variables::find_global_saved(const std::string& name) {
  return is_hidden(name) ? find_global(name) : nullptr;
}

bool Variables::is_hidden(const std::string& name) const {
  for (const auto& frame : shell_.calls().frames)
    for (const auto& entry : frame->saved)
      if (entry.first == name) return true;
  return false;
}

void Variables::save_local_options() {
  auto& frames = shell_.calls().frames;
  std::size_t at = shell_.calls().function_frame();
  if (at < frames.size() && !frames[at]->options) frames[at].edit().options = shell_.options();
}

bool Variables::assign_list_text(const std::string& name, const std::string& text, bool append) {
  try {
    // `declare "a=(1 2)"` gives the list as a string. Read as a command line of its own it gets the same
    // syntax as a list that stands in a script.
    Parser parser(name + (append ? "+=" : "=") + text, shell_.parser_context(), shell_.calls().line);
    NodePtr node = parser.next();
    if (node && node->kind == NodeKind::simple) {
      const auto& simple = static_cast<const SimpleCommand&>(*node);
      if (simple.assigns.size() == 1 && simple.assigns[0].is_array) return assign(simple.assigns[0]);
    }
  } catch (const SyntaxError& failure) {
    shell_.error(failure.message);
    return false;
  }
  return assign(name, text, append);
}

void Variables::pop_frames_to(std::size_t count) {
  while (shell_.calls().frames.size() > count) pop_frame();
}

void Variables::save_in_frame(const std::string& name) {
  const Variable* old = find(name);
  std::optional<Variable> before;
  if (old) before = *old;
  shell_.calls().frames.back().edit().saved.emplace_back(name, std::move(before));
}

void Variables::push_frame(Frame frame) {
  shell_.calls().frames.emplace_back(std::move(frame));
}

void Variables::pop_frame() {
  Frame& frame = shell_.calls().frames.back().edit();
  // Backwards, so that a name that was saved twice ends as it was first.
  for (std::size_t i = frame.saved.size(); i-- > 0;) {
    auto& [name, before] = frame.saved[i];
    if (before)
      put(name, std::move(*before));
    else
      erase(name);
    if (name == "OPTIND") state_.specials.getopts_at = 1;
  }
  if (frame.options) shell_.options() = *frame.options;
  shell_.calls().frames.pop_back();
}

bool Variables::unset(const std::string& name) {
  const Variable* variable = find(name);
  std::optional<Variable> computed;
  if (!variable) {
    if (name == "_" || name == "PIPESTATUS") return true;  // every command sets them anew
    computed = computed_variable(shell_, name);
    if (!computed) return true;
    variable = &*computed;
  }
  if (variable->is(attr::readonly)) {
    shell_.error(fmt::format("unset: {}: cannot unset: readonly variable", name));
    return false;
  }
  if (computed) {
    state_.table.edit().try_emplace(name);  // hides it: what is unset loses its meaning
    return true;
  }
  if (name == "IFS") ifs_known_ = false;
  if (unset_local(name)) return true;
  state_.table.edit().erase(name);
  if (name == "GLOBIGNORE") shell_.options().put(Shopt::dotglob, false);
  return true;
}

// A local of the running function stays local and becomes unset; a caller's local gives way to what it hid.
// False if no frame hides the variable.
bool Variables::unset_local(const std::string& name) {
  auto& frames = shell_.calls().frames;
  bool top = true;  // no function was called from the frame that is looked at
  for (std::size_t i = frames.size(); i-- > 0;) {
    auto of_name = [&](const auto& entry) { return entry.first == name; };
    // Frames that are no function's belong to a sourced file or hold the assignments before a command (x=1
    // f).
    bool hides = std::ranges::any_of(frames[i]->saved, of_name);
    bool function = frames[i]->function;
    if (hides && top && function && !shell_.option(Shopt::localvar_unset)) {
      Variable fresh;
      fresh.special = has_effect(name);
      put(name, std::move(fresh));
      return true;
    }
    if (hides) {
      Frame& frame = frames[i].edit();
      auto at = std::ranges::find_if(frame.saved, of_name);
      std::optional<Variable> before = std::move(at->second);
      frame.saved.erase(at);
      if (before)
        put(name, std::move(*before));
      else
        erase(name);
      return true;
    }
    top = top && !function;
  }
  return false;
}

bool Variables::unset_element(const std::string& given, const std::string& subscript) {
  const std::string name = resolve_name(given);
  Variable* variable = find_edit(name);
  if (!variable) return true;
  if (variable->is(attr::readonly)) {
    shell_.error(fmt::format("unset: {}: cannot unset: readonly variable", name));
    return false;
  }
  // The key is expanded once more, as bash does: unset 'a[$k]' in single quotes means the key that k holds.
  if (variable->is(attr::assoc)) {
    Word word = shell_.expander().parse_word(subscript);
    std::string key = shell_.expander().single(word);
    find_edit(name)->assoc.edit().erase(key);
    return true;
  }
  if (subscript == "@" || subscript == "*") return unset(name);
  if (!variable->is(attr::array)) {
    if (shell_.expander().evaluate(subscript) == 0) return unset(name);
    shell_.error(fmt::format("unset: {}: not an array variable", name));
    return false;
  }
  std::int64_t at = shell_.expander().evaluate(shell_.expander().text(subscript));
  if (at < 0) {
    std::int64_t size = find(name)->array->empty() ? 0 : find(name)->array->rbegin()->first + 1;
    at += size;
    if (at < 0) {
      shell_.error(fmt::format("unset: [{}]: bad array subscript", subscript));
      return false;
    }
  }
  find_edit(name)->array.edit().erase(at);
  return true;
}

std::vector<std::string> Variables::names(std::string_view prefix) const {
  std::vector<std::string> out;
  for (const auto& [name, variable] : *state_.table)
    if (std::string_view(name).starts_with(prefix) && (variable.set || variable.has_elements()))
      out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::pair<std::string, std::string>> Variables::environment() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, variable] : *state_.table)
    // Arrays have no form in an environment: bash exports none, whatever their attributes say.
    if (variable.is(attr::exported) && variable.set && !variable.is_array())
      out.emplace_back(name, variable.value);
  for (const auto& [name, function] : *shell_.names().functions())
    if (function.exported)
      // The form in which bash passes functions to bash; no program can take such a name for a variable.
      out.emplace_back("BASH_FUNC_" + name + "%%", print_function("", *function.definition));
  std::sort(out.begin(), out.end());
  return out;
}

bool Variables::is_set(const std::string& reference) {
  std::size_t bracket = reference.find('[');
  if (bracket == std::string::npos) {
    if (!reference.empty() && std::isdigit(static_cast<unsigned char>(reference[0]))) {
      // Nine digits fit into every integer, and no call has that many arguments.
      std::size_t at = std::stoul(reference.substr(0, 9));
      return at == 0 || (shell_.calls().args && at <= shell_.calls().args->size());
    }
    const Variable* variable = find(reference);
    if (variable && variable->is(attr::nameref)) {
      std::string subscript;
      std::string target = resolve_name(reference, &subscript);
      return subscript.empty() && target != reference && is_set(target);
    }
    return get_value(reference).has_value();
  }
  if (reference.back() != ']') return false;
  std::string name = resolve_name(reference.substr(0, bracket));
  std::string subscript = reference.substr(bracket + 1, reference.size() - bracket - 2);
  const Variable* variable = find(name);
  std::optional<Variable> computed;
  if (!variable) {
    computed = computed_variable(shell_, name);
    if (!computed) return false;
    variable = &*computed;
  }
  if (subscript == "@" || subscript == "*") {
    // An associative array may have a key that is called @.
    if (variable->is(attr::assoc) && variable->assoc->find(subscript)) return true;
    return variable->is_array() ? variable->has_elements() : variable->set;
  }
  if (variable->is(attr::assoc)) {
    Word word = shell_.expander().parse_word(subscript);
    return get_element(name, shell_.expander().single(word), nullptr).has_value();
  }
  return get_element(name, subscript, nullptr).has_value();
}

// ---- arith::Scope ----

std::string Variables::get(const std::string& name, const std::string* subscript) {
  std::optional<std::string> value;
  if (!subscript) {
    value = get_value(name);
  } else if (*subscript == "@" || *subscript == "*") {
    std::string text;
    const Variable* variable = find(resolve_name(name));
    if (variable && variable->is(attr::array))
      for (const auto& [i, item] : *variable->array) text += (text.empty() ? "" : " ") + item;
    value = text;
  } else {
    value = get_element(name, *subscript, nullptr);
  }
  if (!value) {
    // bash lets arithmetic read an element that is not set, if the array is.
    if (shell_.option(Opt::nounset) && !(subscript && find(resolve_name(name))))
      shell_.unbound(subscript ? name + "[" + *subscript + "]" : name);
    return {};
  }
  return *value;
}

std::optional<std::int64_t> Variables::number(const std::string& name) const {
  const Variable* variable = find(name);
  if (!variable || !variable->set || variable->is(attr::nameref | attr::array | attr::assoc))
    return std::nullopt;
  return arith::plain_number(variable->value);
}

void Variables::set(const std::string& name, const std::string* subscript, std::int64_t value) {
  // The way of i=i+1 in loops: a plain variable that has a value already is overwritten in place.
  Variable* variable = subscript ? nullptr : find_edit(name);
  if (variable && variable->set && !variable->special && (variable->attrs & ~attr::exported) == 0 &&
      !shell_.option(Opt::allexport)) {
    char digits[24];
    variable->value.assign(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return;
  }
  bool ok = subscript ? assign_element(name, *subscript, std::to_string(value))
                      : assign(name, std::to_string(value));
  if (!ok) throw Abandoned{false, 1};
}

bool Variables::is_assoc(const std::string& name) {
  std::string target = resolve_name(name);
  const Variable* variable = find(target);
  return variable ? variable->is(attr::assoc) : shown_table(target);
}

bool Variables::stack_low() const {
  // What is left then must do for the message and for unwinding.
  return shell_.stack_left() < 48 * 1024;
}

std::string Variables::expand_key(const std::string& text) {
  Word word = shell_.expander().parse_word(text);
  return shell_.expander().single(word);
}

Zone Variables::zone() const {
  // Commands run inside this process and must never see the zone of the machine: without TZ it is UTC.
  const Variable* given = find("TZ");
  return given && given->is(attr::exported) ? Zone::named(given->value) : Zone::utc();
}

}  // namespace atl::shell
