#include "os/privileges.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <span>

#include "os/fd.h"
#include "os/file.h"

namespace atl::os {
namespace {

constexpr int kForFiles[] = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER,
                             CAP_FSETID, CAP_MKNOD,        CAP_SETFCAP,         CAP_NET_BIND_SERVICE};

std::uint64_t mask_of(std::span<const int> capabilities) {
  std::uint64_t mask = 0;
  for (const int capability : capabilities) mask |= 1ULL << capability;
  return mask;
}

// What no program that is executed from here on could get. Only who has CAP_SETPCAP can say so.
Result<void> bound_by(std::uint64_t kept) {
  for (int capability = 0; capability < 64; ++capability)
    if (((kept >> capability) & 1) == 0 && ::prctl(PR_CAPBSET_DROP, capability) < 0 && errno != EINVAL &&
        errno != EPERM)
      return fail(errno_error(errno, "drop capabilities"));
  return {};
}

Result<void> keep_only(std::uint64_t kept) {
  TRY(bound_by(kept));
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  data[0].effective = data[0].permitted = static_cast<std::uint32_t>(kept);
  data[1].effective = data[1].permitted = static_cast<std::uint32_t>(kept >> 32);
  if (::syscall(SYS_capset, &header, data) < 0) return fail(errno_error(errno, "drop capabilities"));
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return fail(errno_error(errno, "refuse new privileges"));
  return {};
}

// A directory of root's that somebody else may write cannot be given safely: names in it may change
// meanwhile.
Result<void> give_tree(int directory, const Account& account, const std::vector<std::string>& apart) {
  for (const std::string& name : list_directory_at(directory, ".")) {
    struct stat info {};
    if (::fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) continue;
    if (info.st_uid == 0 &&
        ::fchownat(directory, name.c_str(), account.uid, account.gid, AT_SYMLINK_NOFOLLOW) < 0)
      return fail(errno_error(errno, "change the owner of " + name));
    if (!S_ISDIR(info.st_mode) || std::ranges::find(apart, name) != apart.end()) continue;
    const Fd below = TRY(open_beneath(directory, name.c_str(), O_RDONLY | O_DIRECTORY));
    TRY(give_tree(below.get(), account, {}));
  }
  return {};
}

}  // namespace

Result<Account> find_account(const std::string& name) {
  const passwd* account = ::getpwnam(name.c_str());
  char* end = nullptr;
  const unsigned long number = std::strtoul(name.c_str(), &end, 10);
  const bool is_number = !name.empty() && *end == '\0';
  if (account == nullptr && is_number) account = ::getpwuid(static_cast<uid_t>(number));
  Account found{name, static_cast<uid_t>(number), static_cast<gid_t>(number)};
  if (account != nullptr) found = {account->pw_name, account->pw_uid, account->pw_gid};
  if (account == nullptr && !is_number)
    return fail(Error(Code::not_found, fmt::format("no user '{}'; useradd --system {} makes one", name, name))
                    .with_field("run_as"));
  if (found.uid == 0)
    return fail(Error(Code::invalid_argument, "root is no user to become").with_field("run_as"));
  return found;
}

Result<void> give_directory(const std::string& directory, const Account& account,
                            const std::vector<std::string>& apart) {
  const Fd top = TRY(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  struct stat info {};
  if (::fstat(top.get(), &info) < 0) return fail(errno_error(errno, "look at the directory"));
  if (info.st_uid == 0 && ::fchown(top.get(), account.uid, account.gid) < 0)
    return fail(errno_error(errno, "change the owner of the directory"));
  return give_tree(top.get(), account, apart);
}

Result<void> become(const Account& account) {
  constexpr int kept[] = {CAP_NET_BIND_SERVICE};
  if (::prctl(PR_SET_KEEPCAPS, 1) < 0) return fail(errno_error(errno, "keep one capability"));
  TRY(bound_by(mask_of(kept)));
  if (::initgroups(account.name.c_str(), account.gid) < 0)
    return fail(errno_error(errno, "take the user's groups"));
  if (::setresgid(account.gid, account.gid, account.gid) < 0 ||
      ::setresuid(account.uid, account.uid, account.uid) < 0)
    return fail(errno_error(errno, "become the user"));
  return keep_only(mask_of(kept));
}

Result<void> keep_file_capabilities() {
  // What this process does not have (in a container, say) it cannot keep.
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::syscall(SYS_capget, &header, data) < 0) return fail(errno_error(errno, "read the capabilities"));
  const std::uint64_t held = data[0].permitted | (std::uint64_t{data[1].permitted} << 32);
  return keep_only(mask_of(kForFiles) & held);
}

}  // namespace atl::os
