#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace atl::config {

// Text for a message or a table: control characters and what is no UTF-8 become escapes (\x1b), and what is
// longer than `characters_max` is cut. Whatever a user gave may be shown on a terminal only like this.
std::string shown(std::string_view text, std::size_t characters_max = 80);

// A value as a user gave it, with the name under which they know it ("--time", "NAME", "setting workers").
// Every value of the command line is read through this: a refusal names the field, says what is wrong and
// what to write instead, as Code::invalid_argument with the field set. Borrows both texts.
class Checked {
 public:
  Checked(std::string_view field, std::string_view text) : field_(field), text_(text) {}

  Result<std::int64_t> whole_number(std::int64_t least, std::int64_t most) const;
  // A finite number; "nan" and "inf" are none.
  Result<double> number(double least, double most) const;
  // A number of seconds, to the millisecond.
  Result<std::chrono::milliseconds> seconds(double least, double most) const;
  // "256M", "1G", "4096".
  Result<std::uint64_t> bytes(std::uint64_t least, std::uint64_t most) const;
  // One of these words.
  Result<std::string> choice(std::span<const std::string_view> words) const;
  // Text for people: UTF-8 without control characters, not empty, nothing but blanks neither.
  Result<std::string> label(std::size_t characters_max) const;
  // A name for machines: letters, digits and . _ -, beginning with a letter or digit.
  Result<std::string> name(std::size_t characters_max) const;
  // NAME=VALUE, where NAME is a variable's name: letters, digits and _, not beginning with a digit.
  Result<std::pair<std::string, std::string>> assignment() const;
  // A control group below ours: names with / between them, none of which is . or ..
  Result<std::string> control_group() const;
  // An absolute path without . and .. in it.
  Result<std::string> absolute_path() const;
  // A host's name: labels of letters, digits and dashes, at most 64 characters as the kernel has it.
  Result<std::string> host_name() const;

  Error wrong(std::string_view problem, std::string_view fix) const;

 private:
  std::string_view field_, text_;
};

enum class InputKind : std::uint8_t {
  file,          // a regular file, maybe through links
  file_or_pipe,  // also a pipe, for `<(command)`; one that nobody opens for writing within seconds is refused
};
// The whole of a file that a user named. What is not there, is a directory, a device, a loop of links, may
// not be read or is longer than `bytes_max` is an error that begins with the path. Never waits for a regular
// file's place to become one: nothing blocks in open().
Result<std::string> read_input(const std::string& path, std::size_t bytes_max,
                               InputKind kind = InputKind::file);

}  // namespace atl::config
