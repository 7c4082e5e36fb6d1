#pragma once

#include "store/sqlite.h"

namespace atl::index {

// Makes the tables of the catalog, or brings those of an older version to this one, in one transaction. Fails
// if a newer program wrote them.
Result<void> bring_up_schema(store::Connection& database);

// An empty list of words in place of the one that is there, also of a damaged one. Belongs into a
// transaction.
Result<void> make_words_anew(store::Connection& database);

}  // namespace atl::index
