#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "sandbox/provider.h"

namespace atl::sandbox::emulated {

// Sandboxes without a process: a virtual filesystem (vfs) and an emulated shell (shell) inside the daemon. A
// process is a script on a thread of its own; interpreters exist for the shell only. A sandbox costs
// kilobytes and microseconds. A snapshot is one file, `vfs.snapshot`, in its directory.
std::unique_ptr<Provider> make(boost::asio::any_io_executor executor);

}  // namespace atl::sandbox::emulated
