#include <fmt/format.h>

#include "store/store.h"

namespace atl::store {
namespace {

DocumentRow document_from(const Row& row) {
  return {row.text(0), row.text(1), row.text(2), row.text(3), row.text(4), row.time(5), row.time(6)};
}

#define DOCUMENT_COLUMNS "kind, tenant, id, name, body, created_at, updated_at"

}  // namespace

Task<void> Store::put_document(DocumentRow row) {
  return write<void>([d = std::move(row)](Connection& db) -> Result<void> {
    TRY(db.run("INSERT INTO documents (" DOCUMENT_COLUMNS
               ") VALUES (?,?,?,?,?,?,?) ON CONFLICT (kind, tenant, id) DO UPDATE SET name=excluded.name, "
               "body=excluded.body, updated_at=excluded.updated_at",
               d.kind, d.tenant, d.id, d.name, d.body, d.created_at, d.updated_at));
    return {};
  });
}

Task<DocumentRow> Store::get_document(std::string kind, std::string tenant, std::string id_or_name) {
  return read<DocumentRow>(tenant, [=](Connection& db) -> Result<DocumentRow> {
    std::optional<DocumentRow> found;
    TRY(db.query(
        "SELECT " DOCUMENT_COLUMNS
        " FROM documents WHERE kind=?1 AND tenant=?2 AND (id=?3 OR (name<>'' AND name=?3)) LIMIT 1",
        [&](const Row& row) { found = document_from(row); }, kind, tenant, id_or_name));
    if (!found) return fail(Code::not_found, fmt::format("no {} {}", kind, id_or_name));
    return std::move(*found);
  });
}

Task<std::vector<DocumentRow>> Store::list_documents(std::string kind, std::string tenant) {
  return read<std::vector<DocumentRow>>(tenant, [=](Connection& db) -> Result<std::vector<DocumentRow>> {
    std::vector<DocumentRow> rows;
    TRY(db.query(
        "SELECT " DOCUMENT_COLUMNS " FROM documents WHERE kind=?1 AND tenant=?2 ORDER BY created_at, id",
        [&](const Row& row) { rows.push_back(document_from(row)); }, kind, tenant));
    return rows;
  });
}

Task<std::vector<DocumentRow>> Store::documents_before(std::string kind, WallTime time) {
  return read<std::vector<DocumentRow>>(kOurselves, [=](Connection& db) -> Result<std::vector<DocumentRow>> {
    std::vector<DocumentRow> rows;
    TRY(db.query(
        "SELECT " DOCUMENT_COLUMNS " FROM documents WHERE kind=?1 AND updated_at<?2 ORDER BY tenant, id",
        [&](const Row& row) { rows.push_back(document_from(row)); }, kind, time));
    return rows;
  });
}

Task<bool> Store::remove_document(std::string kind, std::string tenant, std::string id) {
  return write<bool>([=](Connection& db) -> Result<bool> {
    return TRY(db.run("DELETE FROM documents WHERE kind=?1 AND tenant=?2 AND id=?3", kind, tenant, id)) > 0;
  });
}

Task<std::int64_t> Store::remove_documents_before(std::string kind, WallTime time) {
  return write<std::int64_t>([=](Connection& db) -> Result<std::int64_t> {
    return TRY(db.run("DELETE FROM documents WHERE kind=?1 AND updated_at<?2", kind, time));
  });
}

}  // namespace atl::store
