#pragma once

#include <deque>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "shell/command.h"
#include "shell/commands/awk/ast.h"
#include "shell/text/sink.h"
#include "shell/text/text_streams.h"

namespace atl::shell::awk {

// Ends the program from wherever it is: a fatal error (status 2). Caught in run().
struct Fatal {
  std::string message;
};

// Runs one awk program: its variables, the current record and its fields, open files and pipes. The program
// and the invocation must outlive it. Stopped passes through; Fatal does not leave run().
// For the fiber of the invocation. A program that ends by itself has its files and pipes closed by run().
class Machine {
 public:
  // Sets the variables that awk itself defines (FS, NR, ENVIRON, ...) to their first values.
  Machine(Invocation& call, Program& program);
  ~Machine();

  // -v and command-line assignments: escapes are processed.
  void assign_text(const std::string& name, std::string_view value);
  // ARGV and ARGC. The name of the program is already there.
  void set_arguments(const std::vector<std::string>& operands);
  // BEGIN, the records of all inputs, END. The exit status; 2 after a fatal error, which was reported.
  int run();

 private:
  enum class Flow : unsigned char { normal, next, nextfile, exit, break_, continue_, return_ };

  // next and exit out of a function; caught where the rule was started.
  struct Jump {
    Flow flow;
  };

  // run.cc: statements and rules
  // execute(), with jumps out of functions caught and turned back into a Flow.
  Flow guarded(const Node* node);
  // Runs one statement. Everything but `normal` is for the caller to act on.
  Flow execute(const Node* node);
  Flow execute_block(const std::vector<Node*>& list);
  Flow execute_for_in(const Node* node);
  Flow execute_switch(const Node* node);
  Flow loop_over_input();
  // All rules that have a pattern, or none, on the current record.
  Flow run_rules();
  Flow run_kind(Rule::Kind kind);
  void print(const Node* node);
  // Counts work, and charges it to the script in pieces, because a charge for each operation would cost more
  // than the operation.
  void tick() {
    if (++ticks_ >= 512) {
      call_.charge(ticks_);
      ticks_ = 0;
    }
  }

  // eval.cc: expressions
  // The value of an expression. number(), text() and truth() give the same without making a Value where that
  // can be avoided.
  Value eval(const Node* node);
  double number(const Node* node);
  // The view is into the node, into a variable or into `scratch`, and is valid until any of them changes.
  std::string_view text(const Node* node, std::string& scratch);
  bool truth(const Node* node);
  bool truth_of(const Value& value) const;
  double number_of(const Value& value) const;
  std::string_view text_of(const Value& value, std::string& scratch) const;
  bool compare(Op op, const Node* node);
  int compare_values(Value& left, Value& right);
  bool match(const Node* subject, const Node* pattern);
  Value assign(const Node* node);
  Value increment(const Node* node, double by, bool post);
  Value call_user(const Function& function, const std::vector<Node*>& arguments);
  // The variable that a name stands for. Fatal if it is an array, and array() is Fatal if it is a scalar.
  Cell& cell(const Node* node);
  Array& array(const Node* node);
  // For arrays that are passed to functions: the callee shares the caller's.
  std::shared_ptr<Array> array_pointer(const Node* node);
  Array::Element& element(const Node* node);
  // The key for a[i, j]: the values joined by SUBSEP.
  std::string_view subscript(const std::vector<Node*>& list, std::string& scratch);
  // Assigns to a variable, an element or a field, with the effects that assigning to NF, $0 or FS has.
  void store(const Node* target, Value value);
  void concat_into(const Node* node, std::string& out);
  const Regex& regex_of(const Node* node);
  // The compiled form of a text that is used as an expression, kept for the next time. Fatal if it is
  // malformed.
  const Regex& dynamic_regex(std::string_view pattern);
  // After an assignment to one of the special variables: what was derived from its value is renewed.
  void special_assigned(int slot);

  // fields.cc
  // A new $0. Fields are split when one is first asked for.
  void set_record(std::string_view record);
  void split_fields();
  void split_text(std::string_view text, std::string_view separator, const Regex* regex,
                  std::vector<std::string_view>& out, std::vector<std::string_view>* separators);
  // $0, put together again if a field was assigned.
  std::string_view record();
  std::string_view field_text(std::int64_t index);
  Value field(std::int64_t index);
  void set_field(std::int64_t index, Value value);
  // Assigning NF: fields are cut off, or empty ones added.
  void set_field_count(std::int64_t count);
  std::int64_t field_index(const Node* node);

  // io.cc
  struct Reader;
  struct Writer;
  // The next record of the main input into $0; false at the end of the last file.
  bool next_record();
  bool open_next_file();
  bool read_record(Reader& reader, std::string& record);
  // 1 for a record, 0 at the end, -1 for a failure, as the language defines it.
  double getline(const Node* node);
  // The open output of that name, opened if it is not. Fatal if it cannot be.
  Writer& writer(const Node* node, Redirect redirect);
  // What close() returns: the status of a command, 0 for a file, -1 if nothing of that name is open.
  int close_stream(const std::string& name);
  void close_all();
  // Runs the command with everything that was written to it as its input; its status.
  int run_writer(Writer& out);
  void flush_all();
  void command_line_assignment(const std::string& text);

  // builtins.cc
  // One function for each of the language's; `node` has the arguments. Some arguments are targets that are
  // assigned, so they are not evaluated beforehand.
  Value builtin(const Node* node);
  Value builtin_length(const Node* node);
  Value builtin_substr(const Node* node);
  Value builtin_split(const Node* node, bool by_pattern);
  Value builtin_substitute(const Node* node, bool global);
  Value builtin_gensub(const Node* node);
  Value builtin_match(const Node* node);
  Value builtin_sort(const Node* node, bool indices);
  Value builtin_system(const Node* node);
  Value builtin_strftime(const Node* node);
  Value builtin_mktime(const Node* node);
  Value builtin_bits(const Node* node);
  // The keys in the order that PROCINFO["sorted_in"] asks for, or that asort's third argument does.
  std::vector<std::string> ordered_keys(Array& a, std::string_view how);
  // format.cc
  // printf: appends to `out`. Fatal if arguments are missing.
  void format(std::string_view spec, std::vector<Value>& arguments, std::string& out);
  int format_number(std::string_view spec, std::size_t& at, std::vector<Value>& arguments, std::size_t& next);
  std::string format_character(Value& value);

  [[noreturn]] void fatal(std::string message) { throw Fatal{std::move(message)}; }

  Invocation& call_;
  Program& program_;
  Sink out_;
  std::vector<Cell> globals_;
  // Of the function that runs; null outside of functions.
  std::vector<Cell>* locals_ = nullptr;
  std::uint64_t ticks_ = 0;
  Value returned_;
  int exit_status_ = 0;
  bool exiting_ = false;

  std::string source_;   // what the fields are split from
  std::string rebuilt_;  // $0 after a field was assigned
  bool is_rebuilt_ = false;
  bool stale_ = false;  // a field was assigned and $0 not yet rebuilt
  bool split_ = false;
  std::vector<std::string_view> fields_;
  std::vector<Value> changed_;  // beside fields_: values of assigned fields
  std::vector<bool> is_changed_;
  bool any_changed_ = false;
  std::int64_t field_count_ = 0;

  std::string fs_ = " ", ofs_ = " ", ors_ = "\n", rs_ = "\n", subsep_ = "\034", convfmt_ = "%.6g",
              ofmt_ = "%.6g";
  bool ignore_case_ = false;
  bool use_fpat_ = false;
  std::vector<std::size_t> widths_;
  const Regex* fs_regex_ = nullptr;
  std::string pending_fs_;
  double nr_ = 0, fnr_ = 0;

  std::unordered_map<std::string, std::unique_ptr<Regex>> regexes_;
  std::unique_ptr<Reader> main_;
  std::size_t argument_ = 1;
  bool input_used_ = false;
  bool input_done_ = false;
  std::unordered_map<std::string, std::unique_ptr<Reader>> readers_;
  std::unordered_map<std::string, std::unique_ptr<Writer>> writers_;
  std::vector<std::string> writer_order_;
  std::mt19937_64 random_{0};
  double seed_ = 0;
  std::vector<Regex::Span> spans_;
};

}  // namespace atl::shell::awk
