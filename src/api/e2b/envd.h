#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/e2b/context.h"
#include "api/e2b/endings.h"
#include "net/router.h"

namespace atl::api::e2b {

// The sandbox plane (port 49983): process.Process, filesystem.Filesystem, /files, /health, /metrics, /envs.
// Belongs to the loop thread and must outlive the router that it is mounted on.
class Envd {
 public:
  explicit Envd(Context& context) : context_(context), endings_(context.clock) {}
  void mount(net::Router& router);

 private:
  // One unary call: the request's message and its headers in, the answer's message out.
  using Unary = Task<Object> (Envd::*)(Target target, Object message, net::Request& request);
  // The same where the answer is long: as text of JSON.
  using UnaryText = Task<std::string> (Envd::*)(Target target, Object message, net::Request& request);
  using Streamed = Task<void> (Envd::*)(Target target, Object message, net::Exchange& exchange);
  // `conflict`: the Connect code of Code::conflict, where clients know it by another than
  // failed_precondition.
  void unary(net::Router& router, std::string_view path, Rule needed, Unary method,
             std::string_view conflict = {});
  void unary(net::Router& router, std::string_view path, Rule needed, UnaryText method);
  template <class Method>
  void add_unary(net::Router& router, std::string_view path, Rule needed, Method method,
                 std::string_view conflict);
  void streamed(net::Router& router, std::string_view path, Rule needed, Streamed method);
  net::AccessRule rule(Rule needed) const;
  static bool is_stream(const net::Request& request);

  // process.cc
  Task<Object> process_list(Target target, Object message, net::Request& request);
  Task<void> process_start(Target target, Object message, net::Exchange& exchange);
  Task<void> process_connect(Target target, Object message, net::Exchange& exchange);
  Task<Object> process_update(Target target, Object message, net::Request& request);
  Task<Object> process_send_signal(Target target, Object message, net::Request& request);
  Task<void> follow(Target target, net::Exchange& exchange, std::shared_ptr<sandbox::Process> process,
                    std::unique_ptr<sandbox::ProcessStream> stream);
  // Sends the end of its process to a stream that came too late.
  Task<void> tell_ending(net::Exchange& exchange, Endings::Ending ending);
  // The client went away, but another may still ask how the process ended.
  boost::asio::awaitable<void> note_ending(std::string sandbox_id, std::shared_ptr<sandbox::Process> process);
  Task<std::shared_ptr<sandbox::Process>> select(Target target, const Object& message);

  // process_input.cc
  void mount_input(net::Router& router);
  Task<Object> process_send_input(Target target, Object message, net::Request& request);
  Task<Object> process_close_stdin(Target target, Object message, net::Request& request);
  // A client's stream: who is fed, then what. Answered once, at its end.
  Task<void> process_stream_input(net::Exchange& exchange);
  Task<void> take_input(Target target, net::Exchange& exchange);

  // filesystem.cc
  Task<Object> file_stat(Target target, Object message, net::Request& request);
  Task<Object> file_make_dir(Target target, Object message, net::Request& request);
  Task<Object> file_move(Target target, Object message, net::Request& request);
  Task<std::string> file_list(Target target, Object message, net::Request& request);
  Task<Object> file_remove(Target target, Object message, net::Request& request);
  Task<void> file_watch(Target target, Object message, net::Exchange& exchange);
  // Code::resource_exhausted if the sandbox has as many watchers as one may have.
  Result<void> check_watcher_room(const std::string& sandbox_id) const;
  Task<Object> create_watcher(Target target, Object message, net::Request& request);
  Task<Object> watcher_events(Target target, Object message, net::Request& request);
  Task<Object> remove_watcher(Target target, Object message, net::Request& request);

  // transfer.cc
  void mount_transfer(net::Router& router);
  Task<void> download(net::Exchange& exchange);
  Task<net::Response> compose(net::Request& request);
  Task<void> upload(net::Exchange& exchange);

  struct Watcher;
  Context& context_;
  std::map<std::string, std::shared_ptr<Watcher>> watchers_;
  Endings endings_;
};

// Seconds between keep-alives that the client asked for; 90 if it did not.
std::chrono::milliseconds keepalive_interval(const net::Request& request);
Object entry_info(const sandbox::FileInfo& info);

}  // namespace atl::api::e2b
