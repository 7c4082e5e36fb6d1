#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "os/task.h"
#include "quota/controller.h"
#include "quota/rates.h"
#include "store/store.h"

namespace atl::quota {

inline constexpr std::int64_t kKeptDays = 400;

// The shipped ResourceController. What is held is counted from what exists; what was consumed today, and when
// sessions were created, is read from the store at the start, so that a restart forgets nothing. Belongs to
// the loop thread; store and clock must outlive it.
class QuotaBook final : public ResourceController {
 public:
  // `defaults` hold for every tenant that has no quota of its own, `key_defaults` for every key.
  QuotaBook(store::Store& store, Quotas defaults, Clock& clock = Clock::machine(), Quotas key_defaults = {});

  // Reads what was consumed so far. Call once, before anything is admitted.
  Task<void> start();
  // Stores what was charged since the last call (egress; CPU time is stored with its records). After an error
  // the next call tries again. Once a day it removes what was consumed more than kKeptDays ago.
  Task<void> save();

  const Quotas& tenant_defaults() const { return defaults_; }
  const Quotas& key_defaults() const { return key_defaults_; }
  void set_tenant(const std::string& tenant, Quotas quotas);
  void set_key(const std::string& key_id, Quotas quotas);
  // Of the tenant, defaults included.
  Quotas of_tenant(const std::string& tenant) const;
  // Of the key, defaults included.
  Quotas of_key(const std::string& key_id) const;
  // What is in use now; `today` for what counts by day.
  Amounts used_by_tenant(const std::string& tenant) const;
  Amounts used_by_key(const std::string& key_id) const;

  Result<void> admit(const Claim& claim) override;
  void hold(const Claim& claim) override;
  void release(std::string_view claim_id) override;
  Result<void> admit_call(const Holder& holder) override;
  Result<void> admit_create(const Holder& holder) override;
  Result<void> check(const Holder& holder, Quota quota, std::uint64_t used,
                     std::uint64_t more) const override;
  std::optional<std::uint64_t> limit(const Holder& holder, Quota quota) const override;
  std::optional<CpuLeft> cpu_left(const Holder& holder) const override;
  void note_cpu(std::string_view claim_id, std::chrono::microseconds used) override;
  void charge(const Holder& holder, std::string_view session_id, Quota quota, std::uint64_t amount) override;

  std::size_t claims() const { return claims_.size(); }

 private:
  // All that is known of one tenant or one key.
  struct Account {
    Quotas own;
    Amounts held;
    std::deque<WallTime> creations;  // of the last minute
    std::int64_t day = 0;
    std::uint64_t cpu_us = 0, egress_bytes = 0;  // of that day
    std::uint64_t running_cpu_us = 0;            // of claims that are not released
  };
  struct Held {
    Claim claim;
    std::uint64_t cpu_us = 0;
  };
  struct Payer {
    const Account* account = nullptr;
    const char* kind = "";
    Quotas quotas;
  };
  std::int64_t today() const;
  std::vector<Payer> payers(const Holder& holder) const;
  std::uint64_t used(const Account& account, Quota quota) const;
  std::uint64_t cpu_today(const Account& account) const;
  std::chrono::seconds until_tomorrow() const;
  void add(const Holder& holder, const Amounts& amounts, bool more);
  void turn_day(Account& account) const;
  void forget_creations(Account& account) const;

  store::Store& store_;
  Quotas defaults_, key_defaults_;
  Clock& clock_;
  Rates rates_;
  std::map<std::string, Account, std::less<>> tenants_, keys_;
  std::map<std::string, Held, std::less<>> claims_;
  std::vector<store::UsageRow> unsaved_;
  std::int64_t tidied_day_ = 0;
};

}  // namespace atl::quota
