#pragma once

#include <string>
#include <vector>

#include "shell/command.h"
#include "shell/files/size_style.h"
#include "shell/text/sink.h"

namespace atl::shell {

// What the options of ls ask for.
struct LsSettings {
  enum class Hidden : unsigned char { no, almost, all } hidden = Hidden::no;
  enum class Format : unsigned char { single, columns, across, commas, lengthy } format = Format::single;
  enum class Sort : unsigned char { name, none, size, time, version, extension, width } sort = Sort::name;
  enum class Quote : unsigned char {
    literal,
    shell,
    shell_always,
    shell_escape,
    shell_escape_always,
    c,
    c_maybe,
    escape,
    locale,
    clocale
  } quote = Quote::literal;
  enum class Follow : unsigned char {
    unset,
    never,
    arguments,
    argument_directories,
    always
  } follow = Follow::unset;
  bool directories = false, reverse = false, recursive = false, hide_controls = false;
  bool inodes = false, blocks = false, numeric = false, owner = true, group = true, author = false,
       context = false;
  bool directories_first = false, color = false, links = false;
  SizeStyle block_size, file_size{0, 1, ""};
  char time = 'm', indicator = 0, end = '\n';
  std::string time_style;
  std::size_t width = 80, tab = 8;
  std::vector<std::string> ignore;
  std::vector<std::string> hide;  // unless -a or -A
};

// Lists operands as GNU ls does. Used once, by the fiber of the invocation, which must outlive it.
class Ls {
 public:
  Ls(Invocation& call, const LsSettings& settings) : call_(call), s_(settings), out_(call.out()) {}
  // 0; 1 if something below an operand could not be read, 2 if an operand could not. Each was reported, and
  // the rest is listed.
  int run(const std::vector<std::string>& operands);

 private:
  // A name with what is known about it.
  struct Entry {
    std::string name;
    vfs::Path path;
    vfs::Stat stat;
    std::string target;  // of a link
    bool broken = false, target_directory = false;
  };

  // Reads a link's target, too, where the options need it.
  Entry load(const std::string& name, const vfs::Path& path, const vfs::Stat& stat);
  // `shown` is the path as the user wrote it. Reports a directory that cannot be read and goes on.
  void list_directory(const std::string& shown, const vfs::Path& path, bool header);
  // Sorts as the options say; ties by name.
  void arrange(std::vector<Entry>& entries) const;
  // In the format of the options. `total`: the line with the number of blocks comes first.
  void print(const std::vector<Entry>& entries, bool total);
  void print_long(const std::vector<Entry>& entries);
  void print_columns(const std::vector<Entry>& entries, bool down);
  // One entry as it stands in a line: inode, blocks, name, indicator. `bare`: without colors.
  std::string cell(const Entry& entry, bool bare = false) const;
  std::string shown_blocks(const Entry& entry) const { return s_.block_size.text(blocks_of(entry) * 1024); }
  // Whether hidden names, --ignore or --hide leave it out.
  bool skipped(std::string_view name) const;
  std::string quoted_name(const std::string& name) const;
  std::string time_text(const Entry& entry) const;
  std::string indicator(const Entry& entry) const;
  WallTime time_of(const Entry& entry) const;
  static std::uint64_t blocks_of(const Entry& entry);

  Invocation& call_;
  LsSettings s_;
  Sink out_;
  int status_ = 0;
  bool printed_ = false;
};

}  // namespace atl::shell
