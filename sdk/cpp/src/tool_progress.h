#pragma once

#include <functional>

#include "atoll/json.h"
#include "atoll/models.h"

// Who is told how far the call is that runs on this thread.
namespace atl::client::detail {

using ProgressListener = std::function<void(const ToolProgress&)>;

// While it lives, ToolBase::progress() on this thread tells `listener`. Scopes may be inside each other.
class ProgressScope {
 public:
  explicit ProgressScope(ProgressListener listener);
  ~ProgressScope();
  ProgressScope(const ProgressScope&) = delete;
  ProgressScope& operator=(const ProgressScope&) = delete;

 private:
  ProgressListener listener_;
  const ProgressListener* before_;
};

// As the service wants it: without the members that are not known.
Json progress_json(const ToolProgress& progress);

}  // namespace atl::client::detail
