// Skills: what there is, what a session has, and a tenant's own.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <set>

#include "api/rest/context.h"
#include "api/rest/render.h"
#include "base/bytes.h"
#include "os/fair_pool.h"
#include "os/fd.h"
#include "os/file.h"
#include "os/offload.h"
#include "skill/library.h"

namespace atl::api::rest {

// Threads of this file's own: what skills cost is not taken from anybody who uses none. Unpacking has one
// apart from looking, and a tenant one archive at a time.
struct SkillWork {
  os::FairPool looks{2};
  boost::asio::thread_pool unpacking{1};
  std::set<std::string> unpacks;  // tenants; touched by the loop alone
};

namespace {

namespace bj = boost::json;

// One archive of a tenant on its way.
class Unpacking {
 public:
  Unpacking(std::shared_ptr<SkillWork> work, std::string tenant)
      : work_(std::move(work)),
        tenant_(std::move(tenant)),
        is_first_(work_->unpacks.insert(tenant_).second) {}
  ~Unpacking() {
    if (is_first_) work_->unpacks.erase(tenant_);
  }
  Unpacking(const Unpacking&) = delete;
  Unpacking& operator=(const Unpacking&) = delete;
  bool is_first() const { return is_first_; }

 private:
  std::shared_ptr<SkillWork> work_;
  std::string tenant_;
  bool is_first_;
};

constexpr std::uint64_t kSkillFileBytesMax = 8ULL << 20;  // of one file of a skill in an answer

// The first level of disclosure.
bj::object skill_json(const skill::Skill& skill) {
  return {{"name", skill.name},
          {"description", skill.description},
          {"license", skill.license},
          {"compatibility", skill.compatibility},
          {"metadata", to_json(skill.metadata)},
          {"allowed_tools", bj::value_from(skill.allowed_tools)},
          {"network", bj::value_from(skill.network)},
          {"source", to_string(skill.source)},
          {"form", to_string(skill.form)},
          {"digest", skill.digest},
          {"pinned", skill.pinned},
          {"files", skill.files},
          {"size_bytes", skill.bytes},
          {"remarks", bj::value_from(skill.remarks)}};
}

Result<bool> wants_skill_text(const Request& request) {
  const auto format = request.query("format");
  if (!format || *format == "json") return false;
  if (*format == "text") return true;
  return fail(Error(Code::invalid_argument, "'format' is 'json' or 'text'").with_field("format"));
}

Task<Response> list_skills(Context context, Principal who, Request& request) {
  CO_TRY(const bool as_text, wants_skill_text(request));
  const std::string agent = request.query("agent").value_or("");
  auto read = [library = context->skills, tenant = who.tenant, agent]() -> Result<skill::Listing> {
    return library->list(tenant, agent);
  };
  CO_TRY(const skill::Listing listing,
         co_await context->skill_work->looks.run<skill::Listing>(who.tenant, std::move(read)));
  if (as_text) co_return Response::text(200, skill::as_text(listing.skills, "skills"));
  bj::array skills, problems;
  for (const skill::Skill& skill : listing.skills) skills.push_back(skill_json(skill));
  for (const skill::Problem& problem : listing.problems)
    problems.push_back(bj::object{{"name", problem.name}, {"message", problem.message}});
  bj::object body{{"skills", std::move(skills)}, {"problems", std::move(problems)}};
  co_return json_response(200, std::move(body));
}

Task<skill::Skill> find_skill(Context context, Principal who, std::string name) {
  auto look = [library = context->skills, tenant = who.tenant, name] { return library->find(tenant, name); };
  return context->skill_work->looks.run<skill::Skill>(who.tenant, std::move(look));
}

// The second level: the instructions; and the names of the third.
Task<Response> get_skill(Context context, Principal who, Request& request) {
  CO_TRY(const bool as_text, wants_skill_text(request));
  CO_TRY(const skill::Skill found, co_await find_skill(context, who, request.param("name")));
  if (as_text) co_return Response::text(200, found.body);
  auto list = [directory = found.directory] { return skill::list_files(directory); };
  CO_TRY(const auto files,
         co_await context->skill_work->looks.run<std::vector<skill::FileFacts>>(who.tenant, std::move(list)));
  bj::array names;
  for (const skill::FileFacts& file : files)
    names.push_back(
        bj::object{{"path", file.path}, {"size_bytes", file.bytes}, {"executable", file.executable}});
  bj::object body = skill_json(found);
  body["body"] = found.body;
  body["file_list"] = std::move(names);
  co_return json_response(200, std::move(body));
}

// The third level.
Task<Response> get_skill_file(Context context, Principal who, Request& request) {
  const auto path = request.query("path");
  if (!path)
    co_return fail(Error(Code::invalid_argument, "the query parameter 'path' is missing").with_field("path"));
  CO_TRY(const skill::Skill found, co_await find_skill(context, who, request.param("name")));
  auto read = [directory = found.directory, file = *path] {
    return skill::read_file(directory, file, kSkillFileBytesMax);
  };
  CO_TRY(std::string bytes,
         co_await context->skill_work->looks.run<std::string>(who.tenant, std::move(read)));
  Response response = Response::text(200, std::move(bytes));
  response.headers.set("Content-Type", "application/octet-stream");
  response.headers.set("X-Content-Type-Options", "nosniff");
  co_return response;
}

Result<std::vector<skill::Skill>> add_all(skill::Library& library, const std::string& tenant,
                                          const std::string& spool, const std::string& bytes) {
  const os::Fd file = TRY(os::open(spool.c_str(), O_RDWR | O_TMPFILE, 0600));
  TRY(os::write_all(file.get(), bytes));
  if (::lseek(file.get(), 0, SEEK_SET) < 0) return fail(errno_error(errno, "keep the upload"));
  return library.add(tenant, file.get());
}

Task<Response> add_skills(Context context, Principal who, Request& request) {
  if (request.body.empty())
    co_return fail(Code::invalid_argument, "the body is a tar archive or a git bundle with skills in it");
  const Unpacking mine(context->skill_work, who.tenant);
  if (!mine.is_first())
    co_return fail(Code::resource_exhausted,
                   "another archive of this tenant is being unpacked; send this one when it is done");
  Result<quota::Reservation> room = quota::Reservation();
  if (context->inventory != nullptr) {
    const quota::Holder holder{who.tenant, who.key_id};
    room = co_await context->inventory->reserve(holder, request.body.size());
  }
  if (!room) co_return fail(std::move(room).error());
  auto work = [library = context->skills, tenant = who.tenant, spool = context->spool_directory,
               bytes = std::move(request.body)] { return add_all(*library, tenant, spool, bytes); };
  CO_TRY(const auto added,
         co_await os::offload<std::vector<skill::Skill>>(context->skill_work->unpacking, std::move(work)));
  bj::array skills;
  for (const skill::Skill& skill : added) skills.push_back(skill_json(skill));
  bj::object body{{"skills", std::move(skills)}};
  co_return json_response(201, std::move(body));
}

Task<Response> remove_skill(Context context, Principal who, Request& request) {
  auto work = [library = context->skills, tenant = who.tenant, name = request.param("name")] {
    return library->remove(tenant, name);
  };
  CO_CHECK(co_await context->skill_work->looks.run<void>(who.tenant, std::move(work)));
  co_return Response::empty();
}

struct ShownSkills {
  std::vector<skill::Skill> skills;
  std::vector<std::string> missing;  // a session had it, and it is gone
};

Task<Response> session_skills(Context context, Principal who, Request& request) {
  CO_TRY(const bool as_text, wants_skill_text(request));
  CO_TRY(const session::Session found, co_await context->service->get(who, request.param("id")));
  auto look = [library = context->skills, found]() -> Result<ShownSkills> {
    ShownSkills shown;
    for (const session::SkillUse& use : found.skills) {
      auto skill =
          library->find(found.tenant, use.pinned ? use.name + "@" + use.digest : use.name, found.agent);
      if (!skill) skill = library->find(found.tenant, use.name, found.agent);
      if (skill)
        shown.skills.push_back(std::move(*skill));
      else
        shown.missing.push_back(use.name);
    }
    return shown;
  };
  CO_TRY(const ShownSkills shown,
         co_await context->skill_work->looks.run<ShownSkills>(who.tenant, std::move(look)));
  if (as_text) co_return Response::text(200, skill::as_text(shown.skills, "skills"));
  bj::array skills;
  for (const skill::Skill& skill : shown.skills) {
    bj::object one = skill_json(skill);
    one["path"] = "skills/" + skill.name;
    skills.push_back(std::move(one));
  }
  bj::object body{{"skills", std::move(skills)},
                  {"view", to_string(found.skill_view)},
                  {"missing", bj::value_from(shown.missing)}};
  co_return json_response(200, std::move(body));
}

}  // namespace

std::shared_ptr<SkillWork> make_skill_work() {
  return std::make_shared<SkillWork>();
}

void mount_skills(net::Router& router, const Context& context) {
  const auto reading = with_key(Permission::catalog_read);
  const auto writing = with_key(Permission::sessions_write).of_tenant();
  route(router, context, Method::get, "/api/skills", reading, list_skills);
  route(router, context, Method::post, "/api/skills", writing, add_skills, {.body_bytes_max = 64U << 20});
  route(router, context, Method::get, "/api/skills/{name}", reading, get_skill);
  route(router, context, Method::get, "/api/skills/{name}/files", reading, get_skill_file);
  route(router, context, Method::del, "/api/skills/{name}", writing.ending(), remove_skill);
  route(router, context, Method::get, "/api/sessions/{id}/skills", with_key(Permission::sessions_read),
        session_skills);
}

}  // namespace atl::api::rest
