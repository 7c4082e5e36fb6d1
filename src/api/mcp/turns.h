#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "api/mcp/bell.h"

namespace atl::api::mcp {

// Bounds how many calls act in one sandbox at once. A client may send a thousand at a time, and a sandbox has
// room for far fewer processes: the others wait, in the order in which they came. Shared by its turns, whose
// destructors need it. Belongs to the loop thread.
class Turns : public std::enable_shared_from_this<Turns> {
 public:
  explicit Turns(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  // Destroying a turn gives its place to the next one that waits; destroying one that still waits gives up
  // its place in the queue.
  class Turn {
   public:
    Turn(std::shared_ptr<Turns> turns, std::string place)
        : turns_(std::move(turns)), place_(std::move(place)) {}
    ~Turn() { turns_->leave(place_, this); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class Turns;
    std::shared_ptr<Turns> turns_;
    std::string place_;
    std::unique_ptr<Bell> bell_;
    bool is_in_ = false;
  };

  // Waits until fewer than `at_once` turns are under way in this place.
  boost::asio::awaitable<std::unique_ptr<Turn>> take(std::string place, std::size_t at_once) {
    auto turn = std::make_unique<Turn>(shared_from_this(), place);
    Place& here = places_[place];
    if (here.inside < at_once) {
      ++here.inside;
      turn->is_in_ = true;
      co_return turn;
    }
    turn->bell_ = std::make_unique<Bell>(executor_);
    here.waiting.push_back(turn.get());
    while (!turn->is_in_) co_await turn->bell_->wait(std::chrono::minutes(1));
    co_return turn;
  }

 private:
  struct Place {
    std::size_t inside = 0;
    std::deque<Turn*> waiting;
  };

  void leave(const std::string& name, Turn* turn) {
    const auto found = places_.find(name);
    if (found == places_.end()) return;
    Place& place = found->second;
    if (!turn->is_in_) {
      std::erase(place.waiting, turn);
    } else if (!place.waiting.empty()) {
      // The place goes to the next one without ever being free.
      Turn* next = place.waiting.front();
      place.waiting.pop_front();
      next->is_in_ = true;
      next->bell_->ring();
    } else {
      --place.inside;
    }
    if (place.inside == 0 && place.waiting.empty()) places_.erase(found);
  }

  boost::asio::any_io_executor executor_;
  std::map<std::string, Place> places_;
};

}  // namespace atl::api::mcp
