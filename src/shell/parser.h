#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "shell/ast.h"

namespace atl::shell {

// A script that is not in the language. Thrown inside the parser and by its public calls; caught by whoever
// asked for the parse (docs/decisions/shell-on-fibers.md).
struct SyntaxError {
  std::string message;  // bash's words without the prefix
  int line = 0;
  std::string source;       // the offending line, when bash would show it
  bool incomplete = false;  // more input could make it valid: an interactive shell asks for it
  int status = 2;
};

// What the parser asks of the shell that runs it. All of it may change between two complete commands.
class ParserContext {
 public:
  virtual ~ParserContext() = default;
  // Options that change the language.
  virtual bool extglob() const { return false; }
  virtual bool expand_aliases() const { return false; }
  virtual bool posix() const { return false; }
  // The alias's text, or null.
  virtual const std::string* alias(std::string_view) const { return nullptr; }
  // A warning in bash's words (here-document ended by the end of the file).
  virtual void warn(int /*line*/, const std::string&) const {}
  // The text ended inside a here-document that waits for this line.
  virtual void here_document_open(const std::string& /*delimiter*/) const {}
  virtual std::size_t stack_left() const { return SIZE_MAX; }
  virtual std::uint32_t nesting_max() const { return 1000; }
  // Called for every word read, for text looked at more than once, and for copies held (less: given back).
  // They may throw what ends the script.
  virtual void count_token() const {}
  virtual void charge(std::size_t /*bytes*/) const {}
  virtual void hold(std::int64_t /*bytes*/) const {}
  // The script is nested deeper than nesting_max. Returns: it is a syntax error then.
  virtual void too_deep() const {}
};

// Turns a script into commands, one complete command (usually a line) at a time, so that what comes before a
// syntax error runs and an alias or option set by one line is in force for the next.
class Parser {
 public:
  Parser(std::string source, const ParserContext& context, int first_line = 1, std::uint32_t depth = 0);
  ~Parser();
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  // The next complete command; null at the end. Throws SyntaxError; after that the parser is at an end.
  NodePtr next();
  // The whole rest as one list (null if empty).
  NodePtr all();

  // The line at which the next command begins.
  int line() { return line_at(pos_); }
  std::size_t position() const { return pos_; }
  const std::string& source() const { return src_; }

  // The text as the inside of a here-document or of double quotes (prompts, arithmetic).
  static Word parse_text(std::string text, const ParserContext& context, int line);
  // The text as one unquoted word, blanks included.
  static Word parse_word_text(std::string text, const ParserContext& context, int line);
  // Arithmetic whose text is the word.
  static std::shared_ptr<const ArithText> make_arith(Word word);

 private:
  // Where text stands, which decides what is special in it.
  enum class Mode : unsigned char { plain, dquote, here, arith };
  struct Nested;

  // parser_words.cc
  // The functions below read from pos_ on and leave it behind what they took. All throw SyntaxError; those
  // that return bool return false and move nothing if what they look for does not stand here.
  Word word(bool pattern = false);
  bool word_part(Word& out, Mode mode, bool pattern);
  void dollar(std::vector<Part>& out, Mode mode);
  void brace_param(std::vector<Part>& out, Mode mode);
  void param_operator(Param& param, Mode mode);
  bool param_name(Param& param);
  void param_subscript(Param& param);
  Word param_word(Mode mode, std::string_view stops, bool pattern);
  std::shared_ptr<const ArithText> slice_word(std::string_view stops);
  void double_quotes(std::vector<Part>& out);
  void single_quotes(std::vector<Part>& out);
  void ansi_quotes(std::vector<Part>& out);
  void back_quotes(std::vector<Part>& out, Mode mode);
  void command_sub(std::vector<Part>& out);
  void process_sub(std::vector<Part>& out, char direction);
  bool arith_sub(std::vector<Part>& out);
  Word subscript_word();
  std::size_t find_subscript_end(std::size_t open) const;
  void add_text(std::vector<Part>& out, PartKind kind, std::string_view text);
  void keep_text(Word& out, std::size_t start);
  void forget_reprints(std::size_t start);
  void reprint(std::size_t start, std::string text, NodePtr command = nullptr, bool substitution = false);
  Word text_word(std::size_t from, std::size_t to, Mode mode);

  // parser.cc
  // One function for each construct of the grammar. A null result is an empty list.
  NodePtr list_until_newline();
  NodePtr compound_list();
  NodePtr and_or();
  NodePtr pipeline();
  NodePtr command();
  NodePtr compound(std::string_view reserved);
  NodePtr simple();
  NodePtr if_command();
  NodePtr for_command(bool select);
  NodePtr arith_for(int line);
  NodePtr while_command(bool until);
  NodePtr case_command();
  NodePtr group();
  NodePtr subshell();
  NodePtr arith_command();
  NodePtr function_keyword();
  NodePtr function_body(std::string name, int line, bool keyword);
  NodePtr coproc();
  NodePtr do_group();
  NodePtr cond_command();
  std::unique_ptr<CondNode> cond_or();
  std::unique_ptr<CondNode> cond_and();
  std::unique_ptr<CondNode> cond_not();
  std::unique_ptr<CondNode> cond_primary();
  Word cond_regex();
  std::string_view cond_peek();
  void cond_skip();

  bool try_assignment(Assign& out);
  void array_items(Assign& out);
  bool redirect(std::vector<Redirect>& out);
  bool redirect_operator(Redirect& out);
  void redirects(std::vector<Redirect>& out);
  void read_here_docs();
  void read_here_doc(HereDoc& doc);
  bool expand_alias(std::size_t start);

  // Low level.
  bool at_end() const { return pos_ >= src_.size(); }
  char peek(std::size_t ahead = 0) const { return pos_ + ahead < src_.size() ? src_[pos_ + ahead] : '\0'; }
  bool looking_at(std::string_view text) const { return src_.compare(pos_, text.size(), text) == 0; }
  void skip_blanks();
  void skip_newlines();
  bool take_newline();
  std::string_view reserved();
  bool at_list_end();
  void expect_reserved(std::string_view word);
  bool plain_word_end(std::size_t at) const;
  int line_at(std::size_t at);
  [[noreturn]] void unexpected();
  [[noreturn]] void unexpected_end(std::string_view looking_for);
  [[noreturn]] void error(std::string message);
  std::string token_here();
  std::size_t matching_paren(std::size_t open) const;

  std::string src_;
  const ParserContext& context_;
  std::size_t pos_ = 0;
  int first_line_;
  std::uint32_t depth_;
  std::int64_t held_ = 0;
  std::size_t counted_pos_ = 0;
  int counted_lines_ = 0;
  std::vector<std::shared_ptr<HereDoc>> pending_;
  // An alias is not expanded again inside its own text, which ends here (counted from the end of the source).
  std::vector<std::pair<std::string, std::size_t>> alias_ends_;
  bool alias_next_ = false;  // the last alias ended in a blank: the next word is a candidate too
  std::size_t alias_next_at_ = 0;
  std::vector<Reprint> reprints_;                  // of the word being read, and of words before it
  std::vector<std::pair<std::string, int>> open_;  // constructs begun: what the end of the file interrupts
};

// Whether the text ends in the middle of a command, so that more of it should be read. `until` is set to the
// line that ends an open here-document: nothing before it can make a difference.
bool incomplete(std::string text, const ParserContext& context, std::string& until);
// Whether the text is a name: letter or underscore, then letters, digits, underscores.
bool is_name(std::string_view text);
// The text of $'...' between the quotes, decoded.
std::string decode_ansi(std::string_view text);

}  // namespace atl::shell
