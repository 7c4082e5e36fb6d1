#pragma once

#include "base/result.h"
#include "store/sqlite.h"

namespace atl::store {

// Brings the database to the present schema, one transaction a step; an empty file becomes a database.
// Code::conflict for a schema this program does not know yet.
Result<void> migrate(Connection& connection);
int schema_version();
// What schema 5 did to rows that were there, for one that comes later out of an older journal.
Result<void> move_hibernation(Connection& connection);

}  // namespace atl::store
