#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "shell/ast.h"
#include "shell/descriptors.h"

namespace atl::shell {

class ShellRunner;

// Carries out the redirections of a command: expands their targets, opens them, and changes descriptors.
class Redirections {
 public:
  explicit Redirections(ShellRunner& shell) : shell_(shell) {}

  // Applies them from left to right. `saved` collects what Descriptors::restore takes back; null makes the
  // change permanent (exec). False after a message; what was applied before the failure stays and is in
  // `saved`.
  bool apply(const std::vector<Redirect>& redirects, SavedFiles* saved);

 private:
  struct Place;
  bool apply_one(const Redirect& redirect, SavedFiles* saved);
  // Finds which descriptor the redirection is about. False after a message.
  bool find_place(const Redirect& redirect, SavedFiles* saved, Place& place);
  // {name}>&- and {name}<&-: closes the descriptor that the variable names.
  bool close_named(const Redirect& redirect);
  bool bind_variable(const Redirect& redirect, int fd);
  bool redirect_file(const Redirect& redirect, RedirectKind kind, const std::string& target,
                     const Place& place);
  bool redirect_dup(const Redirect& redirect, int fd, const std::string& target, SavedFiles* saved);
  Result<OpenFilePtr> open_target(RedirectKind kind, const std::string& target);
  void put_file(int fd, OpenFilePtr file, SavedFiles* saved);

  ShellRunner& shell_;
};

}  // namespace atl::shell
