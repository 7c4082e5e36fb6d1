#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sandbox/isolation.h"
#include "sandbox/limits.h"
#include "sandbox/native/parked_file.h"
#include "sandbox/spec.h"

// What daemon and spawner say to each other: one packet a message, descriptors beside it. Both are processes
// of the same program, but the daemon may be newer than the spawner it finds: Hello settles that.
namespace atl::sandbox::native {

inline constexpr std::uint32_t kWireVersion = 8;

// Numbers stay: a daemon asks an older spawner for its version and to shut down.
enum class Verb : std::uint8_t {
  hello,    // -> HelloReply
  create,   // Spec -> CreateReply + {stream, pidfd, writable layer}
  destroy,  // everything of it is gone when the reply comes
  freeze,
  thaw,
  rename,        // a pooled sandbox gets its name
  snapshot = 7,  // target directory
  discard,       // directory of a snapshot
  adopt,         // as create, for a sandbox that lives
  list,          // -> names
  shut_down,     // ends all sandboxes, then the spawner
  ended,         // spawner to daemon, unasked: a sandbox ended by itself
  bear,          // user, directory -> an interpreter of the zygote's, pid inside + {control, output, errors}
  capture,       // target directory, Capture -> what was carried and what was not
  revive,        // a parked kernel (number, description, + its file) -> as bear
  line,          // -> + {socket}: another connection, to go on with when this one is lost
  open_volume,   // a volume's directory, Limits (disk, inodes) -> + the top of its own filesystem
  close_volume,  // a volume's directory: the spawner lets go of its filesystem
  measure,       // directory of a snapshot -> bytes that it takes on the disk
};

// What to take of a sandbox beside its files.
struct Capture {
  struct Kernel {
    std::string id, user, directory;
    std::uint32_t pid = 0;  // inside
    std::uint32_t born = 0;  // the number inside of the one that was born, whose copy this may be
  };
  std::vector<Kernel> kernels;            // parked ones
  std::vector<std::uint32_t> known;       // processes inside that are accounted for
  std::vector<std::string> left_behind;   // what is known not to be carried
  bool whole = false;                     // to go on from later, not in a copy
  bool strict = false;                    // what cannot be carried is a failure
};

struct Request {
  Verb verb = Verb::hello;
  std::uint64_t token = 0;  // comes back in the reply
  std::string name;         // of the sandbox; Spec::id for create
  Spec spec;                // create
  std::string text;         // new name, target directory
  std::string user, directory;  // bear, revive
  Capture capture;
  std::uint32_t number = 0;  // revive: which one of the file
  // revive: what the file says of it. The spawner does not read files; who writes its memory believes the
  // file alone.
  ParkedKernel kernel;
};

struct Reply {
  Verb verb = Verb::hello;
  std::uint64_t token = 0;
  std::optional<Error> error;
  std::string name;
  std::string group;      // control group below the parent
  std::uint32_t pid = 0;  // of the guest, in the host's numbers; bear: of the interpreter, in the sandbox's
  Isolation isolation;
  std::vector<std::string> names;
  std::string text;  // hello: parent control group; ended: why
  std::uint32_t version = kWireVersion;
  Spec spec;  // adopt: what it was created from
  std::vector<std::string> carried;  // capture: kernels, by id; `names` is what was left behind
  std::uint64_t micros = 0;          // capture: how long the sandbox stood still
  std::uint64_t bytes = 0;           // measure
};

std::string encode(const Request& request);
std::string encode(const Reply& reply);
// Whole, sound in every length, count and enumerator (wire_check.h), or an error that names what is not.
Result<Request> decode_request(const std::string& bytes);
// Whom to answer that a request is malformed; none if it does not even say that.
std::optional<std::uint64_t> token_of(const std::string& request_bytes);
Result<Reply> decode_reply(const std::string& bytes);

}  // namespace atl::sandbox::native
