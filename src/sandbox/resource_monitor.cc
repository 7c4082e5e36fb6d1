#include "sandbox/resource_monitor.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <cstdlib>
#include <map>
#include <sstream>

#include "os/file.h"

namespace atl::sandbox {
namespace {

std::uint64_t micros(std::chrono::milliseconds duration) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(duration).count());
}

void raise_peak(Usage& peak, const Usage& now) {
  peak.cpu_time = std::max(peak.cpu_time, now.cpu_time);
  peak.wall_time = std::max(peak.wall_time, now.wall_time);
  peak.memory_bytes = std::max({peak.memory_bytes, now.memory_bytes, now.memory_peak_bytes});
  peak.memory_peak_bytes = peak.memory_bytes;
  peak.disk_bytes = std::max(peak.disk_bytes, now.disk_bytes);
  peak.inodes = std::max(peak.inodes, now.inodes);
  peak.processes = std::max(peak.processes, now.processes);
  peak.read_bytes = std::max(peak.read_bytes, now.read_bytes);
  peak.written_bytes = std::max(peak.written_bytes, now.written_bytes);
  peak.output_bytes = std::max(peak.output_bytes, now.output_bytes);
}

std::uint64_t field(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return 0;
  std::uint64_t value = 0;
  const char* begin = text.data() + at + key.size();
  const char* end = text.data() + text.size();
  while (begin < end && (*begin == ' ' || *begin == '\t')) ++begin;
  std::from_chars(begin, end, value);
  return value;
}

}  // namespace

std::string_view to_string(Resource resource) {
  switch (resource) {
    case Resource::memory: return "memory";
    case Resource::cpu_time: return "cpu_time";
    case Resource::wall_time: return "wall_time";
    case Resource::processes: return "processes";
    case Resource::disk: return "disk";
    case Resource::output: return "output";
  }
  std::unreachable();
}

std::vector<LimitStatus> limit_status(const Usage& usage, const Limits& limits) {
  return {
      {Resource::memory, usage.memory_bytes, limits.memory_bytes},
      {Resource::cpu_time, static_cast<std::uint64_t>(usage.cpu_time.count()),
       limits.cpu_time ? micros(*limits.cpu_time) : 0},
      {Resource::wall_time, static_cast<std::uint64_t>(usage.wall_time.count()), micros(limits.wall_time)},
      {Resource::processes, usage.processes, limits.processes_max},
      {Resource::disk, usage.disk_bytes, limits.disk_bytes},
      {Resource::output, usage.output_bytes, limits.output_bytes}};
}

Result<Usage> process_usage(pid_t pid) {
  const std::string directory = fmt::format("/proc/{}", pid);
  const auto stat = os::read_file(directory + "/stat");
  if (!stat) return fail(Code::not_found, fmt::format("no process {}", pid));
  // After the name, which may hold anything, in parentheses: field 3 is the state, 14 and 15 are CPU ticks.
  std::istringstream fields(stat->substr(stat->rfind(')') + 1));
  std::vector<std::string> words;
  for (std::string word; fields >> word;) words.push_back(word);
  if (words.size() < 20 || words[0] == "Z" || words[0] == "X")
    return fail(Code::not_found, "the process has ended");
  const auto number = [&](std::size_t index) { return std::strtoull(words[index].c_str(), nullptr, 10); };
  const auto tick = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  Usage usage;
  usage.cpu_time = std::chrono::microseconds((number(11) + number(12)) * 1'000'000 / tick);
  const std::string uptime = os::read_file("/proc/uptime").value_or("0");
  const double age =
      std::strtod(uptime.c_str(), nullptr) - static_cast<double>(number(19)) / static_cast<double>(tick);
  usage.wall_time = std::chrono::microseconds(static_cast<std::int64_t>(std::max(age, 0.0) * 1e6));
  const std::string status = os::read_file(directory + "/status").value_or("");
  usage.memory_bytes = field(status, "VmRSS:") * 1024;
  usage.memory_peak_bytes = field(status, "VmHWM:") * 1024;
  usage.processes = 1;
  const std::string io = os::read_file(directory + "/io").value_or("");
  usage.read_bytes = field(io, "\nread_bytes:");
  usage.written_bytes = field(io, "\nwrite_bytes:");
  return usage;
}

struct ResourceMonitor::State : std::enable_shared_from_this<State> {
  struct Subject {
    Subject(boost::asio::any_io_executor executor) : timer(std::move(executor)) {}
    Source source;
    Limits limits;
    MonitorOptions options;
    boost::asio::steady_timer timer;
    Usage now, peak;
    std::map<Resource, double> crossed;
  };

  explicit State(boost::asio::any_io_executor executor_) : executor(std::move(executor_)) {}

  // False if the subject is gone.
  bool look(const std::string& name) {
    const auto found = subjects.find(name);
    if (found == subjects.end()) return false;
    const std::shared_ptr<Subject> subject = found->second;
    auto usage = subject->source();
    if (!usage) {
      subjects.erase(name);
      return false;
    }
    subject->now = *usage;
    raise_peak(subject->peak, *usage);
    for (const LimitStatus& status : limit_status(*usage, subject->limits)) judge(name, *subject, status);
    return true;
  }

  static void judge(const std::string& name, Subject& subject, const LimitStatus& status) {
    if (status.limit == 0) return;
    double highest = 0;
    for (const double threshold : subject.options.thresholds)
      if (status.fraction() >= threshold) highest = std::max(highest, threshold);
    double& crossed = subject.crossed[status.resource];
    const bool higher = highest > crossed;
    crossed = highest;
    if (higher && subject.options.on_alert) subject.options.on_alert({name, status, highest, subject.now});
  }

  void schedule(const std::string& name) {
    const auto found = subjects.find(name);
    if (found == subjects.end()) return;
    Subject& subject = *found->second;
    subject.timer.expires_after(subject.options.interval);
    subject.timer.async_wait([weak = weak_from_this(), name](boost::system::error_code error) {
      const auto self = weak.lock();
      if (error || !self) return;
      if (self->look(name)) self->schedule(name);
    });
  }

  boost::asio::any_io_executor executor;
  std::map<std::string, std::shared_ptr<Subject>> subjects;
};

ResourceMonitor::ResourceMonitor(boost::asio::any_io_executor executor)
    : state_(std::make_shared<State>(std::move(executor))) {}

ResourceMonitor::~ResourceMonitor() {
  state_->subjects.clear();
}

Result<void> ResourceMonitor::start(std::string subject, Source source, Limits limits,
                                    MonitorOptions options) {
  if (state_->subjects.contains(subject))
    return fail(Code::already_exists, "'" + subject + "' is being watched");
  auto entry = std::make_shared<State::Subject>(state_->executor);
  entry->source = std::move(source);
  entry->limits = limits;
  entry->options = std::move(options);
  state_->subjects.emplace(subject, std::move(entry));
  if (!state_->look(subject)) return fail(Code::not_found, "'" + subject + "' is not there");
  state_->schedule(subject);
  return {};
}

Result<void> ResourceMonitor::start_process(std::string subject, pid_t pid, Limits limits,
                                            MonitorOptions options) {
  struct stat owner {};
  if (::stat(fmt::format("/proc/{}", pid).c_str(), &owner) == 0 && ::geteuid() != 0 &&
      owner.st_uid != ::geteuid())
    return fail(Code::permission_denied, fmt::format("process {} is somebody else's", pid));
  return start(
      std::move(subject), [pid] { return process_usage(pid); }, limits, std::move(options));
}

void ResourceMonitor::stop(const std::string& subject) {
  state_->subjects.erase(subject);
}

void ResourceMonitor::look(const std::string& subject) const {
  state_->look(subject);
}

std::vector<std::string> ResourceMonitor::subjects() const {
  std::vector<std::string> names;
  for (const auto& [name, subject] : state_->subjects) names.push_back(name);
  return names;
}

Result<Usage> ResourceMonitor::current(const std::string& subject) const {
  const auto found = state_->subjects.find(subject);
  if (found == state_->subjects.end()) return fail(Code::not_found, "'" + subject + "' is not being watched");
  return found->second->now;
}

Result<Usage> ResourceMonitor::peak(const std::string& subject) const {
  const auto found = state_->subjects.find(subject);
  if (found == state_->subjects.end()) return fail(Code::not_found, "'" + subject + "' is not being watched");
  return found->second->peak;
}

Result<std::vector<LimitStatus>> ResourceMonitor::status(const std::string& subject) const {
  const Usage usage = TRY(current(subject));
  return limit_status(usage, state_->subjects.at(subject)->limits);
}

LimitEnforcer::LimitEnforcer(ResourceMonitor& monitor, std::string subject, ResourceMonitor::Source source,
                             Limits limits, End end, MonitorOptions options)
    : monitor_(monitor), subject_(std::move(subject)), ended_(std::make_shared<bool>(false)) {
  auto tell = std::move(options.on_alert);
  options.on_alert = [tell = std::move(tell), end = std::move(end), ended = ended_](const Alert& alert) {
    if (tell) tell(alert);
    if (!alert.status.is_exceeded() || *ended) return;
    *ended = true;
    end(alert.status);
  };
  (void)monitor_.start(subject_, std::move(source), limits, std::move(options));
}

LimitEnforcer::~LimitEnforcer() {
  monitor_.stop(subject_);
}

}  // namespace atl::sandbox
