#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "shell/commands/diff/compare.h"

namespace atl::shell {

namespace {

class DiffPrinter {
 public:
  DiffPrinter(Sink& out, const DiffResult& r, const DiffStyle& s) : out_(out), r_(r), s_(s) {}

  void normal() {
    auto range = [](std::size_t start, std::size_t count) {
      return count <= 1 ? fmt::format("{}", start + count) : fmt::format("{},{}", start + 1, start + count);
    };
    for (const Change& c : r_.changes) {
      char letter = c.a_count == 0 ? 'a' : c.b_count == 0 ? 'd' : 'c';
      colored("36", fmt::format("{}{}{}", range(c.a, c.a_count), letter, range(c.b, c.b_count)));
      for (std::size_t i = 0; i < c.a_count; ++i) line("< ", r_.a, c.a + i, r_.a_open, "31");
      if (letter == 'c') out_.append("---\n");
      for (std::size_t i = 0; i < c.b_count; ++i) line("> ", r_.b, c.b + i, r_.b_open, "32");
    }
  }

  void ed() {
    // From the end, so that earlier line numbers stay right while ed applies it.
    for (std::size_t n = r_.changes.size(); n-- > 0;) {
      const Change& c = r_.changes[n];
      std::string where = c.a_count <= 1 ? fmt::format("{}", c.a + c.a_count)
                                         : fmt::format("{},{}", c.a + 1, c.a + c.a_count);
      out_.append(fmt::format("{}{}\n", where, c.a_count == 0 ? 'a' : c.b_count == 0 ? 'd' : 'c'));
      if (c.b_count == 0) continue;
      for (std::size_t i = 0; i < c.b_count; ++i) out_.line(r_.b[c.b + i]);
      out_.append(".\n");
    }
  }

  void rcs() {
    for (const Change& c : r_.changes) {
      if (c.a_count) out_.append(fmt::format("d{} {}\n", c.a + 1, c.a_count));
      if (!c.b_count) continue;
      out_.append(fmt::format("a{} {}\n", c.a + c.a_count, c.b_count));
      for (std::size_t i = 0; i < c.b_count; ++i) {
        out_.append(r_.b[c.b + i]);
        if (!(r_.b_open && c.b + i + 1 == r_.b.size())) out_.put('\n');
      }
    }
  }

  // All lines of both, as the formats say.
  void formatted() {
    const DiffFormats& f = s_.formats;
    std::string old_group = f.old_group.value_or(f.changed_group.value_or("%<")),
                new_group = f.new_group.value_or(f.changed_group.value_or("%>"));
    std::string changed = f.changed_group.value_or(old_group + new_group), same = f.same_group.value_or("%=");
    std::size_t a = 0, b = 0;
    auto unchanged = [&](std::size_t end) {
      if (end > a) group(same, {a, end - a, b, end - a});
      b += end - a;
      a = end;
    };
    for (const Change& c : r_.changes) {
      unchanged(c.a);
      group(c.a_count == 0 ? new_group : c.b_count == 0 ? old_group : changed, c);
      a = c.a + c.a_count;
      b = c.b + c.b_count;
    }
    unchanged(r_.a.size());
  }

  void unified() {
    each_hunk([&](std::size_t first, std::size_t last, std::size_t a0, std::size_t a1, std::size_t b0,
                  std::size_t b1) {
      auto range = [](std::size_t start, std::size_t end) {
        std::size_t count = end - start;
        if (count == 1) return fmt::format("{}", start + 1);
        return fmt::format("{},{}", count == 0 ? start : start + 1, count);
      };
      colored("36", fmt::format("@@ -{} +{} @@{}", range(a0, a1), range(b0, b1), function_before(a0)));
      std::size_t at = a0;
      for (std::size_t n = first; n <= last; ++n) {
        const Change& c = r_.changes[n];
        for (; at < c.a; ++at) line(" ", r_.a, at, r_.a_open);
        for (std::size_t i = 0; i < c.a_count; ++i) line("-", r_.a, c.a + i, r_.a_open, "31");
        for (std::size_t i = 0; i < c.b_count; ++i) line("+", r_.b, c.b + i, r_.b_open, "32");
        at = c.a + c.a_count;
      }
      for (; at < a1; ++at) line(" ", r_.a, at, r_.a_open);
    });
  }

  void context() {
    each_hunk([&](std::size_t first, std::size_t last, std::size_t a0, std::size_t a1, std::size_t b0,
                  std::size_t b1) {
      out_.append(fmt::format("***************{}\n", function_before(a0)));
      auto range = [](std::size_t start, std::size_t end) {
        if (end - start <= 1) return fmt::format("{}", end);
        return fmt::format("{},{}", start + 1, end);
      };
      auto side = [&](bool second) {
        bool any = false;
        for (std::size_t n = first; n <= last; ++n)
          any |= (second ? r_.changes[n].b_count : r_.changes[n].a_count) > 0;
        std::size_t at = second ? b0 : a0, end = second ? b1 : a1;
        colored("36", second ? fmt::format("--- {} ----", range(b0, b1))
                             : fmt::format("*** {} ****", range(a0, a1)));
        // A side without changes is left out: its lines stand on the other side.
        if (!any) return;
        const auto& lines = second ? r_.b : r_.a;
        bool open = second ? r_.b_open : r_.a_open;
        std::string_view code = second ? "32" : "31";
        for (std::size_t n = first; n <= last; ++n) {
          const Change& c = r_.changes[n];
          std::size_t start = second ? c.b : c.a, count = second ? c.b_count : c.a_count;
          for (; at < start; ++at) line("  ", lines, at, open, code);
          for (std::size_t i = 0; i < count; ++i)
            line(c.a_count && c.b_count ? "! " : second ? "+ " : "- ", lines, start + i, open, code);
          at = start + count;
        }
        for (; at < end; ++at) line("  ", lines, at, open, code);
      };
      side(false);
      side(true);
    });
  }

  void side_by_side() {
    std::size_t half = (s_.width - 3) / 2, gutter = half + 3;
    // GNU's columns: the gutter starts at a tab stop.
    std::size_t t = 8, off = (s_.width + t + 3) / (2 * t) * t;
    half = std::min(off - 3, s_.width - off);
    gutter = off;
    auto common_row = [&](auto& print, std::size_t left, std::size_t right) {
      print(r_.a[left], s_.left_column ? '(' : ' ', r_.b[right], true, !s_.left_column);
    };
    auto row = [&](std::string_view left, char mark, std::string_view right, bool has_left, bool has_right) {
      std::string text;
      std::size_t column = 0;
      for (char c : has_left ? left : std::string_view()) {
        std::size_t next = c == '\t' ? column + 8 - column % 8 : column + 1;
        if (next > half) break;
        text += c;
        column = next;
      }
      auto pad_to = [&](std::size_t target) {
        while (column < target) {
          std::size_t stop = column + 8 - column % 8;
          if (stop <= target)
            text += '\t', column = stop;
          else
            text += ' ', ++column;
        }
      };
      if (mark != ' ') {
        pad_to((half + gutter - 1) / 2);
        text += mark;
        ++column;
      }
      if (has_right) {
        if (mark == ' ' || !right.empty()) pad_to(gutter);
        std::size_t used = 0;
        for (char c : right) {
          std::size_t next = c == '\t' ? used + 8 - used % 8 : used + 1;
          if (next > half) break;
          text += c;
          used = next;
        }
      }
      std::string_view code = s_.color && mark == '<' ? "\33[31m" : s_.color && mark == '>' ? "\33[32m" : "";
      out_.append(code);
      out_.line(text);
      if (!code.empty()) out_.append("\33[0m");
    };
    std::size_t i = 0;
    for (const Change& c : r_.changes) {
      std::size_t k = c.b - (c.a - i);
      for (; i < c.a; ++i, ++k)
        if (!s_.suppress_common) common_row(row, i, k);
      std::size_t common = std::min(c.a_count, c.b_count);
      for (std::size_t n = 0; n < common; ++n) row(r_.a[c.a + n], '|', r_.b[c.b + n], true, true);
      for (std::size_t n = common; n < c.a_count; ++n) row(r_.a[c.a + n], '<', "", true, false);
      for (std::size_t n = common; n < c.b_count; ++n) row("", '>', r_.b[c.b + n], false, true);
      i = c.a + c.a_count;
    }
    std::size_t k = r_.changes.empty() ? 0 : r_.changes.back().b + r_.changes.back().b_count;
    for (; i < r_.a.size(); ++i, ++k)
      if (!s_.suppress_common) common_row(row, i, k);
  }

 private:
  // %c'x' and %c'\ooo' at format[at]; false if this is none.
  bool character(std::string_view format, std::size_t& at) {
    std::string_view rest = format.substr(at);
    if (!rest.starts_with("c'")) return false;
    std::size_t close = rest.find('\'', rest.size() > 2 && rest[2] == '\'' ? 3 : 2);
    if (close == std::string_view::npos) return false;
    std::string_view body = rest.substr(2, close - 2);
    if (body.starts_with('\\'))
      out_.put(static_cast<char>(strtol(std::string(body.substr(1)).c_str(), nullptr, 8)));
    else
      out_.append(body);
    at += close + 1;
    return true;
  }
  // %-5d and its kin before a letter that stands for a number; gives the text of the number.
  static std::string number(std::string_view spec, std::size_t value) {
    char kind = spec.empty() ? 'd' : spec.back();
    std::string digits = kind == 'x'   ? fmt::format("{:x}", value)
                         : kind == 'X' ? fmt::format("{:X}", value)
                         : kind == 'o' ? fmt::format("{:o}", value)
                                       : fmt::format("{}", value);
    bool left = spec.find('-') != std::string_view::npos, zero = spec.starts_with('0');
    std::size_t begin = spec.find_first_of("123456789");
    std::size_t width =
        begin == std::string_view::npos
            ? 0
            : std::min<std::size_t>(static_cast<std::size_t>(atoi(std::string(spec.substr(begin)).c_str())),
                                    1000);
    if (digits.size() < width)
      digits.insert(left ? digits.size() : 0, width - digits.size(), zero && !left ? '0' : ' ');
    return digits;
  }
  void format_line(std::string_view format, const std::vector<std::string_view>& lines, std::size_t at,
                   bool open) {
    for (std::size_t i = 0; i < format.size();) {
      if (format[i] != '%' || i + 1 >= format.size()) {
        out_.put(format[i++]);
        continue;
      }
      ++i;
      std::size_t spec = i;
      while (i < format.size() &&
             (isdigit(static_cast<unsigned char>(format[i])) || format[i] == '-' || format[i] == '\''))
        ++i;
      bool conversion = i + 1 < format.size() &&
                        std::string_view("doxX").find(format[i]) != std::string_view::npos &&
                        format[i + 1] == 'n';
      if (conversion) {
        out_.append(number(format.substr(spec, i + 1 - spec), at + 1));
        i += 2;
      } else if (format[i] == 'l' || format[i] == 'L') {
        out_.append(lines[at]);
        if (format[i] == 'L' && !(open && at + 1 == lines.size())) out_.put('\n');
        ++i;
      } else if (format[i] == '%') {
        out_.put('%');
        ++i;
      } else if (!character(format, i)) {
        out_.put('%');
      }
    }
  }
  void group(std::string_view format, const Change& c) {
    auto lines = [&](std::string_view how, const std::vector<std::string_view>& from, std::size_t begin,
                     std::size_t count, bool open) {
      for (std::size_t i = 0; i < count; ++i) format_line(how, from, begin + i, open);
    };
    for (std::size_t i = 0; i < format.size();) {
      if (format[i] != '%' || i + 1 >= format.size()) {
        out_.put(format[i++]);
        continue;
      }
      char kind = format[++i];
      if (kind == '<')
        lines(s_.formats.old_line, r_.a, c.a, c.a_count, r_.a_open), ++i;
      else if (kind == '>')
        lines(s_.formats.new_line, r_.b, c.b, c.b_count, r_.b_open), ++i;
      else if (kind == '=')
        lines(s_.formats.same_line, r_.a, c.a, c.a_count, r_.a_open), ++i;
      else if (kind == '%')
        out_.put('%'), ++i;
      else if (!character(format, i))
        group_number(format, i, c);
    }
  }
  void group_number(std::string_view format, std::size_t& i, const Change& c) {
    std::size_t spec = i;
    while (i < format.size() &&
           (isdigit(static_cast<unsigned char>(format[i])) || format[i] == '-' || format[i] == '\''))
      ++i;
    bool whole = i + 1 < format.size() &&
                 std::string_view("doxX").find(format[i]) != std::string_view::npos &&
                 std::string_view("eflmnEFLMN").find(format[i + 1]) != std::string_view::npos;
    if (!whole) {
      out_.put('%');
      i = spec;
      return;
    }
    char letter = format[i + 1];
    bool second = letter >= 'A' && letter <= 'Z';
    std::size_t begin = second ? c.b : c.a, count = second ? c.b_count : c.a_count;
    std::size_t value = 0;
    switch (letter | 32) {
      case 'e': value = begin; break;
      case 'f': value = begin + 1; break;
      case 'l': value = begin + count; break;
      case 'm': value = begin + count + 1; break;
      default: value = count;
    }
    out_.append(number(format.substr(spec, i + 1 - spec), value));
    i += 2;
  }
  // -p: the last line above that looks like the begin of a function, as GNU cuts it.
  std::string function_before(std::size_t line) const {
    if (!s_.function_names && !s_.function) return {};
    for (std::size_t i = line; i-- > 0;) {
      std::string_view text = r_.a[i];
      bool begins = s_.function && s_.function->matches(text);
      if (s_.function ? !begins
                      : text.empty() || !(std::isalpha(static_cast<unsigned char>(text[0])) ||
                                          text[0] == '_' || text[0] == '$'))
        continue;
      text = text.substr(0, 40);
      while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
      return " " + std::string(text);
    }
    return {};
  }
  void colored(std::string_view code, const std::string& text) {
    if (s_.color)
      out_.append(fmt::format("\33[{}m{}\33[0m\n", code, text));
    else
      out_.line(text);
  }
  void line(std::string_view lead, const std::vector<std::string_view>& lines, std::size_t at, bool open,
            std::string_view code = {}) {
    if (s_.color && !code.empty()) {
      out_.append(fmt::format("\33[{}m{}{}\33[0m\n", code, lead, lines[at]));
    } else {
      // An empty line of context stands alone where no blank is wanted before it.
      bool bare =
          !s_.blank_empty && lines[at].empty() && lead.find_first_not_of(' ') == std::string_view::npos;
      std::string_view mark = lead;
      while ((bare || s_.initial_tab) && mark.ends_with(' ') && (bare || mark.size() > 1))
        mark.remove_suffix(1);
      out_.append(mark);
      if (s_.initial_tab && !bare) out_.put('\t');
      std::size_t column = 0;
      for (char c : s_.expand_tabs ? lines[at] : std::string_view()) {
        if (c != '\t')
          out_.put(c), ++column;
        else
          do out_.put(' ');
          while (++column % s_.tab);
      }
      out_.line(s_.expand_tabs ? std::string_view() : lines[at]);
    }
    if (open && at + 1 == lines.size()) out_.append("\\ No newline at end of file\n");
  }
  // Changes closer than twice the context share a hunk.
  template <class F>
  void each_hunk(F&& print) {
    for (std::size_t first = 0; first < r_.changes.size();) {
      std::size_t last = first;
      while (last + 1 < r_.changes.size() &&
             r_.changes[last + 1].a - (r_.changes[last].a + r_.changes[last].a_count) <= 2 * s_.context)
        ++last;
      const Change &head = r_.changes[first], &tail = r_.changes[last];
      std::size_t before = std::min(s_.context, head.a);
      std::size_t end = tail.a + tail.a_count;
      std::size_t after = std::min(s_.context, r_.a.size() - end);
      print(first, last, head.a - before, end + after, head.b - std::min(before, head.b),
            std::min(tail.b + tail.b_count + after, r_.b.size()));
      first = last + 1;
    }
  }

  Sink& out_;
  const DiffResult& r_;
  const DiffStyle& s_;
};

}  // namespace

void print_diff(Invocation& call, Sink& out, const DiffResult& result, const DiffStyle& style,
                const std::string& a_header, const std::string& b_header) {
  call.charge(result.a.size() + result.b.size());
  DiffPrinter printer(out, result, style);
  auto header = [&](std::string_view mark, const std::string& name) {
    out.append(style.color ? fmt::format("\33[1m{} {}\33[0m\n", mark, name)
                           : fmt::format("{} {}\n", mark, name));
  };
  switch (style.kind) {
    case DiffStyle::Kind::normal: printer.normal(); break;
    case DiffStyle::Kind::ed: printer.ed(); break;
    case DiffStyle::Kind::rcs: printer.rcs(); break;
    case DiffStyle::Kind::formats: printer.formatted(); break;
    case DiffStyle::Kind::unified:
      header("---", a_header);
      header("+++", b_header);
      printer.unified();
      break;
    case DiffStyle::Kind::context:
      header("***", a_header);
      header("---", b_header);
      printer.context();
      break;
    case DiffStyle::Kind::side_by_side: printer.side_by_side(); break;
  }
}

}  // namespace atl::shell
