#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/json.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "os/event.h"
#include "sandbox/docker/broker.h"
#include "sandbox/docker/container_config.h"
#include "sandbox/docker/engine.h"
#include "sandbox/docker/handover.h"
#include "sandbox/docker/line.h"

// Internal to the broker's process.
namespace atl::sandbox::docker {

// A name that can stand in a path, a label and a request line without being anything but a name.
bool is_word(const std::string& name);

// A container that this broker made. Shared by the table and by the calls about it, which may wait for the
// engine while another call removes the container from the table.
struct BrokeredContainer {
  std::string id;       // the engine's
  std::string session;  // its label
  std::shared_ptr<Line> line;
  boost::json::object facts;  // what create and adopt answer
  boost::json::value note;    // the daemon's own words, for a later one
  bool is_frozen = false;
  bool is_doubtful = false;  // whether it stands still: an answer got lost
  bool is_going = false;     // it is being removed
  pid_t pid = 0;             // 0: the engine is elsewhere
};

// The whole of the broker's process: one thread, one loop, one daemon at a time. Owns the containers that it
// made, and removes them when it ends.
class Broker {
 public:
  // `daemon` is the connection to the present daemon, `listener` where the next one will connect, `snapshots`
  // the directory of that name.
  Broker(BrokerOptions options, os::Fd daemon, os::Fd listener, os::Fd snapshots);
  // Serves until shut_down is asked for, or until there was no daemon for orphan_time.
  void run();

 private:
  using Object = boost::json::object;
  struct Reply {
    Object body;
    os::Fd fd;
  };

  void listen_to_daemon();
  void receive();
  void accept_daemon();
  void lose_daemon();
  void tell(const Object& message, int fd = -1);
  boost::asio::awaitable<void> serve(Object request);
  Task<Reply> answer(const std::string& verb, const Object& request);

  Task<Reply> hello();
  Task<Reply> probe();
  Task<Reply> create(Object request);
  Task<Reply> adopt(std::string name);
  Task<Reply> assign(const Object& request);
  Task<Reply> freeze(std::string name, bool frozen);
  // Whether the engine says that it stands still.
  Task<bool> look_frozen(std::shared_ptr<BrokeredContainer> container);
  boost::asio::awaitable<void> settle_doubts();
  Task<Reply> destroy(std::string name);
  Task<Reply> snapshot(std::string name, std::string target);
  Task<Reply> discard(std::string target);
  Task<Reply> snapshot_bytes(std::string target);
  Task<Reply> measure(std::string name);
  Task<Reply> shut_down();

  Result<std::shared_ptr<BrokeredContainer>> find(const std::string& name) const;
  // Asks the engine who it is, unless that is known.
  Task<void> know_engine();
  bool is_podman() const { return engine_facts_ && engine_facts_->kind == "podman"; }
  // Whether it sees our files: it is on this machine, and nobody but root needs to.
  bool shares_files() const {
    return options_.engine.is_local && engine_facts_ && !engine_facts_->is_rootless;
  }
  Task<std::string> seccomp_option();
  Task<ImageFacts> find_image(std::string image);
  // What the engine says about an image that may be named; a snapshot is nobody's to name.
  Task<boost::json::value> inspect_image(std::string image);
  // One that the engine has, or may pull; `who` asks for it.
  Task<ImageFacts> plain_image(std::string image, std::string who);
  Task<void> pull(std::string image);
  // One that is built from a recipe unless it is there: once, however many ask for it at the same time.
  Task<ImageFacts> recipe_image(std::string image);
  Task<void> build(std::string name);
  Task<ImageFacts> snapshot_image(std::string target);
  Task<std::string> make_container(const ContainerPlan& plan, const std::string& name);
  // The way to the guest, for a plan that is yet to be a container.
  Result<void> prepare_line(BrokeredContainer& container, ContainerPlan& plan, const std::string& name);
  Task<void> start_container(std::shared_ptr<BrokeredContainer> container, const ContainerPlan& plan);
  // Starts it with its standard streams attached.
  Task<void> start_attached(std::shared_ptr<BrokeredContainer> container);
  // Until the guest, which is that process, has met us. Code::unsupported if it cannot from where it is.
  Task<void> meet_guest(std::shared_ptr<BrokeredContainer> container, pid_t guest);
  Task<void> prepare_guest(ContainerPlan& plan);
  Task<void> remove_container(std::string id);
  // Containers of this installation that no broker has: a broker that was killed left them.
  Task<void> sweep();
  boost::asio::awaitable<void> explain_end(std::shared_ptr<BrokeredContainer> container, std::string why);
  std::string name_of(const BrokeredContainer& container) const;
  // The name of a snapshot's directory, if it is directly below the one that this broker may touch.
  Result<std::string> name_of_target(const std::string& target) const;
  // The image that a snapshot's directory names, as the engine describes it. The daemon can write what is in
  // there, so that nothing but a snapshot that this installation took is believed: Code::permission_denied.
  Task<boost::json::value> inspect_snapshot(std::string target, std::string& image);
  // An image that no snapshot names: now, or as soon as the engine answers again.
  boost::asio::awaitable<void> remove_image(std::string image);
  boost::asio::awaitable<void> remove_strays();

  BrokerOptions options_;
  boost::asio::io_context loop_;
  Engine engine_;
  boost::asio::posix::stream_descriptor daemon_, listener_;
  boost::asio::steady_timer orphaned_;
  // Held as a descriptor: whoever owns the way there cannot lead us elsewhere.
  os::Fd snapshots_;
  std::map<std::string, std::shared_ptr<BrokeredContainer>> containers_;
  std::vector<std::string> strays_;
  const std::string generation_;
  std::optional<EngineFacts> engine_facts_;                   // unset: not asked yet
  std::map<std::string, std::shared_ptr<os::Event>> builds_;  // by the tag that is being made
  // Whether containers reach a socket of this machine that they are given: not in every runtime.
  bool meets_guests_ = true;
  bool is_swept_ = false;
  bool guest_is_there_ = false;
  std::optional<bool> has_disk_limit_;  // unset: not tried yet
};

}  // namespace atl::sandbox::docker
