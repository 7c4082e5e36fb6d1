#include "quota/book.h"

#include <algorithm>

#include "auth/denial.h"

namespace atl::quota {
namespace {

constexpr std::int64_t kDayMicros = 86'400'000'000;
constexpr std::chrono::seconds kMinute(60);
constexpr std::array kHeld = {Quota::sessions, Quota::executions, Quota::memory_mb, Quota::disk_mb};

// Unset: any number.
std::optional<Rate> rate_of(const Quotas& own, const Quotas& defaults) {
  const auto& per_second = own[Quota::requests_per_second] ? own[Quota::requests_per_second]
                                                           : defaults[Quota::requests_per_second];
  if (!per_second) return std::nullopt;
  const auto& burst =
      own[Quota::requests_burst] ? own[Quota::requests_burst] : defaults[Quota::requests_burst];
  return Rate::of(static_cast<double>(*per_second),
                  burst ? std::optional(static_cast<double>(*burst)) : std::nullopt);
}

}  // namespace

QuotaBook::QuotaBook(store::Store& store, Quotas defaults, Clock& clock, Quotas key_defaults)
    : store_(store),
      defaults_(std::move(defaults)),
      key_defaults_(std::move(key_defaults)),
      clock_(clock),
      rates_(clock) {}

std::int64_t QuotaBook::today() const {
  return unix_micros(clock_.now()) / kDayMicros;
}

Task<void> QuotaBook::start() {
  store::UsageFilter filter;
  filter.from_day = filter.to_day = today();
  filter.by_key = true;
  filter.limit = 1'000'000;
  CO_TRY(const auto rows, co_await store_.list_usage(std::move(filter)));
  for (const store::UsageRow& row : rows) {
    for (Account* account : {&tenants_[row.tenant], &keys_[row.key_id]}) {
      turn_day(*account);
      account->cpu_us += static_cast<std::uint64_t>(row.cpu_us);
      account->egress_bytes += static_cast<std::uint64_t>(row.egress_bytes);
    }
  }
  CO_TRY(const auto creations, co_await store_.creations_since(clock_.now() - kMinute));
  for (const auto& one : creations) {
    tenants_[one.tenant].creations.push_back(one.at);
    keys_[one.key_id].creations.push_back(one.at);
  }
  co_return Result<void>{};
}

Task<void> QuotaBook::save() {
  if (tidied_day_ != today()) {
    tidied_day_ = today();
    CO_CHECK(co_await store_.remove_usage_before(today() - kKeptDays));
  }
  if (unsaved_.empty()) co_return Result<void>{};
  std::vector<store::UsageRow> rows = std::move(unsaved_);
  unsaved_.clear();
  auto saved = co_await store_.add_usage(rows);
  // What could not be written is written with the next.
  if (!saved) unsaved_.insert(unsaved_.end(), rows.begin(), rows.end());
  co_return saved;
}

void QuotaBook::set_tenant(const std::string& tenant, Quotas quotas) {
  tenants_[tenant].own = std::move(quotas);
}

void QuotaBook::set_key(const std::string& key_id, Quotas quotas) {
  keys_[key_id].own = std::move(quotas);
}

Quotas QuotaBook::of_tenant(const std::string& tenant) const {
  const auto found = tenants_.find(tenant);
  return found == tenants_.end() ? defaults_ : found->second.own.over(defaults_);
}

Quotas QuotaBook::of_key(const std::string& key_id) const {
  const auto found = keys_.find(key_id);
  return found == keys_.end() ? key_defaults_ : found->second.own.over(key_defaults_);
}

void QuotaBook::turn_day(Account& account) const {
  if (account.day == today()) return;
  account.day = today();
  account.cpu_us = account.egress_bytes = 0;
}

void QuotaBook::forget_creations(Account& account) const {
  const WallTime before = clock_.now() - kMinute;
  while (!account.creations.empty() && account.creations.front() <= before) account.creations.pop_front();
}

std::uint64_t QuotaBook::cpu_today(const Account& account) const {
  return account.running_cpu_us + (account.day == today() ? account.cpu_us : 0);
}

std::uint64_t QuotaBook::used(const Account& account, Quota quota) const {
  switch (quota) {
    case Quota::creates_per_minute: {
      const WallTime before = clock_.now() - kMinute;
      return static_cast<std::uint64_t>(
          std::ranges::count_if(account.creations, [&](WallTime at) { return at > before; }));
    }
    case Quota::cpu_seconds_per_day: return cpu_today(account) / 1'000'000;
    case Quota::egress_bytes_per_day: return account.day == today() ? account.egress_bytes : 0;
    default: return account.held[quota];
  }
}

Amounts QuotaBook::used_by_tenant(const std::string& tenant) const {
  Amounts amounts;
  const auto found = tenants_.find(tenant);
  if (found == tenants_.end()) return amounts;
  for (std::size_t at = 0; at < kQuotaCount; ++at)
    amounts[static_cast<Quota>(at)] = used(found->second, static_cast<Quota>(at));
  return amounts;
}

Amounts QuotaBook::used_by_key(const std::string& key_id) const {
  Amounts amounts;
  const auto found = keys_.find(key_id);
  if (found == keys_.end()) return amounts;
  for (std::size_t at = 0; at < kQuotaCount; ++at)
    amounts[static_cast<Quota>(at)] = used(found->second, static_cast<Quota>(at));
  return amounts;
}

std::vector<QuotaBook::Payer> QuotaBook::payers(const Holder& holder) const {
  static const Account nothing;
  std::vector<Payer> all;
  const auto tenant = tenants_.find(holder.tenant);
  all.push_back({tenant == tenants_.end() ? &nothing : &tenant->second, "tenant", of_tenant(holder.tenant)});
  const auto key = keys_.find(holder.key_id);
  if (!holder.key_id.empty() && key != keys_.end())
    all.push_back({&key->second, "key", of_key(holder.key_id)});
  return all;
}

void QuotaBook::add(const Holder& holder, const Amounts& amounts, bool more) {
  const auto change = [&](Account& account) {
    for (const Quota quota : kHeld) {
      std::uint64_t& held = account.held[quota];
      held = more ? held + amounts[quota] : held - std::min(held, amounts[quota]);
    }
  };
  change(tenants_[holder.tenant]);
  if (!holder.key_id.empty()) change(keys_[holder.key_id]);
}

Result<void> QuotaBook::admit(const Claim& claim) {
  const auto before = claims_.find(claim.id);
  for (const Payer& payer : payers(claim.holder)) {
    for (const Quota quota : kHeld) {
      const std::uint64_t had = before == claims_.end() ? 0 : before->second.claim.amounts[quota];
      const std::uint64_t wanted = claim.amounts[quota];
      const auto& limit = payer.quotas[quota];
      if (!limit || wanted <= had) continue;
      const std::uint64_t in_use = payer.account->held[quota];
      if (in_use - std::min(in_use, had) + wanted > *limit)
        return fail(auth::over_quota(
            {std::string(to_string(quota)), payer.kind, *limit, in_use, wanted - had, std::nullopt}));
    }
  }
  hold(claim);
  return {};
}

void QuotaBook::hold(const Claim& claim) {
  release(claim.id);
  if (claim.amounts.empty()) return;
  add(claim.holder, claim.amounts, true);
  claims_.insert_or_assign(claim.id, Held{claim, 0});
}

void QuotaBook::release(std::string_view claim_id) {
  const auto found = claims_.find(claim_id);
  if (found == claims_.end()) return;
  note_cpu(claim_id, std::chrono::microseconds(0));
  add(found->second.claim.holder, found->second.claim.amounts, false);
  claims_.erase(found);
}

void QuotaBook::note_cpu(std::string_view claim_id, std::chrono::microseconds used) {
  const auto found = claims_.find(claim_id);
  if (found == claims_.end()) return;
  const auto now = static_cast<std::uint64_t>(std::max<std::int64_t>(used.count(), 0));
  const auto change = [&](Account& account) {
    const std::uint64_t sum = account.running_cpu_us + now;
    account.running_cpu_us = sum - std::min(sum, found->second.cpu_us);
  };
  const Holder& holder = found->second.claim.holder;
  change(tenants_[holder.tenant]);
  if (!holder.key_id.empty()) change(keys_[holder.key_id]);
  found->second.cpu_us = now;
}

std::optional<std::uint64_t> QuotaBook::limit(const Holder& holder, Quota quota) const {
  std::optional<std::uint64_t> least;
  for (const Payer& payer : payers(holder))
    if (const auto& one = payer.quotas[quota]; one && (!least || *one < *least)) least = one;
  return least;
}

std::optional<CpuLeft> QuotaBook::cpu_left(const Holder& holder) const {
  // More seconds than the days of any machine have bind nobody.
  constexpr std::uint64_t kEnough = 1'000'000'000;
  std::optional<CpuLeft> least;
  for (const Payer& payer : payers(holder)) {
    const auto& limit = payer.quotas[Quota::cpu_seconds_per_day];
    if (!limit || *limit > kEnough) continue;
    const std::uint64_t all = *limit * 1'000'000, gone = std::min(all, cpu_today(*payer.account));
    const std::chrono::microseconds left(static_cast<std::int64_t>(all - gone));
    const std::uint64_t executions = std::max<std::uint64_t>(1, payer.account->held[Quota::executions]);
    if (!least || left.count() * static_cast<std::int64_t>(least->executions) <
                      least->time.count() * static_cast<std::int64_t>(executions))
      least = CpuLeft{left, executions};
  }
  return least;
}

Result<void> QuotaBook::admit_call(const Holder& holder) {
  static const Quotas nothing;
  const auto own = [](const auto& accounts, const std::string& name) -> const Quotas& {
    const auto found = accounts.find(name);
    return found == accounts.end() ? nothing : found->second.own;
  };
  std::optional<Rate> of_tenant, of_key;
  if (!holder.tenant.empty()) of_tenant = rate_of(own(tenants_, holder.tenant), defaults_);
  if (!holder.key_id.empty()) of_key = rate_of(own(keys_, holder.key_id), key_defaults_);
  if (!of_tenant && !of_key) return {};
  const std::string tenant = "tenant " + holder.tenant, key = "key " + holder.key_id;
  const auto check = [&](const std::string& name, const char* kind,
                         const std::optional<Rate>& rate) -> Result<void> {
    if (!rate) return {};
    const auto wait = rates_.wait(name, *rate);
    if (!wait) return {};
    const auto limit = static_cast<std::uint64_t>(rate->per_second);
    return fail(
        auth::over_quota({std::string(to_string(Quota::requests_per_second)), kind, limit, limit, 1, *wait}));
  };
  TRY(check(tenant, "tenant", of_tenant));
  TRY(check(key, "key", of_key));
  if (of_tenant) rates_.take(tenant, *of_tenant);
  if (of_key) rates_.take(key, *of_key);
  return {};
}

Result<void> QuotaBook::admit_create(const Holder& holder) {
  const WallTime now = clock_.now();
  for (const Payer& payer : payers(holder)) {
    const auto& limit = payer.quotas[Quota::creates_per_minute];
    if (!limit) continue;
    const std::uint64_t in_use = used(*payer.account, Quota::creates_per_minute);
    if (in_use < *limit) continue;
    // The oldest of those that fill the minute makes room.
    std::chrono::seconds wait = kMinute;
    if (*limit > 0) {
      const WallTime oldest = payer.account->creations[payer.account->creations.size() - *limit];
      wait = std::chrono::ceil<std::chrono::seconds>(oldest + kMinute - now);
    }
    return fail(auth::over_quota({std::string(to_string(Quota::creates_per_minute)), payer.kind, *limit,
                                  in_use, 1, std::max(wait, std::chrono::seconds(1))}));
  }
  const auto note = [&](Account& account) {
    forget_creations(account);
    account.creations.push_back(now);
  };
  note(tenants_[holder.tenant]);
  if (!holder.key_id.empty()) note(keys_[holder.key_id]);
  return {};
}

std::chrono::seconds QuotaBook::until_tomorrow() const {
  const std::int64_t left = (today() + 1) * kDayMicros - unix_micros(clock_.now());
  return std::chrono::seconds(left / 1'000'000 + 1);
}

Result<void> QuotaBook::check(const Holder& holder, Quota quota, std::uint64_t in_use,
                              std::uint64_t more) const {
  const bool daily = quota == Quota::cpu_seconds_per_day || quota == Quota::egress_bytes_per_day;
  for (const Payer& payer : payers(holder)) {
    const auto& limit = payer.quotas[quota];
    if (!limit) continue;
    if (daily) {
      const std::uint64_t today_used = used(*payer.account, quota);
      if (today_used >= *limit)
        return fail(auth::over_quota(
            {std::string(to_string(quota)), payer.kind, *limit, today_used, more, until_tomorrow()}));
    } else if (in_use + more > *limit) {
      return fail(
          auth::over_quota({std::string(to_string(quota)), payer.kind, *limit, in_use, more, std::nullopt}));
    }
  }
  return {};
}

void QuotaBook::charge(const Holder& holder, std::string_view session_id, Quota quota, std::uint64_t amount) {
  const auto note = [&](Account& account) {
    turn_day(account);
    (quota == Quota::cpu_seconds_per_day ? account.cpu_us : account.egress_bytes) += amount;
  };
  note(tenants_[holder.tenant]);
  if (!holder.key_id.empty()) note(keys_[holder.key_id]);
  if (quota != Quota::egress_bytes_per_day) return;
  const auto same = std::ranges::find_if(unsaved_, [&](const store::UsageRow& row) {
    return row.session_id == session_id && row.tenant == holder.tenant && row.key_id == holder.key_id &&
           row.day == today();
  });
  if (same != unsaved_.end()) {
    same->egress_bytes += static_cast<std::int64_t>(amount);
    return;
  }
  store::UsageRow row;
  row.day = today();
  row.tenant = holder.tenant;
  row.key_id = holder.key_id;
  row.session_id = session_id;
  row.egress_bytes = static_cast<std::int64_t>(amount);
  unsaved_.push_back(std::move(row));
}

}  // namespace atl::quota
