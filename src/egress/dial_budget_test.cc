#include "egress/dial_budget.h"

#include <gmock/gmock.h>

#include "egress/proxy_harness.h"

namespace atl::egress {
namespace {

using ::testing::HasSubstr;

TEST(DialBudget, RefusesAtEachBoundAndNamesIt) {
  const DialBudget budget({.of_machine = 5, .of_tenant = 3, .of_session = 2});
  const auto first = budget.account("a"), second = budget.account("a"), other = budget.account("b"),
             more = budget.account("b");
  std::vector<DialBudget::Ticket> held;
  const auto takes = [&](const DialBudget::Account& account) {
    auto ticket = account.take();
    if (!ticket) return ticket.error().message();
    held.push_back(std::move(*ticket));
    return std::string("ok");
  };
  EXPECT_EQ(takes(first), "ok");
  EXPECT_EQ(takes(first), "ok");
  EXPECT_THAT(takes(first), HasSubstr("2 connections are open, as many as one session"));
  EXPECT_EQ(takes(second), "ok");
  EXPECT_THAT(takes(second), HasSubstr("3 connections are open, as many as all sessions of a tenant"));
  EXPECT_EQ(takes(other), "ok");
  EXPECT_EQ(takes(other), "ok");
  EXPECT_THAT(takes(more), HasSubstr("5 connections are open, as many as all sessions of this machine"));
  EXPECT_EQ(budget.open(), 5U);
  held.clear();
  EXPECT_EQ(budget.open(), 0U);
  EXPECT_EQ(takes(more), "ok");
}

TEST(DialBudget, TicketsMoveAndOutliveTheirAccount) {
  const DialBudget budget({.of_machine = 2, .of_tenant = 2, .of_session = 1});
  std::optional<DialBudget::Ticket> kept;
  {
    const auto account = budget.account("a");
    kept = std::move(*account.take());
    EXPECT_FALSE(account.take());
  }
  EXPECT_EQ(budget.open(), 1U);
  DialBudget::Ticket moved = std::move(*kept);
  kept.reset();
  EXPECT_EQ(budget.open(), 1U);
}

TEST_F(ProxyTest, WhatNoDescriptorIsLeftForIsRefusedInTheClientsWords) {
  const DialBudget budget({.of_machine = 9, .of_tenant = 9, .of_session = 1});
  account = budget.account("a");
  use({.allow = {"good.com"}});
  outside.names["good.com"] = {*Address::parse("1.1.1.1")};
  {
    const auto only = account->take();
    EXPECT_THAT(talk({"CONNECT good.com:8080 HTTP/1.1\r\n\r\n", "x"}),
                AllOf(testing::StartsWith("HTTP/1.1 503"), HasSubstr("1 connections are open")));
    EXPECT_EQ(talk({"\x05\x01\x00"s, "\x05\x01\x00\x03\x08good.com\x1f\x90"s}).substr(2, 2), "\x05\x01"s);
    EXPECT_TRUE(outside.dialled.empty());
    EXPECT_FALSE(attempts.back().allowed);
    EXPECT_THAT(attempts.back().reason, HasSubstr("one session"));
  }
  EXPECT_TRUE(talk({"CONNECT good.com:8080 HTTP/1.1\r\n\r\n", "x"}).starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(comes_to([&] { return budget.open() == 0; })) << "what is closed is free again";
}

}  // namespace
}  // namespace atl::egress
