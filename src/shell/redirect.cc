#include <fmt/format.h>

#include <cctype>
#include <charconv>

#include "shell/interpreter.h"
#include "shell/programs.h"

namespace atl::shell {

namespace {

class ClosedFile final : public OpenFile {};

OpenFile& closed() {
  static thread_local ClosedFile file;
  return file;
}

// "/dev/fd/7", "/dev/stdin": the descriptor; -1 if it is something else.
int device_descriptor(std::string_view path) {
  if (path == "/dev/stdin") return 0;
  if (path == "/dev/stdout") return 1;
  if (path == "/dev/stderr") return 2;
  for (std::string_view prefix : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(prefix)) continue;
    std::string_view rest = path.substr(prefix.size());
    int fd = -1;
    auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), fd);
    if (error == std::errc() && end == rest.data() + rest.size()) return fd;
  }
  return -1;
}

bool all_digits(std::string_view text) {
  if (text.empty() || text.size() > 8) return false;
  for (char c : text)
    if (!std::isdigit(static_cast<unsigned char>(c))) return false;
  return true;
}

}  // namespace

OpenFilePtr Interpreter::file(int fd) const {
  const auto& files = *state.files;
  if (fd < 0 || static_cast<std::size_t>(fd) >= files.size()) return nullptr;
  return files[static_cast<std::size_t>(fd)];
}

void Interpreter::set_file(int fd, OpenFilePtr file) {
  auto& files = state.files.edit();
  if (static_cast<std::size_t>(fd) >= files.size()) {
    if (!file) return;
    if (fd >= static_cast<int>(machine.limits.descriptors)) machine.stop_limit(Limit::descriptors);
    files.resize(static_cast<std::size_t>(fd) + 1);
  }
  files[static_cast<std::size_t>(fd)].swap(file);
}

int Interpreter::free_descriptor(int from) const {
  while (file(from)) ++from;
  return from;
}

Output& Interpreter::out() {
  const auto& files = *state.files;
  return files.size() > 1 && files[1] ? *files[1] : closed();
}
Output& Interpreter::err() {
  const auto& files = *state.files;
  return files.size() > 2 && files[2] ? *files[2] : closed();
}
Input& Interpreter::in() {
  const auto& files = *state.files;
  return !files.empty() && files[0] ? *files[0] : closed();
}

bool Interpreter::print(std::string_view text, std::string_view who) {
  if (text.empty()) return true;
  Output& to = out();
  if (to.write(text)) return true;
  error(fmt::format("{}: write error: {}", who, to.error()));
  return false;
}

Result<vfs::Path> Interpreter::path_of(std::string_view text) const {
  if (text.empty()) return atl::fail(Code::not_found, "No such file or directory");
  if (text.find("..") == std::string_view::npos) return state.cwd.join(text);
  return vfs::resolve(machine.fs, state.cwd, text);
}

bool Interpreter::permitted(const vfs::Stat& stat, unsigned bits) const {
  unsigned mode = stat.uid == 1000 ? stat.mode >> 6 : stat.mode;
  return (mode & bits) == bits;
}

Result<OpenFilePtr> Interpreter::open(const std::string& path, const OpenHow& how) {
  std::string full = path.starts_with('/') ? path : state.cwd.str() + "/" + path;
  if (full.starts_with("/dev/") || full.starts_with("/proc/self/fd/")) {
    if (full == "/dev/null") return open_null();
    if (full == "/dev/zero") return open_zero(machine);
    if (full == "/dev/full") return open_full();
    if (full == "/dev/urandom" || full == "/dev/random") return open_random(machine);
    if (full == "/dev/tty") return atl::fail(Code::unsupported, "No such device or address");
    int fd = device_descriptor(full);
    if (fd >= 0) {
      OpenFilePtr existing = file(fd);
      if (!existing) return atl::fail(Code::not_found, "No such file or directory");
      return existing;
    }
  }
  vfs::Path where = TRY(path_of(path));
  auto stat = machine.fs.find(where);
  if (path.size() > 1 && path.back() == '/' && how.create)
    return atl::fail(!stat || stat->is_directory() ? Code::is_a_directory : Code::not_a_directory, "");
  if (stat && stat->type == vfs::Type::fifo) {
    auto real = machine.fs.real_path(where);  // a link to a device
    if (real && is_device(real->str()) && real->str() != full) return open(real->str(), how);
    return open_fifo(machine, stat->inode, how.read, how.write);
  }
  if (stat && stat->is_directory()) {
    if (how.write) return atl::fail(Code::is_a_directory, "Is a directory");
    return open_directory();
  }
  if (stat && !permitted(*stat, (how.read ? 4U : 0U) | (how.write ? 2U : 0U)))
    return atl::fail(Code::permission_denied, "Permission denied");
  vfs::OpenOptions options;
  options.read = how.read;
  options.write = how.write;
  options.append = how.append;
  options.create = how.create;
  options.truncate = how.truncate;
  options.mode = 0666 & ~state.umask;
  auto file = TRY(machine.fs.open(where, options));
  auto out = open_vfs(machine, std::move(file), how.read, how.write);
  out->path = where.str();
  return out;
}

void Interpreter::put_file(int fd, OpenFilePtr next, std::vector<std::pair<int, OpenFilePtr>>* saved) {
  if (saved) saved->emplace_back(fd, file(fd));
  set_file(fd, std::move(next));
}

void Interpreter::restore(std::vector<std::pair<int, OpenFilePtr>>& saved) {
  for (std::size_t i = saved.size(); i-- > 0;) set_file(saved[i].first, std::move(saved[i].second));
  saved.clear();
}

bool Interpreter::apply(const std::vector<Redirect>& redirects,
                        std::vector<std::pair<int, OpenFilePtr>>* saved) {
  for (const Redirect& redirect : redirects)
    if (!apply_one(redirect, saved)) return false;
  return true;
}

// [n]<&word and [n]>&word.
bool Interpreter::redirect_dup(const Redirect& redirect, int fd, const std::string& target,
                               std::vector<std::pair<int, OpenFilePtr>>* saved) {
  if (target == "-") {
    put_file(fd, nullptr, saved);
    return true;
  }
  std::string digits = target;
  bool move = digits.size() > 1 && digits.back() == '-';
  if (move) digits.pop_back();
  if (!all_digits(digits)) {
    error(fmt::format("{}: ambiguous redirect", redirect.target.raw));
    return false;
  }
  int source = std::stoi(digits);
  OpenFilePtr existing = file(source);
  if (!existing) {
    error(fmt::format("{}: Bad file descriptor", digits));
    return false;
  }
  put_file(fd, existing, saved);
  if (move && source != fd) put_file(source, nullptr, saved);
  return true;
}

Result<OpenFilePtr> Interpreter::open_target(RedirectKind kind, const std::string& target) {
  switch (kind) {
    case RedirectKind::in:
      return open(target, {.read = true});
    case RedirectKind::in_out:
      return open(target, {.read = true, .write = true, .create = true});
    case RedirectKind::append:
    case RedirectKind::both_append:
      return open(target, {.write = true, .append = true, .create = true});
    default:
      return open(target, {.write = true, .truncate = true, .create = true});
  }
}

bool Interpreter::apply_one(const Redirect& redirect, std::vector<std::pair<int, OpenFilePtr>>* saved) {
  RedirectKind kind = redirect.kind;
  bool input = kind == RedirectKind::in || kind == RedirectKind::in_out || kind == RedirectKind::dup_in ||
               kind == RedirectKind::here_doc || kind == RedirectKind::here_string;
  int fd = redirect.fd >= 0 ? redirect.fd : input ? 0 : 1;
  auto* record = saved;
  if (!redirect.fd_var.empty()) {
    bool dup = kind == RedirectKind::dup_in || kind == RedirectKind::dup_out;
    if (dup && redirect.target.raw == "-") {
      std::size_t bracket = redirect.fd_var.find('[');
      auto value =
          bracket == std::string::npos
              ? get_value(redirect.fd_var)
              : get_element(redirect.fd_var.substr(0, bracket),
                            redirect.fd_var.substr(bracket + 1, redirect.fd_var.size() - bracket - 2),
                            nullptr);
      if (!value || !all_digits(*value)) {
        error(fmt::format("{}: ambiguous redirect", redirect.fd_var));
        return false;
      }
      set_file(std::stoi(*value), nullptr);
      return true;
    }
    fd = free_descriptor(10);
    if (!option(Shopt::varredir_close)) record = nullptr;
  } else if (fd >= static_cast<int>(machine.limits.descriptors)) {
    error(fmt::format("{}: Bad file descriptor", fd));
    return false;
  }
  auto bind_variable = [&] {
    return redirect.fd_var.empty() || assign_reference(redirect.fd_var, std::to_string(fd));
  };

  if (kind == RedirectKind::here_doc) {
    put_file(fd, open_string(redirect.here->quoted ? redirect.here->raw : expand_here(redirect.here->body)),
             record);
    return bind_variable();
  }
  if (kind == RedirectKind::here_string) {
    put_file(fd, open_string(expand_single(redirect.target) + "\n"), record);
    return bind_variable();
  }
  std::vector<std::string> fields;
  expand_into(redirect.target, fields);
  if (fields.size() != 1) {
    error(fmt::format("{}: ambiguous redirect", redirect.target.raw));
    return false;
  }
  const std::string& target = fields[0];
  if (kind == RedirectKind::dup_out && (redirect.fd < 0 || redirect.fd == 1) && redirect.fd_var.empty()) {
    bool descriptor =
        target == "-" || (!target.empty() && std::isdigit(static_cast<unsigned char>(target[0])));
    if (!descriptor) kind = RedirectKind::both;
  }
  if (kind == RedirectKind::dup_in || kind == RedirectKind::dup_out)
    return redirect_dup(redirect, fd, target, record) && bind_variable();
  if ((kind == RedirectKind::out || kind == RedirectKind::both) && option(Opt::noclobber)) {
    auto where = path_of(target);
    auto stat = where ? machine.fs.find(*where) : std::nullopt;
    if (stat && stat->is_file()) {
      error(fmt::format("{}: cannot overwrite existing file", target));
      return false;
    }
  }
  Result<OpenFilePtr> opened = open_target(kind, target);
  if (!opened) {
    error(fmt::format("{}: {}", target, vfs::strerror(opened.error().code())));
    return false;
  }
  if (kind == RedirectKind::both || kind == RedirectKind::both_append) {
    put_file(1, *opened, record);
    put_file(2, *opened, record);
    return true;
  }
  put_file(fd, *opened, record);
  return bind_variable();
}

}  // namespace atl::shell
