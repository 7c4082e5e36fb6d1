#include "shell/commands/patch/parse.h"

#include <fmt/format.h>

#include <cctype>
#include <cstdio>
#include <string_view>

namespace atl::shell::patch {

namespace {

// A name as diff writes it when it holds blanks or worse: what stands before the closing quote.
std::string quoted_name(std::string_view text) {
  std::string name;
  for (std::size_t i = 0; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] != '\\' || i + 1 >= text.size()) {
      name += text[i];
      continue;
    }
    char c = text[++i];
    if (c >= '0' && c <= '7') {
      int value = 0;
      for (int digits = 0; digits < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++digits, ++i)
        value = value * 8 + (text[i] - '0');
      --i;
      name += static_cast<char>(value);
    } else {
      name += c == 'n' ? '\n' : c == 't' ? '\t' : c;
    }
  }
  return name;
}

std::string header_name(std::string_view line) {
  line.remove_prefix(4);
  if (line.starts_with('"')) return quoted_name(line.substr(1));
  std::size_t end = line.find('\t');
  if (end == std::string_view::npos) end = line.find("  ");
  std::string name(line.substr(0, end));
  while (!name.empty() && isspace(static_cast<unsigned char>(name.back()))) name.pop_back();
  return name;
}

// Reads lines of one patch file; `at` is the next one.
class Reader {
 public:
  Reader(const std::vector<std::string>& lines, std::string& problem) : lines_(lines), problem_(problem) {}
  std::vector<FilePatch> read();

 private:
  bool more() const { return at_ < lines_.size(); }
  bool begins(std::size_t ahead, std::string_view text) const {
    return at_ + ahead < lines_.size() && lines_[at_ + ahead].starts_with(text);
  }
  void malformed() {
    problem_ = fmt::format("malformed patch at line {}: {}", at_ + 1, more() ? lines_[at_] : "");
  }
  void add(Hunk hunk) {
    if (out_.empty()) out_.push_back({});
    out_.back().hunks.push_back(std::move(hunk));
    hunks_end_ = at_;
  }
  // "\\ No newline at end of file" behind a line.
  void no_newline(Hunk& hunk) {
    if (!begins(0, "\\")) return;
    if (!hunk.lines.empty()) hunk.lines.back().newline = false;
    ++at_;
  }
  bool headers();
  void unified();
  void context();
  std::vector<Hunk::Line> context_side(std::size_t count);
  bool normal();
  bool normal_lines(Hunk& hunk, std::size_t count, std::string_view mark, char kind);

  const std::vector<std::string>& lines_;
  std::string& problem_;
  std::size_t at_ = 0;
  std::size_t hunks_end_ = 0;
  std::vector<FilePatch> out_;
};

bool Reader::headers() {
  bool unified = begins(0, "--- ") && begins(1, "+++ ");
  bool context = begins(0, "*** ") && begins(1, "--- ") && begins(2, "***************");
  if (!unified && !context) return false;
  FilePatch file{header_name(lines_[at_]), header_name(lines_[at_ + 1]), {}, {}, at_ + 3};
  at_ += 2;
  file.leading.assign(lines_.begin() + static_cast<std::ptrdiff_t>(hunks_end_),
                      lines_.begin() + static_cast<std::ptrdiff_t>(at_));
  out_.push_back(std::move(file));
  return true;
}

void Reader::unified() {
  unsigned long a = 0, an = 1, b = 0, bn = 1;
  const char* text = lines_[at_].c_str();
  bool good = sscanf(text, "@@ -%lu,%lu +%lu,%lu @@", &a, &an, &b, &bn) == 4 ||
              (bn = 1, sscanf(text, "@@ -%lu,%lu +%lu @@", &a, &an, &b) == 3) ||
              (an = 1, sscanf(text, "@@ -%lu +%lu,%lu @@", &a, &b, &bn) == 3) ||
              (bn = 1, sscanf(text, "@@ -%lu +%lu @@", &a, &b) == 2);
  if (!good) return malformed();
  Hunk hunk;
  hunk.old_start = a;
  hunk.new_start = b;
  hunk.header = lines_[at_++];
  while ((an || bn) && more()) {
    const std::string& line = lines_[at_];
    char kind = line.empty() || line[0] == '\t' ? ' ' : line[0];
    if (kind == '\\') {
      no_newline(hunk);
      continue;
    }
    if (kind != ' ' && kind != '-' && kind != '+') return malformed();
    hunk.lines.push_back({kind, line.empty() || line[0] == '\t' ? line : line.substr(1), true});
    if (kind != '+' && an) --an;
    if (kind != '-' && bn) --bn;
    ++at_;
  }
  if (an || bn) {
    problem_ = "unexpected end of file in patch";
    return;
  }
  no_newline(hunk);
  add(std::move(hunk));
}

// The lines of one half of a context hunk; none where it is left out because the other half says all.
std::vector<Hunk::Line> Reader::context_side(std::size_t count) {
  Hunk half;
  while (more() && half.lines.size() < count) {
    const std::string& line = lines_[at_];
    if (line.size() < 2 || line[1] != ' ' || std::string_view(" -+!").find(line[0]) == std::string_view::npos)
      break;
    half.lines.push_back({line[0], line.substr(2), true});
    ++at_;
    no_newline(half);
  }
  return half.lines;
}

void Reader::context() {
  Hunk hunk;
  hunk.header = lines_[at_++];
  unsigned long a = 0, a_end = 0, b = 0, b_end = 0;
  auto range = [&](const char* one, const char* two, unsigned long& from, unsigned long& to) {
    const char* text = more() ? lines_[at_].c_str() : "";
    if (sscanf(text, two, &from, &to) == 2) return true;
    bool single = sscanf(text, one, &from) == 1;
    to = from;
    return single;
  };
  if (!range("*** %lu ****", "*** %lu,%lu ****", a, a_end)) return malformed();
  ++at_;
  auto old_side = context_side(a_end + 1 - a);
  if (!range("--- %lu ----", "--- %lu,%lu ----", b, b_end)) return malformed();
  ++at_;
  auto new_side = context_side(b_end + 1 - b);
  hunk.old_start = a;
  hunk.new_start = b;
  std::size_t i = 0, k = 0;
  while (i < old_side.size() || k < new_side.size()) {
    bool removed = i < old_side.size() && old_side[i].kind != ' ';
    bool added = k < new_side.size() && new_side[k].kind != ' ';
    if (removed) {
      hunk.lines.push_back({'-', old_side[i].text, old_side[i].newline});
      ++i;
    } else if (added) {
      hunk.lines.push_back({'+', new_side[k].text, new_side[k].newline});
      ++k;
    } else {
      hunk.lines.push_back(i < old_side.size() ? old_side[i] : new_side[k]);
      if (i < old_side.size()) ++i;
      if (k < new_side.size()) ++k;
    }
  }
  add(std::move(hunk));
}

bool Reader::normal_lines(Hunk& hunk, std::size_t count, std::string_view mark, char kind) {
  for (std::size_t n = 0; n < count; ++n) {
    if (!begins(0, mark)) return false;
    hunk.lines.push_back({kind, lines_[at_].substr(mark.size()), true});
    ++at_;
    no_newline(hunk);
  }
  return true;
}

// "3c3", "5,7d4", "0a1,2". False if the line is none of these.
bool Reader::normal() {
  const std::string& line = lines_[at_];
  std::size_t op = line.find_first_not_of("0123456789,");
  if (op == std::string::npos || op == 0 || std::string_view("acd").find(line[op]) == std::string_view::npos)
    return false;
  auto range = [](const std::string& text, unsigned long& from, unsigned long& to) {
    int used = 0;
    if (sscanf(text.c_str(), "%lu,%lu%n", &from, &to, &used) != 2) {
      if (sscanf(text.c_str(), "%lu%n", &from, &used) != 1) return false;
      to = from;
    }
    return static_cast<std::size_t>(used) == text.size() && to >= from;
  };
  unsigned long a = 0, a_end = 0, b = 0, b_end = 0;
  if (!range(line.substr(0, op), a, a_end) || !range(line.substr(op + 1), b, b_end)) return false;
  char kind = line[op];
  Hunk hunk;
  hunk.header = line;
  hunk.old_start = a;
  hunk.new_start = b;
  ++at_;
  bool good = kind == 'a' || normal_lines(hunk, a_end + 1 - a, "< ", '-');
  if (good && kind == 'c') {
    good = begins(0, "---");
    ++at_;
  }
  good = good && (kind == 'd' || normal_lines(hunk, b_end + 1 - b, "> ", '+'));
  if (!good)
    malformed();
  else
    add(std::move(hunk));
  return true;
}

std::vector<FilePatch> Reader::read() {
  while (more() && problem_.empty()) {
    if (headers()) continue;
    if (begins(0, "@@ -"))
      unified();
    else if (begins(0, "***************"))
      context();
    else if (!normal())
      ++at_;
  }
  return std::move(out_);
}

}  // namespace

std::vector<FilePatch> parse(const std::vector<std::string>& lines, std::string& problem) {
  return Reader(lines, problem).read();
}

}  // namespace atl::shell::patch
