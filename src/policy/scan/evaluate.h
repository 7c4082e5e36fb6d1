#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/scan/report.h"
#include "policy/scan/tree.h"

namespace atl::policy {

// Values live in the evaluator's own list and are named by their index there. Index 0 is the one unknown
// value, so a default-constructed index is always valid and means "nothing is known".
using ValueIndex = std::uint32_t;
inline constexpr ValueIndex unknown_value = 0;

// What an expression may be, as far as reading tells.
// Plain data. `text` points into the source, into the tree's names or into the evaluator's own copies; all
// three outlive the value.
struct Value {
  enum class Type : std::uint8_t {
    unknown,
    text,
    number,
    list,      // items
    choices,   // any of the items
    path,      // a thing that PathTrie knows by name
    module,    // an imported module that it does not know
    names,     // a mapping of names: globals()
    method,    // an attribute of a text, list or decoded thing: object, name
    invoke,    // f.call, f.bind: calling it calls object with the arguments after the first
    getter,    // operator.attrgetter("x"): text is the name
    literal,   // some literal without a value of interest
    class_of,  // its class, and what follows from there
    buffer,    // JavaScript's Buffer.from(...): text is its contents
    function,  // a function of the code's own (JavaScript)
  };
  Type type = Type::unknown;
  bool decoded = false;  // came out of a decoder
  bool remote = false;   // came over the network
  bool bytes = false;
  bool weak = false;    // class_of: of something unknown
  bool walked = false;  // class_of: past __base__ or __mro__
  // path: which one.
  PathTrie::State state = PathTrie::nothing;
  // method, invoke, class_of: what the value was reached from.
  ValueIndex object = unknown_value;
  NameIndex name = 0;
  // number: the value. Numbers beyond 64 bits are `literal`.
  std::int64_t number = 0;
  std::string_view text;
  // list, choices: where its items stand in the evaluator's list of items.
  std::uint32_t items_start = 0;
  std::uint32_t items_count = 0;
};

// Reads a tree in two passes: the first learns what names are bound to, the second reports. Knows nothing of
// control flow: a name may be whatever it is bound to anywhere in its scope. Bounded: at most `choices_max`
// values a name, folded text in proportion to the source.
// The work is linear in the size of the tree. One object reads one piece of code on one thread and is then
// thrown away.
class Evaluator {
 public:
  // Borrows everything; all of it must outlive run(). `tree` is changed: each node gets its value.
  Evaluator(std::string_view text, Language language, Names& names, Tree& tree, Report& report);
  // Reads the whole tree once. Findings, notes and imports go to the report; nothing is returned and nothing
  // fails. Code inside strings that the code would run is scanned into the same report.
  void run();

 private:
  // What a name may be in one scope: up to four values. Further ones are not remembered.
  struct Binding {
    std::uint32_t first_use = ~0U;  // offset of the first unconditional binding
    std::uint32_t values[4] = {0, 0, 0, 0};
    std::uint8_t count = 0;
    bool unconditional = false;
  };
  // A function, class, lambda or comprehension; number 0 is the module.
  struct Scope {
    std::uint32_t parent = 0;
    std::uint32_t branches = 0;  // how many branches we are inside of
    bool is_class = false;
  };
  // A call's arguments by their nodes. `splat`: some are not known (`*args`, `...list`), so positions after
  // it are not either.
  struct Arguments {
    std::vector<NodeIndex> positional;
    std::vector<NodeIndex> keywords;
    bool splat = false;
  };

  // walking
  // Visits every node once, children before their parent's leave(). run() calls it twice; `reporting_` says
  // which time it is.
  void pass();
  void enter(NodeIndex index);
  void leave(NodeIndex index);
  void bind_function_name(const Node& node);

  // names
  // Adds a value to what the name may be in the current scope. bind_target() does the same for a target of an
  // assignment, which may be a tuple, an attribute or an element.
  void bind(NameIndex name, ValueIndex value, std::uint32_t offset);
  void bind_target(NodeIndex target, ValueIndex value);
  // Null if the scope does not bind the name. The pointer is valid until the next bind().
  Binding* find_binding(std::uint32_t scope, NameIndex name);
  // What reading the name gives, from the innermost scope that binds it; without one it is the language's own
  // name (language_name()).
  ValueIndex load(const Node& node);
  ValueIndex language_name(NameIndex name, std::uint32_t offset, bool report_mention);

  // values
  // These store a value and return its index. Text that is not part of the source is copied with keep(),
  // which counts against folded_bytes_max_; beyond that, the value is unknown.
  ValueIndex make(const Value& value);
  ValueIndex make_text(std::string text, bool decoded = false, bool remote = false, bool bytes = false);
  ValueIndex make_view(std::string_view text);
  ValueIndex make_number(std::int64_t number);
  ValueIndex make_path(PathTrie::State state);
  ValueIndex make_items(Value::Type type, std::span<const ValueIndex> items);
  // One of several values: the first four different ones that are known. One alone is returned as itself;
  // none gives unknown_value.
  ValueIndex choices(std::span<const ValueIndex> values);
  const Value& value(ValueIndex index) const { return values_[index]; }
  ValueIndex value_of(NodeIndex node) const { return tree_.nodes[node].value; }
  // The items of a choice, or the value itself: at least one.
  std::vector<ValueIndex> alternatives(ValueIndex index) const;
  std::span<const ValueIndex> items(const Value& value) const {
    return std::span(items_).subspan(value.items_start, value.items_count);
  }
  // The text that the value is for certain; none for a choice or anything else.
  std::optional<std::string_view> text_of(ValueIndex index) const;
  bool is_text(ValueIndex index) const { return value(index).type == Value::Type::text; }
  // Unknown, but decoded or remote as the other is: what a program makes of decoded text is still decoded
  // text.
  ValueIndex tainted(const Value& like);
  std::string_view keep(std::string text);

  // expressions
  // The value of one expression, from the values of its children, which have been visited before. Unknown
  // where reading does not tell. Those that take a Node or its index store nothing in it: leave() does.
  ValueIndex string_value(const Node& node);
  ValueIndex format_value(NodeIndex index);
  ValueIndex binary_value(const Node& node);
  ValueIndex add_values(ValueIndex left, ValueIndex right);
  ValueIndex percent_format(std::string_view text, ValueIndex right);
  ValueIndex brace_format(std::string_view text, const Arguments& arguments);
  ValueIndex list_value(NodeIndex index);
  ValueIndex comprehension_value(NodeIndex index);
  ValueIndex choice_value(const Node& node);
  void assign(Node& node);
  void assign_sum(const Node& node);
  void bind_items(const Node& node);

  // reaching things
  // What `object.name`, `object[key]` or an import gives. These report what the policy lists when
  // `reporting_` is set; asking twice for the same place reports once.
  ValueIndex attribute_value(NodeIndex index);
  ValueIndex attribute_of(ValueIndex object, NameIndex name, std::uint32_t offset);
  ValueIndex one_attribute(ValueIndex object, NameIndex name, std::uint32_t offset);
  void check_attribute(ValueIndex object, NameIndex name, std::uint32_t offset);
  // Which rules look at an attribute of this name; found once per name and kept in Names.
  std::uint8_t classify_attribute(std::string_view name) const;
  ValueIndex subscript_value(NodeIndex index);
  ValueIndex element_of(ValueIndex object, ValueIndex key, std::uint32_t offset);
  ValueIndex mention(PathTrie::State state, std::uint32_t offset);
  void import_statement(NodeIndex index);
  void import_from(NodeIndex index);
  ValueIndex import_named(std::string_view name, std::uint32_t offset, bool relative);
  ValueIndex module_value(std::string_view name);
  // The policy's entry for the module or for one above it; not_listed if it is allowed.
  ListedIndex forbidden_import(std::string_view name) const;
  std::string module_name(const Node& node) const;

  // calls
  // What a call gives. A callee that may be several things is called as each of them, and the result is a
  // choice. Calls that run text, start programs or import scan that text here.
  ValueIndex call_value(NodeIndex index);
  ValueIndex call_one(ValueIndex callee, const Arguments& arguments, const Node& node);
  ValueIndex call_model(Model model, PathTrie::State state, const Arguments& arguments, const Node& node);
  ValueIndex call_method(const Value& method, const Arguments& arguments, const Node& node);
  ValueIndex text_method(std::string_view text, const Value& object, std::string_view method,
                         const Arguments& arguments);
  ValueIndex list_method(const Value& list, std::string_view method, const Arguments& arguments);
  ValueIndex join_items(std::string_view separator, ValueIndex list);
  ValueIndex decode(Model model, const Arguments& arguments);
  ValueIndex decode_by_name(std::string_view text, std::string_view encoding, const Value& from);
  ValueIndex args_in(NodeIndex options) const;
  ValueIndex call_import(const Arguments& arguments, std::uint32_t offset);
  // Scans text that the code would run, and reports it if it was decoded or came over the network. Text that
  // is not known is not looked at here, nor is text beyond what the report allows for code inside code.
  void run_code(ValueIndex code, std::uint32_t offset, Language language);
  void run_process(const Arguments& arguments, std::uint32_t offset);
  void run_exec(const Arguments& arguments, std::uint32_t offset);
  void run_magic(const Arguments& arguments, std::uint32_t offset);
  void run_cell(std::string_view cell, std::uint32_t offset);
  void run_line(std::string_view line, std::uint32_t offset);
  // The value as one word of a shell, so that a list of arguments can be read as a command line.
  std::string quoted_word(ValueIndex index) const;
  // The argument at that position or of that keyword; unknown_value if the call does not give it, or a splat
  // hides it.
  ValueIndex argument(const Arguments& arguments, std::size_t position, std::string_view keyword = {}) const;
  NodeIndex argument_node(const Arguments& arguments, std::size_t position,
                          std::string_view keyword = {}) const;
  ValueIndex map_value(const Arguments& arguments);
  ValueIndex get_attribute(const Arguments& arguments, std::uint32_t start);
  ValueIndex bytes_of(const Value& list);
  ValueIndex text_of_codes(const Arguments& arguments);
  ValueIndex buffer_from(const Value& given, ValueIndex first, std::optional<std::string_view> encoding);

  std::string_view text_;
  Language language_;
  Names& names_;
  Tree& tree_;
  Report& report_;
  const LanguageRules& rules_;
  const PathTrie& paths_;

  bool reporting_ = false;
  std::vector<Scope> scopes_;
  std::uint32_t scope_ = 0;
  std::uint32_t next_scope_ = 0;
  std::vector<std::uint32_t> scope_stack_;
  std::unordered_map<std::uint64_t, Binding> bindings_;
  std::deque<Value> values_;
  std::vector<ValueIndex> items_;
  std::deque<std::string> kept_;
  std::size_t folded_bytes_ = 0;
  std::size_t folded_bytes_max_ = 0;
};

// Scans code of any language into the report, as code of its own (the caller pins the place when it is not).
// The functions below never fail and never throw on account of the code: what cannot be parsed is a finding.
// They borrow `code` for the time of the call.
void scan_code(std::string_view code, Language language, Report& report);
void scan_shell(std::string_view code, Report& report);
// Scans a notebook's cell that stands inside other code.
void scan_cell(std::string_view code, Report& report);
// Reads the texts of calls that start processes in a language that is otherwise not read (R, Java).
void scan_process_calls(std::string_view code, Language language, Report& report);

}  // namespace atl::policy
