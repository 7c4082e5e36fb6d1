#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atl::shell::arith {

// What an expression may ask for. Implementations throw what they like; evaluate lets it pass.
class Scope {
 public:
  virtual ~Scope() = default;
  // The text of a variable or array element; an empty text counts as 0. `subscript` null: a plain name.
  virtual std::string get(const std::string& name, const std::string* subscript) = 0;
  // The quick form of get for a plain variable that holds a plain number; nothing otherwise.
  virtual std::optional<std::int64_t> number(const std::string& /*name*/) const { return std::nullopt; }
  virtual void set(const std::string& name, const std::string* subscript, std::int64_t value) = 0;
  // Whether name is an associative array: then the subscript is a key, not an expression.
  virtual bool is_assoc(const std::string& name) = 0;
  // Expands a subscript's text ($x, quotes) to a key.
  virtual std::string expand_key(const std::string& text) = 0;
  virtual bool stack_low() const { return false; }
};

// Thrown for a malformed expression and for division by zero; `message` in bash's words, without the prefix.
struct Error {
  std::string message;
};

// What a node of an expression is.
enum class Kind : std::uint8_t { number, variable, unary, binary, ternary, assign, pre, post, comma };

// A parsed expression. Nobody changes it after parsing.
struct Node {
  Kind kind;
  int op = 0;
  std::int64_t number = 0;
  std::string name;
  bool has_subscript = false;
  std::string subscript;
  std::unique_ptr<Node> a, b, c;
  std::shared_ptr<const Node> index;  // the subscript as an expression, parsed
  std::string rest;                   // for messages: the text from this token on
};

// An empty expression is 0.
std::shared_ptr<const Node> parse(std::string_view text);
std::int64_t evaluate(const Node& node, Scope& scope);
// parse and evaluate; quick for plain numbers.
std::int64_t evaluate_text(std::string_view text, Scope& scope);
// A plain decimal number; nothing else.
std::optional<std::int64_t> plain_number(std::string_view text);

}  // namespace atl::shell::arith
