#include "sandbox/docker/engine_address.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/ids.h"
#include "os/fd.h"

namespace atl::sandbox::docker {
namespace {

class EngineAddressTest : public testing::Test {
 protected:
  EngineAddressTest() { std::filesystem::create_directories(root_); }
  ~EngineAddressTest() override { std::filesystem::remove_all(root_); }
  Surroundings surroundings() {
    Surroundings made;
    made.variable = [this](const char* name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    };
    made.usual_sockets = {root_ + "/none.sock", root_ + "/engine.sock"};
    return made;
  }
  const std::string root_ = "/tmp/atoll-address-" + random_word(8);
  std::map<std::string, std::string> variables_{{"HOME", root_}};
};

TEST_F(EngineAddressTest, NothingIsFoundAndItIsSaidWhereWasLooked) {
  const auto found = find_engine("", surroundings());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Code::not_found);
  EXPECT_NE(found.error().message().find("none.sock"), std::string::npos) << found.error().message();
}

TEST_F(EngineAddressTest, AWordThatIsNoAddressIsRefused) {
  const auto found = find_engine("ssh://host", surroundings());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Code::invalid_argument);
  EXPECT_EQ(found.error().field(), "provider.docker.host");
  variables_["DOCKER_CONTEXT"] = "nowhere";
  EXPECT_EQ(find_engine("", surroundings()).error().code(), Code::not_found);
}

TEST_F(EngineAddressTest, TheFirstThatNamesOneWins) {
  const os::Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = root_ + "/engine.sock";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(find_engine("", surroundings())->url.host, path);
  std::filesystem::create_directories(root_ + "/.docker/contexts/meta/abc");
  std::ofstream(root_ + "/.docker/contexts/meta/abc/meta.json")
      << R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2375"}}})";
  std::ofstream(root_ + "/.docker/config.json") << R"({"currentContext":"far"})";
  EXPECT_EQ(find_engine("", surroundings())->url.host, "far");
  variables_["DOCKER_HOST"] = "tcp://other:2376";
  variables_["DOCKER_TLS_VERIFY"] = "1";
  variables_["DOCKER_CERT_PATH"] = "/certs";
  const auto by_variable = find_engine("", surroundings());
  ASSERT_TRUE(by_variable);
  EXPECT_EQ(by_variable->url.host, "other");
  EXPECT_EQ(by_variable->url.scheme, net::Scheme::https);
  EXPECT_EQ(by_variable->ca_file, "/certs/ca.pem");
  EXPECT_FALSE(by_variable->is_local);
  EXPECT_EQ(find_engine("unix:///set.sock", surroundings())->url.host, "/set.sock");
}

}  // namespace
}  // namespace atl::sandbox::docker
