#include <fmt/format.h>

#include <algorithm>

#include "shell/interpreter.h"

namespace atl::shell {

// The same items as text, for a list whose variable hides what the items name (local x=($x)).
std::vector<ArrayItem> Interpreter::expand_items(const std::vector<ArrayItem>& items, bool assoc) {
  auto plain = [](std::string text, const Word& from) {
    Word out;
    Part part;
    part.kind = PartKind::quoted;
    part.text = std::move(text);
    out.parts.push_back(std::move(part));
    out.raw = from.raw;
    return out;
  };
  std::vector<ArrayItem> out;
  for (const ArrayItem& item : items) {
    ArrayItem made;
    made.has_index = item.has_index;
    made.append = item.append;
    if (item.has_index) {
      made.index = plain(expand_single(item.index), item.index);
      made.value = plain(assoc ? expand_without_tilde(item.value) : expand_assignment(item.value), item.value);
      out.push_back(std::move(made));
      continue;
    }
    std::vector<std::string> fields;
    expand_into(item.value, fields);
    for (std::string& field : fields) {
      made.value = plain(std::move(field), item.value);
      out.push_back(made);
    }
  }
  return out;
}

// The right side of name=( ... ). Everything is expanded before the variable changes.
bool Interpreter::assign_compound(const std::string& name, const std::vector<ArrayItem>& items, bool append,
                                  Variable& target) {
  struct Value {
    bool has_index;
    bool append;
    std::string key;
    std::string text;
  };
  bool assoc = target.is(attr::assoc);
  std::vector<Value> values;
  bool any_index =
      std::any_of(items.begin(), items.end(), [](const ArrayItem& item) { return item.has_index; });
  for (const ArrayItem& item : items) {
    if (item.has_index) {
      std::string key = expand_single(item.index);
      if (assoc && key.empty()) {
        error(fmt::format("[{}]={}: bad array subscript", item.index.raw, item.value.raw));
        continue;
      }
      values.push_back({true, item.append, std::move(key),
                        assoc ? expand_without_tilde(item.value) : expand_assignment(item.value)});
      continue;
    }
    if (assoc && any_index) {
      error(fmt::format("{}: {}: must use subscript when assigning associative array", name, item.value.raw));
      continue;
    }
    std::vector<std::string> fields;
    expand_into(item.value, fields);
    for (auto& field : fields) values.push_back({false, false, {}, std::move(field)});
  }
  Variable* variable = find_edit(name);
  if (!variable) return false;
  if (variable->is(attr::readonly)) {
    error(fmt::format("{}: readonly variable", name));
    return false;
  }
  if (!append) {
    std::int64_t held = 0;
    for (const auto& [index, text] : *variable->array) held += static_cast<std::int64_t>(text.size()) + 80;
    machine.charge_memory(-held);
    variable->value.clear();
    if (assoc)
      variable->assoc.edit().clear();
    else
      variable->array.edit().clear();
  } else if (!assoc && !variable->is(attr::array) && variable->set) {
    variable->array.edit()[0] = variable->value;
    variable->value.clear();
  }
  if (!assoc) variable->attrs |= attr::array;
  variable->set = true;
  if (assoc && !any_index) {
    for (std::size_t i = 0; i < values.size(); i += 2) {
      std::string text = i + 1 < values.size() ? values[i + 1].text : "";
      variable->assoc.edit().set(values[i].text, convert(*variable, std::move(text)));
    }
    return true;
  }
  std::int64_t next = 0;
  if (!assoc && append && !variable->array->empty()) next = variable->array->rbegin()->first + 1;
  for (Value& value : values) {
    if (assoc) {
      if (!assign_element(name, value.key, std::move(value.text), value.append)) return false;
      continue;
    }
    if (value.has_index) {
      bool ok = true;
      next = array_index(value.key, find(name), name, ok);
      if (!ok) return false;
    }
    variable = find_edit(name);
    std::string text = std::move(value.text);
    if (value.append) {
      auto it = variable->array->find(next);
      std::string old = it == variable->array->end() ? "" : it->second;
      text = variable->is(attr::integer) ? std::to_string(evaluate(old) + evaluate(text)) : old + text;
    }
    text = convert(*variable, std::move(text));
    variable = find_edit(name);
    machine.charge_memory(static_cast<std::int64_t>(text.size()) + 80);
    variable->array.edit()[next++] = std::move(text);
  }
  return true;
}

bool Interpreter::assign(const Assign& assign_to, std::uint16_t attributes) {
  std::string name = assign_to.name;
  (void)attributes;
  if (assign_to.is_array) {
    if (assign_to.has_index) {
      error(fmt::format("{}: cannot assign list to array member",
                        assign_to.name + "[" + assign_to.index.raw + "]"));
      return false;
    }
    std::string subscript;
    name = resolve_name(name, &subscript);
    Variable* variable = find_edit(name);
    if (!variable && is_assoc(name)) {  // a table of the shell: nothing is taken from it
      for (const ArrayItem& item : assign_to.items)
        if (item.has_index) assign_element(name, expand_single(item.index), expand_without_tilde(item.value), item.append);
      return true;
    }
    if (!variable) variable = &state.variables.edit()[name];
    if (variable->is(attr::readonly)) {
      error(fmt::format("{}: readonly variable", name));
      return false;
    }
    if (!subscript.empty()) {
      error(fmt::format("{}[{}]: cannot assign list to array member", name, subscript));
      return false;
    }
    return assign_compound(name, assign_to.items, assign_to.append, *variable);
  }
  std::string value = expand_assignment(assign_to.value);
  if (!assign_to.has_index) return assign(name, std::move(value), assign_to.append);
  if (is_assoc(name)) {
    std::string key = expand_single(assign_to.index);
    if (key.empty()) {
      error(fmt::format("{}[{}]: bad array subscript", name, assign_to.index.raw));
      return false;
    }
    return assign_element(name, key, std::move(value), assign_to.append);
  }
  if (assign_to.index.parts.empty()) {
    error(fmt::format("{}[]: bad array subscript", name));
    return false;
  }
  if (assign_to.index.raw == "@" || assign_to.index.raw == "*") {
    error(fmt::format("{}[{}]: bad array subscript", name, assign_to.index.raw));
    return false;
  }
  return assign_element(name, std::to_string(evaluate(*assign_to.index_arith)), std::move(value),
                        assign_to.append);
}

}  // namespace atl::shell
