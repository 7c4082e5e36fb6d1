#include <fmt/format.h>

#include <cctype>

#include "shell/commands/diff/compare.h"

namespace atl::shell {

namespace {

class Printer {
 public:
  Printer(Sink& out, const DiffResult& r, const DiffStyle& s) : out_(out), r_(r), s_(s) {}

  void normal() {
    auto range = [](std::size_t start, std::size_t count) {
      return count <= 1 ? fmt::format("{}", start + count) : fmt::format("{},{}", start + 1, start + count);
    };
    for (const Change& c : r_.changes) {
      char letter = c.a_count == 0 ? 'a' : c.b_count == 0 ? 'd' : 'c';
      out_.append(fmt::format("{}{}{}\n", range(c.a, c.a_count), letter, range(c.b, c.b_count)));
      for (std::size_t i = 0; i < c.a_count; ++i) line("< ", r_.a, c.a + i, r_.a_open);
      if (letter == 'c') out_.append("---\n");
      for (std::size_t i = 0; i < c.b_count; ++i) line("> ", r_.b, c.b + i, r_.b_open);
    }
  }

  void ed() {
    for (std::size_t n = r_.changes.size(); n-- > 0;) {
      const Change& c = r_.changes[n];
      std::string where = c.a_count <= 1 ? fmt::format("{}", c.a + c.a_count) : fmt::format("{},{}", c.a + 1, c.a + c.a_count);
      out_.append(fmt::format("{}{}\n", where, c.a_count == 0 ? 'a' : c.b_count == 0 ? 'd' : 'c'));
      if (c.b_count == 0) continue;
      for (std::size_t i = 0; i < c.b_count; ++i) out_.line(r_.b[c.b + i]);
      out_.append(".\n");
    }
  }

  void unified() {
    each_hunk([&](std::size_t first, std::size_t last, std::size_t a0, std::size_t a1, std::size_t b0, std::size_t b1) {
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
    each_hunk([&](std::size_t first, std::size_t last, std::size_t a0, std::size_t a1, std::size_t b0, std::size_t b1) {
      out_.append(fmt::format("***************{}\n", function_before(a0)));
      auto range = [](std::size_t start, std::size_t end) {
        if (end - start <= 1) return fmt::format("{}", end);
        return fmt::format("{},{}", start + 1, end);
      };
      auto side = [&](bool second) {
        bool any = false;
        for (std::size_t n = first; n <= last; ++n) any |= (second ? r_.changes[n].b_count : r_.changes[n].a_count) > 0;
        std::size_t at = second ? b0 : a0, end = second ? b1 : a1;
        out_.append(second ? fmt::format("--- {} ----\n", range(b0, b1)) : fmt::format("*** {} ****\n", range(a0, a1)));
        if (!any) return;
        const auto& lines = second ? r_.b : r_.a;
        bool open = second ? r_.b_open : r_.a_open;
        for (std::size_t n = first; n <= last; ++n) {
          const Change& c = r_.changes[n];
          std::size_t start = second ? c.b : c.a, count = second ? c.b_count : c.a_count;
          for (; at < start; ++at) line("  ", lines, at, open);
          for (std::size_t i = 0; i < count; ++i) line(c.a_count && c.b_count ? "! " : second ? "+ " : "- ", lines, start + i, open);
          at = start + count;
        }
        for (; at < end; ++at) line("  ", lines, at, open);
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
          if (stop <= target) text += '\t', column = stop;
          else text += ' ', ++column;
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
      out_.line(text);
    };
    std::size_t i = 0;
    for (const Change& c : r_.changes) {
      std::size_t k = c.b - (c.a - i);
      for (; i < c.a; ++i, ++k)
        if (!s_.suppress_common) row(r_.a[i], ' ', r_.b[k], true, true);
      std::size_t common = std::min(c.a_count, c.b_count);
      for (std::size_t n = 0; n < common; ++n) row(r_.a[c.a + n], '|', r_.b[c.b + n], true, true);
      for (std::size_t n = common; n < c.a_count; ++n) row(r_.a[c.a + n], '<', "", true, false);
      for (std::size_t n = common; n < c.b_count; ++n) row("", '>', r_.b[c.b + n], false, true);
      i = c.a + c.a_count;
    }
    std::size_t k = r_.changes.empty() ? 0 : r_.changes.back().b + r_.changes.back().b_count;
    for (; i < r_.a.size(); ++i, ++k)
      if (!s_.suppress_common) row(r_.a[i], ' ', r_.b[k], true, true);
  }

 private:
  // -p: the last line above that looks like the begin of a function, as GNU cuts it.
  std::string function_before(std::size_t line) const {
    if (!s_.function_names) return {};
    for (std::size_t i = line; i-- > 0;) {
      std::string_view text = r_.a[i];
      if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_' || text[0] == '$')) continue;
      text = text.substr(0, 40);
      while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
      return " " + std::string(text);
    }
    return {};
  }
  void colored(std::string_view code, const std::string& text) {
    if (s_.color) out_.append(fmt::format("\33[{}m{}\33[0m\n", code, text));
    else out_.line(text);
  }
  void line(std::string_view lead, const std::vector<std::string_view>& lines, std::size_t at, bool open, std::string_view code = {}) {
    if (s_.color && !code.empty()) {
      out_.append(fmt::format("\33[{}m{}{}\33[0m\n", code, lead, lines[at]));
    } else {
      out_.append(lead);
      out_.line(lines[at]);
    }
    if (open && at + 1 == lines.size()) out_.append("\\ No newline at end of file\n");
  }
  // Changes closer than twice the context share a hunk.
  template <class F>
  void each_hunk(F&& print) {
    for (std::size_t first = 0; first < r_.changes.size();) {
      std::size_t last = first;
      while (last + 1 < r_.changes.size() && r_.changes[last + 1].a - (r_.changes[last].a + r_.changes[last].a_count) <= 2 * s_.context) ++last;
      const Change &head = r_.changes[first], &tail = r_.changes[last];
      std::size_t before = std::min(s_.context, head.a);
      std::size_t end = tail.a + tail.a_count;
      std::size_t after = std::min(s_.context, r_.a.size() - end);
      print(first, last, head.a - before, end + after, head.b - std::min(before, head.b), std::min(tail.b + tail.b_count + after, r_.b.size()));
      first = last + 1;
    }
  }

  Sink& out_;
  const DiffResult& r_;
  const DiffStyle& s_;
};

}  // namespace

void print_diff(Invocation& call, Sink& out, const DiffResult& result, const DiffStyle& style, const std::string& a_header,
                const std::string& b_header) {
  call.charge(result.a.size() + result.b.size());
  Printer printer(out, result, style);
  switch (style.kind) {
    case DiffStyle::Kind::normal: printer.normal(); break;
    case DiffStyle::Kind::ed: printer.ed(); break;
    case DiffStyle::Kind::unified:
      out.append(style.color ? fmt::format("\33[1m--- {}\33[0m\n\33[1m+++ {}\33[0m\n", a_header, b_header) : fmt::format("--- {}\n+++ {}\n", a_header, b_header));
      printer.unified();
      break;
    case DiffStyle::Kind::context:
      out.append(fmt::format("*** {}\n--- {}\n", a_header, b_header));
      printer.context();
      break;
    case DiffStyle::Kind::side_by_side: printer.side_by_side(); break;
  }
}

}  // namespace atl::shell
