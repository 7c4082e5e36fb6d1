#include "sandbox/gvisor/broker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "base/ids.h"
#include "os/file.h"
#include "os/fork.h"
#include "os/message.h"
#include "os/process.h"
#include "sandbox/gvisor/broker_protocol.h"
#include "sandbox/gvisor/bundle.h"

namespace atl::sandbox::gvisor {
namespace {

// At once; more wait. Each is a process of runsc, most of the time.
constexpr std::size_t kJobsMax = 8;
constexpr std::size_t kWaitingMax = 1024;
// A daemon that was killed is started again within that time, or never.
constexpr std::chrono::seconds kOrphanPatience{60};
// After a copy another one is likely: a container is made ready for it, and kept for so long.
constexpr std::chrono::milliseconds kSpareDelay{300};
constexpr std::chrono::seconds kSpareTime{60};
constexpr const char* kSocketName = "/broker.sock";

using Time = std::chrono::steady_clock::time_point;

struct Box {
  std::string container;  // runsc's name for it now
  std::string directory;
  Spec spec;
  Isolation isolation;
  std::vector<std::string> groups;
  os::Fd stream, upper, process;
  bool frozen = false;
  bool busy = false;
  bool ready = false;
};

// A container that waits for files and memory, for the copy that is about to be asked for: making one takes
// runsc as long as restoring it. There is at most one.
struct Spare {
  Box box;
  Time made;
};

// A child of the broker that does one thing. It answers once; what it does after that nobody waits for.
struct Job {
  Request request;
  std::string id;  // of the box, if it is about one
  os::Fd answer;   // closed once it came
  std::function<void(Reply&)> finish;
};

sockaddr_un address_of(const std::string& directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = directory + kSocketName;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  return address;
}

class Broker {
 public:
  Broker(Engine engine, os::Fd daemon, os::Fd listener, os::Fd children)
      : engine_(std::move(engine)),
        daemon_(std::move(daemon)),
        listener_(std::move(listener)),
        children_(std::move(children)) {}
  void run();

 private:
  void on_daemon();
  void on_listener();
  void on_job(std::size_t index);
  void reap();
  void lose_daemon();
  bool start_next();
  void serve(Request request);
  void answer(Reply reply, const std::vector<int>& fds = {});
  void refuse(const Request& request, Error error);
  Reply describe() const;

  using Work = std::function<Result<Reply>(const std::function<void(Reply)>& tell)>;
  void begin(Request request, Job job, Work work);
  void create(Request request);
  bool is_spare_for(const Request& request) const;
  void create_from_spare(Request request);
  void prepare_spare(const Spec& kind);
  void drop_spare();
  void look_after_spare();
  int patience() const;
  void adopt(Request request, Box& box);
  void set_frozen(Request request, Box& box, bool frozen);
  void snapshot(Request request, Box& box);
  void checkpoint(Request request, Box& box);
  void destroy(Request request, Box& box);
  void touch_snapshot(Request request);
  void shut_down(const Request& request);
  void end_all();

  Engine engine_;
  os::Fd daemon_, listener_, children_;
  std::map<std::string, Box> boxes_;
  std::deque<Request> waiting_;
  std::map<pid_t, Job> jobs_;
  std::optional<Spare> spare_;
  // The kind of which a spare is made, and when.
  std::optional<std::pair<Spec, Time>> spare_due_;
  Time orphan_since_{};
  std::uint64_t containers_ = 0;
  bool over_ = false;
};

void Broker::answer(Reply reply, const std::vector<int>& fds) {
  if (reply.token == 0 || !daemon_.is_open()) return;
  if (!os::send_message(daemon_.get(), encode(reply), fds)) lose_daemon();
}

void Broker::refuse(const Request& request, Error error) {
  answer(Reply{.token = request.token, .error = std::move(error)});
}

void Broker::lose_daemon() {
  daemon_.reset();
  orphan_since_ = std::chrono::steady_clock::now();
}

void Broker::on_daemon() {
  auto message = os::receive_message(daemon_.get(), os::Wait::no);
  if (!message && message.error().code() == Code::unavailable) return;
  if (!message) return;
  if (message->bytes.empty()) return lose_daemon();
  auto request = decode_request(message->bytes);
  if (!request) return;
  if (waiting_.size() >= kWaitingMax)
    return refuse(*request, Error(Code::resource_exhausted, "too many requests wait for runsc"));
  if (request->verb == Verb::shut_down) return shut_down(*request);
  waiting_.push_back(std::move(*request));
}

// One daemon at a time, of root or of whoever owns the directory that the socket is in.
void Broker::on_listener() {
  os::Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection.is_open()) return;
  char byte = 0;
  if (daemon_.is_open() && ::recv(daemon_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0) lose_daemon();
  if (daemon_.is_open()) return;
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.uid != 0) return;
  daemon_ = std::move(connection);
}

void Broker::reap() {
  signalfd_siginfo info[8];
  while (::read(children_.get(), info, sizeof info) > 0) {
  }
  // Among them are kernels of sandboxes, which runsc leaves to us; their streams tell their end.
  for (pid_t pid = 0; (pid = ::waitpid(-1, nullptr, WNOHANG)) > 0;) {
    const auto found = jobs_.find(pid);
    if (found == jobs_.end()) continue;
    Job& job = found->second;
    // It died before it could answer.
    if (job.answer.is_open()) {
      Reply reply{.token = job.request.token,
                  .error = Error(Code::provider_failed, "the broker's own process ended in the middle")};
      if (auto message = os::receive_message(job.answer.get(), os::Wait::no);
          message && !message->bytes.empty())
        if (auto told = decode_reply(message->bytes)) reply = std::move(*told);
      reply.token = job.request.token;
      job.answer.reset();
      if (job.finish) job.finish(reply);
    }
    jobs_.erase(found);
  }
}

void Broker::on_job(std::size_t index) {
  auto at = std::next(jobs_.begin(), static_cast<std::ptrdiff_t>(index));
  Job& job = at->second;
  auto message = os::receive_message(job.answer.get(), os::Wait::no);
  if (!message || message->bytes.empty()) return job.answer.reset();  // reap() tells
  auto reply = decode_reply(message->bytes);
  if (!reply) return;
  reply->token = job.request.token;
  job.answer.reset();
  if (job.finish) job.finish(*reply);
}

void Broker::begin(Request request, Job job, Work work) {
  auto pair = os::socket_pair(os::SocketKind::packets);
  if (!pair) return refuse(request, std::move(pair).error());
  const pid_t child = os::fork_alone();
  if (child < 0) return refuse(request, errno_error(errno, "start a process of the broker's"));
  if (child == 0) {
    ::prctl(PR_SET_NAME, "atoll-runsc-job");
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    bool told = false;
    const auto tell = [&](Reply reply) {
      if (!std::exchange(told, true)) (void)os::send_message(pair->second.get(), encode(reply));
    };
    auto done = work(tell);
    if (done)
      tell(std::move(*done));
    else
      tell(Reply{.error = std::move(done).error()});
    ::_exit(0);
  }
  job.answer = std::move(pair->first);
  job.request = std::move(request);
  if (const auto box = boxes_.find(job.id); box != boxes_.end()) box->second.busy = true;
  jobs_.emplace(child, std::move(job));
}

Reply Broker::describe() const {
  Reply reply{.number = kBrokerVersion, .text = engine_.runsc().version + " " + engine_.runsc().platform};
  reply.isolation = engine_.probed();
  for (const auto& [id, box] : boxes_)
    if (box.ready) reply.names.push_back(id);
  return reply;
}

void Broker::create(Request request) {
  const std::string id = request.id;
  if (boxes_.contains(id)) return refuse(request, Error(Code::already_exists, "a sandbox of that id lives"));
  if (is_spare_for(request)) return create_from_spare(std::move(request));
  auto pair = os::socket_pair(os::SocketKind::stream);
  if (!pair) return refuse(request, std::move(pair).error());
  // Never one that was used before: runsc remembers those whose start failed.
  const std::string container = fmt::format("{}-{}", random_word(12), ++containers_);
  Box& box = boxes_[id];
  box.container = container, box.directory = engine_.box(container);
  box.spec = request.spec, box.spec.id = id;
  box.stream = std::move(pair->first);
  Job job{.id = id};
  job.finish = [this, id](Reply& reply) {
    const auto found = boxes_.find(id);
    if (found == boxes_.end()) return;
    Box& made = found->second;
    made.busy = false;
    if (!reply.error) {
      auto process = os::pidfd_open(static_cast<pid_t>(reply.number));
      auto upper = os::open((made.directory + "/upper").c_str(), O_RDONLY | O_DIRECTORY);
      if (process && upper) {
        made.process = std::move(*process), made.upper = std::move(*upper);
        made.isolation = reply.isolation, made.groups = reply.groups, made.ready = true;
        return answer(std::move(reply), {made.stream.get(), made.upper.get()});
      }
      reply.error = Error(Code::provider_failed, "the sandbox ended at once");
    }
    boxes_.erase(found);
    answer(std::move(reply));
  };
  const int guest_end = pair->second.get();
  const bool memory = request.memory;
  begin(std::move(request), std::move(job),
        [this, container, memory, guest_end, spec = box.spec](const auto&) -> Result<Reply> {
          Reply reply;
          if (memory) reply.text = TRY(engine_.notes(spec.snapshot.value_or("")));
          Started started = TRY(engine_.create(container, spec, memory, guest_end));
          reply.number = static_cast<std::uint64_t>(started.pid);
          reply.isolation = std::move(started.isolation), reply.groups = std::move(started.groups);
          return reply;
        });
}

// Ready sandboxes are made while nobody waits for them.
bool Broker::is_spare_for(const Request& request) const {
  return spare_ && request.verb == Verb::create && request.memory && !request.id.starts_with(kPoolPrefix) &&
         is_same_kind(spare_->box.spec, request.spec);
}

void Broker::create_from_spare(Request request) {
  const std::string id = request.id;
  Box& box = boxes_[id];
  box = std::move(spare_->box);
  spare_.reset();
  box.spec = request.spec, box.spec.id = id;
  Job job{.id = id};
  job.finish = [this, id, request](Reply& reply) {
    Box& made = boxes_.at(id);
    made.busy = false;
    if (!reply.error) {
      made.isolation.walls.insert(made.isolation.walls.end(), reply.isolation.walls.begin(),
                                  reply.isolation.walls.end());
      made.isolation.missing = reply.isolation.missing, made.groups = reply.groups, made.ready = true;
      reply.isolation = made.isolation;
      spare_due_.emplace(made.spec, std::chrono::steady_clock::now() + kSpareDelay);
      return answer(std::move(reply), {made.stream.get(), made.upper.get()});
    }
    boxes_.erase(id);
    // In the ordinary way, which can do everything.
    if (reply.error->code() == Code::unsupported) return waiting_.push_front(request);
    answer(std::move(reply));
  };
  begin(std::move(request), std::move(job),
        [this, container = box.container, directory = box.directory, process = box.process.get(),
         groups = box.groups, spec = box.spec](const auto&) -> Result<Reply> {
          Reply reply;
          auto filled = [&]() -> Result<Started> {
            reply.text = TRY(engine_.notes(spec.snapshot.value_or("")));
            return engine_.fill(container, spec);
          }();
          if (!filled) {
            (void)engine_.kill(process, groups);
            engine_.remove(directory, container);
            return fail(std::move(filled).error());
          }
          reply.isolation = std::move(filled->isolation), reply.groups = std::move(filled->groups);
          return reply;
        });
}

void Broker::prepare_spare(const Spec& kind) {
  spare_due_.reset();
  if (!engine_.can_prepare() || !kind.host_mounts.empty() || !daemon_.is_open()) return;
  if (spare_ && (spare_->box.busy || is_same_kind(spare_->box.spec, kind))) return;
  drop_spare();
  auto pair = os::socket_pair(os::SocketKind::stream);
  if (!pair) return;
  const std::string container = fmt::format("{}-{}", random_word(12), ++containers_);
  Box& box = spare_.emplace().box;
  box.container = container, box.directory = engine_.box(container);
  box.spec = kind, box.stream = std::move(pair->first), box.busy = true;
  Job job;
  job.finish = [this](Reply& reply) {
    Box& made = spare_->box;
    made.busy = false;
    spare_->made = std::chrono::steady_clock::now();
    auto process = os::pidfd_open(static_cast<pid_t>(reply.number));
    auto upper = os::open((made.directory + "/upper").c_str(), O_RDONLY | O_DIRECTORY);
    if (!reply.error && process && upper) {
      made.process = std::move(*process), made.upper = std::move(*upper);
      made.isolation = reply.isolation, made.groups = reply.groups;
      return;
    }
    // Copies are made in the ordinary way.
    spare_.reset();
  };
  const int guest_end = pair->second.get();
  begin(Request{}, std::move(job), [this, container, guest_end, kind](const auto&) -> Result<Reply> {
    const Started started = TRY(engine_.prepare(container, kind, guest_end));
    Reply reply{.number = static_cast<std::uint64_t>(started.pid)};
    reply.isolation = started.isolation, reply.groups = started.groups;
    return reply;
  });
}

void Broker::drop_spare() {
  if (!spare_ || spare_->box.busy) return;
  begin(Request{}, Job{},
        [this, container = spare_->box.container, directory = spare_->box.directory,
         process = spare_->box.process.get(), groups = spare_->box.groups](const auto&) -> Result<Reply> {
          (void)engine_.kill(process, groups);
          engine_.remove(directory, container);
          return Reply{};
        });
  spare_.reset();
}

void Broker::look_after_spare() {
  const Time now = std::chrono::steady_clock::now();
  if (spare_due_ && now >= spare_due_->second) prepare_spare(Spec(spare_due_->first));
  if (spare_ && !spare_->box.busy && now - spare_->made >= kSpareTime) drop_spare();
}

// Milliseconds until something must be looked at that no descriptor tells.
int Broker::patience() const {
  if (!daemon_.is_open()) return 1000;
  const auto until = [](Time when) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(when - std::chrono::steady_clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  };
  if (spare_due_) return until(spare_due_->second);
  if (spare_ && !spare_->box.busy) return until(spare_->made + kSpareTime);
  return -1;
}

// A paused guest cannot read; Verb::wake tells it of its new host when it goes on.
void Broker::adopt(Request request, Box& box) {
  const std::string id = request.id, container = box.container;
  const bool announces = !box.frozen || request.verb == Verb::wake;
  const bool resumes = request.verb == Verb::wake && box.frozen;
  Job job{.id = id};
  job.finish = [this, id, resumes](Reply& reply) {
    Box& mine = boxes_.at(id);
    mine.busy = false;
    if (reply.error) return answer(std::move(reply));
    if (resumes) mine.frozen = false;
    reply.spec = mine.spec, reply.isolation = mine.isolation, reply.groups = mine.groups;
    reply.frozen = mine.frozen;
    answer(std::move(reply), {mine.stream.get(), mine.upper.get()});
  };
  begin(std::move(request), std::move(job), [=, this](const auto&) -> Result<Reply> {
    if (resumes) TRY(engine_.resume(container));
    if (announces) TRY(engine_.announce_host(container));
    return Reply{};
  });
}

void Broker::set_frozen(Request request, Box& box, bool frozen) {
  const std::string id = request.id, container = box.container;
  Job job{.id = id};
  job.finish = [this, id, frozen](Reply& reply) {
    boxes_.at(id).busy = false;
    if (!reply.error) boxes_.at(id).frozen = frozen;
    answer(std::move(reply));
  };
  const bool already = box.frozen == frozen;
  begin(std::move(request), std::move(job), [=, this](const auto&) -> Result<Reply> {
    if (!already) TRY(frozen ? engine_.pause(container) : engine_.resume(container));
    return Reply{};
  });
}

void Broker::snapshot(Request request, Box& box) {
  const std::string id = request.id, container = box.container, directory = box.directory;
  const std::string target = request.path;
  const bool frozen = box.frozen;
  Job job{.id = id};
  job.finish = [this, id](Reply& reply) {
    boxes_.at(id).busy = false;
    answer(std::move(reply));
  };
  begin(std::move(request), std::move(job), [=, this](const auto&) -> Result<Reply> {
    if (!frozen) TRY(engine_.pause(container));
    auto done = engine_.snapshot(directory, target);
    if (!frozen) TRY(engine_.resume(container));
    TRY(std::move(done));
    return Reply{};
  });
}

void Broker::checkpoint(Request request, Box& box) {
  if (box.frozen) return refuse(request, Error(Code::conflict, "the sandbox is paused: resume it first"));
  auto pair = os::socket_pair(os::SocketKind::stream);
  if (!pair) return refuse(request, std::move(pair).error());
  const std::string id = request.id, container = box.container, directory = box.directory;
  const std::string next = fmt::format("{}-{}", random_word(12), ++containers_);
  Job job{.id = id};
  const int guest_end = pair->second.get();
  const auto host_end = std::make_shared<os::Fd>(std::move(pair->first));
  job.finish = [this, id, next, host_end](Reply& reply) {
    Box& mine = boxes_.at(id);
    mine.busy = false;
    const bool replaced = reply.number != 0;
    if (reply.error || !replaced) return answer(std::move(reply));
    mine.container = next, mine.stream = std::move(*host_end);
    if (auto process = os::pidfd_open(static_cast<pid_t>(reply.number))) mine.process = std::move(*process);
    mine.groups = reply.groups;
    answer(std::move(reply), {mine.stream.get()});
  };
  const std::string target = request.path, notes = request.text;
  const Durable durable = request.memory ? Durable::yes : Durable::no;
  // Copies are asked for next: their container is made while this one is saved.
  if (durable == Durable::no && !id.starts_with(kPoolPrefix)) prepare_spare(box.spec);
  begin(std::move(request), std::move(job),
        [=, this](const std::function<void(Reply)>& tell) -> Result<Reply> {
          const Engine::Saved saved =
              TRY(engine_.checkpoint(directory, container, next, target, notes, durable, guest_end));
          Reply reply{.number = saved.replaced ? static_cast<std::uint64_t>(saved.pid) : 0};
          reply.groups = saved.groups;
          // An old runsc takes more than a second to forget a container: a copy can be made meanwhile.
          if (saved.replaced) tell(std::move(reply));
          engine_.finish_checkpoint(container, saved);
          return reply;
        });
}

void Broker::destroy(Request request, Box& box) {
  const std::string id = request.id, container = box.container, directory = box.directory;
  const int process = box.process.get();
  Job job{.id = id};
  job.finish = [this, id](Reply& reply) {
    boxes_.erase(id);
    answer(std::move(reply));
  };
  begin(std::move(request), std::move(job),
        [=, this, groups = box.groups](const std::function<void(Reply)>& tell) -> Result<Reply> {
          auto killed = engine_.kill(process, groups);
          Reply reply;
          if (!killed) reply.error = std::move(killed).error();
          tell(std::move(reply));
          engine_.remove(directory, container);
          return Reply{};
        });
}

void Broker::touch_snapshot(Request request) {
  Job job;
  job.finish = [this](Reply& reply) { answer(std::move(reply)); };
  const std::string path = request.path;
  const Verb verb = request.verb;
  begin(std::move(request), std::move(job), [=, this](const auto&) -> Result<Reply> {
    Reply reply;
    if (verb == Verb::discard) TRY(engine_.discard(path));
    if (verb == Verb::forget) TRY(engine_.forget_memory(path));
    if (verb == Verb::measure) reply.number = TRY(engine_.measure(path));
    return reply;
  });
}

void Broker::serve(Request request) {
  const auto found = boxes_.find(request.id);
  const auto needs = [&](auto then) {
    if (found == boxes_.end()) return refuse(request, Error(Code::not_found, "there is no such sandbox"));
    then(found->second);
  };
  switch (request.verb) {
    case Verb::hello: {
      Reply reply = describe();
      reply.token = request.token;
      return answer(std::move(reply));
    }
    case Verb::create: return create(std::move(request));
    case Verb::adopt:
    case Verb::wake: return needs([&](Box& box) { adopt(std::move(request), box); });
    case Verb::rename:
      return needs([&](Box&) {
        if (boxes_.contains(request.text))
          return refuse(request, Error(Code::already_exists, "a sandbox of that id lives"));
        auto node = boxes_.extract(found);
        node.key() = request.text, node.mapped().spec.id = request.text;
        boxes_.insert(std::move(node));
        answer(Reply{.token = request.token});
      });
    case Verb::pause: return needs([&](Box& box) { set_frozen(std::move(request), box, true); });
    case Verb::resume: return needs([&](Box& box) { set_frozen(std::move(request), box, false); });
    case Verb::snapshot: return needs([&](Box& box) { snapshot(std::move(request), box); });
    case Verb::checkpoint: return needs([&](Box& box) { checkpoint(std::move(request), box); });
    case Verb::destroy: return needs([&](Box& box) { destroy(std::move(request), box); });
    case Verb::discard:
    case Verb::forget:
    case Verb::measure: return touch_snapshot(std::move(request));
    case Verb::shut_down: return;
  }
}

// The first that waits for nobody else's work on the same sandbox.
bool Broker::start_next() {
  const auto can = [&](const Request& request) {
    if (is_spare_for(request) && spare_->box.busy) return false;
    const auto box = boxes_.find(request.id);
    return box == boxes_.end() || !box->second.busy;
  };
  const auto next = std::ranges::find_if(waiting_, can);
  if (next == waiting_.end() || jobs_.size() >= kJobsMax) return false;
  Request request = std::move(*next);
  waiting_.erase(next);
  serve(std::move(request));
  return true;
}

void Broker::end_all() {
  std::vector<pid_t> children;
  for (auto& [id, box] : boxes_) {
    const pid_t child = os::fork_alone();
    if (child == 0) {
      if (box.process.is_open()) (void)engine_.kill(box.process.get(), box.groups);
      engine_.remove(box.directory, box.container);
      ::_exit(0);
    }
    if (child > 0) children.push_back(child);
  }
  for (const auto& [pid, job] : jobs_) children.push_back(pid);
  for (const pid_t child : children)
    while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  boxes_.clear();
  // By now whoever was making it has ended, too.
  if (spare_ && spare_->box.process.is_open())
    (void)engine_.kill(spare_->box.process.get(), spare_->box.groups);
  if (spare_) engine_.remove(spare_->box.directory, spare_->box.container);
  spare_.reset();
  engine_.close();
  over_ = true;
}

void Broker::shut_down(const Request& request) {
  end_all();
  answer(Reply{.token = request.token});
}

void Broker::run() {
  while (!over_) {
    std::vector<pollfd> ready{{children_.get(), POLLIN, 0},
                              {daemon_.is_open() ? daemon_.get() : -1, POLLIN, 0},
                              {listener_.is_open() ? listener_.get() : -1, POLLIN, 0}};
    for (const auto& [pid, job] : jobs_)
      ready.push_back({job.answer.is_open() ? job.answer.get() : -1, POLLIN, 0});
    const int count = ::poll(ready.data(), ready.size(), patience());
    if (count < 0 && errno != EINTR) break;
    for (std::size_t i = 3; i < ready.size(); ++i)
      if (ready[i].revents != 0) on_job(i - 3);
    if (ready[0].revents != 0) reap();
    if (ready[1].revents != 0) on_daemon();
    if (ready[2].revents != 0) on_listener();
    while (!over_ && start_next()) {
    }
    if (!over_) look_after_spare();
    const bool orphan =
        !daemon_.is_open() && (!listener_.is_open() || boxes_.empty() ||
                               std::chrono::steady_clock::now() - orphan_since_ > kOrphanPatience);
    if (orphan && !over_) end_all();
  }
}

// Held until this process ends. An earlier broker that is just ending is waited for.
Result<void> lock(const std::string& directory) {
  TRY(os::make_directories(directory, 0700));
  os::Fd file = TRY(os::open((directory + "/lock").c_str(), O_RDWR | O_CREAT, 0600));
  for (int attempt = 0; ::flock(file.get(), LOCK_EX | LOCK_NB) < 0; ++attempt) {
    if (attempt >= 200) return fail(Code::conflict, "another broker of gvisor runs in this data directory");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  (void)file.release();
  return {};
}

Result<os::Fd> listen_in(const std::string& directory) {
  const sockaddr_un address = address_of(directory);
  if (directory.size() + std::strlen(kSocketName) >= sizeof address.sun_path) return os::Fd();
  ::unlink(address.sun_path);
  os::Fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const mode_t before = ::umask(0177);
  // JUSTIFICATION: the socket calls take every kind of address through this one type.
  const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  if (bound < 0 || ::listen(listener.get(), 4) < 0) return fail(errno_error(errno, "listen for daemons"));
  return listener;
}

[[noreturn]] void broker_main(os::Fd daemon, const EngineOptions& options) {
  ::setsid();
  ::prctl(PR_SET_NAME, "atoll-runsc");
  // runsc leaves the sandboxes' processes to whoever is next above it.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(number, SIG_IGN);
  const int number = ::fcntl(daemon.get(), F_DUPFD_CLOEXEC, 60);
  (void)daemon.release();
  (void)os::close_range(3, 59, os::UnshareTable::no);
  (void)os::close_range(61, ~0U, os::UnshareTable::no);
  daemon = os::Fd(number);
  ::umask(022);
  const auto prepared = [&]() -> Result<std::unique_ptr<Broker>> {
    TRY(lock(options.directory));
    Engine engine = TRY(Engine::open(options));
    os::Fd listener = TRY(listen_in(options.directory));
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    os::Fd children(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
    return std::make_unique<Broker>(std::move(engine), os::Fd(::fcntl(number, F_DUPFD_CLOEXEC, 3)),
                                    std::move(listener), std::move(children));
  }();
  Reply ready;
  if (!prepared) ready.error = prepared.error();
  (void)os::send_message(daemon.get(), encode(ready));
  daemon.reset();
  if (!prepared) ::_exit(1);
  (*prepared)->run();
  ::unlink(address_of(options.directory).sun_path);
  ::_exit(0);
}

}  // namespace

Result<os::Fd> start_broker(const EngineOptions& options) {
  os::SocketPair pair = TRY(os::socket_pair(os::SocketKind::packets));
  TRY(os::fork_detached("fork the broker", [&] {
    pair.first.reset();
    broker_main(std::move(pair.second), options);
  }));
  pair.second.reset();
  const os::Message message = TRY(os::receive_message(pair.first.get()));
  if (message.bytes.empty()) return fail(Code::provider_failed, "the broker ended before it was ready");
  Reply ready = TRY(decode_reply(message.bytes));
  if (ready.error) return fail(std::move(*ready.error).context("start the broker of runsc"));
  return std::move(pair.first);
}

Result<os::Fd> find_broker(const std::string& directory) {
  const sockaddr_un address = address_of(directory);
  os::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  // JUSTIFICATION: the socket calls take every kind of address through this one type.
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return fail(Code::not_found, "no broker runs");
  return socket;
}

}  // namespace atl::sandbox::gvisor
