#include <fmt/format.h>

#include "shell/commands/commands.h"
#include "shell/commands/options.h"
#include "shell/commands/text_io.h"

namespace atl::shell {

namespace {

constexpr Option kOptions[] = {
    {'c', 'c', "crown-margin"}, {'p', 'p', "prefix", Arg::required}, {'s', 's', "split-only"}, {'t', 't', "tagged-paragraph"},
    {'u', 'u', "uniform-spacing"}, {'w', 'w', "width", Arg::required}, {'g', 'g', "goal", Arg::required},
};

struct Word {
  std::string_view text;
  std::size_t width;
  bool sentence_end;
};

// Breaks a paragraph so that the sum of squared distances from the goal is least; the last line is free.
void fill(const std::vector<Word>& words, std::size_t first_indent, std::size_t other_indent, std::size_t width, std::size_t goal, std::string_view prefix, std::string_view first_lead, std::string_view other_lead, Sink& out) {
  std::size_t n = words.size();
  std::vector<double> best(n + 1, 0);
  std::vector<std::size_t> next(n + 1, n);
  for (std::size_t i = n; i-- > 0;) {
    std::size_t length = i == 0 ? first_indent : other_indent;
    best[i] = 1e300;
    for (std::size_t k = i; k < n; ++k) {
      length += words[k].width + (k > i ? 1 + (words[k - 1].sentence_end ? 1 : 0) : 0);
      if (length > width && k > i) break;
      double off = static_cast<double>(goal) - static_cast<double>(length);
      double cost = k + 1 == n ? 0 : off * off * 100;
      if (k + 1 < n && words[k].sentence_end) cost -= 2500;
      if (k + 1 < n && k > i && words[k - 1].sentence_end) cost += 22500;
      if (k + 1 == n && false) cost = 0;
      cost += best[k + 1];
      if (cost < best[i]) {
        best[i] = cost;
        next[i] = k + 1;
      }
      if (length > width) break;
    }
  }
  (void)prefix;
  for (std::size_t i = 0; i < n; i = next[i]) {
    out.append(i == 0 ? first_lead : other_lead);
    for (std::size_t k = i; k < next[i]; ++k) {
      if (k > i) out.append(words[k - 1].sentence_end ? "  " : " ");
      out.append(words[k].text);
    }
    out.put('\n');
  }
}

std::size_t indent_of(std::string_view line) {
  std::size_t column = 0;
  for (char c : line) {
    if (c == ' ') ++column;
    else if (c == '\t') column += 8 - column % 8;
    else break;
  }
  return column;
}

}  // namespace

int run_fmt(Invocation& call) {
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  std::uint64_t width = 75, goal = 0;
  bool split_only = false, crown = false, tagged = false;
  std::string prefix;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'w':
      case '0':
        if (!parse_size(value, width) || width > 2500) return call.fail(fmt::format("invalid width: {}", quoted(value)));
        break;
      case 'g': if (!parse_size(value, goal)) return call.fail(fmt::format("invalid width: {}", quoted(value))); break;
      case 's': split_only = true; break;
      case 'c': crown = true; break;
      case 't': tagged = true; break;
      case 'p': prefix = value; break;
      default: break;
    }
  }
  if (goal == 0) goal = width * 187 / 200;
  Sink out(call.out());
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    std::vector<std::string> paragraph;
    auto flush = [&] {
      if (paragraph.empty()) return;
      std::vector<Word> words;
      for (const std::string& line : paragraph) {
        std::string_view rest = line;
        while (true) {
          std::size_t start = rest.find_first_not_of(" \t");
          if (start == std::string_view::npos) break;
          rest.remove_prefix(start);
          std::size_t end = rest.find_first_of(" \t");
          std::string_view text = rest.substr(0, end);
          std::string_view bare = text;
          while (!bare.empty() && std::string_view(")]'\"").find(bare.back()) != std::string_view::npos) bare.remove_suffix(1);
          std::size_t gap = end == std::string_view::npos ? 2 : std::min(rest.find_first_not_of(" \t", end), rest.size()) - end;
          bool at_end = end == std::string_view::npos;
          bool sentence = !bare.empty() && std::string_view(".?!").find(bare.back()) != std::string_view::npos && (at_end || gap > 1);
          words.push_back({text, display_width(text), sentence});
          if (end == std::string_view::npos) break;
          rest.remove_prefix(end);
        }
      }
      call.charge(words.size() * 20 + 1);
      std::size_t first = indent_of(paragraph[0]);
      std::size_t other = paragraph.size() > 1 && (crown || tagged) ? indent_of(paragraph[1]) : first;
      std::string first_lead = prefix + std::string(first, ' '), other_lead = prefix + std::string(other, ' ');
      if (!words.empty()) words.back().sentence_end = false;
      fill(words, first_lead.size(), other_lead.size(), width, goal, prefix, first_lead, other_lead, out);
      paragraph.clear();
    };
    Lines lines(in);
    std::string_view line;
    while (lines.next(line)) {
      std::string_view body = line;
      if (!prefix.empty()) {
        std::size_t at = line.find_first_not_of(" \t");
        if (at == std::string_view::npos || !line.substr(at).starts_with(prefix)) {
          flush();
          out.line(line);
          continue;
        }
        body = line.substr(at + prefix.size());
      }
      if (body.find_first_not_of(" \t\r") == std::string_view::npos) {
        flush();
        out.line(prefix.empty() ? std::string_view() : line);
        continue;
      }
      bool joins = !paragraph.empty() && !split_only;
      if (joins) {
        std::size_t expected = paragraph.size() > 1 ? indent_of(paragraph[1]) : indent_of(paragraph[0]);
        if (crown || tagged) joins = paragraph.size() == 1 ? (crown || indent_of(body) != indent_of(paragraph[0])) : indent_of(body) == expected;
        else joins = indent_of(body) == expected;
      }
      if (!joins) flush();
      paragraph.emplace_back(body);
    }
    flush();
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell
