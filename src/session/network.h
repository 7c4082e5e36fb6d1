#pragma once

#include <memory>
#include <string_view>

#include "session/types.h"

// What the files of LocalService share about networks. Internal to the room.
namespace atl::session {

inline constexpr std::string_view kNetworkLogKind = "network-log";

// Code::invalid_argument with the field "network" if a rule cannot be read.
Result<std::shared_ptr<const egress::Rules>> compile_rules(const egress::RuleTexts& texts);
// What can be said before there is a sandbox.
Result<void> check_network(sandbox::Network mode, const egress::RuleTexts& texts, bool has_outside);

}  // namespace atl::session
