#include "vfs/path.h"

#include <fmt/format.h>

namespace atl::vfs {

// Takes components one by one and keeps the text normal all the time.
class PathBuilder {
 public:
  explicit PathBuilder(std::string start) : text_(std::move(start)) {}

  Result<void> add_all(std::string_view text) {
    while (true) {
      auto component = next_component(text);
      if (component.empty()) return {};
      if (component == ".") continue;
      if (component == "..") {
        pop();
        continue;
      }
      TRY(add(component));
    }
  }

  Result<void> add(std::string_view name) {
    if (name.size() > kNameBytesMax)
      return fail(Code::too_large,
                  fmt::format("file name too long: {} bytes, at most {}", name.size(), kNameBytesMax));
    if (name.find('\0') != std::string_view::npos)
      return fail(Code::invalid_argument, "a path must not contain a NUL byte");
    if (text_.size() > 1) text_ += '/';
    text_ += name;
    return {};
  }

  Result<Path> finish() && {
    if (text_.size() > kPathBytesMax)
      return fail(Code::too_large,
                  fmt::format("path too long: {} bytes, at most {}", text_.size(), kPathBytesMax));
    return Path(std::move(text_));
  }

  static Path make(std::string text) { return Path(std::move(text)); }

 private:
  void pop() {
    auto slash = text_.rfind('/');
    text_.resize(slash == 0 ? 1 : slash);
  }
  std::string text_;
};

namespace {

// "x/../" can be repeated without making the path longer, so the text itself has a bound.
constexpr std::size_t kTextBytesMax = 16 * kPathBytesMax;

Result<Path> build(std::string start, std::string_view text) {
  if (text.size() > kTextBytesMax)
    return fail(Code::too_large,
                fmt::format("path too long: {} bytes, at most {}", text.size(), kPathBytesMax));
  PathBuilder builder(std::move(start));
  TRY(builder.add_all(text));
  return std::move(builder).finish();
}

}  // namespace

Result<Path> Path::parse(std::string_view text) {
  if (text.find('\\') == std::string_view::npos) return posix(text);
  std::string slashes(text);
  for (char& c : slashes)
    if (c == '\\') c = '/';
  return posix(slashes);
}

Result<Path> Path::posix(std::string_view text) {
  return build("/", text);
}

Result<Path> Path::join(std::string_view text) const {
  return build(text.starts_with('/') ? std::string("/") : text_, text);
}

Result<Path> Path::child(std::string_view name) const {
  TRY(check_name(name));
  PathBuilder builder(text_);
  TRY(builder.add(name));
  return std::move(builder).finish();
}

Path Path::parent() const {
  auto slash = text_.rfind('/');
  return slash == 0 ? Path() : Path(text_.substr(0, slash));
}

std::string_view Path::name() const {
  return std::string_view(text_).substr(text_.rfind('/') + 1);
}

std::string_view Path::extension() const {
  auto base = name();
  auto dot = base.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string_view() : base.substr(dot);
}

std::string_view Path::stem() const {
  auto base = name();
  base.remove_suffix(extension().size());
  return base;
}

bool Path::is_child_of(const Path& ancestor) const {
  return text_.size() > ancestor.text_.size() && is_same_or_child_of(ancestor);
}

bool Path::is_same_or_child_of(const Path& ancestor) const {
  if (ancestor.is_root()) return true;
  return text_.starts_with(ancestor.text_) &&
         (text_.size() == ancestor.text_.size() || text_[ancestor.text_.size()] == '/');
}

std::size_t Path::depth() const {
  if (is_root()) return 0;
  std::size_t count = 0;
  for (char c : text_) count += c == '/' ? 1 : 0;
  return count;
}

Path Path::relative_to(const Path& ancestor) const {
  if (ancestor.is_root()) return *this;
  auto rest = text_.substr(ancestor.text_.size());
  return rest.empty() ? Path() : Path(std::move(rest));
}

Result<Path> Path::below(const Path& top) const {
  if (is_root()) return top;
  if (top.is_root()) return *this;
  return build(top.text_, text_);
}

Result<void> check_name(std::string_view name) {
  if (name.empty() || name == "." || name == "..")
    return fail(Code::invalid_argument, fmt::format("\"{}\" cannot be a file name", name));
  if (name.find('/') != std::string_view::npos || name.find('\0') != std::string_view::npos)
    return fail(Code::invalid_argument, "a file name must not contain '/' or NUL");
  if (name.size() > kNameBytesMax)
    return fail(Code::too_large,
                fmt::format("file name too long: {} bytes, at most {}", name.size(), kNameBytesMax));
  return {};
}

}  // namespace atl::vfs
