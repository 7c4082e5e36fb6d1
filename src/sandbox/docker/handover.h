#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "os/task.h"
#include "sandbox/docker/line.h"

namespace atl::sandbox::docker {

// A guest that connects to a socket of ours and is handed its streams there: daemon and guest then speak
// without anybody between them. For engines that give their containers files of this machine.
class Handover final : public Line, public std::enable_shared_from_this<Handover> {
 public:
  // Listens at "DIRECTORY/NAME", for a container that is to be made with that file. The directory is nobody
  // else's, so that only who is in the container can come.
  static Result<std::shared_ptr<Handover>> listen(const boost::asio::any_io_executor& executor,
                                                  const std::string& directory, const std::string& name);
  ~Handover() override;
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  // Waits for the guest, which is that process; whoever else comes is sent away. Code::deadline_exceeded if
  // it has not come in this time; it may be asked again. Once it came nobody else can.
  Task<void> accept(pid_t guest, std::chrono::milliseconds patience);

  void start(std::function<void(std::string)> on_end) override;
  Result<os::Fd> open() override;
  void close() override;

 private:
  Handover(const boost::asio::any_io_executor& executor, os::Fd listener, std::string path);
  bool take(pid_t guest);
  void stop_listening();
  void await_end();

  boost::asio::any_io_executor executor_;
  std::optional<boost::asio::posix::stream_descriptor> listener_, guest_;
  std::string path_;
  std::function<void(std::string)> on_end_;
};

}  // namespace atl::sandbox::docker
