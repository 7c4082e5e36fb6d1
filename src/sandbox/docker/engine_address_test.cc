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
  void put(const std::string& path, const std::string& text = "") const {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + path).parent_path());
    std::ofstream(root_ + "/" + path) << text;
  }
  const std::string root_ = "/tmp/atoll-address-" + random_word(8);
  std::map<std::string, std::string> variables_{{"HOME", root_}};
};

TEST_F(EngineAddressTest, NothingIsFoundAndItIsSaidWhereWasLooked) {
  const auto found = find_engine({}, surroundings());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Code::not_found);
  EXPECT_NE(found.error().message().find("none.sock"), std::string::npos) << found.error().message();
}

TEST_F(EngineAddressTest, AWordThatIsNoAddressIsRefused) {
  const auto found = find_engine({"ssh://host", ""}, surroundings());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), Code::invalid_argument);
  EXPECT_EQ(found.error().field(), "provider.docker.host");
  variables_["DOCKER_CONTEXT"] = "nowhere";
  EXPECT_EQ(find_engine({}, surroundings()).error().code(), Code::not_found);
}

TEST_F(EngineAddressTest, TheFirstThatNamesOneWins) {
  const os::Fd socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = root_ + "/engine.sock";
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(find_engine({}, surroundings())->url.host, path);
  std::filesystem::create_directories(root_ + "/.docker/contexts/meta/abc");
  std::ofstream(root_ + "/.docker/contexts/meta/abc/meta.json")
      << R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2375"}}})";
  std::ofstream(root_ + "/.docker/config.json") << R"({"currentContext":"far"})";
  EXPECT_EQ(find_engine({}, surroundings())->url.host, "far");
  variables_["DOCKER_HOST"] = "tcp://other:2376";
  variables_["DOCKER_TLS_VERIFY"] = "1";
  put("certs/ca.pem");
  variables_["DOCKER_CERT_PATH"] = root_ + "/certs";
  const auto by_variable = find_engine({}, surroundings());
  ASSERT_TRUE(by_variable);
  EXPECT_EQ(by_variable->url.host, "other");
  EXPECT_EQ(by_variable->url.scheme, net::Scheme::https);
  EXPECT_EQ(by_variable->ca_file, root_ + "/certs/ca.pem");
  EXPECT_EQ(by_variable->key_file, "");
  EXPECT_FALSE(by_variable->is_local);
  EXPECT_EQ(find_engine({"unix:///set.sock", ""}, surroundings())->url.host, "/set.sock");
}

TEST_F(EngineAddressTest, CertificatesThatAreOfNoUseAreRefused) {
  const auto refused = [&](const std::string& host, const std::string& directory) {
    const auto found = find_engine({host, root_ + directory}, surroundings());
    if (found) return std::string("nothing");
    EXPECT_EQ(found.error().code(), Code::invalid_argument);
    EXPECT_EQ(found.error().field(), "provider.docker.certificates");
    return found.error().message();
  };
  EXPECT_NE(refused("tcp://far:2376", "/none").find("neither"), std::string::npos);
  put("half/ca.pem"), put("half/cert.pem");
  EXPECT_NE(refused("tcp://far:2376", "/half").find("both"), std::string::npos);
  EXPECT_NE(refused("unix:///run/x.sock", "/half").find("socket"), std::string::npos);
  put("half/key.pem");
  const auto whole = find_engine({"tcp://far:2376", root_ + "/half"}, surroundings());
  ASSERT_TRUE(whole) << whole.error().message();
  EXPECT_EQ(whole->url.scheme, net::Scheme::https);
  EXPECT_EQ(whole->certificate_file, root_ + "/half/cert.pem");
  EXPECT_EQ(whole->key_file, root_ + "/half/key.pem");
}

TEST_F(EngineAddressTest, AContextHasItsOwnCertificates) {
  put(".docker/config.json", R"({"currentContext":"far"})");
  put(".docker/contexts/meta/abc/meta.json",
      R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2376"}}})");
  for (const char* name : {"ca.pem", "cert.pem", "key.pem"})
    put(std::string(".docker/contexts/tls/abc/docker/") + name);
  const auto found = find_engine({}, surroundings());
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(found->url.scheme, net::Scheme::https);
  EXPECT_EQ(found->key_file, root_ + "/.docker/contexts/tls/abc/docker/key.pem");
  put(".docker/contexts/meta/abc/meta.json",
      R"({"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2376","SkipTLSVerify":true}}})");
  EXPECT_EQ(find_engine({}, surroundings()).error().code(), Code::unsupported);
}

}  // namespace
}  // namespace atl::sandbox::docker
