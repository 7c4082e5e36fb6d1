#include "vault/vault.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json.hpp>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/utf8.h"
#include "os/file.h"

namespace atl::vault {
namespace {

namespace bj = boost::json;

constexpr const char* kKind = "secret";
constexpr std::size_t kNameMax = 128;
constexpr std::size_t kValueMax = 64U << 10;
constexpr std::size_t kMetadataMax = 16U << 10;
constexpr std::size_t kCountMax = 1000;  // of one tenant

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 32 || c == 127;
}

// Ids begin with this, so that one of them is never another secret's name.
constexpr std::string_view kIdPrefix = "sec_";

Result<void> check_name(std::string_view name) {
  if (name.starts_with(kIdPrefix))
    return fail(Error(Code::invalid_argument, "a secret's name does not begin with 'sec_': ids do")
                    .with_field("name"));
  const bool good = !name.empty() && name.size() <= kNameMax && is_utf8(name) &&
                    name.find_first_of("{}/") == std::string_view::npos &&
                    std::none_of(name.begin(), name.end(), is_control);
  if (good) return {};
  return fail(
      Error(
          Code::invalid_argument,
          fmt::format("a secret's name has 1 to {} characters without '{{', '}}', '/' and control characters",
                      kNameMax))
          .with_field("name"));
}

Result<void> check_value(std::string_view value) {
  const bool good =
      !value.empty() && value.size() <= kValueMax &&
      std::none_of(value.begin(), value.end(), [](char c) { return c != '\t' && is_control(c); });
  if (good) return {};
  return fail(Error(Code::invalid_argument,
                    fmt::format("a secret's value has 1 to {} bytes without control characters", kValueMax))
                  .with_field("value"));
}

Result<void> check_metadata(const std::map<std::string, std::string>& metadata) {
  std::size_t total = 0;
  for (const auto& [key, value] : metadata) total += key.size() + value.size();
  if (total <= kMetadataMax) return {};
  return fail(Error(Code::too_large, fmt::format("metadata holds at most {} bytes", kMetadataMax))
                  .with_field("metadata"));
}

std::unexpected<Error> no_secret(std::string_view name) {
  return fail(Code::not_found, fmt::format("Secret '{}' not found", name));
}

// What a sealed value is bound to.
std::string place_of(const store::DocumentRow& row, std::int64_t version) {
  return fmt::format("{}\n{}\n{}", row.tenant, row.id, version);
}

// Values that belong to no row; no row's place has a single line.
std::string apart(std::string_view tenant) {
  return fmt::format("apart {}", tenant);
}

Result<bj::object> body_of(const store::DocumentRow& row) {
  auto parsed = TRY(json::parse(row.body));
  if (!parsed.is_object()) return fail(Code::data_loss, "a stored secret is damaged");
  return std::move(parsed.as_object());
}

Result<Secret> from_row(const store::DocumentRow& row) {
  const bj::object body = TRY(body_of(row));
  Secret secret{row.id, row.name, 0, {}, row.created_at, row.updated_at};
  const bj::value* version = body.if_contains("version");
  if (version == nullptr || !version->is_int64()) return fail(Code::data_loss, "a stored secret is damaged");
  secret.version = version->as_int64();
  if (const bj::value* metadata = body.if_contains("metadata");
      metadata != nullptr && metadata->is_object()) {
    for (const auto& [key, value] : metadata->as_object())
      if (value.is_string()) secret.metadata[std::string(key)] = std::string(value.as_string());
  }
  return secret;
}

Result<std::string> read_key(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) < 0) return fail(errno_error(errno, "read the key of secrets"));
  if ((info.st_mode & 077) != 0)
    return fail(Code::permission_denied,
                "the key file of secrets can be read by others: chmod 600 secrets.key");
  std::string key = TRY(os::read_file(path, 256));
  if (key.size() != Cipher::kKeyBytes) return fail(Code::data_loss, "the key file of secrets is damaged");
  return key;
}

}  // namespace

Result<std::unique_ptr<Vault>> Vault::open(store::Store& store, const std::string& key_file, Clock& clock) {
  if (!os::exists(key_file)) {
    const std::string key = TRY(from_hex(random_hex(Cipher::kKeyBytes)));
    TRY(os::write_file_durably(key_file, key, 0600));
  }
  std::string key = TRY(read_key(key_file));
  return std::unique_ptr<Vault>(new Vault(store, std::move(key), clock));
}

Result<void> Vault::seal_into(store::DocumentRow& row, const Secret& secret, std::string_view value) const {
  bj::object metadata;
  for (const auto& [key, text] : secret.metadata) metadata[key] = text;
  const std::string sealed = TRY(cipher_.seal(value, place_of(row, secret.version)));
  row.body = bj::serialize(bj::object{
      {"version", secret.version}, {"metadata", std::move(metadata)}, {"sealed", to_base64(sealed)}});
  return {};
}

Result<std::string> Vault::seal(std::string_view tenant, std::string_view value) const {
  return to_base64(TRY(cipher_.seal(value, apart(tenant))));
}

Result<std::string> Vault::unseal(std::string_view tenant, std::string_view sealed) const {
  const auto bytes = from_base64(sealed);
  if (!bytes) return fail(Code::data_loss, "a sealed value is damaged");
  return cipher_.open(*bytes, apart(tenant));
}

Task<store::DocumentRow> Vault::row_of(std::string tenant, std::string id_or_name) {
  std::string kind = kKind;
  auto row = co_await store_.get_document(kind, tenant, id_or_name);
  // Names are kept in lower case since they are compared without it; older ones are as they were given.
  std::string lower = utf8::to_lower(id_or_name);
  if (!row && row.error().code() == Code::not_found && lower != id_or_name)
    row = co_await store_.get_document(kind, std::move(tenant), lower);
  if (!row && row.error().code() == Code::not_found) co_return no_secret(id_or_name);
  co_return row;
}

Task<Secret> Vault::create(std::string tenant, std::string name, std::string value,
                           std::map<std::string, std::string> metadata) {
  name = utf8::to_lower(name);
  CO_CHECK(check_name(name));
  CO_CHECK(check_value(value));
  CO_CHECK(check_metadata(metadata));
  CO_TRY(const auto others, co_await list(tenant));
  if (others.size() >= kCountMax)
    co_return fail(Code::resource_exhausted, fmt::format("at most {} secrets are allowed", kCountMax));
  const WallTime now = clock_.now();
  Secret secret{std::string(kIdPrefix) + random_word(20), std::move(name), 1, std::move(metadata), now, now};
  store::DocumentRow row;
  row.kind = kKind;
  row.tenant = std::move(tenant);
  row.id = secret.id;
  row.name = secret.name;
  row.created_at = row.updated_at = now;
  CO_CHECK(seal_into(row, secret, value));
  auto stored = co_await store_.put_document(std::move(row));
  if (!stored && stored.error().code() == Code::already_exists)
    co_return fail(Code::already_exists, fmt::format("Secret with name '{}' already exists", secret.name));
  if (!stored) co_return fail(std::move(stored).error());
  co_return secret;
}

Task<Secret> Vault::update(std::string tenant, std::string id_or_name, std::string value,
                           std::optional<std::map<std::string, std::string>> metadata) {
  CO_CHECK(check_value(value));
  if (metadata) CO_CHECK(check_metadata(*metadata));
  CO_TRY(store::DocumentRow row, co_await row_of(std::move(tenant), std::move(id_or_name)));
  CO_TRY(Secret secret, from_row(row));
  ++secret.version;
  if (metadata) secret.metadata = std::move(*metadata);
  secret.updated_at = row.updated_at = clock_.now();
  CO_CHECK(seal_into(row, secret, value));
  CO_CHECK(co_await store_.put_document(std::move(row)));
  co_return secret;
}

Task<Secret> Vault::get(std::string tenant, std::string id_or_name) {
  CO_TRY(const store::DocumentRow row, co_await row_of(std::move(tenant), std::move(id_or_name)));
  co_return from_row(row);
}

Task<std::vector<Secret>> Vault::list(std::string tenant) {
  std::string kind = kKind;
  CO_TRY(const auto rows, co_await store_.list_documents(kind, std::move(tenant)));
  std::vector<Secret> secrets;
  for (const store::DocumentRow& row : rows) {
    CO_TRY(Secret secret, from_row(row));
    secrets.push_back(std::move(secret));
  }
  std::sort(secrets.begin(), secrets.end(), [](const Secret& a, const Secret& b) { return a.name < b.name; });
  co_return secrets;
}

Task<void> Vault::remove(std::string tenant, std::string id_or_name) {
  CO_TRY(const store::DocumentRow row, co_await row_of(tenant, id_or_name));
  std::string kind = kKind;
  CO_TRY(const bool removed, co_await store_.remove_document(kind, row.tenant, row.id));
  if (!removed) co_return no_secret(id_or_name);
  co_return Result<void>{};
}

Task<std::string> Vault::reveal(std::string tenant, std::string name) {
  CO_TRY(const store::DocumentRow row, co_await row_of(std::move(tenant), std::move(name)));
  CO_TRY(const bj::object body, body_of(row));
  CO_TRY(const Secret secret, from_row(row));
  const bj::value* sealed = body.if_contains("sealed");
  if (sealed == nullptr || !sealed->is_string())
    co_return fail(Code::data_loss, "a stored secret is damaged");
  CO_TRY(const std::string bytes, from_base64(std::string_view(sealed->as_string())));
  co_return cipher_.open(bytes, place_of(row, secret.version));
}

}  // namespace atl::vault
