#include <algorithm>

#include "shell/pattern.h"
#include "shell/runner.h"

namespace atl::shell {

namespace {

// Walks the components of a pattern through the filesystem.
class Globber {
 public:
  Globber(ShellRunner& shell, std::vector<std::string> components, bool directories_only)
      : shell_(shell), components_(std::move(components)), directories_only_(directories_only) {}

  void run(const std::string& shown, const vfs::Path& at) { walk(shown, at, 0); }
  std::vector<std::string> found;

 private:
  void count() {
    if (++looked_ > shell_.machine().limits.glob_entries) shell_.machine().stop_limit(Limit::glob_entries);
    shell_.machine().charge(4);
  }
  static std::string joined(const std::string& shown, std::string_view name) {
    if (shown.empty() || shown.back() == '/') return shown + std::string(name);
    return shown + "/" + std::string(name);
  }

  void walk(const std::string& shown, const vfs::Path& at, std::size_t index) {
    count();
    if (index == components_.size()) {
      found.push_back(directories_only_ ? shown + "/" : shown);
      return;
    }
    const std::string& component = components_[index];
    bool last = index + 1 == components_.size();
    // Without globstar ** is *.
    if (component == "**" && shell_.option(Shopt::globstar)) return star_star(shown, at, index, 0);
    if (!has_glob(component, shell_.option(Shopt::extglob))) {
      std::string name = unquote_pattern(component);
      auto next = name == "." ? Result<vfs::Path>(at) : vfs::resolve(shell_.machine().fs, at, name);
      if (!next) return;
      // The last component may be a dangling link, which exists as a name; all others must lead to a
      // directory.
      auto stat =
          shell_.machine().fs.find(*next, last && !directories_only_ ? vfs::Follow::no : vfs::Follow::yes);
      if (!stat || ((!last || directories_only_) && !stat->is_directory())) return;
      return walk(joined(shown, name), *next, index + 1);
    }
    auto listing = shell_.machine().fs.list(at);
    if (!listing) return;
    Pattern pattern(component, {.extglob = shell_.option(Shopt::extglob),
                                .ignore_case = shell_.option(Shopt::nocaseglob)});
    bool dot_pattern = component[0] == '.' || component.starts_with("\\.");
    bool dots = shell_.option(Shopt::dotglob) || dot_pattern || dot_group(component);
    // Listings do not contain . and ..; bash before 5.2 let `.*` match them.
    if (!shell_.option(Shopt::globskipdots) && dot_pattern) {
      for (std::string_view name : {".", ".."})
        if (pattern.matches(name) && last) found.push_back(joined(shown, name));
    }
    for (auto entry : *listing) {
      count();
      if (entry.name[0] == '.' && !dots) continue;
      if (!pattern.matches(entry.name)) continue;
      auto next = at.child(entry.name);
      if (!next) continue;
      if (!last || directories_only_) {
        if (entry.type != vfs::Type::directory) {
          if (entry.type != vfs::Type::symlink) continue;
          auto stat = shell_.machine().fs.find(*next);
          if (!stat || !stat->is_directory()) continue;
        }
      }
      walk(joined(shown, entry.name), *next, index + 1);
    }
  }

  // @(.x|y): an alternative that begins with a dot matches hidden names.
  static bool dot_group(const std::string& component) {
    std::size_t open = component.find('(');
    if (open == std::string::npos || open != 1) return false;
    return component.compare(open + 1, 1, ".") == 0 || component.find("|.") != std::string::npos;
  }

  void star_star(const std::string& shown, const vfs::Path& at, std::size_t index, int depth) {
    std::size_t rest = index;
    while (rest + 1 < components_.size() && components_[rest + 1] == "**") ++rest;
    bool last = rest + 1 == components_.size();
    if (last) {
      if (!shown.empty() && depth > 0)
        found.push_back(directories_only_ ? shown + "/" : shown);
      else if (!shown.empty() && depth == 0)
        found.push_back(shown.back() == '/' ? shown : shown + "/");
    } else {
      walk(shown, at, rest + 1);
    }
    auto listing = shell_.machine().fs.list(at);
    // Links are not followed by **, so that it ends even where they go in circles.
    if (!listing || depth > 200) return;
    for (auto entry : *listing) {
      count();
      if (entry.name[0] == '.' && !shell_.option(Shopt::dotglob)) continue;
      auto next = at.child(entry.name);
      if (!next) continue;
      if (entry.type == vfs::Type::directory) {
        star_star(joined(shown, entry.name), *next, index, depth + 1);
      } else if (last && !directories_only_) {
        found.push_back(joined(shown, entry.name));
      }
    }
  }

  ShellRunner& shell_;
  std::vector<std::string> components_;
  bool directories_only_;
  std::uint64_t looked_ = 0;
};

// Splits at unquoted slashes that are not inside brackets or groups.
std::vector<std::string> split_components(const std::string& pattern, bool extglob) {
  std::vector<std::string> out(1);
  int groups = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      // A quoted slash separates, too: no name contains one.
      if (pattern[i + 1] == '/') {
        ++i;
        out.emplace_back();
        continue;
      }
      out.back() += c;
      out.back() += pattern[++i];
      continue;
    }
    if (extglob && c == '(' && i > 0 &&
        std::string_view("?*+@!").find(pattern[i - 1]) != std::string_view::npos)
      ++groups;
    if (groups && c == ')') --groups;
    if (c == '/' && groups == 0) {
      out.emplace_back();
      continue;
    }
    out.back() += c;
  }
  return out;
}

}  // namespace

std::vector<std::string> Expander::glob(const std::string& pattern, bool& matched) {
  std::vector<std::string> components = split_components(pattern, shell_.option(Shopt::extglob));
  std::string shown;
  vfs::Path at = shell_.descriptors().cwd();
  if (components[0].empty() && components.size() > 1) {
    at = vfs::Path();
    std::size_t slashes = 0;
    // //usr/* prints as many slashes as were written.
    while (components.size() > 1 && components[0].empty()) components.erase(components.begin()), ++slashes;
    shown = std::string(slashes, '/');
  }
  bool directories = false;
  while (components.size() > 1 && components.back().empty()) components.pop_back(), directories = true;
  std::erase_if(components, [](const std::string& c) { return c.empty(); });
  Globber globber(shell_, components, directories);
  globber.run(shown, at);
  std::sort(globber.found.begin(), globber.found.end());
  // a/**/**/b reaches the same name in several ways.
  globber.found.erase(std::unique(globber.found.begin(), globber.found.end()), globber.found.end());
  std::string ignore = shell_.variables().get_or_empty("GLOBIGNORE");
  if (!ignore.empty()) {
    std::vector<Pattern> patterns;
    for (std::size_t from = 0; from <= ignore.size();) {
      std::size_t colon = ignore.find(':', from);
      // A colon inside brackets ([[:alpha:]]) does not separate.
      while (colon != std::string::npos && colon > from && ignore[colon - 1] == '[') {
        std::size_t close = ignore.find(":]", colon + 1);
        if (close == std::string::npos) break;
        colon = ignore.find(':', close + 2);
      }
      std::string one = ignore.substr(from, colon == std::string::npos ? colon : colon - from);
      if (!one.empty()) patterns.emplace_back(one, Pattern::Flags{.extglob = shell_.option(Shopt::extglob)});
      if (colon == std::string::npos) break;
      from = colon + 1;
    }
    std::erase_if(globber.found, [&](const std::string& name) {
      std::string_view base = name;
      if (auto slash = base.rfind('/'); slash != std::string_view::npos) base.remove_prefix(slash + 1);
      // A GLOBIGNORE that is set hides these two always.
      if (base == "." || base == "..") return true;
      return std::any_of(patterns.begin(), patterns.end(), [&](const Pattern& p) { return p.matches(name); });
    });
  }
  matched = !globber.found.empty();
  return std::move(globber.found);
}

}  // namespace atl::shell
