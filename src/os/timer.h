#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <chrono>

#include "os/task.h"

namespace atl::os {

// Lets that time pass on the loop. Code::canceled if the coroutine was canceled meanwhile.
Task<void> sleep_for(boost::asio::any_io_executor executor, std::chrono::nanoseconds time);

}  // namespace atl::os
