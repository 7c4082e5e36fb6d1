#include "sandbox/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/this_coro.hpp>

#include "base/ids.h"

namespace atl::sandbox {
using guest::Type;

namespace {

void complete(ProcessSpec& spec, const LinkOptions& options) {
  if (spec.user.empty()) spec.user = options.user;
  if (spec.cwd.empty()) spec.cwd = options.working_directory;
  for (const auto& [name, value] : options.env) spec.env.emplace(name, value);
}

}  // namespace

Link::Link(std::shared_ptr<Wire> wire, LinkOptions options)
    : wire_(std::move(wire)),
      options_(std::make_shared<LinkOptions>(std::move(options))),
      files_(wire_, options_->user) {}

Link::~Link() {
  wire_->end(Error(Code::unavailable, "the sandbox is closed"));
}

Task<std::shared_ptr<Link>> Link::open(os::Fd stream, LinkOptions options) {
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto wire = std::make_shared<Wire>(executor, std::move(stream));
  std::shared_ptr<Link> link(new Link(wire, std::move(options)));
  wire->on_live(
      [raw = link.get()](std::uint32_t channel, std::string_view payload) -> std::shared_ptr<WireChannel> {
        const auto process = std::make_shared<LinkProcess>(raw->wire_, ProcessSpec{}, raw->options_->judge);
        if (!process->revive(channel, payload)) return nullptr;
        raw->keep(process);
        return process;
      });
  const auto patience = link->options_->patience;
  CO_CHECK(co_await wire->greet(patience));
  wire->on_live(nullptr);
  co_return link;
}

void Link::keep(const std::shared_ptr<LinkProcess>& process) {
  processes_->push_back(process);
  process->on_ended([all = processes_, raw = process.get()] {
    std::erase_if(*all, [raw](const auto& one) { return one.get() == raw; });
  });
}

void Link::set_defaults(std::string user, std::string working_directory, Variables env) {
  files_.set_default_user(user);
  options_->user = std::move(user);
  options_->working_directory = std::move(working_directory);
  options_->env = std::move(env);
  for (const auto& kernel : kernels_) kernel->set_variables(options_->env);
}

void Link::add_variables(const Variables& variables) {
  Variables added;
  for (const auto& [name, value] : variables)
    if (options_->env.emplace(name, value).second) added.emplace(name, value);
  for (const auto& kernel : kernels_) kernel->set_variables(added);
}

Task<std::shared_ptr<Process>> Link::start(ProcessSpec spec) {
  if (spec.argv.empty() || spec.argv.front().empty())
    co_return fail(Code::invalid_argument, "the command is empty");
  if (!spec.tag.empty()) {
    const bool taken =
        std::ranges::any_of(*processes_, [&](const auto& one) { return one->info().tag == spec.tag; });
    if (taken)
      co_return fail(Code::already_exists, fmt::format("a process with tag '{}' is running", spec.tag));
  }
  complete(spec, *options_);
  const auto process = std::make_shared<LinkProcess>(wire_, std::move(spec), options_->judge);
  keep(process);
  const auto all = processes_;
  const Result<void> started = co_await process->start();
  if (!started) {
    std::erase(*all, process);
    co_return fail(started.error());
  }
  co_return std::shared_ptr<Process>(process);
}

std::vector<std::shared_ptr<Process>> Link::processes() const {
  std::vector<std::shared_ptr<Process>> out;
  for (const auto& process : *processes_)
    if (process->info().pid != 0) out.push_back(process);
  return out;
}

Task<std::shared_ptr<Kernel>> Link::create_kernel(Language language, std::string cwd) {
  LinkKernel::Launch launch = [wire = wire_, options = options_](
                                  ProcessSpec spec,
                                  std::weak_ptr<ProcessTap> tap) -> Task<std::shared_ptr<LinkProcess>> {
    complete(spec, *options);
    const auto process = std::make_shared<LinkProcess>(wire, std::move(spec), options->judge);
    process->set_tap(std::move(tap));
    CO_CHECK(co_await process->start());
    co_return process;
  };
  KernelInfo info{random_uuid(), language, std::move(cwd)};
  const auto kernel = std::make_shared<LinkKernel>(wire_->executor(), std::move(info), std::move(launch));
  CO_CHECK(co_await kernel->start());
  kernels_.push_back(kernel);
  co_return std::shared_ptr<Kernel>(kernel);
}

std::vector<std::shared_ptr<Kernel>> Link::kernels() const {
  return {kernels_.begin(), kernels_.end()};
}

Task<void> Link::remove_kernel(std::string id) {
  const auto found = std::ranges::find(kernels_, id, [](const auto& kernel) { return kernel->info().id; });
  if (found == kernels_.end()) co_return fail(Code::not_found, fmt::format("there is no kernel {}", id));
  const auto kernel = *found;
  kernels_.erase(found);
  const auto process = kernel->process();
  kernel->shut_down("the kernel was removed");
  if (process) CO_CHECK(co_await process->wait());
  co_return Result<void>();
}

Task<std::unique_ptr<ByteStream>> Link::connect(std::uint16_t port) {
  return relay_connect(wire_, port);
}

Task<std::unique_ptr<PortListener>> Link::listen(std::uint16_t port) {
  return relay_listen(wire_, port);
}

Task<std::shared_ptr<DatagramPort>> Link::datagrams(std::uint16_t port) {
  return relay_datagrams(wire_, port);
}

Task<std::vector<std::uint16_t>> Link::listening_ports() {
  return relay_ports(wire_);
}

Task<void> Link::ping() {
  const auto wire = wire_;
  std::string nothing;
  CO_CHECK(co_await wire->call(Type::ping, std::move(nothing)));
  co_return Result<void>();
}

void Link::close(Error why) {
  wire_->end(std::move(why));
}

Task<std::string> Link::ended() {
  const auto wire = wire_;
  CO_TRY(const Error why, co_await wire->wait_for_end());
  co_return why.message();
}

}  // namespace atl::sandbox
