#include "policy/scan/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {
// Values that are followed for one name, items of one list, bytes of one text. What is beyond them is
// unknown, and taints stay.
constexpr std::size_t choices_max = 4;
constexpr std::size_t items_max = 4096;
constexpr std::size_t text_max = 1U << 18U;
}  // namespace

Evaluator::Evaluator(std::string_view text, Language language, Names& names, Tree& tree, Report& report)
    : text_(text),
      language_(language),
      names_(names),
      tree_(tree),
      report_(report),
      rules_(report.compiled().of(language)),
      paths_(rules_.paths),
      folded_bytes_max_(text.size() * 4 + (64U << 10U)) {
  values_.emplace_back();
}

void Evaluator::run() {
  // The first pass learns what names are bound to, wherever that stands; the second judges with that
  // knowledge, so that a function may use what is imported below it.
  reporting_ = false;
  pass();
  reporting_ = true;
  pass();
}

void Evaluator::pass() {
  // Scopes are numbered in the order of the walk, which is the same in both passes: bindings of the first are
  // found in the second.
  scopes_.assign(1, Scope{});
  scope_ = 0;
  next_scope_ = 1;
  scope_stack_.clear();
  // Without recursion: the nesting of the code is its author's choice.
  NodeIndex at = tree_.root;
  for (;;) {
    enter(at);
    if (tree_.nodes[at].first_child != no_node) {
      at = tree_.nodes[at].first_child;
      continue;
    }
    leave(at);
    while (at != tree_.root && tree_.nodes[at].next == no_node) {
      at = tree_.nodes[at].parent;
      leave(at);
    }
    if (at == tree_.root) return;
    at = tree_.nodes[at].next;
  }
}

void Evaluator::bind_function_name(const Node& node) {
  if (node.name != 0) bind(node.name, unknown_value, node.start);
}

void Evaluator::enter(NodeIndex index) {
  Node& node = tree_.nodes[index];
  switch (node.kind) {
    case Kind::function:
    case Kind::klass:
    case Kind::lambda:
    case Kind::comprehension:
      if (node.kind == Kind::function || node.kind == Kind::klass) bind_function_name(node);
      scope_stack_.push_back(scope_);
      scopes_.push_back({.parent = scope_, .is_class = node.kind == Kind::klass});
      scope_ = next_scope_++;
      break;
    // What is bound in a branch may not be bound: the name may still mean what it meant before.
    case Kind::branch: ++scopes_[scope_].branches; break;
    case Kind::parameter:
      bind(node.name, unknown_value, node.start);
      // A default is read where the function is made, not inside it.
      scope_stack_.push_back(scope_);
      scope_ = scopes_[scope_].parent;
      break;
    default: break;
  }
}

ValueIndex Evaluator::choice_value(const Node& node) {
  std::vector<ValueIndex> any;
  for (NodeIndex child = node.first_child; child != no_node; child = tree_.nodes[child].next) {
    for (ValueIndex one : alternatives(value_of(child))) any.push_back(one);
  }
  return choices(any);
}

void Evaluator::assign(Node& node) {
  NodeIndex target = node.first_child;
  if (target == no_node) return;
  NodeIndex last = target;
  while (tree_.nodes[last].next != no_node) last = tree_.nodes[last].next;
  // a = b = value: every target gets the last child, the value.
  node.value = last == target ? unknown_value : value_of(last);
  // `{a = 1}` in a pattern: the value is the default of a, not an object that has an a.
  if (tree_.nodes[target].kind == Kind::pair) target = tree_.nodes[target].first_child;
  bind_target(target, node.value);
}

// `name += value`; what other operators and targets make is unknown.
void Evaluator::assign_sum(const Node& node) {
  NodeIndex target = node.first_child;
  if (target == no_node || tree_.nodes[target].next == no_node) return;
  if (node.op != '+' || tree_.nodes[target].kind != Kind::name) {
    bind_target(target, unknown_value);
    return;
  }
  Binding* binding = find_binding(scope_, tree_.nodes[target].name);
  if (binding == nullptr || binding->count == 0) return;
  bind_target(target, add_values(binding->values[binding->count - 1], value_of(tree_.nodes[target].next)));
}

// The target of a loop may be any of the items.
void Evaluator::bind_items(const Node& node) {
  NodeIndex target = node.first_child;
  if (target == no_node || tree_.nodes[target].next == no_node) return;
  const Value& from = value(value_of(tree_.nodes[target].next));
  std::vector<ValueIndex> any;
  if (from.type == Value::Type::list) any.assign(items(from).begin(), items(from).end());
  bind_target(target, choices(any));
}

void Evaluator::leave(NodeIndex index) {
  Node& node = tree_.nodes[index];
  switch (node.kind) {
    case Kind::name: node.value = load(node); return;
    case Kind::attribute: node.value = attribute_value(index); return;
    case Kind::string:
    case Kind::string_part:
      if (node.value == unknown_value) node.value = string_value(node);
      return;
    case Kind::number:
      if (node.value == unknown_value) {
        auto number = decode_number(text_.substr(node.start, node.end - node.start));
        node.value = number ? make_number(*number) : make({.type = Value::Type::literal});
      }
      return;
    case Kind::call:
    case Kind::create: node.value = call_value(index); return;
    case Kind::subscript: node.value = subscript_value(index); return;
    case Kind::group: {
      NodeIndex child = node.first_child;
      while (child != no_node && tree_.nodes[child].next != no_node) child = tree_.nodes[child].next;
      node.value = child == no_node ? unknown_value : value_of(child);
      return;
    }
    case Kind::keyword:
    case Kind::splat:
      node.value = node.first_child == no_node ? unknown_value : value_of(node.first_child);
      return;
    case Kind::format:
    case Kind::concat: node.value = format_value(index); return;
    case Kind::binary: node.value = binary_value(node); return;
    case Kind::list: node.value = list_value(index); return;
    case Kind::dict:
      if (node.value == unknown_value) node.value = make({.type = Value::Type::literal});
      return;
    case Kind::choice: node.value = choice_value(node); return;
    case Kind::assign: assign(node); return;
    case Kind::augmented: assign_sum(node); return;
    case Kind::iterate: bind_items(node); return;
    case Kind::bind:
      for (NodeIndex child = node.first_child; child != no_node; child = tree_.nodes[child].next) {
        bind_target(child, unknown_value);
      }
      return;
    case Kind::global_names:
      for (NodeIndex child = node.first_child; child != no_node; child = tree_.nodes[child].next) {
        // For the whole text rather than one function, which errs on the side of seeing more.
        names_[tree_.nodes[child].name].declared_global = true;
      }
      return;
    case Kind::import_module: import_statement(index); return;
    case Kind::import_from: import_from(index); return;
    case Kind::branch: --scopes_[scope_].branches; return;
    case Kind::comprehension:
      node.value = comprehension_value(index);
      scope_ = scope_stack_.back();
      scope_stack_.pop_back();
      return;
    case Kind::function:
    case Kind::klass:
    case Kind::lambda:
      scope_ = scope_stack_.back();
      scope_stack_.pop_back();
      if (language_ == Language::javascript && node.kind != Kind::klass && node.value == unknown_value) {
        node.value = make({.type = Value::Type::function});
        if (node.kind == Kind::function) bind(node.name, node.value, node.start);
      }
      return;
    case Kind::parameter:
      scope_ = scope_stack_.back();
      scope_stack_.pop_back();
      if (node.first_child != no_node) {
        NodeIndex last = node.first_child;
        while (tree_.nodes[last].next != no_node) last = tree_.nodes[last].next;
        bind(node.name, value_of(last), node.start);
      }
      return;
    default: return;
  }
}

// ---- names

Evaluator::Binding* Evaluator::find_binding(std::uint32_t scope, NameIndex name) {
  bool inside = true;
  for (;;) {
    // A class's names are not seen from the functions inside it.
    if (inside || !scopes_[scope].is_class) {
      auto found = bindings_.find((static_cast<std::uint64_t>(scope) << 32U) | name);
      if (found != bindings_.end()) return &found->second;
    }
    if (scope == 0) return nullptr;
    inside = false;
    scope = scopes_[scope].parent;
  }
}

void Evaluator::bind(NameIndex name, ValueIndex bound, std::uint32_t offset) {
  if (name == 0) return;
  Names::Entry& entry = names_[name];
  entry.bound = true;
  std::uint32_t scope = entry.declared_global ? 0 : scope_;
  Binding& binding = bindings_[(static_cast<std::uint64_t>(scope) << 32U) | name];
  if (scopes_[scope_].branches == 0 && !entry.declared_global) {
    binding.unconditional = true;
    binding.first_use = std::min(binding.first_use, offset);
  }
  for (ValueIndex one : alternatives(bound)) {
    if (one == unknown_value || binding.count >= choices_max) continue;
    // Equal values are kept once, or a loop would fill the four places with one value.
    bool known = false;
    for (std::uint8_t i = 0; i < binding.count; ++i) {
      const Value& other = value(binding.values[i]);
      const Value& fresh = value(one);
      known = known || binding.values[i] == one ||
              (other.type == fresh.type && other.state == fresh.state && other.text == fresh.text &&
               other.number == fresh.number && other.items_start == fresh.items_start &&
               other.decoded == fresh.decoded && other.remote == fresh.remote &&
               other.object == fresh.object && other.name == fresh.name);
    }
    if (!known) binding.values[binding.count++] = one;
  }
}

void Evaluator::bind_target(NodeIndex target, ValueIndex bound) {
  // A stack of its own: patterns nest as deeply as their author likes.
  std::vector<std::pair<NodeIndex, ValueIndex>> work{{target, bound}};
  while (!work.empty()) {
    auto [at, from] = work.back();
    work.pop_back();
    const Node& node = tree_.nodes[at];
    switch (node.kind) {
      case Kind::name: bind(node.name, from, node.start); break;
      case Kind::pair: {
        NodeIndex child = node.first_child;
        if (child == no_node) break;
        bool plain = (node.flags & flag_property) != 0;
        NodeIndex inner = plain ? child : tree_.nodes[child].next;
        if (inner == no_node) break;
        ValueIndex part = unknown_value;
        if (plain)
          part = attribute_of(from, node.name, node.start);
        else
          part = element_of(from, value_of(child), node.start);
        work.emplace_back(inner, part);
        break;
      }
      case Kind::list: {
        const Value source = value(from);
        std::size_t i = 0;
        for (NodeIndex child = node.first_child; child != no_node; child = tree_.nodes[child].next, ++i) {
          bool item = source.type == Value::Type::list && i < source.items_count;
          work.emplace_back(child, item ? items(source)[i] : unknown_value);
        }
        break;
      }
      case Kind::dict:
        for (NodeIndex child = node.first_child; child != no_node; child = tree_.nodes[child].next) {
          work.emplace_back(child, from);
        }
        break;
      case Kind::assign:  // a default inside a pattern
      case Kind::group:
      case Kind::splat:
      case Kind::other:
        if (node.first_child != no_node)
          work.emplace_back(node.first_child, node.kind == Kind::splat ? unknown_value : from);
        break;
      default: break;
    }
  }
}

ValueIndex Evaluator::language_name(NameIndex name, std::uint32_t offset, bool report_mention) {
  PathTrie::State state = paths_.child(PathTrie::root, names_[name].word);
  if (state == PathTrie::nothing) return unknown_value;
  if (report_mention) return mention(state, offset);
  return make_path(state);
}

ValueIndex Evaluator::load(const Node& node) {
  const Names::Entry& entry = names_[node.name];
  if ((node.flags & flag_store) != 0) {
    bind(node.name, unknown_value, node.start);
    return unknown_value;
  }
  if (!entry.bound) return entry.word == 0 ? unknown_value : language_name(node.name, node.start, true);
  Binding* binding = find_binding(scope_, node.name);
  if (binding == nullptr) return entry.word == 0 ? unknown_value : language_name(node.name, node.start, true);
  // A name like eval that the code binds itself is the built-in before that, and where the binding is
  // conditional.
  bool may_be_builtin = entry.word != 0 && (!binding->unconditional || node.start < binding->first_use);
  if (!may_be_builtin && binding->count == 1) return binding->values[0];
  std::vector<ValueIndex> any(binding->values, binding->values + binding->count);
  if (may_be_builtin) any.push_back(language_name(node.name, node.start, true));
  return choices(any);
}

// ---- values

ValueIndex Evaluator::make(const Value& fresh) {
  values_.push_back(fresh);
  return static_cast<ValueIndex>(values_.size() - 1);
}

std::string_view Evaluator::keep(std::string text) {
  kept_.push_back(std::move(text));
  return kept_.back();
}

ValueIndex Evaluator::make_view(std::string_view text) {
  return make({.type = Value::Type::text, .text = text});
}

ValueIndex Evaluator::make_text(std::string text, bool decoded, bool remote, bool bytes) {
  if (text.size() > text_max || folded_bytes_ + text.size() > folded_bytes_max_) {
    return make({.type = Value::Type::unknown, .decoded = decoded, .remote = remote});
  }
  // Doubling a text in a row of assignments ends here.
  folded_bytes_ += text.size() + sizeof(Value);
  Value fresh{.type = Value::Type::text, .decoded = decoded, .remote = remote, .bytes = bytes};
  fresh.text = keep(std::move(text));
  return make(fresh);
}

ValueIndex Evaluator::make_number(std::int64_t number) {
  return make({.type = Value::Type::number, .number = number});
}

ValueIndex Evaluator::make_path(PathTrie::State state) {
  return state == PathTrie::nothing ? unknown_value : make({.type = Value::Type::path, .state = state});
}

ValueIndex Evaluator::make_items(Value::Type type, std::span<const ValueIndex> list) {
  Value fresh{.type = type};
  fresh.items_start = static_cast<std::uint32_t>(items_.size());
  fresh.items_count = static_cast<std::uint32_t>(std::min(list.size(), items_max));
  items_.insert(items_.end(), list.begin(), list.begin() + fresh.items_count);
  return make(fresh);
}

ValueIndex Evaluator::choices(std::span<const ValueIndex> any) {
  std::vector<ValueIndex> known;
  for (ValueIndex one : any) {
    if (one != unknown_value && known.size() < choices_max && std::ranges::find(known, one) == known.end()) {
      known.push_back(one);
    }
  }
  if (known.empty()) return unknown_value;
  return known.size() == 1 ? known.front() : make_items(Value::Type::choices, known);
}

std::vector<ValueIndex> Evaluator::alternatives(ValueIndex index) const {
  const Value& from = value(index);
  if (from.type != Value::Type::choices) return {index};
  auto list = items(from);
  return {list.begin(), list.end()};
}

std::optional<std::string_view> Evaluator::text_of(ValueIndex index) const {
  const Value& from = value(index);
  if (from.type == Value::Type::text) return from.text;
  return std::nullopt;
}

ValueIndex Evaluator::tainted(const Value& like) {
  if (!like.decoded && !like.remote) return unknown_value;
  return make({.type = Value::Type::unknown, .decoded = like.decoded, .remote = like.remote});
}

}  // namespace atl::policy
