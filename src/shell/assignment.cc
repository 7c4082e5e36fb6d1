#include <fmt/format.h>

#include <algorithm>

#include "shell/runner.h"

namespace atl::shell {

std::vector<ArrayItem> Variables::expand_items(const std::vector<ArrayItem>& items, bool assoc) {
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
      made.index = plain(shell_.expander().single(item.index), item.index);
      made.value = plain(
          assoc ? shell_.expander().without_tilde(item.value) : shell_.expander().assignment(item.value),
          item.value);
      out.push_back(std::move(made));
      continue;
    }
    std::vector<std::string> fields;
    shell_.expander().expand_into(item.value, fields);
    for (std::string& field : fields) {
      made.value = plain(std::move(field), item.value);
      out.push_back(made);
    }
  }
  return out;
}

namespace {

// One item of name=( ... ), expanded.
struct ListValue {
  bool has_index;
  bool append;
  std::string key;
  std::string text;
};

// What an element of an indexed array is charged beside its text.
constexpr std::int64_t element_bytes = 80;

// Items that do not fit an associative array are reported and left out.
std::vector<ListValue> expand_list(ShellRunner& shell, const std::string& name,
                                   const std::vector<ArrayItem>& items, bool assoc, bool any_index) {
  Expander& expander = shell.expander();
  std::vector<ListValue> values;
  for (const ArrayItem& item : items) {
    if (item.has_index) {
      std::string key = expander.single(item.index);
      if (assoc && key.empty()) {
        shell.error(fmt::format("[{}]={}: bad array subscript", item.index.raw, item.value.raw));
        continue;
      }
      std::string text = assoc ? expander.without_tilde(item.value) : expander.assignment(item.value);
      values.push_back({true, item.append, std::move(key), std::move(text)});
      continue;
    }
    // Either all items of an associative list have keys, or none (then they are keys and values in turn).
    if (assoc && any_index) {
      shell.error(
          fmt::format("{}: {}: must use subscript when assigning associative array", name, item.value.raw));
      continue;
    }
    std::vector<std::string> fields;
    expander.expand_into(item.value, fields);
    for (auto& field : fields) values.push_back({false, false, {}, std::move(field)});
  }
  return values;
}

}  // namespace

// Empties the variable, or makes an array of it that keeps its value as element 0.
void Variables::begin_list(Variable& variable, bool append, bool assoc) {
  if (!append) {
    std::int64_t held = 0;
    for (const auto& [index, text] : *variable.array)
      held += static_cast<std::int64_t>(text.size()) + element_bytes;
    // What the array held is given back before the new items are charged: a=(...) in a loop does not add up.
    shell_.machine().charge_memory(-held);
    variable.value.clear();
    if (assoc)
      variable.assoc.edit().clear();
    else
      variable.array.edit().clear();
  } else if (!assoc && !variable.is(attr::array) && variable.set) {
    variable.array.edit()[0] = variable.value;
    variable.value.clear();
  }
  if (!assoc) variable.attrs |= attr::array;
  variable.set = true;
}

bool Variables::assign_compound(const std::string& name, const std::vector<ArrayItem>& items, bool append,
                                Variable& target) {
  bool assoc = target.is(attr::assoc);
  bool any_index =
      std::any_of(items.begin(), items.end(), [](const ArrayItem& item) { return item.has_index; });
  // Everything is expanded first: a=("${a[@]}" x) reads the array that it replaces.
  std::vector<ListValue> values = expand_list(shell_, name, items, assoc, any_index);
  Variable* variable = find_edit(name);
  if (!variable) return false;
  if (variable->is(attr::readonly)) return refuse_readonly(name);
  begin_list(*variable, append, assoc);
  if (assoc && !any_index) {  // keys and values in turn
    for (std::size_t i = 0; i < values.size(); i += 2) {
      std::string text = i + 1 < values.size() ? values[i + 1].text : "";
      variable->assoc.edit().set(values[i].text, convert(*variable, std::move(text)));
    }
    return true;
  }
  std::int64_t next = 0;
  // +=( ) goes on behind the largest index.
  if (!assoc && append && !variable->array->empty()) next = variable->array->rbegin()->first + 1;
  for (ListValue& value : values) {
    if (assoc) {
      if (!assign_element(name, value.key, std::move(value.text), value.append)) return false;
      continue;
    }
    if (value.has_index) {
      bool ok = true;
      next = array_index(value.key, find(name), name, ok);
      if (!ok) return false;
    }
    set_list_element(name, next++, std::move(value.text), value.append);
  }
  return true;
}

void Variables::set_list_element(const std::string& name, std::int64_t index, std::string text, bool append) {
  Variable* variable = find_edit(name);
  if (append) {
    auto it = variable->array->find(index);
    std::string old = it == variable->array->end() ? "" : it->second;
    text = variable->is(attr::integer) ? sum(old, text) : old + text;
  }
  text = convert(*variable, std::move(text));
  shell_.machine().charge_memory(static_cast<std::int64_t>(text.size()) + element_bytes);
  find_edit(name)->array.edit()[index] = std::move(text);
}

bool Variables::assign_list(const Assign& assign_to) {
  if (assign_to.has_index) {
    shell_.error(
        fmt::format("{}[{}]: cannot assign list to array member", assign_to.name, assign_to.index.raw));
    return false;
  }
  std::string subscript;
  std::string name = resolve_name(assign_to.name, &subscript);
  Variable* variable = find_edit(name);
  if (!variable && is_assoc(name)) {  // a table of the shell: nothing is taken from it
    for (const ArrayItem& item : assign_to.items)
      if (item.has_index)
        assign_element(name, shell_.expander().single(item.index),
                       shell_.expander().without_tilde(item.value), item.append);
    return true;
  }
  if (!variable) variable = &state_.table.edit()[name];
  if (variable->is(attr::readonly)) return refuse_readonly(name);
  if (!subscript.empty()) {
    shell_.error(fmt::format("{}[{}]: cannot assign list to array member", name, subscript));
    return false;
  }
  return assign_compound(name, assign_to.items, assign_to.append, *variable);
}

bool Variables::assign(const Assign& assign_to) {
  if (assign_to.is_array) return assign_list(assign_to);
  const std::string& name = assign_to.name;
  std::string value = shell_.expander().assignment(assign_to.value);
  if (!assign_to.has_index) return assign(name, std::move(value), assign_to.append);
  if (is_assoc(name)) {
    std::string key = shell_.expander().single(assign_to.index);
    if (!key.empty()) return assign_element(name, key, std::move(value), assign_to.append);
    shell_.error(fmt::format("{}[{}]: bad array subscript", name, assign_to.index.raw));
    return false;
  }
  const std::string& index = assign_to.index.raw;
  if (assign_to.index.parts.empty() || index == "@" || index == "*") {
    shell_.error(
        fmt::format("{}[{}]: bad array subscript", name, assign_to.index.parts.empty() ? "" : index));
    return false;
  }
  return assign_element(name, std::to_string(shell_.expander().evaluate(*assign_to.index_arith)),
                        std::move(value), assign_to.append);
}

}  // namespace atl::shell
