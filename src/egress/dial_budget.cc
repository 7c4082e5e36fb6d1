#include "egress/dial_budget.h"

#include <fmt/format.h>

namespace atl::egress {

struct DialBudget::Account::Sandbox {
  std::shared_ptr<State> state;
  std::string tenant;
  std::uint64_t open = 0;
};

struct DialBudget::Ticket::Held {
  std::shared_ptr<Account::Sandbox> sandbox;

  explicit Held(std::shared_ptr<Account::Sandbox> whose) : sandbox(std::move(whose)) {
    ++sandbox->open;
    ++sandbox->state->open;
    ++sandbox->state->of_tenant[sandbox->tenant];
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    --sandbox->open;
    --sandbox->state->open;
    const auto tenant = sandbox->state->of_tenant.find(sandbox->tenant);
    if (--tenant->second == 0) sandbox->state->of_tenant.erase(tenant);
  }
};

DialBudget::Ticket::Ticket(std::unique_ptr<Held> held) : held_(std::move(held)) {}
DialBudget::Ticket::Ticket(Ticket&& other) noexcept = default;
DialBudget::Ticket& DialBudget::Ticket::operator=(Ticket&& other) noexcept = default;
DialBudget::Ticket::~Ticket() = default;

Result<DialBudget::Ticket> DialBudget::Account::take() const {
  const State& state = *sandbox_->state;
  const auto tenant = state.of_tenant.find(sandbox_->tenant);
  const auto refused = [](std::uint64_t most, std::string_view whose) {
    return fail(Code::resource_exhausted,
                fmt::format("{} connections are open, as many as {} may have: close some", most, whose));
  };
  if (sandbox_->open >= state.limits.of_session) return refused(state.limits.of_session, "one session");
  if (tenant != state.of_tenant.end() && tenant->second >= state.limits.of_tenant)
    return refused(state.limits.of_tenant, "all sessions of a tenant together");
  if (state.open >= state.limits.of_machine)
    return refused(state.limits.of_machine, "all sessions of this machine");
  return Ticket(std::make_unique<Ticket::Held>(sandbox_));
}

DialBudget::Account DialBudget::account(std::string tenant) const {
  Account made;
  made.sandbox_ = std::make_shared<Account::Sandbox>(Account::Sandbox{state_, std::move(tenant), 0});
  return made;
}

std::uint64_t DialBudget::open() const {
  return state_->open;
}

}  // namespace atl::egress
