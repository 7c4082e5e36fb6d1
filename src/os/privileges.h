#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"

// Giving up root for good. For a process with one thread.
namespace atl::os {

struct Account {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
};
// By name or number. Code::not_found if there is none, Code::invalid_argument for root.
Result<Account> find_account(const std::string& name);

// Root's entries below the directory, and the directory itself, become the account's. `apart` are names in it
// of which only the directory itself is given, not what is in it. Follows no symbolic link.
Result<void> give_directory(const std::string& directory, const Account& account,
                            const std::vector<std::string>& apart);

// Becomes that user with its groups; of all capabilities only the one to listen on ports below 1024 stays,
// and none can be won back.
Result<void> become(const Account& account);

// Stays root as the owner of files, with the capabilities for files and ports below 1024, and no others; none
// can be won back by executing a program.
Result<void> keep_file_capabilities();

}  // namespace atl::os
