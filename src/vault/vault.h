#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "os/task.h"
#include "store/store.h"
#include "vault/cipher.h"

namespace atl::vault {

// What may be known of a secret; its value is not among it.
struct Secret {
  std::string id;  // "sec_" and 20 characters
  std::string name;
  std::int64_t version = 1;
  std::map<std::string, std::string> metadata;
  WallTime created_at, updated_at;
};

// The secrets of every tenant. One of another tenant is Code::not_found, exactly as one that does not exist.
// Belongs to the loop thread.
class Vault {
 public:
  // `key_file` is made with mode 0600 if it is not there; one that others may read is refused.
  static Result<std::unique_ptr<Vault>> open(store::Store& store, const std::string& key_file,
                                             Clock& clock = Clock::machine());

  // Names have 1 to 128 characters and no '{', '}', '/' or control character, do not begin with "sec_" as ids
  // do, are kept in lower case and found in any. Values have 1 byte to 64 KiB
  // and no control character but tab: they become header values. Code::already_exists,
  // Code::resource_exhausted.
  Task<Secret> create(std::string tenant, std::string name, std::string value,
                      std::map<std::string, std::string> metadata);
  // The next version. `metadata` unset: as it is.
  Task<Secret> update(std::string tenant, std::string id_or_name, std::string value,
                      std::optional<std::map<std::string, std::string>> metadata);
  Task<Secret> get(std::string tenant, std::string id_or_name);
  // By name.
  Task<std::vector<Secret>> list(std::string tenant);
  Task<void> remove(std::string tenant, std::string id_or_name);

  // The value itself, for egress rules at the time of use. Nothing else may call it.
  Task<std::string> reveal(std::string tenant, std::string name);

  // For what is kept elsewhere and is no secret with a name, such as the password of a proxy: base64 that
  // opens for the same tenant only. Code::data_loss otherwise.
  Result<std::string> seal(std::string_view tenant, std::string_view value) const;
  Result<std::string> unseal(std::string_view tenant, std::string_view sealed) const;

 private:
  Vault(store::Store& store, std::string key, Clock& clock)
      : store_(store), cipher_(std::move(key)), clock_(clock) {}
  Task<store::DocumentRow> row_of(std::string tenant, std::string id_or_name);
  Result<void> seal_into(store::DocumentRow& row, const Secret& secret, std::string_view value) const;

  store::Store& store_;
  Cipher cipher_;
  Clock& clock_;
};

}  // namespace atl::vault
