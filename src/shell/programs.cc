#include "shell/programs.h"

#include <algorithm>
#include <array>

#include "shell/command_table.h"
#include "vfs/path.h"

namespace atl::shell {

namespace {

constexpr std::string_view program_mark = "#!atoll ";
constexpr std::array<std::string_view, 8> both = {"[",      "echo", "false", "kill",
                                                  "printf", "pwd",  "test",  "true"};
constexpr std::array<std::string_view, 6> devices = {"full", "null", "random", "tty", "urandom", "zero"};

void make_program(vfs::FileSystem& fs, std::string_view name) {
  auto path = vfs::Path::posix("/usr/bin/" + std::string(name));
  if (!path || !fs.write(*path, std::string(program_mark) + std::string(name) + "\n")) return;
  (void)fs.set_mode(*path, 0755);
}

}  // namespace

bool also_program(std::string_view name) {
  return std::find(both.begin(), both.end(), name) != both.end();
}

bool holds_commands(std::string_view directory) {
  return directory == "/usr/bin" || directory == "/bin";
}

std::string_view program_of(std::string_view text) {
  if (!text.starts_with(program_mark) || text.find('\n') != text.size() - 1) return {};
  return text.substr(program_mark.size(), text.size() - program_mark.size() - 1);
}

bool is_device(std::string_view path) {
  constexpr std::string_view directory = "/dev/";
  return path.starts_with(directory) &&
         std::find(devices.begin(), devices.end(), path.substr(directory.size())) != devices.end();
}

bool is_stream(std::string_view path) {
  return is_device(path) || path.starts_with("/dev/fd/") || path == "/dev/stdin" || path == "/dev/stdout" ||
         path == "/dev/stderr";
}

void make_programs_and_devices(vfs::FileSystem& fs) {
  for (const Command& command : command_table()) make_program(fs, command.name);
  for (std::string_view name : both) make_program(fs, name);
  (void)fs.make_symlink(*vfs::Path::posix("/bin"), "usr/bin");
  for (std::string_view name : devices)
    (void)fs.make_fifo(*vfs::Path::posix("/dev/" + std::string(name)), 0666);
  (void)fs.make_directory(*vfs::Path::posix("/dev/fd"), 0755);
  for (auto [name, target] :
       {std::pair{"/dev/stdin", "fd/0"}, {"/dev/stdout", "fd/1"}, {"/dev/stderr", "fd/2"}})
    (void)fs.make_symlink(*vfs::Path::posix(name), target);
}

}  // namespace atl::shell
