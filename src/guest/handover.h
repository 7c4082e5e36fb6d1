#pragma once

// How a guest is started that finds its host by itself. Both sides include this.
namespace atl::guest {

// With this argument and a path the guest connects to a SOCK_SEQPACKET socket there, which is the one of
// kHandoverFd (protocol.h) from then on, and waits on it for its first stream. It ends with the code
// kNobodyThere if it cannot.
inline constexpr char kByHandover[] = "handover";
inline constexpr int kNobodyThere = 3;

}  // namespace atl::guest
