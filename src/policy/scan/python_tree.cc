#include <algorithm>
#include <array>

#include "policy/scan/grammar.h"
#include "policy/scan/nfkc.h"

namespace atl::policy {

namespace {

enum Type : std::uint8_t {
  t_other,
  t_identifier,
  t_comment,
  t_attribute,
  t_subscript,
  t_slice,
  t_call,
  t_arguments,
  t_keyword_argument,
  t_splat,
  t_string,
  t_string_content,
  t_interpolation,
  t_concat,
  t_number,
  t_unary,
  t_list,
  t_dict,
  t_pair,
  t_binary,
  t_choice,
  t_group,
  t_branch,
  t_for,
  t_for_in,
  t_comprehension,
  t_function,
  t_class,
  t_lambda,
  t_parameters,
  t_default_parameter,
  t_splat_pattern,
  t_assignment,
  t_augmented,
  t_named_expression,
  t_target,
  t_import,
  t_import_from,
  t_global,
  t_delete,
  t_case_pattern,
  t_exec,
  t_print,
  t_leaf,
  t_typed_parameter,
  t_through,
  t_value,  // a literal that matters only as an argument
};

constexpr std::array<NodeTypes::Row, 84> python_node_rows{{
    {"identifier", t_identifier},
    {"comment", t_comment},
    {"line_continuation", t_leaf},
    {"attribute", t_attribute},
    {"subscript", t_subscript},
    {"slice", t_slice},
    {"call", t_call},
    {"argument_list", t_arguments},
    {"keyword_argument", t_keyword_argument},
    {"list_splat", t_splat},
    {"dictionary_splat", t_splat},
    {"string", t_string},
    {"string_content", t_string_content},
    {"interpolation", t_interpolation},
    {"string_start", t_leaf},
    {"string_end", t_leaf},
    {"type_conversion", t_leaf},
    {"escape_sequence", t_leaf},
    {"escape_interpolation", t_leaf},
    {"concatenated_string", t_concat},
    {"integer", t_number},
    {"float", t_number},
    {"unary_operator", t_unary},
    {"list", t_list},
    {"tuple", t_list},
    {"set", t_list},
    {"expression_list", t_list},
    {"pattern_list", t_list},
    {"tuple_pattern", t_list},
    {"list_pattern", t_list},
    {"dictionary", t_dict},
    {"pair", t_pair},
    {"binary_operator", t_binary},
    {"boolean_operator", t_choice},
    {"conditional_expression", t_choice},
    {"parenthesized_expression", t_group},
    {"await", t_group},
    {"if_statement", t_branch},
    {"while_statement", t_branch},
    {"try_statement", t_branch},
    {"match_statement", t_branch},
    {"for_statement", t_for},
    {"for_in_clause", t_for_in},
    {"list_comprehension", t_comprehension},
    {"set_comprehension", t_comprehension},
    {"dictionary_comprehension", t_comprehension},
    {"generator_expression", t_comprehension},
    {"function_definition", t_function},
    {"class_definition", t_class},
    {"lambda", t_lambda},
    {"parameters", t_parameters},
    {"lambda_parameters", t_parameters},
    {"default_parameter", t_default_parameter},
    {"typed_default_parameter", t_default_parameter},
    {"typed_parameter", t_typed_parameter},
    {"list_splat_pattern", t_splat_pattern},
    {"dictionary_splat_pattern", t_splat_pattern},
    {"assignment", t_assignment},
    {"augmented_assignment", t_augmented},
    {"named_expression", t_named_expression},
    {"as_pattern_target", t_target},
    {"import_statement", t_import},
    {"import_from_statement", t_import_from},
    {"future_import_statement", t_leaf},
    {"global_statement", t_global},
    {"nonlocal_statement", t_leaf},
    {"delete_statement", t_delete},
    {"case_pattern", t_case_pattern},
    {"exec_statement", t_exec},
    {"print_statement", t_print},
    {"pass_statement", t_leaf},
    {"break_statement", t_leaf},
    {"continue_statement", t_leaf},
    {"ellipsis", t_value},
    {"none", t_value},
    {"true", t_value},
    {"false", t_value},
    {"positional_separator", t_leaf},
    {"keyword_separator", t_leaf},
    {"expression_statement", t_through},
    {"block", t_through},
    {"else_clause", t_through},
    {"with_clause", t_through},
    {"with_item", t_through},
}};

class PythonTree : public TreeBuilder {
 public:
  PythonTree(std::string_view text, Names& names, Tree& tree, const NodeTypes& types)
      : TreeBuilder(text, names, tree, grammar_of(Language::python), types),
        name_(field("name")),
        attribute_(field("attribute")),
        operator_(field("operator")),
        argument_(field("argument")),
        module_(field("module_name")),
        alias_(field("alias")) {}

 protected:
  Way enter(TSNode node, std::uint8_t type, TSFieldId field_id, NodeIndex& opened, bool& store) override;
  void leave(const Frame& frame) override;
  std::string plain_name(std::string_view written) const override { return normalize_identifier(written); }

 private:
  Way identifier(TSNode node, TSFieldId field_id, bool store);
  Way string(TSNode node, NodeIndex& opened);
  Way slice_node(TSNode node, NodeIndex& opened);
  void import(TSNode node);
  void import_from(TSNode node);

  TSFieldId name_, attribute_, operator_, argument_, module_, alias_;
};

TreeBuilder::Way PythonTree::identifier(TSNode node, TSFieldId field_id, bool store) {
  std::uint8_t above = parent().type;
  if ((above == t_attribute && field_id == attribute_) ||
      (field_id == name_ && (above == t_function || above == t_class || above == t_keyword_argument ||
                             above == t_default_parameter))) {
    NameIndex name = intern(node);
    parent_node().name = name;
    return Way::skip;
  }
  Kind kind = above == t_parameters || above == t_typed_parameter ? Kind::parameter : Kind::name;
  NameIndex name = intern(node);
  NodeIndex made = add(kind, node);
  at(made).name = name;
  if (store) at(made).flags |= flag_store;
  return Way::skip;
}

TreeBuilder::Way PythonTree::string(TSNode node, NodeIndex& opened) {
  std::uint32_t count = ts_node_named_child_count(node);
  bool format = false;
  for (std::uint32_t i = 0; i < count && !format; ++i)
    format = types_.of(ts_node_named_child(node, i)) == t_interpolation;
  if (!format) {
    add(Kind::string, node);
    return Way::skip;
  }
  return open(Kind::format, node, opened);
}

// The parts of a slice have no field names; only the colons tell which is which. Constant parts are all that
// folding needs.
TreeBuilder::Way PythonTree::slice_node(TSNode node, NodeIndex& opened) {
  std::array<TSNode, 3> parts{};
  std::array<bool, 3> given{};
  std::size_t position = 0;
  bool constant = true;
  std::uint32_t count = ts_node_child_count(node);
  for (std::uint32_t i = 0; i < count && position < 3; ++i) {
    TSNode child = ts_node_child(node, i);
    if (!ts_node_is_named(child)) {
      ++position;
      continue;
    }
    std::uint8_t type = types_.of(child);
    constant = constant && (type == t_number || (type == t_unary && slice(child).starts_with('-')));
    parts[position] = child;
    given[position] = true;
  }
  if (!constant) return open(Kind::other, node, opened);
  NodeIndex made = add(Kind::slice, node);
  NodeIndex last = no_node;
  for (std::size_t i = 0; i < 3; ++i) {
    NodeIndex part = given[i]
                         ? tree_.make(Kind::number, ts_node_start_byte(parts[i]), ts_node_end_byte(parts[i]))
                         : tree_.make(Kind::missing, ts_node_start_byte(node), ts_node_start_byte(node));
    tree_.append(made, last, part);
  }
  return Way::skip;
}

void PythonTree::import(TSNode node) {
  std::uint32_t count = ts_node_named_child_count(node);
  for (std::uint32_t i = 0; i < count; ++i) {
    TSNode child = ts_node_named_child(node, i);
    TSNode module = ts_node_child_by_field_id(child, name_);
    TSNode alias = ts_node_child_by_field_id(child, alias_);
    bool aliased = !ts_node_is_null(alias);
    if (!aliased) module = child;
    if (ts_node_is_null(module) || types_.of(module) == t_comment) continue;
    NodeIndex made = add(Kind::import_module, module);
    TSNode first = ts_node_named_child(module, 0);
    if (aliased) {
      at(made).flags |= flag_whole;
      NameIndex name = intern(alias);
      at(made).name = name;
    } else if (!ts_node_is_null(first)) {
      NameIndex name = intern(first);
      at(made).name = name;
    }
  }
}

void PythonTree::import_from(TSNode node) {
  TSNode module = ts_node_child_by_field_id(node, module_);
  if (ts_node_is_null(module)) return;
  NodeIndex made = add(Kind::import_from, module);
  if (slice(module).starts_with('.')) at(made).flags |= flag_relative;
  NodeIndex last = no_node;
  std::uint32_t count = ts_node_named_child_count(node);
  for (std::uint32_t i = 0; i < count; ++i) {
    TSNode child = ts_node_named_child(node, i);
    if (ts_node_eq(child, module) || types_.of(child) == t_comment) continue;
    TSNode alias = ts_node_child_by_field_id(child, alias_);
    TSNode imported = ts_node_is_null(alias) ? child : ts_node_child_by_field_id(child, name_);
    NodeIndex item = tree_.make(Kind::import_item, ts_node_start_byte(imported), ts_node_end_byte(imported));
    if (slice(imported) == "*") {
      at(item).flags |= flag_star;
    } else {
      NameIndex name = intern(ts_node_is_null(alias) ? imported : alias);
      at(item).name = name;
    }
    tree_.append(made, last, item);
  }
}

TreeBuilder::Way PythonTree::enter(TSNode node, std::uint8_t type, TSFieldId field_id, NodeIndex& opened,
                                   bool& store) {
  std::uint8_t above = parent().type;
  if (field_id != 0) {
    bool binds = above == t_assignment || above == t_augmented || above == t_for || above == t_for_in;
    if ((binds && field_id == field_left_) || (above == t_named_expression && field_id == name_))
      store = true;
  }
  switch (type) {
    case t_identifier: return identifier(node, field_id, store);
    case t_comment:
    case t_leaf: return Way::skip;
    case t_value: add(Kind::other, node); return Way::skip;
    case t_through:
    case t_arguments:
    case t_interpolation:
    case t_parameters: return Way::through;
    case t_splat_pattern:
      if (parent().type == t_parameters || parent().type == t_typed_parameter) {
        TSNode name = ts_node_named_child(node, 0);
        NodeIndex made = add(Kind::parameter, node);
        if (!ts_node_is_null(name)) {
          NameIndex index = intern(name);
          at(made).name = index;
        }
        return Way::skip;
      }
      return open(Kind::splat, node, opened);
    case t_attribute: store = false; return open(Kind::attribute, node, opened);
    case t_subscript: store = false; return open(Kind::subscript, node, opened);
    case t_slice: return slice_node(node, opened);
    case t_call: store = false; return open(Kind::call, node, opened);
    case t_keyword_argument: return open(Kind::keyword, node, opened);
    case t_splat: return open(Kind::splat, node, opened);
    case t_string: return string(node, opened);
    case t_string_content: {
      NodeIndex part = add(Kind::string_part, node);
      std::string_view literal = text_.substr(at(at(part).parent).start);
      std::string_view prefix = literal.substr(0, literal.find_first_of("'\""));
      if (prefix.find_first_of("rR") != std::string_view::npos) at(part).flags |= flag_star;
      return Way::skip;
    }
    case t_concat: return open(Kind::concat, node, opened);
    case t_number: add(Kind::number, node); return Way::skip;
    case t_unary:
      if (types_.of(ts_node_child_by_field_id(node, argument_)) == t_number && slice(node).starts_with('-')) {
        add(Kind::number, node);
        return Way::skip;
      }
      return open(Kind::other, node, opened);
    case t_list: return open(Kind::list, node, opened);
    case t_dict: return open(Kind::dict, node, opened);
    case t_pair: return open(Kind::pair, node, opened);
    case t_binary:
    case t_augmented: {
      Way way = open(type == t_binary ? Kind::binary : Kind::augmented, node, opened);
      TSNode sign = ts_node_child_by_field_id(node, operator_);
      std::string_view text = ts_node_is_null(sign) ? std::string_view() : slice(sign);
      std::size_t length = type == t_binary ? 1 : 2;
      at(opened).op = text.size() == length ? text.front() : '\0';
      return way;
    }
    case t_choice: return open(Kind::choice, node, opened);
    case t_group: return open(Kind::group, node, opened);
    case t_branch: return open(Kind::branch, node, opened);
    case t_for:
    case t_for_in: {
      if (type == t_for_in) return open(Kind::iterate, node, opened);
      Way way = open(Kind::branch, node, opened);
      NodeIndex inner = tree_.make(Kind::iterate, at(opened).start, at(opened).end);
      NodeIndex last = no_node;
      tree_.append(opened, last, inner);
      set_inner(inner);
      return way;
    }
    case t_comprehension: return open(Kind::comprehension, node, opened);
    case t_function: return open(Kind::function, node, opened);
    case t_class: return open(Kind::klass, node, opened);
    case t_lambda: return open(Kind::lambda, node, opened);
    case t_default_parameter: return open(Kind::parameter, node, opened);
    case t_typed_parameter: return open(Kind::other, node, opened);
    case t_assignment:
    case t_named_expression: return open(Kind::assign, node, opened);
    case t_target:
    case t_case_pattern:
    case t_delete: store = true; return open(Kind::bind, node, opened);
    case t_import: import(node); return Way::skip;
    case t_import_from: import_from(node); return Way::skip;
    case t_global: store = true; return open(Kind::global_names, node, opened);
    case t_exec:
    case t_print: {
      error(node, type == t_exec ? "exec is a function in Python 3" : "print is a function in Python 3");
      if (type == t_print) return open(Kind::other, node, opened);
      Way way = open(Kind::call, node, opened);
      NodeIndex name = tree_.make(Kind::name, at(opened).start, at(opened).start + 4);
      at(name).name = names_.intern("exec");
      NodeIndex last = no_node;
      tree_.append(opened, last, name);
      return way;
    }
    default: return open(Kind::other, node, opened);
  }
}

void PythonTree::leave(const Frame& frame) {
  if (frame.type != t_comprehension || frame.node == no_node) return;
  // What a comprehension makes comes first in the text; its names are bound by the clauses after it.
  Node& made = at(frame.node);
  NodeIndex body = made.first_child;
  if (body == no_node || at(body).next == no_node) return;
  made.first_child = at(body).next;
  at(body).next = no_node;
  NodeIndex last = made.first_child;
  while (at(last).next != no_node) last = at(last).next;
  at(last).next = body;
}

}  // namespace

void build_python_tree(std::string_view text, const TSTree& syntax, Names& names, Tree& tree) {
  static const NodeTypes types(grammar_of(Language::python), python_node_rows);
  PythonTree(text, names, tree, types).build(syntax);
}

}  // namespace atl::policy
