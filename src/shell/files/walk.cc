#include "shell/files/walk.h"

#include <algorithm>

namespace atl::shell {

std::string join_shown(std::string_view directory, std::string_view name) {
  std::string out(directory);
  if (!out.ends_with('/')) out += '/';
  out += name;
  return out;
}

bool walk(Invocation& call, const std::string& shown, bool follow_links,
          const std::function<Step(const Visit&)>& each,
          const std::function<void(const std::string&, const Error&)>& failed) {
  auto path = call.resolve(shown);
  if (!path) {
    failed(shown, path.error());
    return true;
  }
  auto stat = call.fs().stat(*path, vfs::Follow::yes);
  if (!stat) stat = call.fs().stat(*path, vfs::Follow::no);
  if (!stat) {
    failed(shown, stat.error());
    return true;
  }
  struct Level {
    std::string shown;
    vfs::Path path;
    vfs::Listing listing;
    std::size_t next = 0;
  };
  std::vector<Level> levels;
  std::vector<std::uint64_t> inodes;
  auto enter = [&](const Visit& visit) {
    auto listing = call.fs().list(visit.path);
    if (!listing) {
      failed(visit.shown, listing.error());
      return;
    }
    levels.push_back({visit.shown, visit.path, std::move(*listing), 0});
  };
  Visit top{shown, *path, stat->type, 0};
  Step step = each(top);
  if (step == Step::stop) return false;
  if (step == Step::into && stat->type == vfs::Type::directory) {
    enter(top);
    inodes.push_back(stat->inode);
  }
  while (!levels.empty()) {
    Level& level = levels.back();
    if (level.next >= level.listing.size()) {
      levels.pop_back();
      inodes.pop_back();
      continue;
    }
    call.charge(1);
    auto entry = level.listing[level.next++];
    auto child = level.path.child(entry.name);
    if (!child) {
      failed(join_shown(level.shown, entry.name), child.error());
      continue;
    }
    Visit visit{join_shown(level.shown, entry.name), std::move(*child), entry.type,
                static_cast<int>(levels.size())};
    std::uint64_t inode = entry.inode;
    if (follow_links && entry.type == vfs::Type::symlink) {
      if (auto target = call.fs().find(visit.path, vfs::Follow::yes)) {
        visit.type = target->type;
        inode = target->inode;
      }
    }
    step = each(visit);
    if (step == Step::stop) return false;
    if (step == Step::into && visit.type == vfs::Type::directory) {
      // Links can lead back up.
      if (follow_links && std::find(inodes.begin(), inodes.end(), inode) != inodes.end()) continue;
      std::size_t before = levels.size();
      enter(visit);
      if (levels.size() > before) inodes.push_back(inode);
    }
  }
  return true;
}

namespace {

char folded(char c, bool ignore_case) {
  return ignore_case ? static_cast<char>(tolower(static_cast<unsigned char>(c))) : c;
}

// Matches a bracket expression at pattern[at] == '['. Returns its end, or npos if it is none.
std::size_t match_bracket(std::string_view pattern, std::size_t at, char c, bool ignore_case, bool& matched) {
  std::size_t i = at + 1;
  bool negate = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negate) ++i;
  bool found = false;
  bool first = true;
  c = folded(c, ignore_case);
  while (i < pattern.size() && (pattern[i] != ']' || first)) {
    first = false;
    if (pattern.substr(i).starts_with("[:")) {
      std::size_t close = pattern.find(":]", i + 2);
      if (close != std::string_view::npos) {
        std::string_view name = pattern.substr(i + 2, close - i - 2);
        unsigned char u = static_cast<unsigned char>(c);
        if ((name == "alpha" && isalpha(u)) || (name == "digit" && isdigit(u)) ||
            (name == "alnum" && isalnum(u)) || (name == "upper" && isupper(u)) ||
            (name == "lower" && islower(u)) || (name == "space" && isspace(u)) ||
            (name == "blank" && (u == ' ' || u == '\t')) || (name == "punct" && ispunct(u)) ||
            (name == "xdigit" && isxdigit(u)) || (name == "print" && isprint(u)) ||
            (name == "graph" && isgraph(u)) || (name == "cntrl" && iscntrl(u)))
          found = true;
        i = close + 2;
        continue;
      }
    }
    char low = pattern[i];
    if (low == '\\' && i + 1 < pattern.size()) low = pattern[++i];
    ++i;
    char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      high = pattern[i + 1];
      i += 2;
      if (high == '\\' && i < pattern.size()) high = pattern[i++];
    }
    low = folded(low, ignore_case);
    high = folded(high, ignore_case);
    if (static_cast<unsigned char>(c) >= static_cast<unsigned char>(low) &&
        static_cast<unsigned char>(c) <= static_cast<unsigned char>(high))
      found = true;
  }
  if (i >= pattern.size()) return std::string_view::npos;
  matched = found != negate;
  return i + 1;
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text, bool ignore_case, bool path,
                bool leading_period) {
  // One place to go back to suffices: a later star never needs what an earlier one could still try.
  std::size_t p = 0, t = 0;
  std::size_t star_p = std::string_view::npos, star_t = 0;
  if (leading_period && text.starts_with('.') && !pattern.starts_with('.') && !pattern.starts_with("\\."))
    return false;
  while (true) {
    bool ok = false;
    std::size_t next_p = p;
    if (p < pattern.size() && pattern[p] == '*') {
      star_p = p++;
      star_t = t;
      continue;
    }
    if (t == text.size()) {
      if (p == pattern.size()) return true;
      return false;
    }
    if (p < pattern.size()) {
      char c = pattern[p];
      if (c == '?') {
        ok = !(path && text[t] == '/');
        next_p = p + 1;
      } else if (c == '[') {
        bool matched = false;
        std::size_t end = match_bracket(pattern, p, text[t], ignore_case, matched);
        if (end == std::string_view::npos) {
          ok = text[t] == '[';
          next_p = p + 1;
        } else {
          ok = matched && !(path && text[t] == '/');
          next_p = end;
        }
      } else {
        if (c == '\\' && p + 1 < pattern.size()) c = pattern[++p];
        ok = folded(c, ignore_case) == folded(text[t], ignore_case);
        next_p = p + 1;
      }
    }
    if (ok) {
      p = next_p;
      ++t;
      // A multi-byte character counts as one for ? and brackets.
      if (p > 0 && (pattern[p - 1] == '?' || pattern[p - 1] == ']'))
        while (t < text.size() && (static_cast<unsigned char>(text[t]) & 0xC0) == 0x80) ++t;
      continue;
    }
    if (star_p == std::string_view::npos || (path && text[star_t] == '/')) return false;
    p = star_p + 1;
    t = ++star_t;
  }
}

}  // namespace atl::shell
