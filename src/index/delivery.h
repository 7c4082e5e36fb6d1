#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "index/catalog.h"
#include "index/graph_backend.h"
#include "index/server_link.h"
#include "index/vector_backend.h"

namespace atl::index {

// Tells a server what changed in the catalog, in order, and sees to it that the server has the same as the
// catalog. What could not be told waits in the catalog, also over restarts. Whoever changes something brings
// it over himself (deliver()), so that nobody writes faster than the server takes; a thread does so for what
// waits when the server is back.
class Delivery {
 public:
  virtual ~Delivery() = default;
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  void start();
  // Call before the end of what it uses; derived classes do.
  void stop();

  // Brings over what waits, for at most `wait`; what is left goes on waiting.
  void deliver(std::chrono::milliseconds wait);
  // Fills the server from the catalog, in the background.
  Result<void> refill();

  struct State {
    std::string degraded_because;  // empty: it has everything
    std::uint64_t waiting = 0;
    bool is_filling = false;
    std::uint64_t filled = 0, to_fill = 0;
  };
  // Does not wait for anybody.
  State state();

 protected:
  Delivery(Catalog& catalog, ServerLink& link, const char* table);

  // Whether the server has what the catalog has, as far as counts tell; makes what is missing of its schema.
  virtual Result<bool> is_whole() = 0;
  // Empties the server; gives how many there are to fill in.
  virtual Result<std::uint64_t> begin_filling() = 0;
  // The next ones behind `after`, which is moved; gives how many, 0: that was all.
  virtual Result<std::uint64_t> fill_some(std::uint64_t& after) = 0;
  // The oldest of what waits; gives how many, 0: nothing waits.
  virtual Result<std::uint64_t> tell_some() = 0;

  Catalog& catalog_;

 private:
  void run();
  bool is_stopping();
  Result<void> bring_over(std::chrono::steady_clock::time_point until);
  Result<void> check();
  Result<void> fill(std::chrono::steady_clock::time_point until);
  std::string refill_note() const { return std::string("refill_") + table_; }

  ServerLink& link_;
  const char* const table_;
  std::mutex delivering_;  // one at a time; before mutex_
  bool is_checked_ = false;
  std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  bool is_stopping_ = false, is_asked_ = true;
  std::string failure_ = "the server has not been looked at yet";
  bool is_filling_ = false;
  std::uint64_t filled_ = 0, to_fill_ = 0, waiting_ = 0;
  std::thread thread_;
};

std::unique_ptr<Delivery> vector_delivery(Catalog& catalog, ServerLink& link, VectorBackend& backend);
std::unique_ptr<Delivery> graph_delivery(Catalog& catalog, ServerLink& link, GraphBackend& backend);

}  // namespace atl::index
