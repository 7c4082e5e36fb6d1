#include <fmt/format.h>

#include <algorithm>

#include "shell/arguments/command_line.h"
#include "shell/command.h"
#include "shell/command_entries.h"
#include "shell/files/inputs.h"
#include "shell/html/reader.h"
#include "shell/text/numbers.h"
#include "shell/text/quotes.h"
#include "shell/text/sink.h"
#include "shell/text/width.h"

namespace atl::shell::html2text_program {

namespace {

using html::Token;

constexpr std::size_t kListsMax = 50;

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Lays out the text of a page: blocks apart by an empty line, lists with marks, cells apart by tabs.
class Layout {
 public:
  Layout(Invocation& call, Sink& out, std::size_t width, bool links)
      : call_(call), out_(out), width_(width), links_(links) {}

  void token(const Token& token) {
    call_.charge(token.text.size() + 4);
    switch (token.kind) {
      case Token::Kind::text:
        if (hidden_ == 0) text(token.text);
        break;
      case Token::Kind::open: open(token); break;
      case Token::Kind::close: close(token.name); break;
    }
  }
  void finish() { end_line(); }

 private:
  struct List {
    bool ordered;
    int next;
  };

  static bool is_block(std::string_view name) {
    return one_of(
        name, {"p",    "div",      "section", "article", "header", "footer", "main",       "nav",  "aside",
               "form", "fieldset", "table",   "ul",      "ol",     "dl",     "blockquote", "pre",  "h1",
               "h2",   "h3",       "h4",      "h5",      "h6",     "figure", "address",    "body", "title"});
  }
  static bool is_heading(std::string_view name) {
    return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6';
  }

  void open(const Token& token) {
    std::string_view name = token.name;
    if (one_of(name, {"head", "noscript", "iframe", "svg"})) ++hidden_;
    if (hidden_ > 0) return;
    if (is_block(name)) block();
    if (is_heading(name)) prefix_ = std::string(static_cast<std::size_t>(name[1] - '0'), '#') + " ";
    if (name == "br")
      end_line(true);
    else if (name == "hr")
      rule();
    else if (name == "pre")
      ++verbatim_;
    else if (name == "blockquote")
      quotes_ = std::min<std::size_t>(quotes_ + 1, 20);
    else if ((name == "ul" || name == "ol") && lists_.size() < kListsMax)
      lists_.push_back({name == "ol", std::max(1, std::atoi(std::string(token.attribute("start")).c_str()))});
    else if (name == "li")
      item();
    else if (name == "dt" || name == "tr")
      end_line();
    else if (name == "dd")
      end_line(), prefix_ = "    ";
    else if (name == "td" || name == "th") {
      if (cells_++ > 0) word_ += "\t", flush_word(false);
    } else if (name == "img") {
      if (std::string_view alt = token.attribute("alt"); !alt.empty()) text(fmt::format("[{}]", alt));
    } else if (name == "a" && links_) {
      target_ = token.attribute("href");
    }
    if (name == "tr") cells_ = 0;
  }

  void close(std::string_view name) {
    if (one_of(name, {"head", "noscript", "iframe", "svg"}) && hidden_ > 0) --hidden_;
    if (hidden_ > 0) return;
    if (name == "a" && !target_.empty()) {
      text(fmt::format(" <{}>", target_));
      target_.clear();
    }
    if (name == "pre" && verbatim_ > 0) end_line(), --verbatim_;
    if (one_of(name, {"li", "dt", "dd", "tr"})) end_line();
    if ((name == "ul" || name == "ol") && !lists_.empty()) end_line(), lists_.pop_back();
    if (name == "blockquote" && quotes_ > 0) end_line(), --quotes_;
    if (is_block(name)) block();
  }

  void item() {
    end_line();
    if (lists_.empty()) lists_.push_back({false, 1});
    List& list = lists_.back();
    prefix_ = list.ordered ? fmt::format("{}. ", list.next++) : "* ";
  }
  void rule() {
    block();
    line_ = std::string(width_ ? std::min<std::size_t>(width_, 40) : 40, '-');
    end_line();
    block();
  }

  void text(std::string_view text) {
    if (verbatim_ > 0) {
      for (char c : text) {
        if (c == '\n')
          end_line(true);
        else
          line_ += c, begun_ = true;
      }
      return;
    }
    for (char c : text) {
      if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f')
        flush_word(true);
      else
        word_ += c;
    }
  }

  // Puts the word on the line, or on a new one if it does not fit.
  void flush_word(bool space) {
    // Taken out first: ending the line flushes as well.
    if (std::string word = std::exchange(word_, ""); !word.empty()) {
      bool gap = blank_;
      bool fits = width_ == 0 || line_.empty() ||
                  margin().size() + display_width(line_) + 1 + display_width(word) <= width_;
      if (!fits) end_line();
      if (gap && !line_.empty() && !line_.ends_with('\t')) line_ += ' ';
      line_ += word;
      blank_ = false;
    }
    if (space) blank_ = true;
  }

  std::string margin() const {
    std::string out;
    for (std::size_t i = 0; i < quotes_; ++i) out += "> ";
    if (lists_.size() > 1) out += std::string((lists_.size() - 1) * 2, ' ');
    return out;
  }
  void end_line(bool forced = false) {
    if (verbatim_ == 0) flush_word(false);
    blank_ = false;
    if (line_.empty() && !forced) return;
    if (gap_ && any_) out_.put('\n');
    gap_ = false;
    std::string whole = margin() + std::exchange(prefix_, "") + std::exchange(line_, "");
    whole.erase(whole.find_last_not_of(" \t") + 1);
    out_.line(whole);
    any_ = true;
    begun_ = false;
  }
  // An empty line between blocks, never two and none at the start.
  void block() {
    end_line();
    prefix_.clear();
    gap_ = lists_.empty();
  }

  Invocation& call_;
  Sink& out_;
  std::size_t width_;
  bool links_;
  std::string line_, word_, prefix_, target_;
  std::vector<List> lists_;
  std::size_t quotes_ = 0;
  int hidden_ = 0, verbatim_ = 0, cells_ = 0;
  bool blank_ = false, gap_ = false, any_ = false, begun_ = false;
};

}  // namespace

int run_html2text(Invocation& call) {
  static constexpr Option kOptions[] = {
      {'w', 'w', "width", Arg::required}, {'l', 'l', "links"}, {'o', 'o', "output", Arg::required}};
  CommandLine options(call, kOptions);
  if (options.stopped()) return options.status();
  std::int64_t width = 0;
  bool links = false;
  std::unique_ptr<Output> file;
  for (auto& [id, value] : options.found()) {
    if (id == 'l') links = true;
    if (id == 'w' && (!parse_integer(value, width) || width < 0))
      return call.fail(fmt::format("invalid width: {}", quote_operand(value)));
    if (id == 'o') {
      auto opened = call.open_output(value, false);
      if (!opened) return call.fail(fmt::format("{}: {}", value, reason(opened.error())));
      file = std::move(*opened);
    }
  }
  Sink out(file ? *file : call.out());
  bool good = each_input(call, options.operands(), [&](Input& in, const std::string&) {
    std::string text = in.read_all();
    html::Reader reader(text);
    Layout layout(call, out, static_cast<std::size_t>(width), links);
    Token token;
    while (reader.next(token)) layout.token(token);
    layout.finish();
  });
  return out.finish(call, good ? 0 : 1);
}

}  // namespace atl::shell::html2text_program
