#include "vault/vault.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>

namespace atl::vault {
namespace {

template <class T>
Result<T> wait(Task<T> task) {
  boost::asio::io_context loop;
  std::optional<Result<T>> result;
  boost::asio::co_spawn(loop, std::move(task), [&](std::exception_ptr thrown, Result<T> got) {
    if (thrown) std::rethrow_exception(thrown);
    result.emplace(std::move(got));
  });
  loop.run();
  return std::move(*result);
}

TEST(Cipher, OpensOnlyWhatItSealedInItsPlace) {
  const Cipher cipher(std::string(32, 'k'));
  const std::string sealed = *cipher.seal("the value", "acme\nsec_1\n1");
  EXPECT_EQ(*cipher.open(sealed, "acme\nsec_1\n1"), "the value");
  EXPECT_EQ(sealed.find("the value"), std::string::npos);
  EXPECT_NE(sealed, *cipher.seal("the value", "acme\nsec_1\n1"));
  EXPECT_EQ(cipher.open(sealed, "acme\nsec_1\n2").error().code(), Code::data_loss);
  EXPECT_EQ(Cipher(std::string(32, 'x')).open(sealed, "acme\nsec_1\n1").error().code(), Code::data_loss);
  for (std::size_t i = 0; i < sealed.size(); ++i) {
    std::string damaged = sealed;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(cipher.open(damaged, "acme\nsec_1\n1")) << i;
  }
  for (std::size_t size : {std::size_t{0}, std::size_t{27}, sealed.size() - 1})
    EXPECT_FALSE(cipher.open(sealed.substr(0, size), "acme\nsec_1\n1"));
  EXPECT_EQ(*cipher.open(*cipher.seal("", ""), ""), "");
}

class VaultTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/atoll-vault-XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    directory_ = name;
    store_ = std::move(*store::Store::open(directory_));
    vault_ = std::move(*Vault::open(*store_, key_file()));
  }
  void TearDown() override {
    vault_.reset();
    store_.reset();
    std::filesystem::remove_all(directory_);
  }
  std::string key_file() const { return directory_ + "/secrets.key"; }

  std::string directory_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<Vault> vault_;
};

TEST_F(VaultTest, SealsWhatIsKeptElsewhere) {
  const std::string sealed = *vault_->seal("acme", "hush");
  EXPECT_EQ(sealed.find("hush"), std::string::npos);
  EXPECT_NE(sealed, *vault_->seal("acme", "hush"));
  EXPECT_EQ(*vault_->unseal("acme", sealed), "hush");
  EXPECT_EQ(vault_->unseal("other", sealed).error().code(), Code::data_loss);
  for (const char* damaged : {"", "no base64!", "AAAA"})
    EXPECT_EQ(vault_->unseal("acme", damaged).error().code(), Code::data_loss) << damaged;
}

TEST_F(VaultTest, KeepsVersionsAndRevealsTheNewest) {
  auto made = wait(vault_->create("acme", "openai", "sk-one", {{"team", "a"}}));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->version, 1);
  EXPECT_EQ(*wait(vault_->reveal("acme", "openai")), "sk-one");
  auto changed = wait(vault_->update("acme", made->id, "sk-two", std::nullopt));
  ASSERT_TRUE(changed);
  EXPECT_EQ(changed->version, 2);
  EXPECT_EQ(changed->metadata.at("team"), "a");
  EXPECT_EQ(*wait(vault_->reveal("acme", "openai")), "sk-two");
  EXPECT_TRUE(wait(vault_->update("acme", "openai", "sk-three", std::map<std::string, std::string>{}))
                  ->metadata.empty());
  EXPECT_EQ(wait(vault_->list("acme"))->size(), 1U);
  ASSERT_TRUE(wait(vault_->remove("acme", "openai")));
  EXPECT_EQ(wait(vault_->reveal("acme", "openai")).error().code(), Code::not_found);
  EXPECT_EQ(wait(vault_->remove("acme", "openai")).error().code(), Code::not_found);
}

TEST_F(VaultTest, ATenantSeesOnlyItsOwn) {
  auto made = wait(vault_->create("acme", "key", "value", {}));
  EXPECT_EQ(wait(vault_->get("other", "key")).error().code(), Code::not_found);
  EXPECT_EQ(wait(vault_->get("other", made->id)).error().code(), Code::not_found);
  EXPECT_EQ(wait(vault_->reveal("other", "key")).error().code(), Code::not_found);
  EXPECT_EQ(wait(vault_->update("other", "key", "x", std::nullopt)).error().code(), Code::not_found);
  EXPECT_TRUE(wait(vault_->create("other", "key", "another", {})));
  EXPECT_EQ(*wait(vault_->reveal("acme", "key")), "value");
}

TEST_F(VaultTest, NamesAreKeptInLowerCaseAndFoundInAny) {
  const auto made = wait(vault_->create("acme", "OpenAI-Key", "v1", {}));
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_EQ(made->name, "openai-key");
  for (const char* spelled : {"openai-key", "OpenAI-Key", "OPENAI-KEY"}) {
    EXPECT_EQ(wait(vault_->get("acme", spelled))->id, made->id) << spelled;
    EXPECT_EQ(*wait(vault_->reveal("acme", spelled)), "v1") << spelled;
  }
  EXPECT_EQ(wait(vault_->create("acme", "OPENAI-key", "v2", {})).error().code(), Code::already_exists);
  EXPECT_EQ(wait(vault_->update("acme", "OPENAI-key", "v2", std::nullopt))->version, 2);
  EXPECT_TRUE(wait(vault_->remove("acme", "OpenAI-KEY")));
  EXPECT_EQ(wait(vault_->get("acme", "openai-key")).error().code(), Code::not_found);
}

// As a service wrote it that told capitals apart.
TEST_F(VaultTest, AnOlderNameStaysAsItWasGiven) {
  const auto made = wait(vault_->create("acme", "old", "v1", {}));
  auto row = wait(store_->get_document("secret", "acme", made->id));
  ASSERT_TRUE(row) << row.error().message();
  row->name = "OLD";
  ASSERT_TRUE(wait(store_->put_document(*row)));
  EXPECT_EQ(wait(vault_->get("acme", "OLD"))->name, "OLD");
  EXPECT_EQ(wait(vault_->get("acme", "old")).error().code(), Code::not_found);
}

TEST_F(VaultTest, RefusesBadNamesAndValues) {
  for (std::string bad :
       {std::string(), std::string("a{b"), std::string("a}"), std::string("a/b"), std::string("a\nb"),
        std::string(129, 'n'), std::string("sec_mine"), std::string("SEC_mine")})
    EXPECT_EQ(wait(vault_->create("acme", bad, "v", {})).error().code(), Code::invalid_argument) << bad;
  for (std::string bad : {std::string(), std::string("a\r\nX-Other: 1"), std::string(70'000, 'v')})
    EXPECT_EQ(wait(vault_->create("acme", "n", bad, {})).error().code(), Code::invalid_argument);
  ASSERT_TRUE(wait(vault_->create("acme", "n", "v", {})));
  EXPECT_EQ(wait(vault_->create("acme", "n", "v", {})).error().code(), Code::already_exists);
}

TEST_F(VaultTest, TheDiskHoldsNoValue) {
  const std::string value = "very-secret-value-0123456789";
  ASSERT_TRUE(wait(vault_->create("acme", "key", value, {})));
  vault_.reset();
  store_.reset();
  for (const auto& item : std::filesystem::recursive_directory_iterator(directory_)) {
    if (!item.is_regular_file()) continue;
    std::ifstream file(item.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    EXPECT_EQ(bytes.find(value), std::string::npos) << item.path();
  }
  struct stat info {};
  ASSERT_EQ(::stat(key_file().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600U);
}

TEST_F(VaultTest, AnotherKeyOpensNothingAndAnOpenKeyFileIsRefused) {
  ASSERT_TRUE(wait(vault_->create("acme", "key", "value", {})));
  vault_.reset();
  std::ofstream(key_file(), std::ios::binary | std::ios::trunc) << std::string(32, 'z');
  vault_ = std::move(*Vault::open(*store_, key_file()));
  EXPECT_EQ(wait(vault_->reveal("acme", "key")).error().code(), Code::data_loss);
  ASSERT_EQ(::chmod(key_file().c_str(), 0644), 0);
  EXPECT_EQ(Vault::open(*store_, key_file()).error().code(), Code::permission_denied);
  std::ofstream(key_file(), std::ios::binary | std::ios::trunc) << "short";
  ASSERT_EQ(::chmod(key_file().c_str(), 0600), 0);
  EXPECT_EQ(Vault::open(*store_, key_file()).error().code(), Code::data_loss);
}

}  // namespace
}  // namespace atl::vault
