#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "sandbox/process.h"
#include "session/audited/trail.h"

namespace atl::session::audited {

// A process of a session, with an entry for each signal; looking at its output and writing to its input are
// folded. Objects are "<session>:<pid>".
std::shared_ptr<sandbox::Process> with_entries(std::shared_ptr<sandbox::Process> process, Trail trail,
                                               const std::string& session_id);

// Writes `terminal.close` when the process has ended, whoever waits for it or not.
void tell_close(const boost::asio::any_io_executor& executor, std::shared_ptr<sandbox::Process> process,
                Trail trail, const std::string& session_id);

}  // namespace atl::session::audited
