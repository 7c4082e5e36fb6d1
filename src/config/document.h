#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// YAML documents that remember where everything stands, so that a complaint names file, line and column.
// The only place that knows the YAML library; it throws, we do not.
namespace atl::config {

// Counted from 1. Zero: unknown.
struct Position {
  int line = 0;
  int column = 0;
};

enum class Kind : std::uint8_t { null, scalar, sequence, map };

struct Member;

// A value and its place. A plain value type: copying copies the subtree; it outlives its Document.
// Every reading function fails with Code::invalid_argument and a message "file:line:column: ...".
class Node {
 public:
  Node() = default;

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_scalar() const { return kind_ == Kind::scalar; }
  bool is_sequence() const { return kind_ == Kind::sequence; }
  bool is_map() const { return kind_ == Kind::map; }
  // True for a scalar in quotes: such a scalar is text and never a number, a boolean or null.
  bool is_quoted() const { return quoted_; }

  Position position() const { return position_; }
  // "environments/base.yaml:3:7"
  std::string where() const;
  // An error at this place: where() + ": " + message.
  Error error(std::string_view message) const;

  // The text of a scalar, as written; empty for anything else.
  const std::string& text() const { return text_; }
  const std::vector<Node>& items() const { return items_; }        // of a sequence, else empty
  const std::vector<Member>& members() const { return members_; }  // of a map in written order, else empty
  // Null if this is no map or has no such key.
  const Node* find(std::string_view key) const;

  // T: std::string, bool, int, std::int64_t, std::uint32_t, std::uint64_t, double, std::vector<std::string>,
  // std::map<std::string, std::string>. A number does not become text silently lossy: `version: 1.10` as
  // std::string gives "1.10", what was written.
  template <class T>
  Result<T> as() const;
  // "512", "256M", "1.5G", "64KiB": bytes. K, M, G, T are powers of 1024, with or without "B"/"iB".
  Result<std::uint64_t> as_bytes() const;
  // "30s", "500ms", "5m", "2h", "1d": milliseconds. A number without a unit is refused.
  Result<std::int64_t> as_milliseconds() const;

  // The member `key` as T; nothing if the key is absent or null.
  template <class T>
  Result<std::optional<T>> get(std::string_view key) const;
  template <class T>
  Result<T> get_or(std::string_view key, T otherwise) const;
  // Absent or null is an error that names the key.
  template <class T>
  Result<T> require(std::string_view key) const;

  // This must be a map (null counts as an empty one) whose keys are all among `known`; the error stands at
  // the first unknown key and suggests the nearest known one.
  Result<void> check_keys(std::span<const std::string_view> known) const;
  Result<void> check_keys(std::initializer_list<std::string_view> known) const {
    return check_keys(std::span(known.begin(), known.size()));
  }
  Result<void> expect(Kind kind) const;

 private:
  friend class Builder;
  Kind kind_ = Kind::null;
  bool quoted_ = false;
  Position position_;
  std::shared_ptr<const std::string> file_;  // one name shared by all nodes of a document
  std::string text_;
  std::vector<Node> items_;
  std::vector<Member> members_;
};

// The types that as() knows; any other does not link.
template <>
Result<std::string> Node::as<std::string>() const;
template <>
Result<bool> Node::as<bool>() const;
template <>
Result<int> Node::as<int>() const;
template <>
Result<std::int64_t> Node::as<std::int64_t>() const;
template <>
Result<std::uint32_t> Node::as<std::uint32_t>() const;
template <>
Result<std::uint64_t> Node::as<std::uint64_t>() const;
template <>
Result<double> Node::as<double>() const;
template <>
Result<std::vector<std::string>> Node::as<std::vector<std::string>>() const;
template <>
Result<std::map<std::string, std::string>> Node::as<std::map<std::string, std::string>>() const;

struct Member {
  std::string key;
  Position position;  // of the key
  Node value;
};

struct Bounds {
  std::size_t max_bytes = 4U << 20;
  // Aliases expand, so these bound what a small hostile file can become: values, and bytes of text that stand
  // in it once and are wanted more often.
  std::size_t max_nodes = 200'000;
  std::size_t max_copied = 1U << 20;
};

// One parsed YAML document.
struct Document {
  std::string name;
  Node root;

  // `name` is how messages call the file. Refused: syntax errors, more than one document, duplicate keys,
  // keys that are not scalars, anything over `bounds`. Empty text gives a null root.
  static Result<Document> parse(std::string_view text, std::string name, const Bounds& bounds = {});
  // The same for a stream of documents, in their order; empty text gives none.
  static Result<std::vector<Document>> parse_all(std::string_view text, const std::string& name,
                                                 const Bounds& bounds = {});
  // Reads the file; its path becomes the name.
  static Result<Document> load(const std::string& path, const Bounds& bounds = {});
};

// " (did you mean 'memory'?)" for the nearest of `known` if one is near, else "".
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);
std::string_view to_string(Kind kind);

// The same readings for text from elsewhere (environment, flags). `what` names the value in the message.
Result<std::uint64_t> parse_bytes(std::string_view text);
Result<std::int64_t> parse_milliseconds(std::string_view text);
Result<bool> parse_bool(std::string_view text);

template <class T>
Result<std::optional<T>> Node::get(std::string_view key) const {
  const Node* node = find(key);
  if (node == nullptr || node->is_null()) return std::optional<T>();
  Result<T> value = node->as<T>();
  if (!value) return std::unexpected(std::move(value).error());
  return std::optional<T>(std::move(*value));
}

template <class T>
Result<T> Node::get_or(std::string_view key, T otherwise) const {
  const Node* node = find(key);
  if (node == nullptr || node->is_null()) return otherwise;
  return node->as<T>();
}

template <class T>
Result<T> Node::require(std::string_view key) const {
  const Node* node = find(key);
  if (node == nullptr || node->is_null()) {
    return std::unexpected(error("missing key '" + std::string(key) + "'"));
  }
  return node->as<T>();
}

}  // namespace atl::config
