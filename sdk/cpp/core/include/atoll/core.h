#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "policy/policy.h"
#include "policy/security_manager.h"
#include "shell/shell.h"
#include "vfs/file_storage.h"
#include "vfs/host_file_system.h"
#include "vfs/host_storage.h"
#include "vfs/memory_storage.h"
#include "vfs/mount_file_system.h"
#include "vfs/sqlite_storage.h"
#include "vfs/virtual_file_system.h"
#include "vfs/wrapper_storage.h"

/// @file
/// The virtual filesystem, the shell and the policy in a program of one's own: no daemon, no process, nothing
/// of the host that is not given to them.
///
///     atl::VirtualFileSystem files(atl::base_snapshot());
///     atl::SandboxShell shell(files);
///     std::cout << shell.execute("echo b a | tr ' ' '\n' | sort").out;
///
/// Failures are values (`atl::Result<T>`, which is std::expected with an `atl::Error`); what a script did is
/// in `Executed`. Nothing throws.
namespace atl {

// Files.
using vfs::Content;
using vfs::File;
using vfs::FileEntry;
using vfs::FileStorage;
using vfs::FileSystem;
using vfs::HostFileSystem;
using vfs::HostStorage;
using vfs::MemoryStorage;
using vfs::MountFileSystem;
using vfs::Path;
using vfs::Snapshot;
using vfs::SqliteStorage;
using vfs::VirtualFileSystem;
using vfs::VirtualOptions;

// The shell.
using shell::base_snapshot;
using shell::Executed;
using shell::SandboxShell;
using shell::ShellOptions;

// The policy.
using policy::SecurityManager;
using policy::Verdict;

/// Names of the policies that are part of the library: standard, strict and so on.
std::vector<std::string> shipped_policies();
/// One of them. Code::not_found names those there are.
Result<std::shared_ptr<const policy::Policy>> shipped_policy(std::string_view name);
/// One from a YAML file as docs/policy.md describes it; it may extend a shipped one. Code::invalid_argument
/// says file, line and column of what is wrong.
Result<std::shared_ptr<const policy::Policy>> load_policy(const std::string& file);

}  // namespace atl
