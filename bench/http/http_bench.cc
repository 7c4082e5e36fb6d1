// Measures the REST dialect over a kept-alive connection: bench_http PORT KEY [ROUNDS [LIVE]]. Figures in
// milliseconds.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "os/fd.h"

namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void give_up(const std::string& why) {
  fmt::print(stderr, "bench_http: {}\n", why);
  std::exit(1);
}

struct Answer {
  int status = 0;
  std::string body;
};

class Client {
 public:
  Client(int port, std::string key)
      : key_(std::move(key)), fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      give_up("cannot connect");
    const int on = 1;
    ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }

  Answer send(std::string_view method, std::string_view path, std::string_view body = {}) {
    const std::string request =
        fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: {}\r\nContent-Length: {}\r\n\r\n{}",
                    method, path, key_, body.size(), body);
    if (::send(fd_.get(), request.data(), request.size(), MSG_NOSIGNAL) < 0) give_up("the service went away");
    return receive();
  }

 private:
  Answer receive() {
    std::string in;
    std::size_t head = 0;
    while ((head = in.find("\r\n\r\n")) == std::string::npos) fill(in);
    Answer answer;
    answer.status = std::atoi(in.c_str() + 9);
    const std::size_t at = in.find("Content-Length: ");
    const std::size_t length = at < head ? std::strtoul(in.c_str() + at + 16, nullptr, 10) : 0;
    while (in.size() < head + 4 + length) fill(in);
    answer.body = in.substr(head + 4, length);
    return answer;
  }
  void fill(std::string& in) {
    char buffer[65536];
    const ssize_t got = ::recv(fd_.get(), buffer, sizeof buffer, 0);
    if (got <= 0) give_up("the service closed the connection");
    in.append(buffer, static_cast<std::size_t>(got));
  }

  std::string key_;
  atl::os::Fd fd_;
};

struct Series {
  std::string name;
  std::vector<double> times;

  template <class Work>
  void time(Work&& work) {
    const auto start = Clock::now();
    work();
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  void print() {
    std::ranges::sort(times);
    const auto at = [&](double share) {
      return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    fmt::print("{:42} n={:<6} p50 {:8.3f}  p99 {:8.3f}  max {:8.3f} ms\n", name, times.size(), at(0.5),
               at(0.99), times.back());
  }
};

void expect(const Answer& answer, int status) {
  if (answer.status != status)
    give_up(fmt::format("{} instead of {}: {}", answer.status, status, answer.body));
}

std::string create(Client& client) {
  const Answer made = client.send("POST", "/api/sessions", "{}");
  expect(made, 201);
  return "/api/sessions/" + std::string(boost::json::parse(made.body).at("session_id").as_string());
}

void live_session(Client& client, int rounds) {
  const std::string session = create(client);
  const auto measure = [&](std::string name, std::string path, std::string body, std::string wanted) {
    Series series{std::move(name), {}};
    for (int i = 0; i < 20; ++i) client.send("POST", path, body);
    for (int i = 0; i < rounds; ++i) {
      series.time([&] {
        const Answer done = client.send("POST", path, body);
        expect(done, 200);
        if (done.body.find(wanted) == std::string::npos) give_up("a wrong answer: " + done.body);
      });
    }
    series.print();
  };
  if (client.send("POST", session + "/execute", R"({"code":"1"})").status == 200) {
    measure("execute 1+1 in a live session", session + "/execute", R"({"code":"1+1"})",
            R"("text/plain":"2")");
  } else {
    fmt::print("execute 1+1 in a live session: refused, not measured\n");
  }
  measure("/bin/true in a live session", session + "/commands", R"({"argv":["/bin/true"]})",
          R"("exit_code":0)");
  Series plain{"GET the session", {}};
  for (int i = 0; i < rounds; ++i) plain.time([&] { expect(client.send("GET", session), 200); });
  plain.print();
  expect(client.send("DELETE", session), 200);
}

void whole_life(Client& client) {
  const std::string session = create(client);
  const Answer done = client.send("POST", session + "/execute", R"({"code":"1+1"})");
  expect(done, 200);
  if (done.body.find(R"("text/plain":"2")") == std::string::npos) give_up("a wrong answer: " + done.body);
  expect(client.send("DELETE", session), 200);
}

void sequential(Client& client, int rounds) {
  Series created{"create (pool, idle gap 50 ms)", {}}, ended{"destroy", {}},
      whole{"create + execute 1+1 + destroy", {}};
  for (int i = 0; i < rounds; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::string session;
    created.time([&] { session = create(client); });
    ended.time([&] { expect(client.send("DELETE", session), 200); });
  }
  for (int i = 0; i < rounds; ++i) whole.time([&] { whole_life(client); });
  created.print();
  ended.print();
  whole.print();
}

void burst(int port, const std::string& key, int size) {
  Series series{fmt::format("burst of {}: create + execute + destroy", size), {}};
  std::vector<std::thread> threads;
  std::vector<double> times(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    threads.emplace_back([&, i] {
      Client client(port, key);
      const auto start = Clock::now();
      whole_life(client);
      times[static_cast<std::size_t>(i)] =
          std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    });
  }
  for (std::thread& thread : threads) thread.join();
  series.times = std::move(times);
  series.print();
}

// Many at once, each asked in turn for `seconds`; nothing may fail.
void many_live(Client& client, int count, int seconds) {
  Series created{fmt::format("create, up to {} live", count), {}},
      asked{fmt::format("/bin/true among {} live", count), {}};
  std::vector<std::string> sessions;
  const auto give = [&] {
    const Answer made = client.send("POST", "/api/sessions", R"({"limits":{"memory_mb":64,"disk_mb":16}})");
    expect(made, 201);
    sessions.push_back("/api/sessions/" +
                       std::string(boost::json::parse(made.body).at("session_id").as_string()));
  };
  for (int i = 0; i < count; ++i) created.time(give);
  const auto end = Clock::now() + std::chrono::seconds(seconds);
  for (std::size_t i = 0; Clock::now() < end; i = (i + 1) % sessions.size()) {
    asked.time(
        [&] { expect(client.send("POST", sessions[i] + "/commands", R"({"argv":["/bin/true"]})"), 200); });
  }
  for (const std::string& session : sessions) expect(client.send("DELETE", session), 200);
  created.print();
  asked.print();
}

void lists(Client& client, int rounds) {
  Series page{"list page of 100 sessions", {}};
  for (int i = 0; i < rounds; ++i)
    page.time([&] { expect(client.send("GET", "/api/sessions?limit=100"), 200); });
  page.print();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) give_up("usage: bench_http PORT KEY [ROUNDS [LIVE]]");
  const int port = std::atoi(argv[1]);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 300;
  Client client(port, argv[2]);
  live_session(client, rounds);
  sequential(client, rounds / 3);
  burst(port, argv[2], 100);
  lists(client, rounds / 3);
  if (const int live = argc > 4 ? std::atoi(argv[4]) : 0; live > 0) many_live(client, live, 60);
}
