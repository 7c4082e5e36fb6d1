#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/turn.h"
#include "sandbox/interpreter.h"
#include "session/types.h"

namespace atl::session {

// The default interpreters of one session: one for each language, shared by all executions that name no
// context. It also remembers which of them were lost together with their variables, so that the next
// execution in that language can be told.
//
// Belongs to its Live and to the loop thread. It shares the interpreters with the sandbox and never starts or
// ends one.
class DefaultInterpreters {
 public:
  explicit DefaultInterpreters(boost::asio::any_io_executor executor) : making_(std::move(executor)) {}

  // Held while a default interpreter is made, so that two executions that come first do not make two.
  Task<os::Turn::Hold> take_turn() { return making_.take(); }

  // Null if there is none for the language.
  std::shared_ptr<sandbox::Interpreter> find(sandbox::Language language) const;
  // If an earlier one for this language was lost, the reason becomes the restart note of this one.
  void add(sandbox::Language language, std::shared_ptr<sandbox::Interpreter> interpreter);
  void remove(const std::string& context);
  // The sandbox is gone, and the interpreters with it. Reasons of losses stay.
  void clear() { by_language_.clear(); }

  // After a sandbox was built or taken back: looks up each of `expected` (context ids by language) among the
  // interpreters that are there. Those that are missing are remembered as lost. The reason is the entry of
  // `left_behind` that names the context, otherwise `otherwise`. Returns the entries of `expected` that were
  // found.
  TextMap match(const TextMap& expected, const std::vector<std::shared_ptr<sandbox::Interpreter>>& present,
                const std::vector<std::string>& left_behind, const std::string& otherwise);

  // Context ids by language, of those that are there.
  TextMap contexts() const;

  // The next execution in this context is told that its interpreter is a new one, and why.
  void note_restart(const std::string& context, std::string reason) {
    restarted_[context] = std::move(reason);
  }
  // The reason, once; empty if the interpreter was not restarted.
  std::string take_restart_note(const std::string& context);

  // A fork has lost what its source has lost.
  void copy_losses(const DefaultInterpreters& source) { lost_ = source.lost_; }

 private:
  os::Turn making_;
  std::map<sandbox::Language, std::shared_ptr<sandbox::Interpreter>> by_language_;
  std::map<sandbox::Language, std::string>
      lost_;  // language to reason; moves to restarted_ when a new one is made
  std::map<std::string, std::string> restarted_;  // context id to reason; removed once it was told
};

}  // namespace atl::session
