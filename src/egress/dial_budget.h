#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace atl::egress {

// How many connections to the world sandboxes may have open at once. Each costs the machine a descriptor.
struct DialLimits {
  std::uint64_t of_machine = 20'000;
  std::uint64_t of_tenant = 10'000;
  std::uint64_t of_session = 256;
};

// The account of those connections, one for all proxies of a machine. Belongs to the loop thread; tickets
// keep what they need alive.
class DialBudget {
 public:
  explicit DialBudget(DialLimits limits) : state_(std::make_shared<State>(State{limits, 0, {}})) {}

  // Leave for one connection; returned when it is destroyed.
  class Ticket {
   public:
    Ticket(Ticket&& other) noexcept;
    Ticket& operator=(Ticket&& other) noexcept;
    ~Ticket();

   private:
    friend class DialBudget;
    struct Held;
    explicit Ticket(std::unique_ptr<Held> held);
    std::unique_ptr<Held> held_;
  };

  // What one sandbox asks. Copies count together.
  class Account {
   public:
    // Code::resource_exhausted, with the bound that is reached.
    Result<Ticket> take() const;

   private:
    friend class DialBudget;
    friend class Ticket;
    struct Sandbox;
    std::shared_ptr<Sandbox> sandbox_;
  };
  // One for each sandbox. Nothing is taken by having an account.
  Account account(std::string tenant) const;

  // Tickets that are out now, of all accounts together.
  std::uint64_t open() const;

 private:
  struct State {
    DialLimits limits;
    std::uint64_t open = 0;
    std::map<std::string, std::uint64_t, std::less<>> of_tenant;
  };
  std::shared_ptr<State> state_;
};

}  // namespace atl::egress
