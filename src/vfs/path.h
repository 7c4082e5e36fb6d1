#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace atl::vfs {

inline constexpr std::size_t kNameBytesMax = 255;
inline constexpr std::size_t kPathBytesMax = 4096;

// An absolute, normalised path of a virtual filesystem: a leading slash, no trailing one (except the root),
// no empty, "." or ".." component. Validated once, here; everything below takes a Path.
//
// Names are bytes. Any byte but '/' and NUL may stand in one; text that is not UTF-8 is legal, as on Linux,
// and who writes JSON escapes it. Names over 255 bytes and paths over 4096 are Code::too_large, a NUL is
// Code::invalid_argument.
//
// ".." is resolved by the text alone, never above the root. Where the way leads through a symbolic link that
// is not what a kernel does: resolve() of file_system.h is.
class Path {
 public:
  // The root.
  Path() : text_("/") {}

  // The door for callers with paths of any dialect: backslashes become slashes. Relative text counts from the
  // root.
  static Result<Path> parse(std::string_view text);
  // The same, but a backslash is a byte of a name like any other. What the shell uses.
  static Result<Path> posix(std::string_view text);

  // `text` (POSIX) seen from here: absolute text stands for itself.
  Result<Path> join(std::string_view text) const;
  // One more component. `name` must be a valid one: not empty, ".", ".." and without '/' or NUL.
  Result<Path> child(std::string_view name) const;

  const std::string& str() const { return text_; }
  const char* c_str() const { return text_.c_str(); }
  operator std::string_view() const { return text_; }

  bool is_root() const { return text_.size() == 1; }
  // The root is its own parent.
  Path parent() const;
  // Empty for the root.
  std::string_view name() const;
  // With the dot: ".gz" of "a.tar.gz". Empty for none; a leading dot begins a name, not an extension.
  std::string_view extension() const;
  std::string_view stem() const;

  // True for any depth; a path is not a child of itself.
  bool is_child_of(const Path& ancestor) const;
  bool is_same_or_child_of(const Path& ancestor) const;
  std::size_t depth() const;  // components; 0 for the root
  // This path without the leading `ancestor`, with a leading slash: "/b" for "/a/b" under "/a", "/" for
  // itself. The caller made sure that is_same_or_child_of(ancestor).
  Path relative_to(const Path& ancestor) const;
  // This path moved below `top`: top + this.
  Result<Path> below(const Path& top) const;

  auto operator<=>(const Path&) const = default;
  bool operator==(const Path&) const = default;

 private:
  friend class PathBuilder;
  explicit Path(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

// Code::invalid_argument or too_large if `name` cannot be one component.
Result<void> check_name(std::string_view name);

// Takes the next component off the front of `rest` (which has or lacks leading slashes). Empty at the end.
inline std::string_view next_component(std::string_view& rest) {
  std::size_t begin = 0;
  while (begin < rest.size() && rest[begin] == '/') ++begin;
  std::size_t end = begin;
  while (end < rest.size() && rest[end] != '/') ++end;
  auto component = rest.substr(begin, end - begin);
  rest.remove_prefix(end);
  return component;
}

}  // namespace atl::vfs

template <>
struct std::hash<atl::vfs::Path> {
  std::size_t operator()(const atl::vfs::Path& path) const noexcept {
    return std::hash<std::string_view>{}(path.str());
  }
};
