#include <algorithm>
#include <array>

#include "policy/scan/grammar.h"
#include "policy/scan/text_value.h"

namespace atl::policy {

namespace {

enum Type : std::uint8_t {
  t_other,
  t_identifier,
  t_leaf,
  t_property,
  t_shorthand,
  t_shorthand_pattern,
  t_member,
  t_subscript,
  t_call,
  t_new,
  t_arguments,
  t_import_keyword,
  t_declarator,
  t_assignment,
  t_augmented,
  t_object,
  t_pair,
  t_default,
  t_array,
  t_splat,
  t_parameters,
  t_function,
  t_arrow,
  t_class,
  t_group,
  t_choice,
  t_binary,
  t_unary,
  t_template,
  t_substitution,
  t_fragment,
  t_string,
  t_number,
  t_branch,
  t_for_in,
  t_catch,
  t_import,
  t_export,
  t_clause,
  t_import_specifier,
  t_namespace_import,
  t_through,
  t_field,
  t_value,  // a literal that matters only as an argument
};

constexpr std::array<NodeTypes::Row, 73> javascript_node_rows{{
    {"identifier", t_identifier},
    {"undefined", t_value},
    {"comment", t_leaf},
    {"html_comment", t_leaf},
    {"hash_bang_line", t_leaf},
    {"regex", t_leaf},
    {"optional_chain", t_leaf},
    {"meta_property", t_leaf},
    {"statement_identifier", t_leaf},
    {"private_property_identifier", t_leaf},
    {"jsx_text", t_leaf},
    {"escape_sequence", t_leaf},
    {"true", t_value},
    {"false", t_value},
    {"null", t_value},
    {"super", t_leaf},
    {"this", t_value},
    {"property_identifier", t_property},
    {"shorthand_property_identifier", t_shorthand},
    {"shorthand_property_identifier_pattern", t_shorthand_pattern},
    {"member_expression", t_member},
    {"subscript_expression", t_subscript},
    {"call_expression", t_call},
    {"new_expression", t_new},
    {"arguments", t_arguments},
    {"import", t_import_keyword},
    {"variable_declarator", t_declarator},
    {"assignment_expression", t_assignment},
    {"augmented_assignment_expression", t_augmented},
    {"object", t_object},
    {"object_pattern", t_object},
    {"pair", t_pair},
    {"pair_pattern", t_pair},
    {"assignment_pattern", t_default},
    {"object_assignment_pattern", t_default},
    {"array", t_array},
    {"array_pattern", t_array},
    {"spread_element", t_splat},
    {"rest_pattern", t_splat},
    {"formal_parameters", t_parameters},
    {"function_declaration", t_function},
    {"function_expression", t_function},
    {"generator_function", t_function},
    {"generator_function_declaration", t_function},
    {"method_definition", t_function},
    {"arrow_function", t_arrow},
    {"class_declaration", t_class},
    {"class", t_class},
    {"parenthesized_expression", t_group},
    {"sequence_expression", t_group},
    {"statement_block", t_group},
    {"await_expression", t_group},
    {"ternary_expression", t_choice},
    {"binary_expression", t_binary},
    {"unary_expression", t_unary},
    {"template_string", t_template},
    {"template_substitution", t_substitution},
    {"string_fragment", t_fragment},
    {"string", t_string},
    {"number", t_number},
    {"if_statement", t_branch},
    {"for_statement", t_branch},
    {"while_statement", t_branch},
    {"do_statement", t_branch},
    {"switch_statement", t_branch},
    {"try_statement", t_branch},
    {"for_in_statement", t_for_in},
    {"catch_clause", t_catch},
    {"import_statement", t_import},
    {"export_statement", t_export},
    {"export_clause", t_through},
    {"expression_statement", t_through},
    {"field_definition", t_field},
}};

class JavascriptTree : public TreeBuilder {
 public:
  JavascriptTree(std::string_view text, Names& names, Tree& tree, const NodeTypes& types)
      : TreeBuilder(text, names, tree, grammar_of(Language::javascript), types),
        name_(field("name")),
        property_(field("property")),
        operator_(field("operator")),
        source_(field("source")),
        alias_(field("alias")),
        key_(field("key")),
        value_(field("value")),
        parameter_(field("parameter")),
        kind_(field("kind")) {}

 protected:
  Way enter(TSNode node, std::uint8_t type, TSFieldId field_id, NodeIndex& opened, bool& store) override;
  void leave(const Frame& frame) override;
  std::string plain_name(std::string_view written) const override { return decode_javascript(written); }

 private:
  Way name(TSNode node, TSFieldId field_id, bool store);
  Way property(TSNode node, TSFieldId field_id);
  void shorthand(TSNode node, bool store);
  Way binary(TSNode node, NodeIndex& opened);
  Way default_value(TSNode node, NodeIndex& opened);
  bool import_from(TSNode node);
  void import_items(TSNode clause, NodeIndex import, NodeIndex& last);

  TSFieldId name_, property_, operator_, source_, alias_, key_, value_, parameter_, kind_;
};

TreeBuilder::Way JavascriptTree::name(TSNode node, TSFieldId field_id, bool store) {
  std::uint8_t above = parent().type;
  NameIndex index = intern(node);
  if (field_id == name_ && (above == t_function || above == t_class)) {
    parent_node().name = index;
    return Way::skip;
  }
  bool parameter = above == t_parameters || (above == t_arrow && field_id == parameter_);
  NodeIndex made = add(parameter ? Kind::parameter : Kind::name, node);
  at(made).name = index;
  if (store) at(made).flags |= flag_store;
  return Way::skip;
}

TreeBuilder::Way JavascriptTree::property(TSNode node, TSFieldId field_id) {
  std::uint8_t above = parent().type;
  NameIndex index = intern(node);
  if (above == t_member || (above == t_pair && field_id == key_)) {
    parent_node().name = index;
    if (above == t_pair) parent_node().flags |= flag_property;
  }
  return Way::skip;
}

// `{exit}` reads a name, or as a pattern binds it to the property of that name.
void JavascriptTree::shorthand(TSNode node, bool store) {
  NameIndex index = intern(node);
  NodeIndex pair = add(Kind::pair, node);
  at(pair).name = index;
  at(pair).flags |= flag_property;
  NodeIndex value = tree_.make(Kind::name, at(pair).start, at(pair).end);
  at(value).name = index;
  if (store) at(value).flags |= flag_store;
  NodeIndex last = no_node;
  tree_.append(pair, last, value);
}

TreeBuilder::Way JavascriptTree::binary(TSNode node, NodeIndex& opened) {
  TSNode sign = ts_node_child_by_field_id(node, operator_);
  std::string_view text = ts_node_is_null(sign) ? std::string_view() : slice(sign);
  bool choice = text == "||" || text == "&&" || text == "??";
  Way way = open(choice ? Kind::choice : Kind::binary, node, opened);
  at(opened).op = text.size() == 1 ? text.front() : '\0';
  return way;
}

// `a = 1` as a parameter or inside a pattern.
TreeBuilder::Way JavascriptTree::default_value(TSNode node, NodeIndex& opened) {
  TSNode left = ts_node_child_by_field_id(node, field_left_);
  if (parent().type == t_parameters && !ts_node_is_null(left) && types_.of(left) == t_identifier) {
    NameIndex index = intern(left);
    opened = add(Kind::parameter, node);
    at(opened).name = index;
    return Way::descend;
  }
  return open(Kind::assign, node, opened);
}

void JavascriptTree::import_items(TSNode clause, NodeIndex import, NodeIndex& last) {
  std::uint32_t count = ts_node_named_child_count(clause);
  for (std::uint32_t i = 0; i < count; ++i) {
    TSNode child = ts_node_named_child(clause, i);
    std::string_view type = ts_node_type(child);
    if (type == "named_imports" || type == "import_clause" || type == "export_clause") {
      import_items(child, import, last);  // at most two levels, by the grammar
      continue;
    }
    bool whole = type == "identifier" || type == "namespace_import" || type == "namespace_export";
    bool specifier = type == "import_specifier" || type == "export_specifier";
    if (!whole && !specifier) continue;
    TSNode imported = specifier ? ts_node_child_by_field_id(child, name_) : child;
    if (ts_node_is_null(imported)) continue;
    NodeIndex item = tree_.make(Kind::import_item, ts_node_start_byte(imported), ts_node_end_byte(imported));
    if (whole) at(item).flags |= flag_whole;
    TSNode alias = ts_node_child_by_field_id(child, alias_);
    TSNode bound = type == "namespace_import" ? ts_node_named_child(child, 0)
                   : ts_node_is_null(alias)   ? imported
                                              : alias;
    if (type != "export_specifier" && type != "namespace_export" && !ts_node_is_null(bound)) {
      NameIndex index = intern(bound);
      at(item).name = index;
    }
    tree_.append(import, last, item);
  }
}

bool JavascriptTree::import_from(TSNode node) {
  TSNode source = ts_node_child_by_field_id(node, source_);
  if (ts_node_is_null(source)) return false;
  NodeIndex made = add(Kind::import_from, source);
  at(made).flags |= flag_quoted;
  NodeIndex last = no_node;
  import_items(node, made, last);
  return true;
}

TreeBuilder::Way JavascriptTree::enter(TSNode node, std::uint8_t type, TSFieldId field_id, NodeIndex& opened,
                                       bool& store) {
  std::uint8_t above = parent().type;
  if (field_id != 0) {
    if (field_id == field_left_ &&
        (above == t_assignment || above == t_augmented || above == t_default || above == t_for_in)) {
      store = true;
    }
    if (field_id == name_ && above == t_declarator) store = true;
    if (field_id == parameter_ && above == t_catch) store = true;
    if (above == t_default && field_id == field_right_) store = false;
    if (above == t_default && field_id == field_left_ && parent_node().kind == Kind::parameter)
      return Way::skip;
  }
  switch (type) {
    case t_identifier: return name(node, field_id, store);
    case t_leaf: return Way::skip;
    case t_value: add(Kind::other, node); return Way::skip;
    case t_through:
    case t_arguments:
    case t_substitution: return Way::through;
    case t_parameters: store = true; return Way::through;
    case t_property: return property(node, field_id);
    case t_shorthand:
    case t_shorthand_pattern: shorthand(node, type == t_shorthand_pattern || store); return Way::skip;
    case t_member: store = false; return open(Kind::attribute, node, opened);
    case t_subscript: store = false; return open(Kind::subscript, node, opened);
    case t_call: return open(Kind::call, node, opened);
    case t_new: return open(Kind::create, node, opened);
    case t_import_keyword: {
      NodeIndex made = add(Kind::name, node);
      at(made).name = names_.intern("import");
      return Way::skip;
    }
    case t_declarator:
    case t_assignment:
    case t_field: return open(type == t_field ? Kind::other : Kind::assign, node, opened);
    case t_augmented: {
      Way way = open(Kind::augmented, node, opened);
      TSNode sign = ts_node_child_by_field_id(node, operator_);
      at(opened).op = !ts_node_is_null(sign) && slice(sign) == "+=" ? '+' : '\0';
      return way;
    }
    case t_object: return open(Kind::dict, node, opened);
    case t_pair: return open(Kind::pair, node, opened);
    case t_default: return default_value(node, opened);
    case t_array: return open(Kind::list, node, opened);
    case t_splat: return open(Kind::splat, node, opened);
    case t_function: store = false; return open(Kind::function, node, opened);
    case t_arrow: store = false; return open(Kind::lambda, node, opened);
    case t_class: store = false; return open(Kind::klass, node, opened);
    case t_group: return open(Kind::group, node, opened);
    case t_choice: return open(Kind::choice, node, opened);
    case t_binary: return binary(node, opened);
    case t_unary:
      if (slice(node).starts_with('-') && types_.of(ts_node_named_child(node, 0)) == t_number) {
        add(Kind::number, node);
        return Way::skip;
      }
      return open(Kind::other, node, opened);
    case t_template: return open(Kind::format, node, opened);
    case t_fragment: add(Kind::string_part, node); return Way::skip;
    case t_string: add(Kind::string, node); return Way::skip;
    case t_number: add(Kind::number, node); return Way::skip;
    case t_branch: return open(Kind::branch, node, opened);
    case t_for_in: {
      Way way = open(Kind::branch, node, opened);
      NodeIndex inner = tree_.make(Kind::iterate, at(opened).start, at(opened).end);
      NodeIndex last = no_node;
      tree_.append(opened, last, inner);
      set_inner(inner);
      return way;
    }
    case t_catch: return open(Kind::other, node, opened);
    case t_import:
      if (!import_from(node)) return open(Kind::other, node, opened);
      return Way::skip;
    case t_export:
      if (import_from(node)) return Way::skip;
      return open(Kind::other, node, opened);
    default: return open(Kind::other, node, opened);
  }
}

void JavascriptTree::leave(const Frame& frame) {
  if (frame.node == no_node) return;
  // A declaration without a value binds its names all the same.
  if (frame.type == t_declarator && at(frame.node).first_child != no_node &&
      at(at(frame.node).first_child).next == no_node) {
    at(frame.node).kind = Kind::bind;
  }
}

}  // namespace

void build_javascript_tree(std::string_view text, const TSTree& syntax, Names& names, Tree& tree) {
  static const NodeTypes types(grammar_of(Language::javascript), javascript_node_rows);
  JavascriptTree(text, names, tree, types).build(syntax);
}

}  // namespace atl::policy
