#pragma once

#include <memory>
#include <string_view>

#include "egress/proxy.h"
#include "session/types.h"

// What the files of LocalService share about networks. Internal to the room.
namespace atl::session {

inline constexpr std::string_view kNetworkLogKind = "network-log";

// Code::invalid_argument with the field "network" if a rule cannot be read.
Result<std::shared_ptr<const egress::Rules>> compile_rules(const egress::RuleTexts& texts,
                                                           const egress::Outside& outside);
// What can be said before there is a sandbox. A rule that names an internal address which the operator did
// not open is Code::invalid_argument with the field "network.allow".
Result<void> check_network(sandbox::Network mode, const egress::RuleTexts& texts,
                           const egress::Outside& outside);

}  // namespace atl::session
