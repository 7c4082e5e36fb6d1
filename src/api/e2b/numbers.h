#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

namespace atl::api::e2b {

// Which execution of its context the next one is. Contexts count for themselves and tell at the end of each
// execution; clients want to know at its beginning. What else executes in a context (another dialect) is
// learnt only then.
class Numbers {
 public:
  // `context` is a context's id, or empty for the default one of `language`.
  std::uint64_t begin(const std::string& sandbox_id, const std::string& context, const std::string& language);
  // What begin() was asked, and what the context told; `count` 0: it never ran.
  void end(const std::string& sandbox_id, const std::string& context, const std::string& language,
           const std::string& context_id, std::uint64_t count);
  // A fresh interpreter counts from 1.
  void restart(const std::string& sandbox_id, const std::string& context);
  // Forgets sandboxes of which `is_gone` is true.
  void sweep(const std::function<bool(const std::string&)>& is_gone);
  std::size_t size() const { return states_.size(); }

 private:
  using Key = std::pair<std::string, std::string>;  // sandbox, context
  struct State {
    std::uint64_t last = 0;
    std::uint64_t running = 0;
  };
  Key key_of(const std::string& sandbox_id, const std::string& context, const std::string& language) const;

  std::map<Key, State> states_;
  std::map<Key, std::string> defaults_;  // sandbox and language, to the context's id
};

}  // namespace atl::api::e2b
