#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "os/task.h"
#include "quota/controller.h"

namespace atl::quota {

// Room that is reserved for something until it is stored and a meter counts it. The holder destroys the
// reservation once it is stored, or when it turns out that it never will be. Copies share one reservation,
// which ends with the last of them; it may outlive the Inventory.
class Reservation {
 public:
  Reservation() = default;
  explicit Reservation(std::uint64_t bytes) : bytes_(bytes) {}
  std::uint64_t bytes() const { return bytes_; }  // or pieces

 private:
  friend class Inventory;
  std::uint64_t bytes_ = 0;
  std::shared_ptr<void> given_back_;  // its deleter gives the room back; null: nobody bounds the holder
};

// What tenants have that is counted where it lies: bytes on the disk (Quota::stored_mb), volumes, templates.
// Each room that keeps such things adds a meter. Belongs to the loop thread; the controller must outlive it.
class Inventory {
 public:
  // How much of it the tenant has, in bytes or in pieces.
  using Meter = std::function<Task<std::uint64_t>(std::string tenant)>;

  explicit Inventory(ResourceController& controller) : controller_(controller) {}
  Inventory(const Inventory&) = delete;
  Inventory& operator=(const Inventory&) = delete;

  // What the meter refers to must live as long as anyone calls count() or reserves.
  void add(Quota quota, Meter meter) { meters_.emplace_back(quota, std::move(meter)); }
  // By all meters of the quota together; bytes for Quota::stored_mb.
  Task<std::uint64_t> count(Quota quota, std::string tenant) const;

  // Room for all of these bytes, or auth::over_quota. Nothing is measured where nobody bounds the holder.
  // What several reserve at once never goes over the quota.
  Task<Reservation> reserve(Holder holder, std::uint64_t bytes);
  // The same for one volume or one template more.
  Task<Reservation> reserve_one(Quota quota, Holder holder);
  // Room for these bytes or for what still fits, perhaps nothing.
  Task<Reservation> reserve_up_to(Holder holder, std::uint64_t bytes);

 private:
  // What is on its way, of one quota of one tenant.
  struct Flight {
    std::uint64_t reserved = 0;
    std::uint64_t released = 0;  // ever
  };
  using Place = std::pair<std::string, Quota>;
  using Flights = std::map<Place, Flight>;
  enum class Wanted : std::uint8_t { all, what_fits };
  Task<Reservation> take(Quota quota, Holder holder, std::uint64_t amount, Wanted wanted);
  Reservation note(const Place& place, std::uint64_t amount);

  ResourceController& controller_;
  std::vector<std::pair<Quota, Meter>> meters_;
  std::shared_ptr<Flights> flights_ = std::make_shared<Flights>();
};

}  // namespace atl::quota
