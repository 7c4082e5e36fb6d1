#pragma once

#include <stdint.h>

// The guest's end of the byte stream: takes frames apart and hands requests out, queues what goes back.
namespace atl::guest {

// -1: none; what was queued is dropped. `out_fd` is where output goes if that is another descriptor.
void stream_replace(int fd, int out_fd = -1);
int stream_fd();
int stream_out_fd();
// The host has asked to begin anew on the same stream since the last call; no frame after that request was
// looked at yet.
bool stream_begins_again();
// A new host was announced (kAgainSignal): tells it where the words for the one before end, and hears nothing
// until it speaks.
void stream_expect_host();
// Held, or waiting for a new host: nothing may be queued.
bool stream_is_quiet();
bool stream_lost();  // ended or broken since the last stream_replace()
void stream_hello(uint32_t live_channels);
void stream_receive();
void stream_flush();
bool stream_has_output();
// The queue is long: produce nothing and accept no requests until it drained.
bool stream_is_full();
bool channel_room();

}  // namespace atl::guest
