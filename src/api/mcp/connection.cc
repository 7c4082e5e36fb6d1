#include "api/mcp/connection.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/bytes.h"
#include "base/ids.h"

namespace atl::api::mcp {
namespace {

constexpr std::size_t kFinishedKept = 8;          // answers that nobody took, of one connection
constexpr std::size_t kFinishedBytes = 1U << 18;  // and how long they may be together
constexpr std::chrono::minutes kAnswerTime{10};   // a person may have to be asked
constexpr std::size_t kClientNameMax = 128;

std::string client_of(const bj::object& params) {
  const bj::object* info = object_in(params, "clientInfo");
  if (info == nullptr) return {};
  std::string name = text_in(*info, "name") + " " + text_in(*info, "version");
  return to_valid_utf8(std::string_view(name).substr(0, kClientNameMax));
}

}  // namespace

Connection::Connection(boost::asio::any_io_executor executor, std::string id, auth::Principal owner,
                       Revision revision, bj::object params)
    : executor_(std::move(executor)),
      id_(std::move(id)),
      owner_(std::move(owner)),
      revision_(revision),
      client_(client_of(params)),
      settled_(executor_) {
  if (const bj::object* capabilities = object_in(params, "capabilities")) capabilities_ = *capabilities;
}

bool Connection::begin(const bj::value& id, std::shared_ptr<Running> running,
                       std::shared_ptr<Outbox> outbox) {
  if (running_.size() >= kRunningMax) return false;
  streams_[outbox->name()] = outbox;
  return running_.emplace(bj::serialize(id), Active{std::move(running), std::move(outbox)}).second;
}

void Connection::end(const bj::value& id) {
  const auto found = running_.find(bj::serialize(id));
  if (found == running_.end()) return;
  const std::string name = found->second.outbox->name();
  running_.erase(found);
  used = std::chrono::steady_clock::now();
  if (!streams_.contains(name)) return;
  finished_.push_back(name);
  const auto kept_bytes = [&] {
    std::size_t bytes = 0;
    for (const std::string& one : finished_)
      if (const auto stream = streams_.find(one); stream != streams_.end()) bytes += stream->second->bytes();
    return bytes;
  };
  while (finished_.size() > kFinishedKept || (!finished_.empty() && kept_bytes() > kFinishedBytes)) {
    streams_.erase(finished_.front());
    finished_.pop_front();
  }
}

void Connection::cancel(const bj::value& id) {
  const auto found = running_.find(bj::serialize(id));
  if (found == running_.end()) return;
  const Active active = found->second;
  active.running->cancel();
  active.outbox->close();
}

std::shared_ptr<Outbox> Connection::stream(const std::string& name) const {
  const auto found = streams_.find(name);
  return found == streams_.end() ? nullptr : found->second;
}

void Connection::delivered(const std::string& name) {
  streams_.erase(name);
  std::erase(finished_, name);
}

Task<bj::object> Connection::ask(std::shared_ptr<Outbox> outbox, std::string method, bj::object params) {
  const std::int64_t id = next_question_++;
  Question& question = questions_[id];
  question.arrived = std::make_unique<boost::asio::steady_timer>(executor_, kAnswerTime);
  outbox->put({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
  struct Forget {
    std::map<std::int64_t, Question>& questions;
    std::int64_t id;
    ~Forget() { questions.erase(id); }
  } forget{questions_, id};
  co_await question.arrived->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  if (!question.answer) co_return fail(Code::deadline_exceeded, "the client did not answer " + method);
  if (const bj::object* error = object_in(*question.answer, "error"))
    co_return fail(Code::unsupported, text_in(*error, "message", "the client refused " + method));
  const bj::object* result = object_in(*question.answer, "result");
  if (result == nullptr) co_return fail(Code::invalid_argument, "the client's answer has no result");
  co_return *result;
}

void Connection::answered(const bj::object& message) {
  const bj::value* id = message.if_contains("id");
  if (id == nullptr || !id->is_int64()) return;
  const auto found = questions_.find(id->get_int64());
  if (found == questions_.end()) return;
  found->second.answer = message;
  found->second.arrived->cancel();
}

boost::asio::awaitable<void> Connection::wait_for_sandbox() {
  while (is_making_sandbox) co_await settled_.wait(std::chrono::minutes(1));
}

void Connection::close() {
  auto running = std::exchange(running_, {});
  for (auto& [id, active] : running) {
    active.running->cancel();
    active.outbox->close();
  }
  for (auto& [id, question] : questions_) question.arrived->cancel();
  if (own != nullptr) own->close();
  streams_.clear();
  finished_.clear();
}

Result<std::shared_ptr<Connection>> Connections::open(const auth::Principal& owner, Revision revision,
                                                      bj::object params) {
  if (const bj::object* said = object_in(params, "capabilities");
      said != nullptr && bj::serialize(*said).size() > Connection::kCapabilitiesMax)
    return fail(Code::too_large,
                fmt::format("'capabilities' has at most {} bytes", Connection::kCapabilitiesMax));
  std::size_t of_key = 0, of_tenant = 0;
  for (const auto& [id, one] : connections_) {
    if (one->owner().tenant != owner.tenant) continue;
    ++of_tenant;
    if (one->owner().key_id == owner.key_id) ++of_key;
  }
  const bool has_room =
      (of_key < limits_.of_key || make_room(owner, true)) &&
      ((of_tenant < limits_.of_tenant && connections_.size() < limits_.all) || make_room(owner, false));
  if (!has_room)
    return fail(Code::resource_exhausted,
                fmt::format("at most {} connections of one key are open at once; end one with DELETE",
                            limits_.of_key));
  std::string id = random_hex(16);
  auto connection = std::make_shared<Connection>(executor_, id, owner, revision, std::move(params));
  connections_.emplace(std::move(id), connection);
  return connection;
}

bool Connections::make_room(const auth::Principal& owner, bool of_key) {
  const Connection* oldest = nullptr;
  for (const auto& [id, one] : connections_) {
    if (!one->is_idle() || one->owner().tenant != owner.tenant) continue;
    if (of_key && one->owner().key_id != owner.key_id) continue;
    if (oldest == nullptr || one->used < oldest->used) oldest = one.get();
  }
  if (oldest == nullptr) return false;
  const std::string id = oldest->id();
  close(id);
  return true;
}

std::shared_ptr<Connection> Connections::find(std::string_view id, const auth::Principal& who) const {
  const auto found = connections_.find(id);
  if (found == connections_.end() || !found->second->belongs_to(who)) return nullptr;
  return found->second;
}

void Connections::close(const std::string& id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  const std::shared_ptr<Connection> connection = found->second;
  connections_.erase(found);
  connection->close();
  on_close_(*connection);
}

void Connections::close_of(const std::string& key_id) {
  std::vector<std::string> ids;
  for (const auto& [id, one] : connections_)
    if (one->owner().key_id == key_id) ids.push_back(id);
  for (const std::string& id : ids) close(id);
}

void Connections::close_idle() {
  const auto since = std::chrono::steady_clock::now() - limits_.idle;
  std::vector<std::string> ids;
  for (const auto& [id, one] : connections_)
    if (one->is_idle() && one->used < since) ids.push_back(id);
  for (const std::string& id : ids) close(id);
}

void Connections::close_all() {
  auto all = std::exchange(connections_, {});
  for (auto& [id, connection] : all) connection->close();
}

}  // namespace atl::api::mcp
