// Whatever a guest says, the host's side of the stream must stay whole: every input is a guest's words after
// a good greeting, with one channel of each kind open to be talked about.
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include "guest/fuzz_frames.h"
#include "sandbox/guest_connection.h"

namespace {

using namespace atl;
using namespace atl::sandbox;

Task<void> talk(GuestConnection& connection, std::function<void()> opened) {
  const auto executor = co_await boost::asio::this_coro::executor;
  const auto ignore = [](std::exception_ptr, auto) {};
  ProcessSpec spec;
  spec.argv = {"x"};
  boost::asio::co_spawn(executor, connection.start(spec), ignore);                    // channel 1
  boost::asio::co_spawn(executor, connection.files().list("/", 1, 100, ""), ignore);  // 2
  boost::asio::co_spawn(executor, connection.files().open_read("/x", 0, std::nullopt, ""), ignore);  // 3
  boost::asio::co_spawn(executor, connection.files().open_write("/x", WriteOptions{}), ignore);      // 4
  boost::asio::co_spawn(executor, connection.files().watch("/x", Recursive::yes, ""), ignore);       // 5
  boost::asio::co_spawn(executor, connection.connect(80), ignore);                                   // 6
  boost::asio::co_spawn(executor, connection.listen(80), ignore);                                    // 7
  boost::asio::co_spawn(executor, connection.create_interpreter(Language::python, ""), ignore);      // 8
  boost::asio::post(executor, std::move(opened));
  co_await connection.ended();
  co_return Result<void>();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (64U << 10)) return 0;
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) return 0;
  const int room = 1 << 20;
  ::setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  os::Fd host(pair[0]), mine(pair[1]);
  std::string hello;
  const guest::Header header{12, 0, static_cast<std::uint16_t>(guest::Type::hello), 0};
  hello.append(reinterpret_cast<const char*>(&header), sizeof header);
  FramePayload out(hello);
  out.u32(guest::kMagic), out.u32(guest::kVersion), out.u32(0);
  (void)::send(mine.get(), hello.data(), hello.size(), MSG_NOSIGNAL);

  boost::asio::io_context loop;
  std::shared_ptr<GuestConnection> connection;
  boost::asio::co_spawn(loop, GuestConnection::open(std::move(host), GuestOptions{}),
                        [&](std::exception_ptr, Result<std::shared_ptr<GuestConnection>> opened) {
                          if (opened) connection = *opened;
                        });
  while (!connection && loop.run_one() > 0) {
  }
  if (!connection) return 0;
  const std::string said = guest::fuzz_frames(data, size);
  const auto speak = [&] {
    (void)::send(mine.get(), said.data(), said.size(), MSG_NOSIGNAL);
    ::shutdown(mine.get(), SHUT_WR);
  };
  boost::asio::co_spawn(loop, talk(*connection, speak), boost::asio::detached);
  loop.restart();
  while (connection->is_open() && loop.run_one() > 0) {
  }
  loop.poll();
  connection.reset();
  loop.restart();
  loop.poll();
  return 0;
}
