/* The interface between Atoll and a storage that is a shared object. C, so that any language can provide it.
 *
 * A storage keeps values by key, for one space (the files of one session, or of those that share them). Keys
 * and values are bytes whose meaning is Atoll's. A plugin exports one function, atoll_storage_plugin(), that
 * gives the table of its storages. Atoll loads it in a process of its own inside a sandbox, where it sees one
 * directory for its data and nothing else of the machine: a plugin may crash or hang, and the calls under way
 * fail; then it is started anew. One call is made at a time. Build: cc -shared -fPIC -o libnotes.so notes.c
 */
#ifndef ATOLL_STORAGE_PLUGIN_H
#define ATOLL_STORAGE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when this file changes in a way that older plugins cannot follow. */
#define ATOLL_STORAGE_ABI 1u

struct atoll_bytes {
  const char* data;
  size_t size;
};

/* One change: `value` is set for `key`, or, if `remove` is not 0, what the key has is removed, if it has any.
 */
struct atoll_storage_change {
  struct atoll_bytes key, value;
  int remove;
};

/* Takes `size` bytes of an answer. May be called several times; the pieces are put together. */
typedef void (*atoll_storage_write)(void* to, const char* bytes, size_t size);
/* Takes one value that is kept. */
typedef void (*atoll_storage_visit)(void* to, struct atoll_bytes key, struct atoll_bytes value);

struct atoll_storage {
  const char* name; /* as in the setting: {kind: plugin, library: ..., storage: NAME} */
  /* The space of this name, made if it is missing. `directory` is the one that the storage may write to. NULL
   * is failure, and what was written is the reason as text. */
  void* (*open)(const char* directory, const char* space, atoll_storage_write why, void* to);
  /* Every value that is kept, in any order. Not 0 is failure. */
  int (*load)(void* space, atoll_storage_visit visit, void* visitor, atoll_storage_write why, void* to);
  /* All of the changes in their order, for good, or none of them. Not 0 is failure. */
  int (*apply)(void* space, const struct atoll_storage_change* changes, size_t count, atoll_storage_write why,
               void* to);
  /* Nothing more is asked of it. Called once for each open() that gave one. */
  void (*close)(void* space);
  /* Removes the space and what only it has. It is not open. May be NULL: then every key is removed. */
  int (*discard)(const char* directory, const char* space, atoll_storage_write why, void* to);
};

struct atoll_storage_table {
  uint32_t abi; /* ATOLL_STORAGE_ABI */
  uint32_t count;
  const struct atoll_storage* storages;
};

/* What a plugin exports. The table lives as long as the plugin is loaded. */
const struct atoll_storage_table* atoll_storage_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
