// Where the broker has its images from.
#include <fmt/format.h>

#include "base/log.h"
#include "sandbox/docker/broker_state.h"
#include "sandbox/docker/json_access.h"

namespace atl::sandbox::docker {
namespace {

constexpr std::size_t kStepShown = 200;

std::string inspection_of(const std::string& image) {
  return fmt::format("/images/{}/json", image);
}

void note_step(const std::string& image, std::string_view step) {
  log::info("an image is being made", {{"image", image}, {"step", std::string(step.substr(0, kStepShown))}});
}

}  // namespace

Task<ImageFacts> Broker::find_image(std::string image) {
  CO_CHECK(check_image(image, options_.images));
  if (Recipes::names_one(image)) co_return co_await recipe_image(std::move(image));
  co_return co_await plain_image(std::move(image), "");
}

Task<void> Broker::pull(std::string image) {
  const bool is_tagged =
      image.find('@') != std::string::npos || image.find(':', image.rfind('/') + 1) != std::string::npos;
  const std::string named = is_tagged ? image : image + ":latest";
  const std::string target = "/images/create?fromImage=" + net::percent_encode(named);
  std::function<void(std::string_view)> on_step = [image](std::string_view step) { note_step(image, step); };
  auto pulled = co_await engine_.post_progress(target, std::string(), std::move(on_step));
  if (!pulled)
    co_return fail(std::move(pulled).error().context("pull the image '" + image + "'").with_field("image"));
  co_return Result<void>();
}

// Engines find images by the beginning of their digest, too, so that a snapshot, which holds the files of one
// tenant's session, could be met by trying.
Task<boost::json::value> Broker::inspect_image(std::string image) {
  CO_TRY(boost::json::value inspected, co_await engine_.get(inspection_of(image)));
  if (find_at(inspected, {"Config", "Labels", kSnapshotLabel}) != nullptr)
    co_return fail(Code::not_found, "there is no such image");
  co_return std::move(inspected);
}

Task<ImageFacts> Broker::plain_image(std::string image, std::string who) {
  auto inspected = co_await inspect_image(image);
  if (!inspected && inspected.error().code() == Code::not_found && options_.may_pull) {
    CO_CHECK(co_await pull(image));
    inspected = co_await inspect_image(image);
  }
  if (!inspected && inspected.error().code() == Code::not_found) {
    const char* way = options_.may_pull ? "the engine could not pull it"
                                        : "the operator does not allow to pull it (provider.docker.pull)";
    co_return fail(
        Error(Code::not_found, fmt::format("the engine has no image '{}'{}, and {}", image, who, way))
            .with_field("image"));
  }
  if (!inspected) co_return fail(std::move(inspected).error());
  co_return image_facts(*inspected);
}

Task<ImageFacts> Broker::recipe_image(std::string image) {
  CO_TRY(const std::string name, options_.recipes.find(image));
  const std::string tag = options_.recipes.tag_of(name);
  // Whoever comes while it is being built waits and looks again; if that build failed it is tried once more.
  for (auto under_way = builds_.find(tag); under_way != builds_.end(); under_way = builds_.find(tag)) {
    const auto done = under_way->second;
    CO_CHECK(co_await done->wait());
  }
  auto inspected = co_await engine_.get(inspection_of(tag));
  if (!inspected && inspected.error().code() == Code::not_found) {
    const auto done = std::make_shared<os::Event>(loop_.get_executor());
    if (!builds_.emplace(tag, done).second) co_return co_await recipe_image(std::move(image));
    auto built = co_await build(name);
    builds_.erase(tag);
    done->notify();
    CO_CHECK(std::move(built));
    inspected = co_await engine_.get(inspection_of(tag));
  }
  if (!inspected) co_return fail(std::move(inspected).error());
  co_return image_facts(*inspected);
}

Task<void> Broker::build(std::string name) {
  const std::string tag = options_.recipes.tag_of(name);
  CO_TRY(const auto bases, options_.recipes.bases_of(name));
  // The engine would fetch what is missing without asking whether it may.
  for (const std::string& base : bases)
    CO_CHECK(co_await plain_image(base, fmt::format(" that the recipe '{}' begins with", name)));
  const std::string labels = boost::json::serialize(
      boost::json::object{{kInstallationLabel, options_.installation}, {"atoll.recipe", name}});
  log::info("an image is built", {{"image", tag}});
  const std::string target =
      fmt::format("/build?dockerfile={}&t={}&rm=1&forcerm=1&networkmode={}&labels={}",
                  net::percent_encode(Recipes::file_of(name)), net::percent_encode(tag),
                  net::percent_encode(options_.build_network), net::percent_encode(labels));
  std::string context = options_.recipes.context();
  std::function<void(std::string_view)> on_step = [tag](std::string_view step) { note_step(tag, step); };
  auto built = co_await engine_.post_progress(target, std::move(context), std::move(on_step));
  if (!built)
    co_return fail(std::move(built).error().context(
        fmt::format("build the image of the recipe '{}' (registry/containers)", name)));
  co_return Result<void>();
}

}  // namespace atl::sandbox::docker
