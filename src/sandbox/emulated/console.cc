#include "sandbox/emulated/console.h"

#include <algorithm>
#include <boost/asio/post.hpp>

namespace atl::sandbox::emulated {
namespace {

constexpr std::size_t kPendingMax = 256 * 1024;
constexpr std::size_t kPieceMax = 32 * 1024;
constexpr std::size_t kRecentMax = 64 * 1024;
constexpr std::size_t kInputMax = 1024 * 1024;

}  // namespace

class ConsoleStream final : public ProcessStream {
 public:
  ConsoleStream(std::shared_ptr<Console> console, std::shared_ptr<Console::Listener> listener)
      : console_(std::move(console)), listener_(std::move(listener)) {}

  Task<ProcessEvent> next() override {
    // The coroutine may outlive this object.
    auto console = console_;
    auto listener = listener_;
    while (listener->queue.empty() && !console->outcome_) CO_CHECK(co_await console->changed_.wait());
    if (!listener->queue.empty()) {
      auto piece = std::move(listener->queue.front());
      listener->queue.pop_front();
      co_return ProcessEvent(Output{piece->stream, piece->bytes});
    }
    if (listener->ended) co_return fail(Code::conflict, "the process has ended and its outcome was told");
    listener->ended = true;
    co_return ProcessEvent(*console->outcome_);
  }

 private:
  std::shared_ptr<Console> console_;
  std::shared_ptr<Console::Listener> listener_;
};

void Console::write(Stream stream, std::string_view bytes) {
  while (!bytes.empty()) {
    post(stream, bytes.substr(0, kPieceMax));
    bytes.remove_prefix(std::min(bytes.size(), kPieceMax));
  }
}

void Console::post(Stream stream, std::string_view bytes) {
  {
    std::unique_lock lock(lock_);
    moved_.wait(lock, [&] { return pending_ < kPendingMax || abandoned_; });
    if (abandoned_) return;
    pending_ += bytes.size();
    written_ += bytes.size();
  }
  // Gone from every queue, a piece makes room for the next.
  auto give_back = [self = shared_from_this()](const Piece* piece) {
    {
      std::lock_guard lock(self->lock_);
      self->pending_ -= piece->bytes.size();
    }
    self->moved_.notify_all();
    delete piece;
  };
  PiecePtr piece(new Piece{stream, std::string(bytes)}, give_back);
  boost::asio::post(executor_,
                    [self = shared_from_this(), piece = std::move(piece)] { self->deliver(piece); });
}

void Console::deliver(const PiecePtr& piece) {
  recent_.push_back(*piece);
  recent_bytes_ += piece->bytes.size();
  while (recent_bytes_ > kRecentMax && recent_.size() > 1) {
    recent_bytes_ -= recent_.front().bytes.size();
    recent_.pop_front();
  }
  std::erase_if(listeners_, [](const auto& listener) { return listener.expired(); });
  for (auto& weak : listeners_)
    if (auto listener = weak.lock()) listener->queue.push_back(piece);
  changed_.notify();
}

std::string Console::read() {
  std::unique_lock lock(lock_);
  moved_.wait(lock, [&] { return !input_.empty() || input_closed_ || abandoned_; });
  if (abandoned_) return {};
  std::string bytes = std::exchange(input_, {});
  lock.unlock();
  boost::asio::post(executor_, [self = shared_from_this()] { self->changed_.notify(); });
  return bytes;
}

void Console::abandon() {
  {
    std::lock_guard lock(lock_);
    abandoned_ = true;
  }
  moved_.notify_all();
}

std::unique_ptr<ProcessStream> Console::attach(Replay replay) {
  auto listener = std::make_shared<Listener>();
  if (replay == Replay::recent)
    for (const Piece& piece : recent_) listener->queue.push_back(std::make_shared<const Piece>(piece));
  listeners_.push_back(listener);
  return std::make_unique<ConsoleStream>(shared_from_this(), std::move(listener));
}

Task<void> Console::write_input(std::string bytes) {
  auto self = shared_from_this();
  while (true) {
    if (outcome_) co_return fail(Code::conflict, "the process has ended");
    {
      std::lock_guard lock(lock_);
      if (input_closed_) co_return fail(Code::conflict, "standard input is closed");
      if (input_.size() < kInputMax) {
        input_ += bytes;
        moved_.notify_all();
        co_return Result<void>();
      }
    }
    CO_CHECK(co_await changed_.wait());
  }
}

void Console::close_input() {
  {
    std::lock_guard lock(lock_);
    input_closed_ = true;
  }
  moved_.notify_all();
}

bool Console::input_closed() const {
  std::lock_guard lock(lock_);
  return input_closed_;
}

std::uint64_t Console::bytes_written() const {
  std::lock_guard lock(lock_);
  return written_;
}

void Console::finish(Outcome outcome) {
  outcome_ = std::move(outcome);
  changed_.notify();
}

Task<Outcome> Console::wait() {
  auto self = shared_from_this();
  while (!outcome_) CO_CHECK(co_await changed_.wait());
  co_return *outcome_;
}

}  // namespace atl::sandbox::emulated
