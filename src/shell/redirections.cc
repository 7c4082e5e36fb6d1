#include "shell/redirections.h"

#include <fmt/format.h>

#include <cctype>

#include "shell/runner.h"

namespace atl::shell {

namespace {

bool all_digits(std::string_view text) {
  if (text.empty() || text.size() > 8) return false;
  for (char c : text)
    if (!std::isdigit(static_cast<unsigned char>(c))) return false;
  return true;
}

// Whether the redirection is about standard input where it names no descriptor.
bool reads(RedirectKind kind) {
  return kind == RedirectKind::in || kind == RedirectKind::in_out || kind == RedirectKind::dup_in ||
         kind == RedirectKind::here_doc || kind == RedirectKind::here_string;
}

}  // namespace

void Redirections::put_file(int fd, OpenFilePtr next, SavedFiles* saved) {
  // In order, and undone backwards: the same descriptor may be redirected twice.
  if (saved) saved->emplace_back(fd, shell_.descriptors().file(fd));
  shell_.descriptors().set_file(fd, std::move(next));
}

bool Redirections::apply(const std::vector<Redirect>& redirects, SavedFiles* saved) {
  for (const Redirect& redirect : redirects)
    if (!apply_one(redirect, saved)) return false;
  return true;
}

// [n]<&word and [n]>&word.
bool Redirections::redirect_dup(const Redirect& redirect, int fd, const std::string& target,
                                SavedFiles* saved) {
  if (target == "-") {
    put_file(fd, nullptr, saved);
    return true;
  }
  std::string digits = target;
  bool move = digits.size() > 1 && digits.back() == '-';
  if (move) digits.pop_back();
  if (!all_digits(digits)) {
    shell_.error(fmt::format("{}: ambiguous redirect", redirect.target.raw));
    return false;
  }
  int source = std::stoi(digits);
  OpenFilePtr existing = shell_.descriptors().file(source);
  if (!existing) {
    shell_.error(fmt::format("{}: Bad file descriptor", digits));
    return false;
  }
  put_file(fd, existing, saved);
  // `3>&3-` is no move.
  if (move && source != fd) put_file(source, nullptr, saved);
  return true;
}

Result<OpenFilePtr> Redirections::open_target(RedirectKind kind, const std::string& target) {
  switch (kind) {
    case RedirectKind::in: return shell_.descriptors().open(target, {.read = true});
    case RedirectKind::in_out:
      return shell_.descriptors().open(target, {.read = true, .write = true, .create = true});
    case RedirectKind::append:
    case RedirectKind::both_append:
      return shell_.descriptors().open(target, {.write = true, .append = true, .create = true});
    default: return shell_.descriptors().open(target, {.write = true, .truncate = true, .create = true});
  }
}

// The descriptor that a redirection is about, and where its old file is kept (null: nowhere).
struct Redirections::Place {
  int fd = 0;
  SavedFiles* saved = nullptr;
};

bool Redirections::close_named(const Redirect& redirect) {
  std::size_t bracket = redirect.fd_var.find('[');
  std::optional<std::string> value;
  if (bracket == std::string::npos) {
    value = shell_.variables().get_value(redirect.fd_var);
  } else {
    std::string subscript = redirect.fd_var.substr(bracket + 1, redirect.fd_var.size() - bracket - 2);
    value = shell_.variables().get_element(redirect.fd_var.substr(0, bracket), subscript, nullptr);
  }
  if (!value || !all_digits(*value)) {
    shell_.error(fmt::format("{}: ambiguous redirect", redirect.fd_var));
    return false;
  }
  shell_.descriptors().set_file(std::stoi(*value), nullptr);
  return true;
}

bool Redirections::find_place(const Redirect& redirect, SavedFiles* saved, Place& place) {
  place.saved = saved;
  if (!redirect.fd_var.empty()) {
    place.fd = shell_.descriptors().free_descriptor(10);
    // {name}>file: the descriptor outlives the command.
    if (!shell_.option(Shopt::varredir_close)) place.saved = nullptr;
    return true;
  }
  place.fd = redirect.fd >= 0 ? redirect.fd : reads(redirect.kind) ? 0 : 1;
  if (place.fd < static_cast<int>(shell_.machine().limits.descriptors)) return true;
  shell_.error(fmt::format("{}: Bad file descriptor", place.fd));
  return false;
}

bool Redirections::bind_variable(const Redirect& redirect, int fd) {
  return redirect.fd_var.empty() || shell_.variables().assign_reference(redirect.fd_var, std::to_string(fd));
}

bool Redirections::redirect_file(const Redirect& redirect, RedirectKind kind, const std::string& target,
                                 const Place& place) {
  if ((kind == RedirectKind::out || kind == RedirectKind::both) && shell_.option(Opt::noclobber)) {
    auto where = shell_.descriptors().path_of(target);
    auto stat = where ? shell_.machine().fs.find(*where) : std::nullopt;
    // Only ordinary files: writing to /dev/null is no loss.
    if (stat && stat->is_file()) {
      shell_.error(fmt::format("{}: cannot overwrite existing file", target));
      return false;
    }
  }
  Result<OpenFilePtr> opened = open_target(kind, target);
  if (!opened) {
    shell_.error(fmt::format("{}: {}", target, vfs::strerror(opened.error().code())));
    return false;
  }
  if (kind == RedirectKind::both || kind == RedirectKind::both_append) {
    put_file(1, *opened, place.saved);
    put_file(2, *opened, place.saved);
    return true;
  }
  put_file(place.fd, *opened, place.saved);
  return bind_variable(redirect, place.fd);
}

bool Redirections::apply_one(const Redirect& redirect, SavedFiles* saved) {
  RedirectKind kind = redirect.kind;
  bool dup = kind == RedirectKind::dup_in || kind == RedirectKind::dup_out;
  if (!redirect.fd_var.empty() && dup && redirect.target.raw == "-") return close_named(redirect);
  Place place;
  if (!find_place(redirect, saved, place)) return false;
  if (kind == RedirectKind::here_doc) {
    std::string text =
        redirect.here->quoted ? redirect.here->raw : shell_.expander().here_document(redirect.here->body);
    put_file(place.fd, open_string(std::move(text)), place.saved);
    return bind_variable(redirect, place.fd);
  }
  if (kind == RedirectKind::here_string) {
    put_file(place.fd, open_string(shell_.expander().single(redirect.target) + "\n"), place.saved);
    return bind_variable(redirect, place.fd);
  }
  std::vector<std::string> fields;
  shell_.expander().expand_into(redirect.target, fields);
  // A pattern that matches two files, or a variable that is empty.
  if (fields.size() != 1) {
    shell_.error(fmt::format("{}: ambiguous redirect", redirect.target.raw));
    return false;
  }
  const std::string& target = fields[0];
  if (kind == RedirectKind::dup_out && (redirect.fd < 0 || redirect.fd == 1) && redirect.fd_var.empty()) {
    bool descriptor =
        target == "-" || (!target.empty() && std::isdigit(static_cast<unsigned char>(target[0])));
    if (!descriptor) kind = RedirectKind::both;  // >&file
  }
  if (kind == RedirectKind::dup_in || kind == RedirectKind::dup_out)
    return redirect_dup(redirect, place.fd, target, place.saved) && bind_variable(redirect, place.fd);
  return redirect_file(redirect, kind, target, place);
}

}  // namespace atl::shell
