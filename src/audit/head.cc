#include "audit/head.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "base/json.h"
#include "os/file.h"

namespace atl::audit {
namespace {

namespace bj = boost::json;

constexpr std::size_t kPlaceBytes = 1024;  // of each of the two places
constexpr std::size_t kStatementsBytesMax = 16U << 20;

std::string signed_object(bj::object object, std::string_view kind, const Signer& signer) {
  object["key"] = signer.fingerprint();
  const std::string text = fmt::format("atoll-audit-{}\n{}", kind, bj::serialize(object));
  auto signature = signer.sign(text);
  if (!signature) return {};
  object["signature"] = *signature;
  return bj::serialize(object);
}

// Members keep their order in bj::object, so that the text that was signed can be written again. Whoever
// changes the order changes the signed text.
Result<bj::object> checked_object(std::string_view text, std::string_view kind, const Verifier& key) {
  const auto value = json::parse(text);
  if (!value || !value->is_object())
    return fail(Code::data_loss, fmt::format("the audit log's {} is no object", kind));
  bj::object object = value->get_object();
  const bj::value* signature = object.if_contains("signature");
  if (signature == nullptr || !signature->is_string())
    return fail(Code::data_loss, fmt::format("the audit log's {} is not signed", kind));
  const std::string given(signature->get_string());
  bj::object rest;
  for (const auto& [name, member] : object)
    if (name != "signature") rest[name] = member;
  if (!key.is_signed(fmt::format("atoll-audit-{}\n{}", kind, bj::serialize(rest)), given))
    return fail(Code::data_loss,
                fmt::format("the signature of the audit log's {} is not the installation's", kind));
  return rest;
}

std::uint64_t number_in(const bj::object& object, std::string_view name) {
  const bj::value* value = object.if_contains(name);
  return value != nullptr && value->is_int64() && value->get_int64() > 0
             ? static_cast<std::uint64_t>(value->get_int64())
             : 0;
}

std::string text_in(const bj::object& object, std::string_view name) {
  const bj::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

template <class Statement, class Newer>
Result<Statement> newest_of(const std::string& path, const Verifier& key, Newer newer) {
  const std::string bytes = TRY(os::read_file(path));
  Result<Statement> best = fail(Code::data_loss, "a signed statement of the audit log is damaged");
  for (std::size_t at = 0; at < bytes.size(); at += kPlaceBytes) {
    std::string_view place = std::string_view(bytes).substr(at, kPlaceBytes);
    place = place.substr(0, place.find_last_not_of(" \n") + 1);
    if (place.empty() || place.front() == '\0') continue;
    auto one = Statement::parse(place, key);
    if (!one) {
      if (!best) best = fail(std::move(one).error());
    } else if (!best || newer(*one, *best)) {
      best = std::move(one);
    }
  }
  return best;
}

}  // namespace

std::string Head::render(const Signer& signer) const {
  return signed_object({{"seq", seq}, {"digest", digest}, {"time", time}, {"closed", closed}}, "head",
                       signer);
}

Result<Head> Head::parse(std::string_view text, const Verifier& key) {
  const bj::object object = TRY(checked_object(text, "head", key));
  const bj::value* closed = object.if_contains("closed");
  return Head{number_in(object, "seq"), text_in(object, "digest"), text_in(object, "time"),
              closed != nullptr && closed->is_bool() && closed->get_bool()};
}

Result<void> write_statement(const std::string& path, const std::string& statement, std::uint64_t turn,
                             Synced synced) {
  if (statement.empty() || statement.size() >= kPlaceBytes)
    return fail(Code::internal, "audit: a statement cannot be signed");
  const os::Fd fd = TRY(os::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  std::string place = statement;
  place.resize(kPlaceBytes - 1, ' ');
  place += '\n';
  const off_t at = turn % 2 == 0 ? 0 : static_cast<off_t>(kPlaceBytes);
  if (::pwrite(fd.get(), place.data(), place.size(), at) != static_cast<ssize_t>(place.size()))
    return fail(errno_error(errno, "audit: write a statement"));
  if (synced == Synced::yes && ::fdatasync(fd.get()) != 0)
    return fail(errno_error(errno, "audit: sync a statement"));
  return {};
}

Result<Head> read_head(const std::string& path, const Verifier& key) {
  return newest_of<Head>(
      path, key, [](const Head& a, const Head& b) { return a.seq != b.seq ? a.seq > b.seq : a.closed; });
}

Result<Retired> read_retired(const std::string& path, const Verifier& key) {
  return newest_of<Retired>(path, key,
                            [](const Retired& a, const Retired& b) { return a.last_seq > b.last_seq; });
}

std::string Retired::render(const Signer& signer) const {
  return signed_object(
      {{"last_seq", last_seq}, {"last_digest", last_digest}, {"segments", segments}, {"time", time}},
      "retired", signer);
}

Result<Retired> Retired::parse(std::string_view text, const Verifier& key) {
  const bj::object object = TRY(checked_object(text, "retired", key));
  return Retired{number_in(object, "last_seq"), text_in(object, "last_digest"), number_in(object, "segments"),
                 text_in(object, "time")};
}

std::string Compacted::render(const Signer& signer) const {
  return signed_object({{"first_seq", first_seq},
                        {"last_seq", last_seq},
                        {"dropped", dropped},
                        {"sha256", sha256},
                        {"time", time}},
                       "compacted", signer);
}

Result<Compacted> Compacted::parse(std::string_view text, const Verifier& key) {
  const bj::object object = TRY(checked_object(text, "compacted", key));
  return Compacted{number_in(object, "first_seq"), number_in(object, "last_seq"),
                   number_in(object, "dropped"), text_in(object, "sha256"), text_in(object, "time")};
}

std::vector<Compacted> read_compacted(const std::string& path, const Verifier& key) {
  std::vector<Compacted> all;
  const auto bytes = os::read_file(path, kStatementsBytesMax);
  if (!bytes) return all;
  std::string_view rest = *bytes;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    if (auto one = Compacted::parse(rest.substr(0, end), key)) all.push_back(std::move(*one));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return all;
}

}  // namespace atl::audit
