#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>

#include "sandbox/provider.h"
#include "sandbox/storages.h"

namespace atl::sandbox::emulated {

// Sandboxes without a process: a virtual filesystem (vfs) and an emulated shell (shell) inside the daemon. A
// process is a script on a thread of its own; interpreters exist for the shell only. A sandbox costs
// kilobytes and microseconds. A snapshot is one file, `vfs.snapshot`, in its directory.
// A sandbox whose spec names one of `storages` keeps the files of its working directory there; whatever else
// is in it is in memory.
std::unique_ptr<Provider> make(boost::asio::any_io_executor executor,
                               std::shared_ptr<Storages> storages = nullptr);

}  // namespace atl::sandbox::emulated
