#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "shell/command.h"
#include "shell/commands/sed/script.h"
#include "shell/text/lines.h"
#include "shell/text/sink.h"
#include "shell/text/text_streams.h"

namespace atl::shell::sed {

// What the options of sed ask for.
struct EditorOptions {
  bool quiet = false;
  bool separate = false;  // -s: each file has its own last line; implied by in_place
  bool in_place = false;
  bool follow_links = false;  // in place: what a link leads to is changed, not the link
  std::string backup_suffix;
  char delimiter = '\n';
  std::uint64_t line_length = 70;
  bool posix = false;
};

// Runs a script over inputs.
// Borrows the call and the script, whose range states it changes. Used once.
class Editor {
 public:
  Editor(Invocation& call, Script& script, const EditorOptions& options);
  // Edits the inputs (none: standard input) one after the other and returns the exit status. Goes on after a
  // file that cannot be opened. In place, a file is replaced when its end is reached; a script that is
  // stopped leaves it as it was.
  int run(const std::vector<std::string>& operands);

 private:
  enum class Next : unsigned char { cycle, restart, quit };

  // The next input; false if there is none left.
  bool open_next();
  bool read_line(std::string& into);
  // Whether the current line is the last one. Reads ahead.
  bool is_last();
  bool fill_ahead();
  void finish_file();
  // Whether the command applies to the current line; moves its range's state.
  bool selects(Command& c);
  bool matches(const Address& address);
  // Runs the script on the pattern space.
  Next execute();
  // The s command: true if anything was replaced.
  bool substitute(Command& c);
  void append_replacement(const Command& c, const std::vector<Regex::Span>& spans, std::string& out);
  // Prints the pattern space unless -n says not to, then what a, i, r and R left to be printed.
  void end_cycle();
  void flush_appends();
  void put_line(std::string_view line, bool newline = true);
  void put(std::string_view bytes) { sink_->append(bytes); }
  void list(const Command& c);
  // The open output of w and W; owned by the editor, closed at the end.
  Sink* file_sink(const std::string& name);
  // An empty expression is the last one that was used.
  const Regex* regex_or_last(const Regex* regex);

  Invocation& call_;
  Script& script_;
  EditorOptions options_;
  Sink out_;
  Sink* sink_;
  std::vector<std::string> operands_;
  std::size_t operand_ = 0;
  std::string name_ = "-";

  std::unique_ptr<Input> owned_;
  std::unique_ptr<Lines> lines_;
  std::string_view ahead_;
  bool ahead_valid_ = false, ahead_complete_ = false;
  std::string ahead_store_;

  std::string space_, hold_;
  bool complete_ = true;  // the pattern space's line ended with a newline
  bool missing_newline_ = false;
  std::uint64_t line_number_ = 0;
  bool replaced_ = false;
  bool restart_ = false;
  int status_ = 0;
  int failed_ = 0;  // the status for it
  struct Append {
    char kind;  // 'a' text, 'r' file, 'R' a line of a file
    std::string text;
  };
  std::vector<Append> appends_;
  const Regex* last_regex_ = nullptr;
  struct OutFile {
    std::unique_ptr<Output> out;
    std::unique_ptr<Sink> sink;
  };
  std::map<std::string, OutFile> files_;
  struct LineFile {
    std::unique_ptr<Input> in;
    std::unique_ptr<Lines> lines;
  };
  std::map<std::string, LineFile> line_files_;
  std::unique_ptr<TextOutput> in_place_text_;
  std::unique_ptr<Sink> in_place_sink_;
  std::vector<Regex::Span> spans_;
  std::string result_;
};

}  // namespace atl::shell::sed
