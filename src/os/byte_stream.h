#pragma once

#include <string>

#include "os/task.h"

namespace atl {

// Bytes both ways over something that is not necessarily a socket: a connection into a sandbox, out of one,
// or through a proxy. One read and one write may be under way at a time. Destroying it aborts the connection.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  virtual Task<std::string> read() = 0;  // at least one byte; empty: the other side closed its half
  virtual Task<void> write(std::string bytes) = 0;
  virtual Task<void> close_write() = 0;
};

}  // namespace atl
