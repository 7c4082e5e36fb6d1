#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "os/task.h"

namespace atl::egress {

// Values of secrets by name, asked for at the moment of use and kept nowhere. What is told here reaches the
// allowed server and nobody else.
class Secrets {
 public:
  virtual ~Secrets() = default;
  // Code::not_found if there is none of that name.
  virtual Task<std::string> reveal(std::string name) = 0;
  // What was sealed for the same owner; Code::data_loss if it was not.
  virtual Task<std::string> unseal(std::string sealed) = 0;
};

// The value of a header that the proxy sets: text with references to secrets, "Bearer ${secrets.github}".
class HeaderValue {
 public:
  // A reference that is none of ours, or a character that no header value has, is refused.
  static Result<HeaderValue> parse(std::string_view text);
  bool has_secret() const;
  // The value with its secrets in place, and those added to `revealed`. `secrets` null: Code::not_found if
  // there is a reference.
  Task<std::string> fill(Secrets* secrets, std::vector<std::string>& revealed) const;

 private:
  struct Part {
    std::string text;  // literal, or the name of a secret
    bool secret = false;
  };
  std::vector<Part> parts_;
};

using Headers = std::map<std::string, HeaderValue>;

}  // namespace atl::egress
