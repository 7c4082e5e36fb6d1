#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "layer/store.h"
#include "os/file.h"

// For tests: a directory that is gone afterwards, with a store in it.
namespace atl::layer {

class LayerTest : public testing::Test {
 protected:
  LayerTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "atoll-layer-XXXXXX").string();
    directory_ = ::mkdtemp(pattern.data());
    store_ = open_store();
  }
  ~LayerTest() override {
    store_.reset();
    (void)os::remove_tree(AT_FDCWD, directory_);
  }
  std::unique_ptr<Store> open_store() {
    auto opened = Store::open(directory_ + "/layers", Durability::unsynced);
    EXPECT_TRUE(opened) << opened.error().message();
    return opened ? std::move(*opened) : nullptr;
  }
  std::string write(const std::string& name, std::string_view bytes) {
    const std::string path = directory_ + "/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(os::write_file(path, bytes));
    return path;
  }
  // A layer with these files ("a/b" = "content").
  Layer layer_of(const std::map<std::string, std::string>& files, const Claim& claim) {
    auto draft = store_->draft();
    EXPECT_TRUE(draft);
    for (const auto& [name, content] : files) {
      const std::string path = draft->tree_path() + "/" + name;
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      EXPECT_TRUE(os::write_file(path, content));
    }
    auto layer = store_->put(std::move(*draft), claim);
    EXPECT_TRUE(layer) << layer.error().message();
    return layer ? *layer : Layer{};
  }
  std::string read(const std::string& digest, const std::string& name) const {
    auto text = os::read_file(store_->path(digest) + "/" + name);
    return text ? *text : "(" + text.error().message() + ")";
  }
  struct stat status(const std::string& digest, const std::string& name) const {
    struct stat info {};
    if (::lstat((store_->path(digest) + "/" + name).c_str(), &info) < 0) info.st_mode = 0;
    return info;
  }
  std::size_t incoming() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(directory_ + "/layers/incoming"), {}));
  }

  std::string directory_;
  std::unique_ptr<Store> store_;
};

}  // namespace atl::layer
