#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/html/reader.h"
#include "shell/text/sink.h"

namespace atl::shell::md2text_program {

namespace {

bool is_word(char c) {
  return isalnum(static_cast<unsigned char>(c)) || (c & 0x80);
}

// The text of one line without its marks.
class Inline {
 public:
  Inline(std::string_view text, bool links) : text_(text), links_(links) {}

  std::string run() {
    while (at_ < text_.size()) one();
    return std::move(out_);
  }

 private:
  void one() {
    char c = text_[at_];
    if (c == '\\' && at_ + 1 < text_.size() && ispunct(static_cast<unsigned char>(text_[at_ + 1]))) {
      out_ += text_[at_ + 1];
      at_ += 2;
    } else if (c == '`') {
      code();
    } else if (c == '!' && at_ + 1 < text_.size() && text_[at_ + 1] == '[') {
      ++at_;
      if (!link(true)) out_ += '!';
    } else if (c == '[') {
      if (!link(false)) out_ += text_[at_++];
    } else if (c == '<') {
      angle();
    } else if (c == '&') {
      std::size_t end = std::min(text_.find(';', at_), text_.size());
      std::string_view entity = text_.substr(at_, std::min<std::size_t>(end + 1 - at_, 12));
      std::string decoded = html::decode_entities(entity);
      out_ += decoded == entity ? std::string("&") : decoded;
      at_ += decoded == entity ? 1 : entity.size();
    } else if (c == '*' || c == '_' || c == '~') {
      emphasis(c);
    } else {
      out_ += c;
      ++at_;
    }
  }
  // `code`, with as many back-ticks on both sides.
  void code() {
    std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] == '`') ++at_;
    std::string mark(text_.substr(from, at_ - from));
    std::size_t end = text_.find(mark, at_);
    if (end == std::string_view::npos) {
      out_ += mark;
      return;
    }
    std::string_view inner = text_.substr(at_, end - at_);
    out_ += inner;
    at_ = end + mark.size();
  }
  // [text](target) or [text][reference]; false if it is neither.
  bool link(bool image) {
    int depth = 0;
    std::size_t end = at_;
    for (; end < text_.size() && end - at_ <= kLinkMax; ++end) {
      if (text_[end] == '\\')
        ++end;
      else if (text_[end] == '[')
        ++depth;
      else if (text_[end] == ']' && --depth == 0)
        break;
    }
    if (end >= text_.size() || end - at_ > kLinkMax) return false;
    std::string inner(text_.substr(at_ + 1, end - at_ - 1));
    char next = end + 1 < text_.size() ? text_[end + 1] : '\0';
    if (next != '(' && next != '[') return false;
    std::size_t close = text_.find(next == '(' ? ')' : ']', end + 2);
    if (close == std::string_view::npos) return false;
    std::string_view target = text_.substr(end + 2, close - end - 2);
    target = target.substr(0, target.find(' '));
    std::string shown = depth_ < kNestingMax ? Inline(inner, links_, depth_ + 1).run() : inner;
    out_ += image ? fmt::format("[{}]", shown) : shown;
    if (links_ && next == '(' && !target.empty()) out_ += fmt::format(" <{}>", target);
    at_ = close + 1;
    return true;
  }
  // <https://...> shows itself, <b> disappears, "a < b" stays.
  void angle() {
    std::size_t end = text_.substr(0, at_ + kLinkMax).find('>', at_);
    std::string_view inner =
        end == std::string_view::npos ? std::string_view() : text_.substr(at_ + 1, end - at_ - 1);
    bool address = inner.find("://") != std::string_view::npos || inner.find('@') != std::string_view::npos;
    bool tag = !inner.empty() &&
               (isalpha(static_cast<unsigned char>(inner[0])) || inner[0] == '/' || inner[0] == '!');
    if (!address && !tag) {
      out_ += text_[at_++];
      return;
    }
    if (address && inner.find(' ') == std::string_view::npos) out_ += inner;
    at_ = end + 1;
  }
  // Marks that touch a word disappear; "2 * 3" and snake_case stay.
  void emphasis(char c) {
    std::size_t from = at_;
    while (at_ < text_.size() && text_[at_] == c) ++at_;
    bool before = from > 0 && !isspace(static_cast<unsigned char>(text_[from - 1]));
    bool after = at_ < text_.size() && !isspace(static_cast<unsigned char>(text_[at_]));
    bool inside_word = c == '_' && from > 0 && is_word(text_[from - 1]) && after && is_word(text_[at_]);
    bool mark = (before || after) && !inside_word && (c != '~' || at_ - from == 2);
    if (!mark) out_ += text_.substr(from, at_ - from);
  }

  static constexpr std::size_t kLinkMax = 10'000;
  static constexpr int kNestingMax = 8;
  Inline(std::string_view text, bool links, int depth) : text_(text), links_(links), depth_(depth) {}

  std::string_view text_;
  bool links_;
  int depth_ = 0;
  std::size_t at_ = 0;
  std::string out_;
};

std::string_view trimmed(std::string_view text) {
  std::size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") + 1 - from);
}

bool is_rule(std::string_view text) {
  if (text.size() < 3 || std::string_view("-*_=").find(text[0]) == std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return c == text[0] || c == ' '; });
}

class Converter {
 public:
  Converter(Sink& out, bool links) : out_(out), links_(links) {}

  void line(std::string_view raw) {
    std::string_view text = trimmed(raw);
    if (text.starts_with("```") || text.starts_with("~~~")) {
      fenced_ = !fenced_;
      return;
    }
    if (fenced_) return out_.line(raw);
    if (text.empty()) {
      if (!std::exchange(empty_, true)) out_.put('\n');
      return;
    }
    if (is_rule(text)) return;  // also the line below a heading
    if (table_rule(text)) return;
    empty_ = false;
    std::size_t indent = raw.find_first_not_of(" \t");
    if (text[0] == '#') {
      std::size_t level = std::min(text.find_first_not_of('#'), text.size());
      if (level <= 6 && (level == text.size() || text[level] == ' ')) {
        text = trimmed(text.substr(level));
        std::size_t end = text.find_last_not_of('#');
        if (end != std::string_view::npos && end + 1 < text.size() && text[end] == ' ')
          text = trimmed(text.substr(0, end));
        indent = 0;
      }
    }
    std::string lead(raw.substr(0, indent));
    if (text.size() > 1 && (text[0] == '*' || text[0] == '+' || text[0] == '-') && text[1] == ' ') {
      lead += "* ";
      text = trimmed(text.substr(2));
    }
    if (text.starts_with('|')) return out_.line(row(text));
    out_.line(lead + Inline(text, links_).run());
  }

 private:
  static bool table_rule(std::string_view text) {
    return text.find('|') != std::string_view::npos && text.find('-') != std::string_view::npos &&
           text.find_first_not_of("|-: ") == std::string_view::npos;
  }
  std::string row(std::string_view text) {
    text.remove_prefix(1);
    if (text.ends_with('|')) text.remove_suffix(1);
    std::string out;
    while (true) {
      std::size_t bar = text.find('|');
      out += (out.empty() ? "" : "\t") + Inline(trimmed(text.substr(0, bar)), links_).run();
      if (bar == std::string_view::npos) return out;
      text.remove_prefix(bar + 1);
    }
  }

  Sink& out_;
  bool links_;
  bool fenced_ = false, empty_ = true;
};

}  // namespace

int run_md2text(Invocation& call) {
  static constexpr Option kOptions[] = {{'l', 'l', "links"}, {'o', 'o', "output", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  bool links = false;
  std::unique_ptr<Output> file;
  for (auto& [id, value] : options.found()) {
    if (id == 'l') links = true;
    if (id == 'o') {
      auto opened = call.open_output(value, false);
      if (!opened) return call.fail(fmt::format("{}: {}", value, reason(opened.error())));
      file = std::move(*opened);
    }
  }
  Sink out(file ? *file : call.out());
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    Converter converter(out, links);
    std::string line;
    while (in.read_line(line)) {
      call.charge(line.size() + 4);
      converter.line(line);
    }
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::md2text_program
