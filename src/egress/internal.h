#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "egress/address.h"

namespace atl::egress {

// The addresses of this machine, as they are now.
class OwnAddresses {
 public:
  virtual ~OwnAddresses() = default;
  // Any thread may call. An error means that it is not known; the caller must then assume that the address is
  // internal.
  virtual Result<std::vector<Cidr>> now() const = 0;
};

// What a sandbox may not reach although its rules allow everything: what is not the public internet
// (Address::is_special), this machine itself by any of its addresses, and what the operator adds. A rule may
// name such an address only where the operator opened it. Immutable but for the machine's own addresses,
// which are asked for anew each time. Any thread may call.
class InternalAddresses {
 public:
  struct Options {
    std::shared_ptr<const OwnAddresses> own;  // null: not known, and not asked
    std::vector<Cidr> more;                   // internal as well, such as a public address in front of NAT
    std::vector<Cidr> opened;                 // rules may name these
  };
  // Special-purpose ranges only, nothing opened.
  InternalAddresses() = default;
  explicit InternalAddresses(Options options) : options_(std::move(options)) {}

  // For the operator, who uses the command line on this machine: rules may name everything.
  static std::shared_ptr<const InternalAddresses> all_opened(std::shared_ptr<const OwnAddresses> own);

  bool contains(const Address& address) const;
  bool is_opened(const Address& address) const;
  // Why a rule may not name this range, in words for a client; nothing: it may.
  std::optional<std::string> objection(const Cidr& range) const;

 private:
  Options options_;
};

}  // namespace atl::egress
