#pragma once

#include <memory>
#include <string>
#include <vector>

#include "os/fd.h"
#include "sandbox/container/container_sandbox.h"
#include "sandbox/container/group_reader.h"
#include "sandbox/gvisor/client.h"

namespace atl::sandbox::gvisor {

// runsc's part of one sandbox, asked of the broker. Belongs to the loop thread.
class GvisorWalls final : public container::Walls {
 public:
  // `upper` is the writable layer, for its size.
  GvisorWalls(std::shared_ptr<BrokerClient> broker, std::string id, os::Fd upper,
              const std::vector<std::string>& groups, std::string version);

  // The sandbox that these walls are around; set once it exists.
  void belong_to(const std::shared_ptr<container::ContainerState>& state) { state_ = state; }
  // The broker knows it by another name from now on.
  void rename(std::string id);

  Task<void> freeze() override;
  Task<void> thaw() override;
  Task<void> snapshot(std::string target) override;
  Task<Carried> checkpoint(std::string target, CheckpointOptions options) override;
  Task<void> destroy() override;
  void destroy_later() override;
  Usage measured() const override;
  std::optional<std::chrono::microseconds> cpu_time() const override;
  std::uint64_t oom_kills() const override { return groups_.oom_kills(); }
  // The host sees gVisor's own processes, of which one inside may have several: they cannot be counted there.
  std::optional<std::uint32_t> process_count() const override { return std::nullopt; }

 private:
  Task<BrokerClient::Answer> ask(Verb verb, std::string path = {}, std::string text = {});

  std::shared_ptr<BrokerClient> broker_;
  std::string id_;
  os::Fd upper_;
  container::GroupReader groups_;
  std::string version_;  // runsc's
  std::optional<std::chrono::microseconds> cpu_when_paused_;
  std::weak_ptr<container::ContainerState> state_;
};

// What is kept beside a saved memory: runsc's version, and the interpreters that go on.
struct CheckpointNotes {
  std::string version;
  std::vector<SavedInterpreter> interpreters;
};
std::string encode(const CheckpointNotes& notes);
Result<CheckpointNotes> decode_notes(std::string_view text);

// A guest that was told of a new host (Verb::adopt) finishes its words to the one before: reads them away,
// and greets it. Code::provider_failed if they do not end in time.
Task<void> take_stream_over(int stream);
// To a guest that was held when it was saved: its host is this one now.
Result<void> greet_restored(int stream);

}  // namespace atl::sandbox::gvisor
