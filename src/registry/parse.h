#pragma once

#include "config/document.h"
#include "registry/registry.h"

// One function a kind of file, for documents that passed check() of kinds.h. What the table cannot say fails
// here with file, line and column.
namespace atl::registry {

Result<Environment> parse_environment(const config::Document& document);
Result<Agent> parse_agent(const config::Document& document);
Result<LimitsTable> parse_limits_table(const config::Document& document);
// memory_mb, cpu_cores, execution_time_seconds, cpu_time_seconds, max_processes, disk_mb, max_inodes,
// max_open_files, output_mb: all optional, all positive.
Result<LimitsPatch> parse_limits(const config::Node& node);

}  // namespace atl::registry
