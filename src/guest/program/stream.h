#pragma once

#include <stdint.h>

// The guest's end of the byte stream: takes frames apart and hands requests out, queues what goes back.
namespace atl::guest {

void stream_replace(int fd);  // -1: none; what was queued is dropped
int stream_fd();
bool stream_lost();  // ended or broken since the last stream_replace()
void stream_hello(uint32_t live_channels);
void stream_receive();
void stream_flush();
bool stream_has_output();
// The queue is long: produce nothing and accept no requests until it drained.
bool stream_is_full();
bool channel_room();

}  // namespace atl::guest
