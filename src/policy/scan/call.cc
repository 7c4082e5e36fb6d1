// Evaluator: what calls do, for the functions that matter.
#include <fmt/format.h>

#include <algorithm>

#include "base/utf8.h"
#include "policy/scan/cell.h"
#include "policy/scan/evaluate.h"
#include "policy/scan/text_value.h"

namespace atl::policy {

NodeIndex Evaluator::argument_node(const Arguments& arguments, std::size_t position,
                                   std::string_view keyword) const {
  if (position < arguments.positional.size()) return arguments.positional[position];
  if (!keyword.empty()) {
    for (NodeIndex node : arguments.keywords) {
      if (names_[tree_.nodes[node].name].text == keyword) return node;
    }
  }
  return no_node;
}

ValueIndex Evaluator::argument(const Arguments& arguments, std::size_t position,
                               std::string_view keyword) const {
  NodeIndex node = argument_node(arguments, position, keyword);
  return node == no_node ? unknown_value : value_of(node);
}

ValueIndex Evaluator::call_value(NodeIndex index) {
  const Node node = tree_.nodes[index];
  NodeIndex callee = node.first_child;
  if (callee == no_node) return unknown_value;
  ValueIndex function = value_of(callee);
  if (function == unknown_value) return unknown_value;
  Arguments arguments;
  for (NodeIndex child = tree_.nodes[callee].next; child != no_node; child = tree_.nodes[child].next) {
    Kind kind = tree_.nodes[child].kind;
    if (kind == Kind::keyword) {
      arguments.keywords.push_back(child);
    } else if (kind == Kind::splat) {
      arguments.splat = true;
      arguments.positional.push_back(child);
    } else {
      arguments.positional.push_back(child);
    }
  }
  std::vector<ValueIndex> results;
  // A callee may be one of several functions: the call is judged for each.
  for (ValueIndex one : alternatives(function)) results.push_back(call_one(one, arguments, node));
  return choices(results);
}

ValueIndex Evaluator::call_one(ValueIndex callee, const Arguments& arguments, const Node& node) {
  const Value function = value(callee);
  using Type = Value::Type;
  switch (function.type) {
    case Type::path: {
      ListedIndex listed = paths_.call(function.state);
      if (reporting_ && listed != not_listed) {
        report_.add_listed(listed, node.start,
                           fmt::format("calling {} is forbidden", paths_.name(function.state)));
      }
      return call_model(paths_.model(function.state), function.state, arguments, node);
    }
    case Type::method: return call_method(function, arguments, node);
    case Type::invoke: {
      // f.call(this, a), f.bind(this), f.apply(this, [a])
      std::string_view how = names_[function.name].text;
      // What is bound before the call is ignored: the function is what matters.
      if (how == "bind") return function.object;
      Arguments rest = arguments;
      if (!rest.positional.empty()) rest.positional.erase(rest.positional.begin());
      if (how == "apply" && !rest.positional.empty()) {
        const Node& list = tree_.nodes[rest.positional.front()];
        rest.positional.clear();
        for (NodeIndex child = list.first_child; child != no_node; child = tree_.nodes[child].next)
          rest.positional.push_back(child);
      }
      return call_one(function.object, rest, node);
    }
    case Type::getter: {
      ValueIndex object = argument(arguments, 0);
      std::string_view rest = function.text;
      while (!rest.empty()) {
        std::size_t dot = rest.find('.');
        object = attribute_of(object, names_.intern(rest.substr(0, dot)), node.start);
        rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
      }
      return object;
    }
    case Type::class_of: return callee;
    case Type::unknown: return tainted(function);
    default: return unknown_value;
  }
}

ValueIndex Evaluator::call_method(const Value& method, const Arguments& arguments, const Node& node) {
  const Value object = value(method.object);
  std::string_view name = names_[method.name].text;
  using Type = Value::Type;
  if (object.type == Type::text) return text_method(object.text, object, name, arguments);
  if (object.type == Type::list) return list_method(object, name, arguments);
  if (object.type == Type::names) return element_of(method.object, argument(arguments, 0), node.start);
  if (object.type == Type::buffer) {
    if (name == "toString" || name == "asciiSlice" || name == "utf8Slice" || name == "latin1Slice") {
      return make_text(std::string(object.text), object.decoded, object.remote);
    }
  }
  return tainted(object);
}

ValueIndex Evaluator::decode_by_name(std::string_view text, std::string_view encoding, const Value& from) {
  std::string name;
  // Python takes rot_13, ROT-13 and rot13 for the same codec.
  for (char c : encoding) {
    if (c != '_' && c != '-') name += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  }
  std::optional<std::string> result;
  bool decoded = true;
  if (name == "rot13") {
    result = rot13(text);
  } else if (name == "base64" || name == "base64codec" || name == "base64url") {
    result = decode_base64(text);
  } else if (name == "hex" || name == "hexcodec") {
    result = decode_hex(text);
  } else if (name == "unicodeescape" || name == "rawunicodeescape" || name == "stringescape") {
    result = decode_python(text, false);
  } else if (name == "zlib" || name == "zlibcodec" || name == "bz2" || name == "bz2codec" || name == "uu") {
    // Not decompressed here; that it was compressed is known.
    return make({.type = Value::Type::unknown, .decoded = true});
  } else {
    decoded = from.decoded;
    result = std::string(text);
  }
  if (!result) return make({.type = Value::Type::unknown, .decoded = true});
  return make_text(std::move(*result), decoded, from.remote);
}

ValueIndex Evaluator::decode(Model model, const Arguments& arguments) {
  ValueIndex given = argument(arguments, 0, "s");
  if (value(given).type == Value::Type::choices) given = alternatives(given).front();
  const Value from = value(given);
  if (model == Model::decompress || from.type != Value::Type::text) {
    return make({.type = Value::Type::unknown, .decoded = true, .remote = from.remote});
  }
  std::optional<std::string> result;
  switch (model) {
    case Model::base64: result = decode_base64(from.text); break;
    case Model::hex:
    case Model::bytes_from_hex: result = decode_hex(from.text); break;
    case Model::base32: result = decode_base32(from.text); break;
    case Model::base85: result = decode_base85(from.text); break;
    case Model::unescape: result = decode_percent(from.text); break;
    default: break;
  }
  if (!result) return make({.type = Value::Type::unknown, .decoded = true, .remote = from.remote});
  return make_text(std::move(*result), true, from.remote, language_ == Language::python);
}

ValueIndex Evaluator::call_import(const Arguments& arguments, std::uint32_t offset) {
  ValueIndex given = argument(arguments, 0, "name");
  std::vector<ValueIndex> results;
  bool known = false;
  for (ValueIndex one : alternatives(given)) {
    auto name = text_of(one);
    if (!name) continue;
    known = true;
    bool relative = language_ == Language::python && name->starts_with('.');
    // pkgutil.resolve_name("os:system")
    std::string_view module = language_ == Language::python ? name->substr(0, name->find(':')) : *name;
    results.push_back(import_named(module, offset, relative));
  }
  if (!known && reporting_) {
    report_.add_import("", offset, true, false);
    report_.add(RuleId::dynamic_import, offset, "the name of the module is computed at run time");
  }
  return choices(results);
}

void Evaluator::run_code(ValueIndex code, std::uint32_t offset, Language language) {
  if (!reporting_) return;
  for (ValueIndex one : alternatives(code)) {
    const Value from = value(one);
    if (from.decoded) report_.add(RuleId::encoded_payload, offset, "decoded data is run as code");
    if (from.remote) report_.add(RuleId::remote_code, offset, "data from the network is run as code");
    auto text = text_of(one);
    if (!text || !report_.enter_nested(text->size())) continue;
    Report::Nested pin(report_, offset);
    scan_code(*text, language, report_);
    report_.leave_nested();
  }
}

// The value of `args` in `{args: [...]}`, which is how Deno.Command is told its words.
ValueIndex Evaluator::args_in(NodeIndex options) const {
  if (options == no_node || tree_.nodes[options].kind != Kind::dict) return unknown_value;
  for (NodeIndex pair = tree_.nodes[options].first_child; pair != no_node; pair = tree_.nodes[pair].next) {
    const Node& node = tree_.nodes[pair];
    if ((node.flags & flag_property) == 0 || names_[node.name].text != "args") continue;
    return node.first_child == no_node ? unknown_value : value_of(node.first_child);
  }
  return unknown_value;
}

// subprocess.run("text", shell=True), subprocess.run(["rm", "x"]), spawn("rm", ["x"]),
// new Deno.Command("rm", {args: ["x"]})
void Evaluator::run_process(const Arguments& arguments, std::uint32_t offset) {
  if (!reporting_) return;
  ValueIndex first = argument(arguments, 0, "args");
  const Value program = value(first);
  std::string line;
  auto append_list = [&](const Value& list) {
    for (ValueIndex item : items(list)) line += (line.empty() ? "" : " ") + quoted_word(item);
  };
  if (program.type == Value::Type::list) {
    append_list(program);
  } else if (program.type == Value::Type::text) {
    Value second = value(argument(arguments, 1));
    if (second.type != Value::Type::list) second = value(args_in(argument_node(arguments, 1, "")));
    if (second.type == Value::Type::list) {
      line = quoted_word(first);
      append_list(second);
    } else {
      line = std::string(program.text);
    }
  } else if (program.decoded || program.remote) {
    run_code(first, offset, Language::shell);
    return;
  }
  run_line(line, offset);
}

std::string Evaluator::quoted_word(ValueIndex index) const {
  auto text = text_of(index);
  return text ? "'" + replace_text(*text, "'", "'\\''") + "'" : std::string("\"$unknown\"");
}

void Evaluator::run_line(std::string_view line, std::uint32_t offset) {
  if (line.empty() || !report_.enter_nested(line.size())) return;
  Report::Nested pin(report_, offset);
  scan_code(line, Language::shell, report_);
  report_.leave_nested();
}

// The file comes first, then the words, of which the first is only a name for it. Of both spellings the file
// counts; a mode before it is no text.
void Evaluator::run_exec(const Arguments& arguments, std::uint32_t offset) {
  if (!reporting_) return;
  std::vector<ValueIndex> words;
  for (NodeIndex node : arguments.positional) {
    const ValueIndex index = value_of(node);
    const Value one = value(index);
    if (words.empty() && one.type != Value::Type::text) continue;
    if (one.type == Value::Type::list)
      words.insert(words.end(), items(one).begin(), items(one).end());
    else
      words.push_back(index);
  }
  // With and without the word that the program is told as its own name: create_subprocess_exec has none.
  for (const std::size_t skip : {std::size_t{1}, std::size_t{2}}) {
    if (words.empty()) return;
    std::string line = quoted_word(words.front());
    for (std::size_t i = skip; i < words.size(); ++i) line += " " + quoted_word(words[i]);
    run_line(line, offset);
  }
}

void Evaluator::run_cell(std::string_view cell, std::uint32_t offset) {
  if (!report_.enter_nested(cell.size())) return;
  Report::Nested pin(report_, offset);
  scan_cell(cell, report_);
  report_.leave_nested();
}

void Evaluator::run_magic(const Arguments& arguments, std::uint32_t offset) {
  if (!reporting_) return;
  const auto word = text_of(argument(arguments, 0, "magic_name"));
  const auto line = text_of(argument(arguments, 1, "line"));
  const bool has_body = argument_node(arguments, 2, "cell") != no_node;
  const auto body = text_of(argument(arguments, 2, "cell"));
  if (!word || (has_body && !body)) {
    report_.add(RuleId::dynamic_code, offset, "a magic that is computed at run time");
    if (!word) return;
  }
  run_cell(magic_cell(*word, line.value_or(""), has_body ? body.value_or("") : std::string_view()), offset);
}

// map(chr, [111, 115])
ValueIndex Evaluator::map_value(const Arguments& arguments) {
  const Value& function = value(argument(arguments, 0));
  const Value list = value(argument(arguments, 1));
  if (function.type != Value::Type::path || paths_.model(function.state) != Model::chr) return unknown_value;
  std::vector<ValueIndex> numbers;
  if (list.type == Value::Type::list) {
    numbers.assign(items(list).begin(), items(list).end());
  } else if (list.type == Value::Type::text && list.bytes) {
    for (char c : list.text) numbers.push_back(make_number(static_cast<unsigned char>(c)));
  } else {
    return unknown_value;
  }
  for (ValueIndex& one : numbers) {
    const Value& code = value(one);
    if (code.type != Value::Type::number || code.number < 0 || code.number >= 0x110000) return unknown_value;
    std::string text;
    utf8::append(text, static_cast<char32_t>(code.number));
    one = make_text(std::move(text));
  }
  return make_items(Value::Type::list, numbers);
}

// getattr(object, name): every object that it may be, with every name.
ValueIndex Evaluator::get_attribute(const Arguments& arguments, std::uint32_t start) {
  using Type = Value::Type;
  std::vector<ValueIndex> results;
  for (ValueIndex object : alternatives(argument(arguments, 0))) {
    for (ValueIndex key : alternatives(argument(arguments, 1))) {
      bool known = is_text(key);
      const Value from = value(object);
      bool sensitive = from.type == Type::path || from.type == Type::module || from.type == Type::names;
      if (!known && sensitive && reporting_ && arguments.positional.size() >= 2) {
        report_.add(RuleId::dynamic_attribute, start, "an attribute of a module by a computed name");
      }
      if (known) results.push_back(attribute_of(object, names_.intern(value(key).text), start));
    }
  }
  return choices(results);
}

// bytes([104, 105])
ValueIndex Evaluator::bytes_of(const Value& list) {
  std::string text;
  for (ValueIndex one : items(list)) {
    if (value(one).type != Value::Type::number || value(one).number < 0 || value(one).number > 255)
      return unknown_value;
    text += static_cast<char>(value(one).number);
  }
  return make_text(std::move(text), false, false, true);
}

// String.fromCharCode(104, 105)
ValueIndex Evaluator::text_of_codes(const Arguments& arguments) {
  std::string text;
  for (NodeIndex argument_at : arguments.positional) {
    const Value& one = value(value_of(argument_at));
    std::vector<ValueIndex> codes{value_of(argument_at)};
    if (one.type == Value::Type::list) codes.assign(items(one).begin(), items(one).end());
    for (ValueIndex code : codes) {
      if (value(code).type != Value::Type::number || value(code).number < 0 || value(code).number >= 0x110000)
        return unknown_value;
      utf8::append(text, static_cast<char32_t>(value(code).number));
    }
  }
  return make_text(std::move(text));
}

// Buffer.from(given, encoding); `first` is the index of `given`.
ValueIndex Evaluator::buffer_from(const Value& given, ValueIndex first,
                                  std::optional<std::string_view> encoding) {
  using Type = Value::Type;
  if (given.type == Type::list) {
    std::string text;
    for (ValueIndex one : items(given)) {
      if (value(one).type != Type::number) return unknown_value;
      text += static_cast<char>(value(one).number);
    }
    return make({.type = Type::buffer, .text = keep(std::move(text))});
  }
  if (given.type != Type::text)
    return encoding ? make({.type = Type::unknown, .decoded = true, .remote = given.remote}) : unknown_value;
  ValueIndex decoded = encoding ? decode_by_name(given.text, *encoding, given) : first;
  const Value contents = value(decoded);
  if (contents.type != Type::text) return decoded;
  return make(
      {.type = Type::buffer, .decoded = contents.decoded, .remote = contents.remote, .text = contents.text});
}

ValueIndex Evaluator::call_model(Model model, PathTrie::State state, const Arguments& arguments,
                                 const Node& node) {
  ValueIndex first = argument(arguments, 0);
  const Value given = value(first);
  using Type = Value::Type;
  switch (model) {
    case Model::none:
    case Model::internal:
    case Model::builtins:
    case Model::module_table: return unknown_value;
    case Model::import_function: return call_import(arguments, node.start);
    case Model::get_attribute: return get_attribute(arguments, node.start);
    case Model::attribute_getter:
      if (given.type != Type::text) return unknown_value;
      return make({.type = Type::getter, .text = given.text});
    case Model::name_space:
      // vars(module) is the module's own names.
      if (given.type == Type::path || given.type == Type::module) return first;
      return make({.type = Type::names});
    case Model::partial: return first;
    case Model::run_code:
      run_code(argument(arguments,
                        arguments.positional.empty()       ? 0
                        : paths_.name(state) == "Function" ? arguments.positional.size() - 1
                                                           : 0,
                        "source"),
               node.start, language_);
      return tainted(given);
    case Model::function_type:
      if (!arguments.positional.empty())
        run_code(value_of(arguments.positional.back()), node.start, language_);
      return unknown_value;
    case Model::run_code_callback:
      if (given.type == Type::text || given.decoded || given.remote) {
        if (reporting_)
          report_.add(RuleId::dynamic_code, node.start,
                      fmt::format("{} is given text to run", paths_.name(state)));
        run_code(first, node.start, language_);
      }
      return unknown_value;
    case Model::run_shell: run_code(first, node.start, Language::shell); return unknown_value;
    case Model::run_process: run_process(arguments, node.start); return unknown_value;
    case Model::run_exec: run_exec(arguments, node.start); return unknown_value;
    case Model::run_magic: run_magic(arguments, node.start); return unknown_value;
    case Model::run_cell:
      if (auto text = text_of(first); text && reporting_) run_cell(*text, node.start);
      return unknown_value;
    case Model::itself: return make_path(state);
    case Model::load_code: return make({.type = Type::unknown, .decoded = true});
    case Model::chr: {
      if (given.type != Type::number || given.number < 0 || given.number >= 0x110000) return unknown_value;
      std::string text;
      utf8::append(text, static_cast<char32_t>(given.number));
      return make_text(std::move(text));
    }
    case Model::base64:
    case Model::hex:
    case Model::base32:
    case Model::base85:
    case Model::decompress:
    case Model::bytes_from_hex:
    case Model::unescape: return decode(model, arguments);
    case Model::codecs_decode: {
      auto encoding = text_of(argument(arguments, 1, "encoding"));
      if (given.type == Type::text) return encoding ? decode_by_name(given.text, *encoding, given) : first;
      return encoding ? make({.type = Type::unknown, .decoded = true, .remote = given.remote})
                      : unknown_value;
    }
    case Model::make_bytes: return given.type == Type::list ? bytes_of(given) : first;
    case Model::make_text:
      if (given.type == Type::number) return make_text(std::to_string(given.number));
      return first;
    case Model::from_char_codes: return text_of_codes(arguments);
    case Model::buffer_from: return buffer_from(given, first, text_of(argument(arguments, 1)));
    case Model::reversed:
      if (given.type == Type::text) return make_text(reverse_text(given.text), given.decoded, given.remote);
      if (given.type == Type::list) {
        std::vector<ValueIndex> all(items(given).begin(), items(given).end());
        std::ranges::reverse(all);
        return make_items(Type::list, all);
      }
      return unknown_value;
    case Model::map: return map_value(arguments);
    case Model::format_join: {
      auto separator = text_of(first);
      return separator ? join_items(*separator, argument(arguments, 1)) : unknown_value;
    }
    case Model::make_list: return first;
    case Model::remote: return make({.type = Type::unknown, .remote = true});
  }
  return unknown_value;
}

}  // namespace atl::policy
