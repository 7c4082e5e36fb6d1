#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <optional>

#include "cli/settings.h"
#include "daemon/data_directory.h"
#include "store/store.h"

namespace atl::cli {

// The store of the data directory and the loop its answers come to. The store goes first: its threads may
// still be handing over an answer.
class OpenStore {
 public:
  enum class Missing { make, refuse };  // a data directory that is not there
  static Result<std::unique_ptr<OpenStore>> open(const SettingFlags& flags, Missing missing) {
    const config::Configuration configuration = TRY(flags.load());
    const auto directory = TRY(missing == Missing::make ? daemon::data_directory(configuration)
                                                        : daemon::existing_data_directory(configuration));
    return std::make_unique<OpenStore>(directory, TRY(store::Store::open(directory)));
  }
  OpenStore(std::string directory, std::unique_ptr<store::Store> store)
      : directory_(std::move(directory)), store_(std::move(store)) {}

  const std::string& directory() const { return directory_; }
  store::Store& store() { return *store_; }

  template <class T>
  Result<T> wait(Task<T> task) {
    std::optional<Result<T>> result;
    boost::asio::co_spawn(loop_, std::move(task),
                          [&](std::exception_ptr, Result<T> value) { result.emplace(std::move(value)); });
    loop_.run();
    loop_.restart();
    return std::move(*result);
  }

 private:
  std::string directory_;
  boost::asio::io_context loop_;
  std::unique_ptr<store::Store> store_;
};

}  // namespace atl::cli
