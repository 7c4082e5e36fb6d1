#pragma once

#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace atl::telemetry {

// Who follows the events over an open connection, and how many may. Belongs to the loop thread; must outlive
// its holds.
class Followers {
 public:
  explicit Followers(std::size_t of_tenant_max = 32, std::size_t max = 512)
      : of_tenant_max_(of_tenant_max), max_(max) {}

  // One follower, for as long as it lives.
  class Hold {
   public:
    Hold(Followers& owner, std::string tenant) : owner_(&owner), tenant_(std::move(tenant)) {}
    ~Hold() { owner_->leave(tenant_); }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Followers* owner_;
    std::string tenant_;
  };
  // Code::resource_exhausted if there are too many.
  Result<std::unique_ptr<Hold>> enter(const std::string& tenant) {
    if (all_ >= max_ || of_tenant_[tenant] >= of_tenant_max_)
      return fail(Code::resource_exhausted, "too many follow the events already: end one of the streams");
    ++all_;
    ++of_tenant_[tenant];
    return std::make_unique<Hold>(*this, tenant);
  }
  std::size_t count() const { return all_; }
  // The thread on which followers that were away read the log's files. It is apart from the worker pool,
  // because such a read may take long.
  boost::asio::thread_pool& reading() { return reading_; }

 private:
  void leave(const std::string& tenant) {
    --all_;
    const auto found = of_tenant_.find(tenant);
    if (--found->second == 0) of_tenant_.erase(found);
  }

  std::size_t of_tenant_max_, max_, all_ = 0;
  std::map<std::string, std::size_t> of_tenant_;
  boost::asio::thread_pool reading_{1};
};

}  // namespace atl::telemetry
