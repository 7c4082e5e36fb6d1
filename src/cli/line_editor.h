#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace atl::cli {

// Reads lines from the terminal on standard input with editing, history and completion (libedit). One at a
// time in a process: it owns SIGINT's meaning while it reads.
class LineEditor {
 public:
  // What can stand for the last word of the text before the cursor: whole replacements for that word.
  struct Candidates {
    std::size_t word = 0;  // where the word begins in the text
    std::vector<std::string> words;
  };
  using Complete = std::function<Candidates(std::string_view before_cursor)>;

  enum class Got : unsigned char { line, interrupted, end };

  explicit LineEditor(Complete complete);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // `line` without its newline. interrupted: Ctrl-C, the line is dropped. end: Ctrl-D on an empty line.
  Got read(const std::string& prompt, std::string& line);
  void remember(const std::string& text);
  // From a signal handler: the read in progress returns interrupted.
  static void interrupt();

  struct Body;

 private:
  std::unique_ptr<Body> body_;
};

}  // namespace atl::cli
