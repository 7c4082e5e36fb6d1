#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sandbox/isolation.h"
#include "sandbox/spec.h"

// What the daemon and its broker say to each other: one message of JSON each, over a socket of packets, with
// descriptors beside some answers.
namespace atl::sandbox::gvisor {

inline constexpr std::uint32_t kBrokerVersion = 1;
// Of the ids of sandboxes that nobody asked for yet.
inline constexpr std::string_view kPoolPrefix = "pool-";

enum class Verb : std::uint8_t {
  hello,   // -> number: kBrokerVersion; text: runsc's version; names: sandboxes that can be taken back
  create,  // spec, memory -> isolation, groups, text; descriptors: stream, writable layer
  adopt,   // -> spec, isolation, groups, frozen; the same descriptors. The guest waits for kAgainBytes.
  rename,  // text: its id from now on
  pause,
  resume,
  wake,        // as adopt, for one that stood still then: the guest waits for kAgainBytes now
  snapshot,    // path: a new directory
  checkpoint,  // path; text: what is kept beside the memory -> descriptors: its stream if that is a new one
  destroy,     // processes are gone when this is answered; the rest follows
  discard,     // path: a snapshot; one that is not there is success
  forget,      // path: a checkpoint, of which the memory goes and the files stay
  measure,     // path -> number: bytes on the disk
  shut_down,
};

struct Request {
  std::uint64_t token = 0;  // repeated in the answer; 0: none is wanted
  Verb verb = Verb::hello;
  std::string id;  // of the sandbox
  std::string path, text;
  // In create: go on from the memory of the checkpoint that spec.snapshot is. In checkpoint: sync it to the
  // disk, so that it survives a loss of power; a checkpoint that is only for copies made now need not.
  bool memory = false;
  Spec spec;
};

struct Reply {
  std::uint64_t token = 0;
  std::optional<Error> error;
  std::uint64_t number = 0;
  std::string text;
  std::vector<std::string> names;
  std::vector<std::string> groups;  // container::GroupReader::paths()
  Isolation isolation;
  Spec spec;
  bool frozen = false;
};

std::string encode(const Request& request);
std::string encode(const Reply& reply);
// Code::invalid_argument for what no daemon or broker of ours would send.
Result<Request> decode_request(std::string_view bytes);
Result<Reply> decode_reply(std::string_view bytes);

}  // namespace atl::sandbox::gvisor
