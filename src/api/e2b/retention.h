#pragma once

#include <memory>

#include "api/e2b/context.h"
#include "api/e2b/templates.h"
#include "api/e2b/uploads.h"

namespace atl::api::e2b {

// Removes what was kept for long enough (StoredBounds): uploads and their addresses, logs of builds,
// templates.
class Retention {
 public:
  Retention(Context& context, Templates& templates, Uploads& uploads);
  ~Retention();

 private:
  struct State;
  static boost::asio::awaitable<void> run(std::shared_ptr<State> state);
  static boost::asio::awaitable<void> sweep(std::shared_ptr<State> state);

  std::shared_ptr<State> state_;
};

}  // namespace atl::api::e2b
