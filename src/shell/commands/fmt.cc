#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <climits>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"

namespace atl::shell::fmt_program {

namespace {

constexpr Option kOptions[] = {
    {'c', 'c', "crown-margin"},        {'p', 'p', "prefix", Arg::required},
    {'s', 's', "split-only"},          {'t', 't', "tagged-paragraph"},
    {'u', 'u', "uniform-spacing"},     {'w', 'w', "width", Arg::required},
    {'g', 'g', "goal", Arg::required},
};

struct Request {
  bool crown = false, tagged = false, split = false, uniform = false;
  int width = 75, goal = 0;
  std::string prefix;
  int prefix_lead = 0;    // blanks before it
  int prefix_length = 0;  // with blanks behind it
};

struct Word {
  std::string_view text;
  int length = 0, space = 0;
  bool paren = false, period = false, punct = false, final = false;
  int line_length = 0;
  long best_cost = 0;
  std::size_t next_break = 0;
};

// What GNU's fmt weighs: a line pays for its distance from the goal and from the length of the next one, and
// where it breaks costs or gains according to the sentence.
constexpr long square(long n) {
  return n * n;
}
constexpr long short_cost(long n) {
  return square(n * 10);
}
constexpr long ragged_cost(long n) {
  return short_cost(n) / 2;
}
constexpr long kLine = square(70), kSentenceBonus = square(50), kNoBreak = square(600),
               kParenBonus = square(40), kPunctBonus = square(40), kLineCredit = square(3);
constexpr long widow_cost(long length) {
  return square(200) / (length + 2);
}
constexpr long orphan_cost(long length) {
  return square(150) / (length + 2);
}

constexpr int kEnd = -1;
constexpr std::size_t kWordsMax = 998,
                      kCharactersMax = 5000;  // of a paragraph that is held at once, as in GNU's

class Formatter {
 public:
  Formatter(Invocation& call, const Request& request, Sink& out) : call_(call), r_(request), out_(out) {}

  void run(std::string_view text) {
    text_ = text;
    at_ = 0;
    tabs_ = false;
    other_indent_ = 0;
    next_ = get_prefix();
    while (get_paragraph()) {
      weigh();
      put_paragraph(words_.size());
    }
  }

 private:
  int read() { return at_ < text_.size() ? static_cast<unsigned char>(text_[at_++]) : kEnd; }

  int get_space(int c) {
    while (true) {
      if (c == ' ')
        ++in_column_;
      else if (c == '\t')
        tabs_ = true, in_column_ = (in_column_ / 8 + 1) * 8;
      else
        return c;
      c = read();
    }
  }

  int get_prefix() {
    in_column_ = 0;
    int c = get_space(read());
    if (r_.prefix.empty()) {
      next_prefix_indent_ = std::min(r_.prefix_lead, in_column_);
      return c;
    }
    next_prefix_indent_ = in_column_;
    for (char p : r_.prefix) {
      if (c != static_cast<unsigned char>(p)) return c;
      ++in_column_;
      c = read();
    }
    return get_space(c);
  }

  // Blank lines and lines without the prefix go through as they are.
  int copy_rest(int c) {
    out_column_ = 0;
    if (in_column_ > next_prefix_indent_ || (c != '\n' && c != kEnd)) {
      put_space(next_prefix_indent_);
      for (std::size_t i = 0; i < r_.prefix.size() && out_column_ != in_column_; ++i, ++out_column_)
        out_.put(r_.prefix[i]);
      if (c != kEnd && c != '\n') put_space(in_column_ - out_column_);
      if (c == kEnd && in_column_ >= next_prefix_indent_ + static_cast<int>(r_.prefix.size())) out_.put('\n');
    }
    for (; c != '\n' && c != kEnd; c = read()) out_.put(static_cast<char>(c));
    return c;
  }

  bool has_prefix() const { return in_column_ >= next_prefix_indent_ + r_.prefix_length; }
  bool same_paragraph(int c) const {
    return next_prefix_indent_ == prefix_indent_ && has_prefix() && c != '\n' && c != kEnd;
  }

  void set_other_indent(bool same) {
    if (r_.split)
      other_indent_ = first_indent_;
    else if (r_.crown)
      other_indent_ = same ? in_column_ : first_indent_;
    else if (!r_.tagged)
      other_indent_ = first_indent_;
    else if (same && in_column_ != first_indent_)
      other_indent_ = in_column_;
    else if (other_indent_ == first_indent_)
      other_indent_ = first_indent_ == 0 ? 3 : 0;
  }

  bool get_paragraph() {
    last_line_length_ = 0;
    int c = next_;
    while (c == '\n' || c == kEnd || next_prefix_indent_ < prefix_indent_ || !has_prefix()) {
      c = copy_rest(c);
      if (c == kEnd) return false;
      out_.put('\n');
      c = get_prefix();
    }
    prefix_indent_ = next_prefix_indent_;
    first_indent_ = in_column_;
    words_.clear();
    characters_ = 0;
    c = get_line(c);
    set_other_indent(same_paragraph(c));
    bool more = !r_.split && same_paragraph(c);
    if (r_.tagged && !r_.crown)
      more = more && in_column_ != first_indent_;
    else if (!r_.crown)
      more = more && in_column_ == other_indent_;
    if (more) {
      do c = get_line(c);
      while (same_paragraph(c) && in_column_ == other_indent_);
    }
    words_.back().period = words_.back().final = true;
    next_ = c;
    return true;
  }

  int get_line(int c) {
    do {
      std::size_t start = at_ - 1;
      std::size_t end = start;
      do {
        if (characters_++ == kCharactersMax) {
          set_other_indent(true);
          flush();
        }
        ++end;
        c = read();
      } while (c != kEnd && !isspace(c));
      Word word = look(text_.substr(start, end - start));
      in_column_ += word.length;
      int before = in_column_;
      c = get_space(c);
      word.space = in_column_ - before;
      word.final = c == kEnd || (word.period && (c == '\n' || word.space > 1));
      if (c == '\n' || c == kEnd || r_.uniform) word.space = word.final ? 2 : 1;
      words_.push_back(word);
      call_.charge(static_cast<std::uint64_t>(word.length) + 8);
      if (words_.size() == kWordsMax) {
        set_other_indent(true);
        flush();
      }
    } while (c != '\n' && c != kEnd);
    return get_prefix();
  }

  static Word look(std::string_view text) {
    Word word;
    word.text = text;
    word.length = static_cast<int>(text.size());
    word.paren = std::string_view("(['`\"").find(text.front()) != std::string_view::npos;
    word.punct = ispunct(static_cast<unsigned char>(text.back())) != 0;
    while (text.size() > 1 && std::string_view(")]'\"").find(text.back()) != std::string_view::npos)
      text.remove_suffix(1);
    word.period = std::string_view(".?!").find(text.back()) != std::string_view::npos;
    return word;
  }

  long base_cost(std::size_t at) const {
    long cost = kLine;
    if (at > 0) {
      const Word& before = words_[at - 1];
      if (before.period)
        cost += before.final ? -kSentenceBonus : kNoBreak;
      else if (before.punct)
        cost -= kPunctBonus;
      else if (at > 1 && words_[at - 2].final)
        cost += widow_cost(before.length);
    }
    if (words_[at].paren)
      cost -= kParenBonus;
    else if (words_[at].final)
      cost += orphan_cost(words_[at].length);
    return cost;
  }

  long line_cost(std::size_t next, int length) const {
    if (next == words_.size()) return 0;
    long cost = short_cost(r_.goal - length);
    if (words_[next].next_break != words_.size()) cost += ragged_cost(length - words_[next].line_length);
    return cost;
  }

  // From the last word to the first: the best line that begins with each.
  void weigh() {
    for (std::size_t start = words_.size(); start-- > 0;) {
      long best = LONG_MAX;
      int length = (start == 0 ? first_indent_ : other_indent_) + words_[start].length;
      std::size_t w = start;
      do {
        ++w;
        long cost = line_cost(w, length) + (w < words_.size() ? words_[w].best_cost : 0);
        if (start == 0 && last_line_length_ > 0) cost += ragged_cost(length - last_line_length_);
        if (cost < best) {
          best = cost;
          words_[start].next_break = w;
          words_[start].line_length = length;
        }
        if (w == words_.size()) break;
        length += words_[w - 1].space + words_[w].length;
      } while (length < r_.width);
      words_[start].best_cost = best + base_cost(start);
    }
  }

  // A paragraph that is too long to be held: the lines up to a good break go out.
  void flush() {
    if (words_.empty()) return;
    weigh();
    auto cost_of = [&](std::size_t w) { return w < words_.size() ? words_[w].best_cost : 0; };
    std::size_t split = words_.size();
    long best = LONG_MAX;
    for (std::size_t w = words_[0].next_break; w != words_.size(); w = words_[w].next_break) {
      long cost = cost_of(w) - cost_of(words_[w].next_break);
      if (cost < best) {
        split = w;
        best = cost;
      }
      if (best <= LONG_MAX - kLineCredit) best += kLineCredit;
    }
    put_paragraph(split);
    words_.erase(words_.begin(), words_.begin() + static_cast<std::ptrdiff_t>(split));
    characters_ = 0;
    for (const Word& word : words_) characters_ += word.text.size();
  }

  void put_space(int space) {
    int target = out_column_ + space;
    int tab_target = target / 8 * 8;
    if (tabs_ && out_column_ + 1 < tab_target)
      for (; out_column_ < tab_target; out_column_ = (out_column_ / 8 + 1) * 8) out_.put('\t');
    for (; out_column_ < target; ++out_column_) out_.put(' ');
  }

  void put_line(std::size_t from, int indent) {
    out_column_ = 0;
    put_space(prefix_indent_);
    out_.append(r_.prefix);
    out_column_ += static_cast<int>(r_.prefix.size());
    put_space(indent - out_column_);
    for (std::size_t w = from; w < words_[from].next_break; ++w) {
      if (w > from) put_space(words_[w - 1].space);
      out_.append(words_[w].text);
      out_column_ += words_[w].length;
    }
    last_line_length_ = out_column_;
    out_.put('\n');
  }

  void put_paragraph(std::size_t end) {
    if (words_.empty()) return;
    put_line(0, first_indent_);
    for (std::size_t w = words_[0].next_break; w < end; w = words_[w].next_break) put_line(w, other_indent_);
  }

  Invocation& call_;
  const Request& r_;
  Sink& out_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool tabs_ = false;  // the input has them: so may the output
  int in_column_ = 0, out_column_ = 0, next_ = kEnd;
  int first_indent_ = 0, other_indent_ = 0, prefix_indent_ = 0, next_prefix_indent_ = 0,
      last_line_length_ = 0;
  std::size_t characters_ = 0;
  std::vector<Word> words_;
};

void set_prefix(Request& r, std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1), ++r.prefix_lead;
  r.prefix_length = static_cast<int>(text.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  r.prefix = text;
}

// -1: go on.
int read_options(Invocation& call, CommandLine& options, Request& r) {
  std::uint64_t width = 75, goal = 0;
  bool has_width = false, has_goal = false;
  for (auto& [id, value] : options.found()) {
    switch (id) {
      case 'w':
      case '0':
        has_width = true;
        if (!parse_size(value, width) || width > 2500)
          return call.fail(fmt::format("invalid width: {}", quote_operand(value)));
        break;
      case 'g':
        has_goal = true;
        if (!parse_size(value, goal))
          return call.fail(fmt::format("invalid width: {}", quote_operand(value)));
        break;
      case 's': r.split = true; break;
      case 'c': r.crown = true; break;
      case 't': r.tagged = true; break;
      case 'u': r.uniform = true; break;
      case 'p': set_prefix(r, value); break;
      default: break;
    }
  }
  if (has_goal && goal > width) return call.fail(fmt::format("invalid width: '{}'", goal));
  if (has_goal && !has_width) width = goal + 10;
  if (!has_goal) goal = width * 187 / 200;
  r.width = static_cast<int>(width);
  r.goal = static_cast<int>(goal);
  return -1;
}

}  // namespace

int run_fmt(Invocation& call) {
  CommandLine options(call, kOptions, {.digits = true});
  if (options.stopped()) return options.status();
  Request request;
  if (int status = read_options(call, options, request); status >= 0) return status;
  Sink out(call.out());
  Formatter formatter(call, request, out);
  auto operands = options.operands();
  if (operands.empty()) operands.push_back("-");
  int status = 0;
  for (const std::string& operand : operands) {
    auto in = call.open_input(operand);
    if (!in) {
      bool directory = in.error().code() == Code::is_a_directory;
      call.complain(directory ? fmt::format("read error: Is a directory")
                              : fmt::format("cannot open {} for reading: {}", quote_operand(operand),
                                            reason(in.error())));
      status = 1;
      continue;
    }
    std::string text = (*in)->read_all();
    formatter.run(text);
  }
  return out.finish(call, status);
}

}  // namespace atl::shell::fmt_program
