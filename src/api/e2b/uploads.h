#pragma once

#include <map>
#include <optional>
#include <string>

#include "api/e2b/context.h"
#include "net/router.h"

namespace atl::api::e2b {

// Archives that clients send for the steps of builds that copy files, by tenant and digest, and the addresses
// at which they may be sent. An address is good for a while, a file is kept for a while after it was last
// wanted, and a tenant's files have a bound together (StoredBounds). Belongs to the loop thread.
class Uploads {
 public:
  explicit Uploads(Context& context) : context_(context) {}

  // Where the file of that digest lies, if it is there.
  std::string path_of(const std::string& tenant, const std::string& hash) const;
  // True if it is there: wanted just now, so it stays.
  bool is_there(const std::string& tenant, const std::string& hash) const;
  // What the address for sending it ends with.
  std::string make_token(const auth::Principal& owner, const std::string& hash);
  // Who asked for that address; unset if there is no such address or it is too old.
  std::optional<auth::Principal> owner_of(const std::string& token) const;
  // Takes the body of a request for that address. Code::no_space if the tenant's files would be more than are
  // kept.
  Task<void> receive(net::Exchange& exchange);
  // What the tenant's files take, those that are being sent included.
  std::uint64_t bytes_of(const std::string& tenant) const;
  // All files and addresses of a tenant.
  void remove_all(const std::string& tenant);
  // Addresses and files whose time is over are gone.
  void sweep();

 private:
  struct Link {
    auth::Principal owner;
    std::string path;
    SteadyTime until;
  };
  std::string directory() const { return context_.data + "/uploads"; }
  // Code::no_space or auth::over_quota if the tenant has more than it may, with what it is sending.
  Task<void> check_room(auth::Principal owner) const;

  Context& context_;
  std::map<std::string, Link> links_;  // by token
};

}  // namespace atl::api::e2b
