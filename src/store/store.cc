#include "store/store.h"

#include <fmt/format.h>

#include "store/schema.h"

namespace atl::store {
namespace {

constexpr std::size_t kReaders = 2;

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& directory) {
  auto store = std::unique_ptr<Store>(new Store);
  store->path_ = directory + "/atoll.db";
  Connection connection = TRY(Connection::open(store->path_, Access::read_write));
  TRY(migrate(connection));
  store->writer_ = std::make_unique<Writer>(std::move(connection));
  store->pool_ = std::make_unique<boost::asio::thread_pool>(kReaders);
  return store;
}

Result<std::unique_ptr<Store>> Store::open_in_memory() {
  auto store = std::unique_ptr<Store>(new Store);
  Connection connection = TRY(Connection::open(":memory:", Access::read_write));
  TRY(migrate(connection));
  store->writer_ = std::make_unique<Writer>(std::move(connection));
  return store;
}

Store::~Store() {
  if (pool_) pool_->join();
}

Result<Connection> Store::take_reader() {
  {
    const std::lock_guard lock(readers_mutex_);
    if (!readers_.empty()) {
      Connection connection = std::move(readers_.back());
      readers_.pop_back();
      return connection;
    }
  }
  return Connection::open(path_, Access::read_only);
}

void Store::give_reader(Connection connection) {
  const std::lock_guard lock(readers_mutex_);
  readers_.push_back(std::move(connection));
}

}  // namespace atl::store
