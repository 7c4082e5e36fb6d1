#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "shell/builtin.h"
#include "shell/cow.h"
#include "vfs/path.h"

namespace atl::shell {

class Machine;
class ShellRunner;
struct Command;
struct FunctionDef;

// A function of the script.
struct Function {
  std::shared_ptr<const FunctionDef> definition;
  std::string source;  // the file
  bool exported = false;
  bool readonly = false;
  bool traced = false;
};

// What a command's name can mean in one shell: an alias, a function, a builtin that is not switched off, a
// remembered path, a program in PATH. Does not run anything; see Executor.
class CommandNames {
 public:
  using Functions = std::map<std::string, Function, std::less<>>;
  using Texts = std::map<std::string, std::string, std::less<>>;
  // What a subshell inherits. Each table is shared until one of its holders changes it with edit().
  struct Tables {
    Cow<Functions> functions;
    Cow<Texts> aliases;
    Cow<Texts> hashed;                       // `hash`: name to path
    Cow<std::vector<std::string>> disabled;  // builtins that `enable -n` switched off
  };

  CommandNames(ShellRunner& shell, Tables tables) : shell_(shell), tables_(std::move(tables)) {}
  // What a subshell of this shell starts with. The accessors below give one table each: a const one for
  // looking, the other for edit().
  const Tables& tables() const { return tables_; }
  Cow<Functions>& functions() { return tables_.functions; }
  const Cow<Functions>& functions() const { return tables_.functions; }
  Cow<Texts>& aliases() { return tables_.aliases; }
  const Cow<Texts>& aliases() const { return tables_.aliases; }
  Cow<Texts>& hashed() { return tables_.hashed; }
  const Cow<Texts>& hashed() const { return tables_.hashed; }
  Cow<std::vector<std::string>>& disabled() { return tables_.disabled; }

  // Null if there is none. Valid until the table of functions changes.
  const Function* find_function(std::string_view name) const;
  // True if there is no such function any more; false after a message if it is read-only.
  bool unset_function(const std::string& name);
  // The builtin of that name unless it is switched off; null if there is none.
  const Builtin* find_enabled_builtin(std::string_view name) const;
  // A command of ours or of the embedder, by its name alone; null if there is none.
  const Command* find_command(std::string_view name) const;
  // The alias's text; null if there is none. Valid until the table of aliases changes.
  const std::string* alias(std::string_view name) const;

  // Where PATH (or, if `default_path`, the standard one) leads: an executable file of the filesystem. Nothing
  // if the name leads to one of our commands, which need no file. `shown`, if given, is set to the path that
  // a user would see in both cases and left alone if there is no such program.
  std::optional<vfs::Path> find_in_path(const std::string& name, std::string* shown,
                                        bool default_path = false);

 private:
  ShellRunner& shell_;
  Tables tables_;
};

}  // namespace atl::shell
