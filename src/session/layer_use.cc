#include "session/layer_use.h"

#include "base/log.h"

namespace atl::session {
namespace {

constexpr std::string_view kSandbox = "sandbox-";
constexpr std::string_view kSnapshot = "snapshot-";

std::string holder(std::string_view kind, const std::string& id) {
  return std::string(kind) + id;
}

}  // namespace

Result<LayerUse::Taken> LayerUse::take(const std::string& sandbox, const registry::Environment& environment,
                                       const std::string& snapshot) {
  if (store_ == nullptr || environment.stack.empty()) return Taken{environment.layers, environment.made_by};
  layer::Reference reference{
      .stack = environment.stack, .recipe = environment.made_by, .layers = environment.digests};
  if (!snapshot.empty()) {
    auto kept = store_->reference(holder(kSnapshot, snapshot));
    // Without one it was made on the view of the host, when the environment was not built yet.
    if (!kept && kept.error().code() != Code::not_found) return fail(std::move(kept).error());
    reference.layers = kept ? kept->layers : std::vector<std::string>();
    reference.recipe = kept ? kept->recipe : std::string();
  }
  Taken taken;
  if (reference.layers.empty()) return taken;
  taken.recipe = reference.recipe;
  for (const std::string& digest : reference.layers) taken.paths.push_back(store_->path(digest));
  reference.holder = holder(kSandbox, sandbox);
  // A machine that lost its power lost its sandboxes too.
  TRY(store_->refer(std::move(reference), layer::Durability::unsynced));
  return taken;
}

Result<void> LayerUse::keep(const std::string& snapshot, const std::string& sandbox) {
  if (store_ == nullptr) return {};
  auto reference = store_->reference(holder(kSandbox, sandbox));
  if (!reference && reference.error().code() == Code::not_found) return {};
  if (!reference) return fail(std::move(reference).error());
  reference->holder = holder(kSnapshot, snapshot);
  return store_->refer(std::move(*reference));
}

void LayerUse::end_sandbox(const std::string& sandbox) {
  if (store_ != nullptr) (void)store_->release(holder(kSandbox, sandbox));
}

void LayerUse::end_snapshot(const std::string& snapshot) {
  if (store_ != nullptr) (void)store_->release(holder(kSnapshot, snapshot));
}

void LayerUse::reconcile(const std::set<std::string>& sandboxes) {
  if (store_ == nullptr) return;
  const auto references = store_->references();
  if (!references) {
    log::error("the layer store cannot be read", {{"error", references.error().message()}});
    return;
  }
  for (const layer::Reference& reference : *references)
    if (reference.holder.starts_with(kSandbox) &&
        !sandboxes.contains(reference.holder.substr(kSandbox.size())))
      (void)store_->release(reference.holder);
}

}  // namespace atl::session
