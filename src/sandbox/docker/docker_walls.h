#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <string>

#include "os/event.h"
#include "sandbox/container/container_sandbox.h"
#include "sandbox/container/group_reader.h"
#include "sandbox/docker/broker_client.h"

namespace atl::sandbox::docker {

// One container, asked of the broker by its name. Owned by the ContainerState; belongs to the loop thread.
class DockerWalls final : public container::Walls {
 public:
  DockerWalls(const boost::asio::any_io_executor& executor, std::shared_ptr<BrokerClient> broker,
              std::string name, container::GroupReader groups);
  // The name under which the broker knows it.
  const std::string& name() const { return name_; }
  void rename(std::string name) { name_ = std::move(name); }
  // Called when the broker says that the container has ended: explain() then gives `why`.
  void has_ended(std::string why);

  Task<void> freeze() override;
  Task<void> thaw() override;
  Task<void> snapshot(std::string target) override;
  Task<void> destroy() override;
  void destroy_later() override;
  Task<std::string> explain(std::string reason) override;
  Task<void> measure() override;
  Usage measured() const override;
  std::optional<std::chrono::microseconds> cpu_time() const override;
  std::uint64_t oom_kills() const override { return groups_.oom_kills(); }
  std::optional<std::uint32_t> process_count() const override;

 private:
  Task<void> ask(const char* verb);
  std::shared_ptr<BrokerClient> broker_;
  std::string name_;
  container::GroupReader groups_;
  Usage told_;  // by the engine: the disk, and all of it where the kernel's numbers are out of reach
  std::optional<std::string> why_ended_;
  os::Event explained_;
};

}  // namespace atl::sandbox::docker
