#pragma once

namespace atl::index {

// Names the calling thread and lets every other thread of the machine go first: indexing is work that nobody
// waits for, and a busy machine does what somebody asked for before it. About a tenth of a processor is left
// to it then, so that whoever does wait (for a lock that it holds) does not wait long.
void enter_background(const char* name);

}  // namespace atl::index
