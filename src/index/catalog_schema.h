#pragma once

#include "store/sqlite.h"

namespace atl::index {

// Makes the tables of the catalog, or brings those of an older version to this one, in one transaction. Fails
// if a newer program wrote them.
Result<void> bring_up_schema(store::Connection& database);

}  // namespace atl::index
