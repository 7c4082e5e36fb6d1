#include "index/qdrant.h"

#include <fmt/format.h>

#include <boost/json.hpp>

namespace atl::index {
namespace {

namespace bj = boost::json;

constexpr std::string_view kFields[] = {"place", "kind", "members"};

std::string place_word(PlaceId place) {
  return fmt::format("p{}", place);
}

bj::array numbers_of(const Vector& vector) {
  bj::array numbers;
  numbers.reserve(vector.size());
  for (const float x : vector) numbers.push_back(static_cast<double>(x));
  return numbers;
}

bj::array texts_of(const std::vector<std::string>& texts) {
  bj::array all;
  for (const std::string& text : texts) all.push_back(bj::value(text));
  return all;
}

bj::object equals(std::string_view field, const std::string& value) {
  return {{"key", field}, {"match", bj::object{{"value", value}}}};
}

bj::object of_place(PlaceId place) {
  return {{"must", bj::array{equals("place", place_word(place))}}};
}

bj::object conditions_of(PlaceId place, const VectorQuery& query) {
  bj::array must{equals("place", place_word(place))};
  if (!query.kinds.empty())
    must.push_back(bj::object{{"key", "kind"}, {"match", bj::object{{"any", texts_of(query.kinds)}}}});
  for (const std::string& member : query.members) must.push_back(equals("members", member));
  return {{"must", std::move(must)}};
}

bj::object point_of(const VectorChange& change) {
  return {{"id", change.number},
          {"vector", numbers_of(*change.vector)},
          {"payload", bj::object{{"place", place_word(change.place)},
                                 {"kind", change.kind},
                                 {"members", texts_of(change.members)}}}};
}

// A member of a member and so on; null where one is missing.
const bj::value* member(const bj::value& value, std::initializer_list<std::string_view> names) {
  const bj::value* at = &value;
  for (const std::string_view name : names) {
    const auto* object = at->if_object();
    at = object == nullptr ? nullptr : object->if_contains(name);
    if (at == nullptr) return nullptr;
  }
  return at;
}

Error qdrant_wrong() {
  return {Code::unavailable, "Qdrant gave an answer that is none of its interface"};
}

}  // namespace

Qdrant::Qdrant(ServerLink& link, std::string catalog_id) : link_(link), catalog_id_(std::move(catalog_id)) {}

std::string Qdrant::path_of(std::size_t dimension) const {
  return fmt::format("/collections/atoll_{}_{}", catalog_id_, dimension);
}

Result<bj::value> Qdrant::ask(const std::string& method, const std::string& target, const bj::object* body) {
  auto answer = TRY(link_.call(method, target, body));
  if (answer.status == 200) {
    auto* result = answer.body.if_contains("result");
    if (result == nullptr) return fail(qdrant_wrong());
    return std::move(*result);
  }
  if (answer.status == 404) return fail(Code::not_found, "Qdrant has no such collection");
  if (answer.status == 401 || answer.status == 403)
    return fail(
        Code::unavailable,
        fmt::format("Qdrant refuses the key ({}): look at index.qdrant.api_key_secret", answer.status));
  const bj::value told(std::move(answer.body));
  const auto* why = member(told, {"status", "error"});
  return fail(Error(Code::unavailable, fmt::format("Qdrant refused a call ({})", answer.status))
                  .with_detail(why != nullptr ? bj::serialize(*why) : ""));
}

Result<void> Qdrant::apply(std::size_t dimension, std::span<const VectorChange> changes) {
  const std::string path = path_of(dimension);
  // Runs of the same act, so that the order stays.
  for (std::size_t at = 0; at < changes.size();) {
    bj::array points, gone;
    if (changes[at].vector) {
      for (; at < changes.size() && changes[at].vector; ++at) points.push_back(point_of(changes[at]));
      const bj::object body{{"points", std::move(points)}};
      TRY(ask("PUT", path + "/points?wait=true", &body));
    } else {
      for (; at < changes.size() && !changes[at].vector; ++at) gone.push_back(changes[at].number);
      const bj::object body{{"points", std::move(gone)}};
      TRY(ask("POST", path + "/points/delete?wait=true", &body));
    }
  }
  return {};
}

Result<void> Qdrant::drop(PlaceId place, std::size_t dimension) {
  const bj::object body{{"filter", of_place(place)}};
  auto done = ask("POST", path_of(dimension) + "/points/delete?wait=true", &body);
  if (!done && done.error().code() != Code::not_found) return fail(std::move(done).error());
  return {};
}

Result<std::vector<Neighbour>> Qdrant::nearest(PlaceId place, std::size_t dimension,
                                               const VectorQuery& query) {
  const bj::object body{{"query", numbers_of(query.vector)},
                        {"filter", conditions_of(place, query)},
                        {"limit", query.count},
                        {"with_payload", false},
                        {"with_vector", false}};
  const bj::value result = TRY(ask("POST", path_of(dimension) + "/points/query", &body));
  const auto* points = member(result, {"points"});
  if (points == nullptr || !points->is_array()) return fail(qdrant_wrong());
  std::vector<Neighbour> found;
  for (const bj::value& point : points->get_array()) {
    const auto* id = member(point, {"id"});
    const auto* score = member(point, {"score"});
    if (id == nullptr || !id->is_number() || score == nullptr || !score->is_number())
      return fail(qdrant_wrong());
    boost::system::error_code wrong;
    const auto number = id->to_number<std::uint64_t>(wrong);
    if (wrong) return fail(qdrant_wrong());
    found.push_back({number, score->to_number<float>()});
  }
  return found;
}

Result<std::uint64_t> Qdrant::count(std::size_t dimension) {
  const std::string path = path_of(dimension);
  const bj::value info = TRY(ask("GET", path, nullptr));
  const auto* size = member(info, {"config", "params", "vectors", "size"});
  const auto* distance = member(info, {"config", "params", "vectors", "distance"});
  const bool is_ours = size != nullptr && *size == dimension && distance != nullptr && *distance == "Cosine";
  if (!is_ours) return fail(Code::not_found, "Qdrant's collection is not as we make them");
  for (const std::string_view field : kFields)
    if (member(info, {"payload_schema", field}) == nullptr) TRY(make_index(dimension, field));
  const bj::object exact{{"exact", true}};
  const bj::value counted = TRY(ask("POST", path + "/points/count", &exact));
  const auto* count = member(counted, {"count"});
  if (count == nullptr || !count->is_int64()) return fail(qdrant_wrong());
  return static_cast<std::uint64_t>(count->get_int64());
}

Result<void> Qdrant::make_index(std::size_t dimension, std::string_view field) {
  bj::object schema{{"type", "keyword"}};
  if (field == "place") schema["is_tenant"] = true;  // points of a place lie together
  const bj::object body{{"field_name", field}, {"field_schema", std::move(schema)}};
  TRY(ask("PUT", path_of(dimension) + "/index?wait=true", &body));
  return {};
}

Result<void> Qdrant::clear(std::size_t dimension) {
  const std::string path = path_of(dimension);
  auto gone = ask("DELETE", path, nullptr);
  if (!gone && gone.error().code() != Code::not_found) return fail(std::move(gone).error());
  const bj::object body{{"vectors", bj::object{{"size", dimension}, {"distance", "Cosine"}}}};
  auto answer = TRY(link_.call("PUT", path, &body));
  // A try whose answer was lost has made it.
  if (answer.status != 200 && answer.status != 409)
    return fail(Code::unavailable, fmt::format("Qdrant does not make a collection ({})", answer.status));
  for (const std::string_view field : kFields) TRY(make_index(dimension, field));
  return {};
}

}  // namespace atl::index
