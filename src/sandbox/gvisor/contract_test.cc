#include <stdlib.h>

#include "sandbox/contract_suite.h"
#include "sandbox/gvisor/gvisor.h"

namespace atl::sandbox {
namespace {

// Each provider of a test has a directory of its own, which goes with the program.
class Scratch : public testing::Environment {
 public:
  static std::string directory() {
    static int number = 0;
    if (root().empty()) {
      std::string name = "/tmp/atoll-gvisor-contract-XXXXXX";
      if (::mkdtemp(name.data()) != nullptr) root() = name;
    }
    return root() + "/" + std::to_string(++number);
  }
  void TearDown() override {
    std::error_code ignored;
    if (!root().empty()) std::filesystem::remove_all(root(), ignored);
  }

 private:
  static std::string& root() {
    static std::string path;
    return path;
  }
};
[[maybe_unused]] const testing::Environment* const kScratch = testing::AddGlobalTestEnvironment(new Scratch);

Result<std::unique_ptr<Provider>> make_gvisor(boost::asio::any_io_executor executor) {
  gvisor::GvisorOptions options;
  if (const char* const named = std::getenv("ATOLL_TEST_RUNSC")) options.runsc = named;
  options.run_directory = Scratch::directory();
  options.roots.layers = options.roots.snapshots = options.roots.writable_mounts = {"/tmp", "/var/tmp"};
  return gvisor::start(std::move(executor), std::move(options));
}

const ContractEntry kProviders[] = {
    {"gvisor", make_gvisor},
};

INSTANTIATE_TEST_SUITE_P(All, ProviderContract, testing::ValuesIn(kProviders),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace atl::sandbox
