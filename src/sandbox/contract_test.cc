#include "sandbox/contract_suite.h"
#include "sandbox/emulated/virtual.h"
#include "sandbox/native/native.h"
#include "sandbox/native/scratch_roots_test.h"

namespace atl::sandbox {
namespace {

Result<std::unique_ptr<Provider>> make_native(boost::asio::any_io_executor executor) {
  native::NativeOptions options;
  options.spawner.roots = native::scratch_roots();
  return native::start(std::move(executor), std::move(options));
}

Result<std::unique_ptr<Provider>> make_virtual(boost::asio::any_io_executor executor) {
  return emulated::make(std::move(executor));
}

const ContractEntry kProviders[] = {
    {"native", make_native},
    {"virtual", make_virtual},
};

INSTANTIATE_TEST_SUITE_P(All, ProviderContract, testing::ValuesIn(kProviders),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace atl::sandbox
