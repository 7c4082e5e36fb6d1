#include "sandbox/contract_suite.h"
#include "sandbox/docker/engine_harness.h"

namespace atl::sandbox {
namespace {

Result<std::unique_ptr<Provider>> make_on(docker::TestEngine::Kind kind,
                                          boost::asio::any_io_executor executor) {
  docker::TestEngine* engine = docker::TestEngine::get(kind);
  if (engine == nullptr) return fail(Code::unsupported, docker::TestEngine::missing());
  return docker::start(std::move(executor), engine->options());
}

Result<std::unique_ptr<Provider>> make_docker(boost::asio::any_io_executor executor) {
  return make_on(docker::TestEngine::Kind::docker, std::move(executor));
}

// As if it were on another machine.
Result<std::unique_ptr<Provider>> make_remote(boost::asio::any_io_executor executor) {
  docker::TestEngine* engine = docker::TestEngine::get(docker::TestEngine::Kind::docker);
  if (engine == nullptr) return fail(Code::unsupported, docker::TestEngine::missing());
  return docker::start(std::move(executor), engine->remote_options());
}

Result<std::unique_ptr<Provider>> make_podman(boost::asio::any_io_executor executor) {
  return make_on(docker::TestEngine::Kind::podman, std::move(executor));
}

const ContractEntry kProviders[] = {
    {"docker", make_docker},
    {"remote", make_remote},
    {"podman", make_podman},
};

INSTANTIATE_TEST_SUITE_P(All, ProviderContract, testing::ValuesIn(kProviders),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace atl::sandbox
