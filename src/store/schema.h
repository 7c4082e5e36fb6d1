#pragma once

#include "base/result.h"
#include "store/sqlite.h"

namespace atl::store {

// Brings the database to the present schema, one transaction a step; an empty file becomes a database.
// Code::conflict for a schema this program does not know yet.
Result<void> migrate(Connection& connection);
int schema_version();

}  // namespace atl::store
