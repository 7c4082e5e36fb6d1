#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/command.h"
#include "shell/regex/regex.h"
#include "shell/text/sink.h"

namespace atl::shell {

// --binary-files, and -l or -L.
enum class Binary : unsigned char { detect, text, without_match };
enum class FileList : unsigned char { none, with, without };

// What the options ask for.
struct GrepSettings {
  bool invert = false, words = false, line_numbers = false, byte_offset = false, only_matching = false,
       quiet = false;
  bool count = false, color = false, initial_tab = false, null_names = false, silent_errors = false,
       strip_dot = false;
  int with_name = -1;  // -1: not said
  FileList list = FileList::none;
  Binary binary = Binary::detect;
  std::int64_t max_count = INT64_MAX;
  std::int64_t before = 0, after = 0;
  char delimiter = '\n';
  std::optional<std::string> group_separator = "--";  // between groups of context
};

// Searches inputs one after the other and prints what grep prints. The whole of what is buffered is searched
// at once; lines are cut only around matches.
class Grep {
 public:
  // Fails with the message that grep prints for a malformed pattern. `call` must outlive the result.
  static Result<std::unique_ptr<Grep>> create(Invocation& call, const GrepSettings& settings,
                                              const std::vector<std::string>& patterns, Syntax syntax,
                                              RegexOptions options);

  // Reads the input to its end, or as far as the answer needs. Throws Stopped.
  void search(Input& in, const std::string& name);
  // Nothing more can change the answer (-q).
  bool done() const { return settings_.quiet && any_; }
  // Flushes; 0 if anything was selected, else 1.
  int finish();

 private:
  Grep(Invocation& call, const GrepSettings& settings) : call_(call), settings_(settings), out_(call.out()) {}

  // The first selected line in text[from..): its bounds. Lines end at the delimiter or at the end of text.
  bool next_selected(std::string_view text, std::size_t from, std::size_t& begin, std::size_t& end);
  bool next_matching(std::string_view text, std::size_t from, std::size_t& begin, std::size_t& end);
  std::size_t next_candidate(std::string_view text, std::size_t from);
  bool line_matches(std::string_view line);
  bool find_in_line(std::string_view line, std::size_t from, Regex::Span& span);
  void block(std::string_view text);
  void selected(std::string_view text, std::size_t begin, std::size_t end);
  void context(std::string_view text, std::size_t begin, std::size_t end);
  void print_line(std::string_view line, std::uint64_t offset, std::uint64_t number, char separator);
  void print_matches(std::string_view line, std::uint64_t offset, std::uint64_t number);
  void prefix(std::uint64_t offset, std::uint64_t number, char separator);
  void count_lines(std::string_view text, std::size_t upto);

  Invocation& call_;
  GrepSettings settings_;
  Sink out_;
  std::unique_ptr<Regex> line_;    // one line at a time
  std::unique_ptr<Regex> buffer_;  // many lines at once; null where that cannot be done
  std::string required_;           // what every match holds; with a newline before it if it begins the line
  bool at_start_ = false;
  bool dense_ = false;  // the last two lines looked at matched: the next is tried by itself first
  bool any_ = false;
  bool none_match_ = false;  // an empty list of patterns

  // of the current input
  std::string name_;
  bool binary_ = false, stopped_ = false;
  std::uint64_t base_ = 0;         // offset of the block in the input
  std::uint64_t line_number_ = 0;  // lines before counted_
  std::size_t counted_ = 0;
  std::uint64_t selected_count_ = 0;
  std::int64_t after_left_ = 0;
  std::uint64_t next_unprinted_ = 0;  // offset behind the last line printed
  bool printed_any_ = false;
  std::vector<std::string> kept_;  // last lines of earlier blocks, for -B
  std::uint64_t kept_end_ = 0;
};

}  // namespace atl::shell
