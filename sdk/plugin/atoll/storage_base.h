// A storage of one's own in C++: derive from StorageBase, say how a space is read and changed, and register
// it.
//
//   struct Notes : atl::StorageBase {
//     Notes(const std::string& directory, const std::string& space);
//     void load(const Visit& visit) override;
//     void apply(const std::vector<Change>& changes) override;
//   };
//   ATOLL_STORAGE("notes", Notes)
//   ATOLL_STORAGE_PLUGIN
//
// Build it as a shared object; `storages: {mine: {kind: plugin, library: libnotes.so}}` declares it.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "storage_plugin.h"

namespace atl {  // not atoll: the C library has a function of that name

// One space. An exception is the call's failure, and its words reach the operator and the caller.
class StorageBase {
 public:
  struct Change {
    std::string_view key, value;
    bool remove;
  };
  using Visit = std::function<void(std::string_view key, std::string_view value)>;

  virtual ~StorageBase() = default;
  // Tells every value that is kept, in any order.
  virtual void load(const Visit& visit) = 0;
  // All of the changes in their order, for good, or, with an exception, none of them.
  virtual void apply(const std::vector<Change>& changes) = 0;
};

namespace plugin {

inline std::vector<atoll_storage>& storages() {
  static std::vector<atoll_storage> all;
  return all;
}

// Runs `body`; the words of what it throws go to whoever asked.
template <class Body>
int guarded(atoll_storage_write why, void* to, Body body) {
  try {
    body();
    return 0;
  } catch (const std::exception& problem) {
    const std::string words = problem.what();
    why(to, words.data(), words.size());
    return 1;
  }
}

template <class Storage>
void* open(const char* directory, const char* space, atoll_storage_write why, void* to) {
  StorageBase* made = nullptr;
  guarded(why, to, [&] { made = new Storage(directory, space); });
  return made;
}

inline int load(void* space, atoll_storage_visit visit, void* visitor, atoll_storage_write why, void* to) {
  return guarded(why, to, [&] {
    static_cast<StorageBase*>(space)->load([&](std::string_view key, std::string_view value) {
      visit(visitor, {key.data(), key.size()}, {value.data(), value.size()});
    });
  });
}

inline int apply(void* space, const atoll_storage_change* changes, size_t count, atoll_storage_write why,
                 void* to) {
  return guarded(why, to, [&] {
    std::vector<StorageBase::Change> all;
    for (size_t i = 0; i < count; ++i)
      all.push_back({{changes[i].key.data, changes[i].key.size},
                     {changes[i].value.data, changes[i].value.size},
                     changes[i].remove != 0});
    static_cast<StorageBase*>(space)->apply(all);
  });
}

inline void close(void* space) {
  delete static_cast<StorageBase*>(space);
}

struct StorageRegistration {
  StorageRegistration(const char* name,
                      void* (*opener)(const char*, const char*, atoll_storage_write, void*)) {
    storages().push_back({name, opener, load, apply, close, nullptr});
  }
};

}  // namespace plugin
}  // namespace atl

// Once for each storage, in namespace scope.
#define ATOLL_STORAGE(NAME, TYPE) \
  static const atl::plugin::StorageRegistration atoll_registered_##TYPE(NAME, atl::plugin::open<TYPE>);

// Once for each plugin: what Atoll looks for.
#define ATOLL_STORAGE_PLUGIN                                                                      \
  extern "C" const atoll_storage_table* atoll_storage_plugin(void) {                              \
    static const atoll_storage_table table{ATOLL_STORAGE_ABI,                                     \
                                           static_cast<uint32_t>(atl::plugin::storages().size()), \
                                           atl::plugin::storages().data()};                       \
    return &table;                                                                                \
  }
