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

// Sends the changes of the catalog to a server, in order, and fills the server from the catalog when it lacks
// something. Changes that could not be sent wait in the catalog, also over restarts. The thread that changes
// something calls deliver() itself, so that nobody writes faster than the server takes; a thread of the
// delivery sends what waits once the server is back.
//
// start() and stop() are called once each, by the owner; everything else may be called by any thread.
// Catalog, link and backend must outlive it.
class Delivery {
 public:
  virtual ~Delivery() = default;
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  void start();
  // Ends the thread and stops the link. Destructors of derived classes call it, because the thread calls
  // their functions.
  void stop();

  // Sends what waits, for at most about `wait`; what is left stays in the catalog. Returns at once while the
  // server rests or is being filled. Failures show in state() and nowhere else.
  void deliver(std::chrono::milliseconds wait);
  // Asks for the server to be emptied and filled from the catalog, in the background.
  Result<void> refill();

  struct State {
    std::string degraded_because;  // empty: it has everything
    std::uint64_t waiting = 0;
    bool is_filling = false;
    std::uint64_t filled = 0, to_fill = 0;
  };
  // As it was when the server was last spoken to; never waits for the server.
  State state();

 protected:
  Delivery(Catalog& catalog, ServerLink& link, const char* table);

  // These four are called by one thread at a time, which holds delivering_.
  //
  // Whether the server has what the catalog has, as far as counts tell. Makes what is missing of the server's
  // schema.
  virtual Result<bool> is_whole() = 0;
  // Empties the server; gives how many there are to fill in.
  virtual Result<std::uint64_t> begin_filling() = 0;
  // Sends the next batch behind `after` and moves `after` to its end. Gives how many it sent; 0: that was
  // all.
  virtual Result<std::uint64_t> fill_some(std::uint64_t& after) = 0;
  // Sends the oldest changes that wait and forgets them. Gives how many; 0: nothing waits.
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
  std::mutex delivering_;    // held while something is sent; locked before mutex_
  bool is_checked_ = false;  // under delivering_: is_whole() was asked since the server was last away
  std::mutex mutex_;         // of all below
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
