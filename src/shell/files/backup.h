#pragma once

#include <optional>
#include <string>

#include "shell/command.h"

namespace atl::shell {

// What cp, mv, ln and install keep of a file that they replace: -b, --backup[=CONTROL], -S.
class Backup {
 public:
  // -b and --backup without a value leave the way to VERSION_CONTROL.
  void want() { wanted_ = true; }
  void want(std::string control) { wanted_ = true, control_ = std::move(control); }
  // Also asks for a backup, as GNU does.
  void suffix(std::string text) { wanted_ = true, suffix_ = std::move(text); }

  // Reads the words and the environment; false after a complaint.
  bool settle(Invocation& call);
  bool wanted() const { return kind_ != Kind::none; }
  // The name under which `shown` is to be kept: "a~", or "a.~3~" where such are wanted.
  std::string name_for(Invocation& call, const std::string& shown) const;

 private:
  enum class Kind : unsigned char { none, simple, existing, numbered };
  bool wanted_ = false;
  std::optional<std::string> control_, suffix_;
  Kind kind_ = Kind::none;
};

}  // namespace atl::shell
