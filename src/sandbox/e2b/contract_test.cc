#include "sandbox/contract_suite.h"
#include "sandbox/e2b/served_test.h"

namespace atl::sandbox {
namespace {

Result<std::unique_ptr<Provider>> make_e2b(boost::asio::any_io_executor executor) {
  return e2b::Served::provider(std::move(executor));
}

const ContractEntry kProviders[] = {
    {"e2b", make_e2b},
};

INSTANTIATE_TEST_SUITE_P(All, ProviderContract, testing::ValuesIn(kProviders),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace atl::sandbox
