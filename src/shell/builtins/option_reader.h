#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "shell/args.h"

namespace atl::shell {

class ShellRunner;

namespace builtins {

// Reads the options of a builtin as bash does: letters may be joined in one word, a value is the rest of its
// word or the next one, and "--" or the first other word ends the options.
//
//   OptionReader options(shell, args, "af:");
//   while (char letter = options.next()) ...
//   if (options.failed()) return options.status();
//   for (std::size_t at = options.operands(); ...
class OptionReader {
 public:
  // `letters` are the options that exist; one that takes a value is followed by ':'. All three must outlive
  // the reader.
  OptionReader(ShellRunner& shell, const Args& args, std::string_view letters)
      : shell_(shell), args_(args), letters_(letters) {}

  // The next option's letter; 0 when there is none left, or after a complaint about one that does not exist
  // or lacks its value.
  char next();
  // The value of the option that next() returned; empty if it takes none.
  const std::string& value() const { return value_; }
  // Whether a complaint ended the options; then the builtin returns status().
  bool failed() const { return failed_; }
  int status() const { return 2; }
  // The index of the first word that is no option. Only when next() has returned 0.
  std::size_t operands() const { return at_; }

 private:
  ShellRunner& shell_;
  const Args& args_;
  std::string_view letters_;
  std::size_t at_ = 1;      // the word that is read
  std::size_t within_ = 0;  // the letter in it that was read last
  std::string value_;
  bool failed_ = false;
};

}  // namespace builtins

}  // namespace atl::shell
