#pragma once

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <fstream>

#include "sandbox/emulated/virtual.h"
#include "session/service_harness_test.h"
#include "tools/tool_executor.h"

namespace atl::tools {

// Calls of tools in sandboxes that are real: the emulated ones, with their files and their shell.
class VirtualToolTest : public session::ServiceTest {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-tools-XXXXXX";
    declared_ = ::mkdtemp(name);
    std::filesystem::create_directories(declared_ + "/tools");
    declare_all();
    session::ServiceTest::SetUp();
    auto registry = registry::Registry::load(declared_);
    ASSERT_TRUE(registry) << registry.error().message();
    *registry_ = std::move(*registry);
    auto tools = ToolRegistry::open(registry_.get());
    ASSERT_TRUE(tools) << tools.error().message();
    tools_ = std::move(*tools);
    executor_ = std::make_unique<ToolExecutor>(loop_.get_executor(), service_.get(), tools_.get(), clock_,
                                               ToolExecutor::Options());
    session_ = create().session_id;
  }
  void TearDown() override {
    session::ServiceTest::TearDown();
    std::filesystem::remove_all(declared_);
  }
  session::Providers providers() override { return {virtual_.get()}; }
  // Before the registry is read: what a test needs besides the shipped tools.
  virtual void declare_all() {}
  void declare(const std::string& name, const std::string& rest) const {
    std::ofstream(declared_ + "/tools/" + name + ".yaml")
        << "{name: " << name << ", description: x, " << rest << "}\n";
  }

  Result<ToolResult> call(const std::string& name, boost::json::value input = boost::json::object(),
                          std::optional<std::chrono::milliseconds> timeout = std::nullopt,
                          ToolWatcher watch = {}) {
    ToolRequest request{session_, name, std::move(input), timeout, std::move(watch)};
    return wait(executor_->call(ann_, std::move(request)));
  }
  // The output of a call that must succeed.
  boost::json::value output(const std::string& name, boost::json::value input) {
    auto result = call(name, std::move(input));
    EXPECT_TRUE(result) << result.error().message();
    if (!result) return nullptr;
    EXPECT_EQ(result->status, session::Status::success) << result->error << ": " << result->error_value;
    return result->output;
  }
  // Why a call that must fail by its own fault did: "FileError: ...".
  std::string refusal(const std::string& name, boost::json::value input) {
    auto result = call(name, std::move(input));
    EXPECT_TRUE(result) << result.error().message();
    if (!result) return "";
    EXPECT_EQ(result->status, session::Status::error);
    EXPECT_TRUE(result->output.is_null());
    return result->error + ": " + result->error_value;
  }
  void write(const std::string& path, const std::string& text) {
    output("write_file", {{"path", path}, {"content", text}});
  }

  std::unique_ptr<sandbox::Provider> virtual_ = sandbox::emulated::make(loop_.get_executor());
  std::string declared_, session_;
  std::unique_ptr<ToolRegistry> tools_;
  std::unique_ptr<ToolExecutor> executor_;
};

}  // namespace atl::tools
