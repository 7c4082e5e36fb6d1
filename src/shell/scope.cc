#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "shell/interpreter.h"
#include "shell/utf8.h"

namespace atl::shell {

namespace {

constexpr std::string_view default_ifs = " \t\n";

bool has_effect(std::string_view name) {
  return name == "IFS" || name == "OPTIND" || name == "RANDOM" || name == "SECONDS" ||
         name == "POSIXLY_CORRECT" || name == "GLOBIGNORE" || name == "SHELLOPTS" || name == "BASH_ARGV0";
}

// Computed variables that take an assignment without a word and stay what they are.
bool ignores_assignment(std::string_view name) {
  static constexpr std::string_view names[] = {"BASHPID",      "BASH_ARGC",     "BASH_ARGV", "BASH_COMMAND", "BASH_LINENO", "BASH_SOURCE",
                                               "EPOCHSECONDS", "EPOCHREALTIME", "FUNCNAME",  "GROUPS",       "SRANDOM"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Tables of the shell that are shown as arrays: an element that is assigned goes into the table.
bool shown_table(std::string_view name) {
  return name == "BASH_ALIASES" || name == "BASH_CMDS";
}

bool put_in_table(Interpreter& shell, const std::string& name, const std::string& key, std::string value, bool append) {
  if (append) value = shell.get_element(name, key, nullptr).value_or("") + value;
  shell.machine.charge_memory(static_cast<std::int64_t>(value.size() + key.size()) + 128);
  if (name == "BASH_CMDS") {
    shell.state.hashed.edit()[key] = std::move(value);
  } else if (key.find_first_of(" \t\n;&|<>()$`\"'\\/") != std::string::npos) {
    shell.error(fmt::format("`{}': invalid alias name", key));
  } else {
    shell.state.aliases.edit().insert_or_assign(key, std::move(value));
  }
  return true;
}

}  // namespace

const Variable* Interpreter::find(std::string_view name) const {
  const VariableTable& table = *state.variables;
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

Variable* Interpreter::find_edit(std::string_view name) {
  VariableTable& table = state.variables.edit();
  auto it = table.find(name);
  return it == table.end() ? nullptr : &it->second;
}

std::string Interpreter::resolve_name(const std::string& name, std::string* subscript, bool* loop) {
  const Variable* variable = find(name);
  if (!variable || !variable->is(attr::nameref)) return name;
  std::string current = name;
  for (int hops = 0; hops < 16; ++hops) {
    variable = find(current);
    if (!variable || !variable->is(attr::nameref) || variable->value.empty()) return current;
    std::string target = variable->value;
    std::size_t bracket = target.find('[');
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
    const_cast<Interpreter*>(this)->error(fmt::format("warning: {}: circular name reference", name));
  return name;
}

std::optional<std::string> Interpreter::get_value(std::string_view name) {
  const Variable* variable = find(name);
  if (variable && variable->is(attr::nameref)) {
    std::string subscript;
    std::string target = resolve_name(std::string(name), &subscript);
    if (!subscript.empty()) return get_element(target, subscript, nullptr);
    variable = find(target);
    if (variable && variable->is(attr::nameref)) return std::nullopt;
  }
  std::optional<Variable> computed;
  if (!variable) {
    computed = dynamic(name);
    if (!computed) return std::nullopt;
    variable = &*computed;
  }
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

std::int64_t Interpreter::array_index(const std::string& subscript, const Variable* variable,
                                      const std::string& name, bool& ok) {
  ok = true;
  std::int64_t at;
  if (auto number = arith::plain_number(subscript); number && !subscript.empty()) {
    at = *number;
  } else {
    if (subscript.empty()) {
      error(fmt::format("{}[]: bad array subscript", name));
      ok = false;
      return 0;
    }
    at = evaluate(subscript.find('$') != std::string::npos || subscript.find('`') != std::string::npos
                      ? expand_text(subscript)
                      : subscript);
  }
  if (at < 0) {
    std::int64_t size = variable && !variable->array->empty() ? variable->array->rbegin()->first + 1 : 0;
    if (variable && !variable->is_array() && variable->set) size = 1;
    at += size;
    if (at < 0) {
      error(fmt::format("{}[{}]: bad array subscript", name, subscript));
      ok = false;
    }
  }
  return at;
}

std::optional<std::string> Interpreter::get_element(const std::string& name, const std::string& text,
                                                    const Word* word) {
  std::string target = resolve_name(name);
  const Variable* variable = find(target);
  std::optional<Variable> computed;
  if (!variable) {
    computed = dynamic(target);
    if (!computed) return std::nullopt;
    variable = &*computed;
  }
  if (variable->is(attr::assoc)) {
    const std::string* value = variable->assoc->find(word ? expand_single(*word) : text);
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

std::string Interpreter::convert(const Variable& variable, std::string value) {
  if (variable.is(attr::integer)) return std::to_string(evaluate(value));
  if (variable.is(attr::lower)) return utf8::to_lower(value);
  if (variable.is(attr::upper)) return utf8::to_upper(value);
  if (variable.is(attr::capital) && !value.empty())
    return utf8::to_upper(value.substr(0, 1)) + utf8::to_lower(value.substr(1));
  return value;
}

bool Interpreter::set_scalar(Variable& variable, const std::string& name, std::string value, bool append) {
  std::string* slot = &variable.value;
  if (variable.is(attr::array)) {
    slot = &variable.array.edit()[0];
  }
  if (variable.is(attr::assoc)) {
    std::string old;
    if (const std::string* found = variable.assoc->find("0")) old = *found;
    value = convert(variable, append ? old + value : value);
    variable.assoc.edit().set("0", std::move(value));
    variable.set = true;
    return true;
  }
  if (variable.attrs & (attr::integer | attr::lower | attr::upper | attr::capital)) {
    std::string old = *slot;
    if (append && variable.is(attr::integer)) {
      auto sum = static_cast<std::uint64_t>(evaluate(old)) + static_cast<std::uint64_t>(evaluate(value));
      value = std::to_string(static_cast<std::int64_t>(sum));
    } else {
      value = convert(variable, append ? old + value : value);
    }
    // evaluate() may have changed the table.
    Variable* again = find_edit(name);
    if (!again) return false;
    if (again->is(attr::array))
      again->array.edit()[0] = std::move(value);
    else
      again->value = std::move(value);
    again->set = true;
    if (again->special) assigned_special(name);
    return true;
  }
  if (append) {
    slot->append(value);
    if (slot->size() > machine.limits.expansion_bytes) machine.stop_limit(Limit::expansion_bytes);
  } else {
    *slot = std::move(value);
  }
  variable.set = true;
  if (variable.special) assigned_special(name);
  return true;
}

bool Interpreter::assign(const std::string& given, std::string value, bool append) {
  std::string subscript;
  bool loop = false;
  const std::string name = resolve_name(given, &subscript, &loop);
  if (loop) {
    error(fmt::format("warning: {}: circular name reference", given));
    return false;
  }
  if (!subscript.empty()) return assign_element(name, subscript, std::move(value), append);
  if (value.size() > machine.limits.expansion_bytes) machine.stop_limit(Limit::expansion_bytes);
  VariableTable& table = state.variables.edit();
  auto it = table.find(name);
  if (it == table.end()) {
    if (ignores_assignment(name)) return true;
    if (auto computed = dynamic(name); computed && computed->is(attr::readonly)) {
      error(fmt::format("{}: readonly variable", name));
      return false;
    }
    machine.charge_memory(static_cast<std::int64_t>(value.size() + name.size()) + 128);
    it = table.try_emplace(name).first;
    it->second.special = has_effect(name);
  }
  Variable& variable = it->second;
  if (variable.is(attr::nameref)) {
    // A reference that names nothing yet takes its target.
    if (!value.empty() && !is_name(value.substr(0, value.find('[')))) {
      error(fmt::format("`{}': not a valid identifier", value));
      return false;
    }
    variable.value = std::move(value);
    variable.set = true;
    return true;
  }
  if (variable.is(attr::readonly)) {
    error(fmt::format("{}: readonly variable", name));
    return false;
  }
  if (option(Opt::allexport)) variable.attrs |= attr::exported;
  return set_scalar(variable, name, std::move(value), append);
}

bool Interpreter::assign_element(const std::string& given, const std::string& subscript, std::string value,
                                 bool append) {
  std::string inner;
  const std::string name = resolve_name(given, &inner);
  if (!inner.empty()) {
    error(fmt::format("`{}[{}]': not a valid identifier", name, inner));
    return false;
  }
  Variable* variable = find_edit(name);
  if (!variable && shown_table(name)) return put_in_table(*this, name, subscript, std::move(value), append);
  if (!variable) variable = &state.variables.edit()[name];
  if (variable->is(attr::readonly)) {
    error(fmt::format("{}: readonly variable", name));
    return false;
  }
  if (value.size() > machine.limits.expansion_bytes) machine.stop_limit(Limit::expansion_bytes);
  if (variable->is(attr::assoc)) {
    std::string old;
    if (const std::string* found = variable->assoc->find(subscript); found && append) old = *found;
    std::string text = append && variable->is(attr::integer) ? std::to_string(evaluate(old) + evaluate(value))
                                                             : convert(*variable, old + value);
    variable = find_edit(name);
    if (!variable->assoc->find(subscript))
      machine.charge_memory(static_cast<std::int64_t>(text.size() + subscript.size()) + 128);
    variable->assoc.edit().set(subscript, std::move(text));
    variable->set = true;
    return true;
  }
  if (subscript == "@" || subscript == "*") {
    error(fmt::format("{}[{}]: bad array subscript", name, subscript));
    return false;
  }
  bool ok = true;
  std::int64_t at = array_index(subscript, variable, name, ok);
  if (!ok) return false;
  variable = find_edit(name);
  if (!variable->is(attr::array)) {
    if (variable->set) variable->array.edit()[0] = std::move(variable->value);
    variable->value.clear();
    variable->attrs |= attr::array;
  }
  std::string old;
  if (append) {
    auto it = variable->array->find(at);
    if (it != variable->array->end()) old = it->second;
  }
  std::string text;
  if (append && variable->is(attr::integer))
    text = std::to_string(evaluate(old) + evaluate(value));
  else
    text = convert(*variable, old + value);
  variable = find_edit(name);
  IndexedArray& array = variable->array.edit();
  std::size_t before = array.size();
  std::string& slot = array[at];
  if (array.size() > before) machine.charge_memory(static_cast<std::int64_t>(text.size()) + 80);
  slot = std::move(text);
  variable->set = true;
  return true;
}

bool Interpreter::assign_reference(const std::string& reference, std::string value) {
  std::size_t bracket = reference.find('[');
  std::string name = reference.substr(0, bracket);
  if (!is_name(name) || (bracket != std::string::npos && reference.back() != ']')) {
    error(fmt::format("`{}': not a valid identifier", reference));
    return false;
  }
  if (bracket == std::string::npos) return assign(name, std::move(value));
  std::string subscript = reference.substr(bracket + 1, reference.size() - bracket - 2);
  if (is_assoc(name)) {
    Word word = parse_word(subscript);
    subscript = expand_single(word);
  }
  return assign_element(name, subscript, std::move(value));
}

bool Interpreter::assign_array(const std::string& given, std::vector<std::string> values) {
  const std::string name = resolve_name(given);
  Variable* variable = find_edit(name);
  if (!variable) variable = &state.variables.edit()[name];
  if (variable->is(attr::readonly)) {
    error(fmt::format("{}: readonly variable", name));
    return false;
  }
  if (variable->is(attr::assoc)) {
    error(fmt::format("{}: cannot convert associative to indexed array", name));
    return false;
  }
  variable->value.clear();
  variable->attrs |= attr::array;
  variable->set = true;
  IndexedArray& array = variable->array.edit();
  array.clear();
  for (std::size_t i = 0; i < values.size(); ++i)
    array.emplace_hint(array.end(), static_cast<std::int64_t>(i), std::move(values[i]));
  return true;
}

void Interpreter::assigned_special(std::string_view name) {
  if (name == "IFS")
    ifs_known_ = false;
  else if (name == "OPTIND")
    state.getopts_at = 1;
  else if (name == "RANDOM")
    state.random = static_cast<std::uint64_t>(evaluate(get_or_empty("RANDOM"))),
    state.variables.edit().erase("RANDOM");
  else if (name == "SECONDS") {
    state.seconds_offset = evaluate(get_or_empty("SECONDS"));
    state.seconds_base = std::chrono::steady_clock::now();
    state.variables.edit().erase("SECONDS");
  } else if (name == "BASH_ARGV0") {
    if (!is_local("BASH_ARGV0")) {
      state.arg0 = get_or_empty("BASH_ARGV0");
      state.variables.edit().erase("BASH_ARGV0");
    }
  } else if (name == "POSIXLY_CORRECT")
    state.options.put(Opt::posix, true);
  else if (name == "GLOBIGNORE")
    state.options.put(Shopt::dotglob, !get_or_empty("GLOBIGNORE").empty());
}

const std::string& Interpreter::ifs() {
  if (!ifs_known_) {
    ifs_ = get_value("IFS").value_or(std::string(default_ifs));
    ifs_known_ = true;
  }
  return ifs_;
}

bool Interpreter::is_local(const std::string& name) const {
  for (std::size_t i = state.frames.size(); i-- > 0;) {
    if (!state.frames[i]->function) continue;
    for (const auto& entry : state.frames[i]->saved)
      if (entry.first == name) return true;
    return false;
  }
  return false;
}

Variable& Interpreter::make_local(const std::string& name, bool inherit) {
  std::size_t index = state.frames.size();
  while (index > 0 && !state.frames[index - 1]->function) --index;
  if (index > 0 && !is_local(name)) {
    const Variable* old = find(name);
    std::optional<Variable> before;
    if (old) before = *old;
    machine.charge_memory(static_cast<std::int64_t>(name.size()) + 128);
    state.frames[index - 1].edit().saved.emplace_back(name, before);
    Variable fresh;
    if (before && (inherit || option(Shopt::localvar_inherit))) fresh = *before;
    fresh.special = has_effect(name);
    if (!inherit) fresh.attrs &= static_cast<std::uint16_t>(~attr::nameref);
    state.variables.edit()[name] = std::move(fresh);
    if (name == "IFS") ifs_known_ = false;
  }
  return state.variables.edit()[name];
}

Variable* Interpreter::find_global(const std::string& name) {
  for (auto& frame : state.frames) {
    for (const auto& entry : frame->saved) {
      if (entry.first != name) continue;
      for (auto& edit : frame.edit().saved)
        if (edit.first == name) {
          if (!edit.second) edit.second.emplace();
          return &*edit.second;
        }
    }
  }
  return &state.variables.edit()[name];
}

Variable* Interpreter::find_global_saved(const std::string& name) {
  return is_hidden(name) ? find_global(name) : nullptr;
}

bool Interpreter::is_hidden(const std::string& name) const {
  for (const auto& frame : state.frames)
    for (const auto& entry : frame->saved)
      if (entry.first == name) return true;
  return false;
}

void Interpreter::save_local_options() {
  for (std::size_t i = state.frames.size(); i-- > 0;) {
    if (!state.frames[i]->function) continue;
    if (!state.frames[i]->options) state.frames[i].edit().options = state.options;
    return;
  }
}

// The text "( ... )" as the right side of an array assignment.
bool Interpreter::assign_list_text(const std::string& name, const std::string& text, bool append) {
  try {
    Parser parser(name + (append ? "+=" : "=") + text, *this, line);
    NodePtr node = parser.next();
    if (node && node->kind == NodeKind::simple) {
      const auto& simple = static_cast<const SimpleCommand&>(*node);
      if (simple.assigns.size() == 1 && simple.assigns[0].is_array) return assign(simple.assigns[0]);
    }
  } catch (const SyntaxError& failure) {
    error(failure.message);
    return false;
  }
  return assign(name, text, append);
}

void Interpreter::push_frame(Frame frame) {
  state.frames.emplace_back(std::move(frame));
}

void Interpreter::pop_frame() {
  Frame& frame = state.frames.back().edit();
  for (std::size_t i = frame.saved.size(); i-- > 0;) {
    auto& [name, before] = frame.saved[i];
    if (name == "IFS") ifs_known_ = false;
    if (before)
      state.variables.edit()[name] = std::move(*before);
    else
      state.variables.edit().erase(name);
    if (name == "OPTIND") state.getopts_at = 1;
  }
  if (frame.options) state.options = *frame.options;
  state.frames.pop_back();
}

bool Interpreter::unset_variable(const std::string& name) {
  const Variable* variable = find(name);
  std::optional<Variable> computed;
  if (!variable) {
    if (name == "_" || name == "PIPESTATUS") return true;  // every command sets them anew
    computed = dynamic(name);
    if (!computed) return true;
    variable = &*computed;
  }
  if (variable->is(attr::readonly)) {
    error(fmt::format("unset: {}: cannot unset: readonly variable", name));
    return false;
  }
  if (computed) {
    state.variables.edit().try_emplace(name);  // hides it: what is unset loses its meaning
    return true;
  }
  if (name == "IFS") ifs_known_ = false;
  // A local of the running function stays local and becomes unset; a caller's local gives way to what it hid.
  for (std::size_t i = state.frames.size(); i-- > 0;) {
    bool top = true;
    for (std::size_t j = i + 1; j < state.frames.size(); ++j) top = top && !state.frames[j]->function;
    const auto& saved = state.frames[i]->saved;
    auto it =
        std::find_if(saved.begin(), saved.end(), [&](const auto& entry) { return entry.first == name; });
    if (it == saved.end()) continue;
    if (top && state.frames[i]->function && !option(Shopt::localvar_unset)) {
      Variable fresh;
      fresh.special = has_effect(name);
      state.variables.edit()[name] = std::move(fresh);
      return true;
    }
    Frame& frame = state.frames[i].edit();
    auto at = std::find_if(frame.saved.begin(), frame.saved.end(),
                           [&](const auto& entry) { return entry.first == name; });
    std::optional<Variable> before = std::move(at->second);
    frame.saved.erase(at);
    if (before)
      state.variables.edit()[name] = std::move(*before);
    else
      state.variables.edit().erase(name);
    return true;
  }
  state.variables.edit().erase(name);
  if (name == "GLOBIGNORE") state.options.put(Shopt::dotglob, false);
  return true;
}

bool Interpreter::unset_element(const std::string& given, const std::string& subscript) {
  const std::string name = resolve_name(given);
  Variable* variable = find_edit(name);
  if (!variable) return true;
  if (variable->is(attr::readonly)) {
    error(fmt::format("unset: {}: cannot unset: readonly variable", name));
    return false;
  }
  if (variable->is(attr::assoc)) {
    Word word = parse_word(subscript);
    std::string key = expand_single(word);
    find_edit(name)->assoc.edit().erase(key);
    return true;
  }
  if (subscript == "@" || subscript == "*") return unset_variable(name);
  if (!variable->is(attr::array)) {
    if (evaluate(subscript) == 0) return unset_variable(name);
    error(fmt::format("unset: {}: not an array variable", name));
    return false;
  }
  std::int64_t at = evaluate(expand_text(subscript));
  if (at < 0) {
    std::int64_t size = find(name)->array->empty() ? 0 : find(name)->array->rbegin()->first + 1;
    at += size;
    if (at < 0) {
      error(fmt::format("unset: [{}]: bad array subscript", subscript));
      return false;
    }
  }
  find_edit(name)->array.edit().erase(at);
  return true;
}

bool Interpreter::unset_function(const std::string& name) {
  const Function* function = find_function(name);
  if (!function) return true;
  if (function->readonly) {
    error(fmt::format("unset: {}: cannot unset: readonly function", name));
    return false;
  }
  auto& table = state.functions.edit();
  table.erase(table.find(name));
  return true;
}

std::vector<std::string> Interpreter::variable_names(std::string_view prefix) const {
  std::vector<std::string> out;
  for (const auto& [name, variable] : *state.variables)
    if (std::string_view(name).starts_with(prefix) && (variable.set || variable.has_elements()))
      out.push_back(name);
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::pair<std::string, std::string>> Interpreter::environment() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& [name, variable] : *state.variables)
    if (variable.is(attr::exported) && variable.set && !variable.is_array())
      out.emplace_back(name, variable.value);
  for (const auto& [name, function] : *state.functions)
    if (function.exported)
      out.emplace_back("BASH_FUNC_" + name + "%%", print_function("", *function.definition));
  std::sort(out.begin(), out.end());
  return out;
}

bool Interpreter::is_set(const std::string& reference) {
  std::size_t bracket = reference.find('[');
  if (bracket == std::string::npos) {
    if (!reference.empty() && std::isdigit(static_cast<unsigned char>(reference[0]))) {
      std::size_t at = std::stoul(reference.substr(0, 9));
      return at == 0 || (state.args && at <= state.args->size());
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
    computed = dynamic(name);
    if (!computed) return false;
    variable = &*computed;
  }
  if (subscript == "@" || subscript == "*") {
    if (variable->is(attr::assoc) && variable->assoc->find(subscript)) return true;
    return variable->is_array() ? variable->has_elements() : variable->set;
  }
  if (variable->is(attr::assoc)) {
    Word word = parse_word(subscript);
    return get_element(name, expand_single(word), nullptr).has_value();
  }
  return get_element(name, subscript, nullptr).has_value();
}

// ---- arith::Scope ----

std::string Interpreter::get(const std::string& name, const std::string* subscript) {
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
    if (option(Opt::nounset) && !(subscript && find(resolve_name(name)))) unbound(subscript ? name + "[" + *subscript + "]" : name);
    return {};
  }
  return *value;
}

std::optional<std::int64_t> Interpreter::number(const std::string& name) const {
  const Variable* variable = find(name);
  if (!variable || !variable->set || variable->is(attr::nameref | attr::array | attr::assoc)) return std::nullopt;
  return arith::plain_number(variable->value);
}

void Interpreter::set(const std::string& name, const std::string* subscript, std::int64_t value) {
  Variable* variable = subscript ? nullptr : find_edit(name);
  if (variable && variable->set && !variable->special && (variable->attrs & ~attr::exported) == 0 &&
      !option(Opt::allexport)) {
    char digits[24];
    variable->value.assign(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    return;
  }
  bool ok = subscript ? assign_element(name, *subscript, std::to_string(value))
                      : assign(name, std::to_string(value));
  if (!ok) throw Abandoned{false, 1};
}

bool Interpreter::is_assoc(const std::string& name) {
  std::string target = resolve_name(name);
  const Variable* variable = find(target);
  return variable ? variable->is(attr::assoc) : shown_table(target);
}

std::string Interpreter::expand_key(const std::string& text) {
  Word word = parse_word(text);
  return expand_single(word);
}

const std::string* Interpreter::alias(std::string_view name) const {
  auto it = state.aliases->find(name);
  return it == state.aliases->end() ? nullptr : &it->second;
}

const Function* Interpreter::find_function(std::string_view name) const {
  auto it = state.functions->find(name);
  return it == state.functions->end() ? nullptr : &it->second;
}

}  // namespace atl::shell
