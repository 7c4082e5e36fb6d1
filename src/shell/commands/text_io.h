#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "shell/command.h"

namespace atl::shell {

// Lines of an input without a copy where the line lies whole in a block. Consumes exactly the lines it handed out, so
// that another reader of the same input goes on behind them; the destructor gives back the rest of the block.
class Lines {
 public:
  explicit Lines(Input& in, char delimiter = '\n') : in_(in), delimiter_(delimiter) {}
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  // The next line without its delimiter; valid until the next call. False at the end.
  bool next(std::string_view& line);
  // Whether the line that next() gave ended with a delimiter.
  bool complete() const { return complete_; }
  // Gives back to the input what was read ahead. Lines handed out become invalid.
  void release();

 private:
  Input& in_;
  char delimiter_;
  std::string_view block_;
  std::size_t at_ = 0;
  std::string carry_;
  bool complete_ = false;
};

// Collects small writes. finish() must be called on the normal way out; what an ended command had collected is lost
// as it would be with stdio.
class Sink {
 public:
  explicit Sink(Output& out) : out_(out) { buffer_.reserve(4096); }

  void append(std::string_view bytes) {
    buffer_.append(bytes);
    if (buffer_.size() >= kFlushAt) flush();
  }
  void put(char c) {
    buffer_.push_back(c);
    if (buffer_.size() >= kFlushAt) flush();
  }
  void line(std::string_view bytes, char delimiter = '\n') {
    buffer_.append(bytes);
    put(delimiter);
  }
  // False when a write failed, now or before.
  bool flush();
  bool failed() const { return failed_; }
  // Flushes; complains "write error: ..." and gives 1 if anything failed, else `status`.
  int finish(Invocation& call, int status = 0);

 private:
  static constexpr std::size_t kFlushAt = 64 * 1024;
  Output& out_;
  std::string buffer_;
  bool failed_ = false;
};

// GNU's words for operands that do not fit: the message and the line about --help; returns `status`.
int usage_error(Invocation& call, std::string_view message, int status = 1);

// strerror's words for an error of the filesystem.
std::string_view reason(const Error& error);

// Opens each operand ("-" or none at all: standard input) and calls `each`. Complains about what cannot be opened and
// goes on. Returns whether all could be opened.
bool each_input(Invocation& call, const std::vector<std::string>& operands,
                const std::function<void(Input&, const std::string& name)>& each);

// Opens a text for reading; complains "name: path: reason" and gives null if it cannot. Refuses directories.
std::unique_ptr<Input> open_or_complain(Invocation& call, const std::string& path);

// Decimal with GNU's size suffixes (b kB K M G ...). False if malformed or too large.
bool parse_size(std::string_view text, std::uint64_t& value);
bool parse_integer(std::string_view text, std::int64_t& value);
// 'text' as GNU quotes operands in messages: plain when harmless is not assumed, always quoted.
std::string quoted(std::string_view text);
// As a shell would need it: bare when harmless, else in single quotes.
std::string shell_quoted(std::string_view text);

// Number of bytes of the UTF-8 sequence at `text[at]`, at least 1.
std::size_t utf8_length(std::string_view text, std::size_t at = 0);
// The code point at the start of `text`; U+FFFD - and length 1 - when it is not valid UTF-8.
char32_t decode_utf8(std::string_view text, std::size_t& length);
void append_utf8(std::string& out, char32_t c);
// Columns a terminal would use.
std::size_t display_width(std::string_view text);
int char_width(char32_t c);

}  // namespace atl::shell
