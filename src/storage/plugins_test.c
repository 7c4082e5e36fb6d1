/* Storages for tests: one that works, in memory, and one for each way to misbehave. */
#include <atoll/storage_plugin.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct value {
  struct value* next;
  struct atoll_bytes key, bytes;
};
struct space {
  struct space* next;
  char* name;
  struct value* values;
};
static struct space* spaces;

static struct atoll_bytes copy(struct atoll_bytes from) {
  char* data = malloc(from.size + 1);
  memcpy(data, from.data, from.size);
  return (struct atoll_bytes){data, from.size};
}

static void say(atoll_storage_write why, void* to, const char* words) {
  why(to, words, strlen(words));
}

static void* open_space(const char* directory, const char* name, atoll_storage_write why, void* to) {
  (void)directory;
  if (strcmp(name, "refused") == 0) {
    say(why, to, "not this one");
    return NULL;
  }
  for (struct space* one = spaces; one != NULL; one = one->next)
    if (strcmp(one->name, name) == 0) return one;
  struct space* made = calloc(1, sizeof *made);
  made->name = strdup(name);
  made->next = spaces;
  spaces = made;
  return made;
}

static int load(void* of, atoll_storage_visit visit, void* visitor, atoll_storage_write why, void* to) {
  (void)why;
  (void)to;
  for (struct value* one = ((struct space*)of)->values; one != NULL; one = one->next)
    visit(visitor, one->key, one->bytes);
  return 0;
}

static void drop(struct space* of, struct atoll_bytes key) {
  for (struct value** at = &of->values; *at != NULL; at = &(*at)->next) {
    struct value* one = *at;
    if (one->key.size != key.size || memcmp(one->key.data, key.data, key.size) != 0) continue;
    *at = one->next;
    free((char*)one->key.data);
    free((char*)one->bytes.data);
    free(one);
    return;
  }
}

static int apply(void* of, const struct atoll_storage_change* changes, size_t count, atoll_storage_write why,
                 void* to) {
  (void)why;
  (void)to;
  for (size_t i = 0; i < count; ++i) {
    drop(of, changes[i].key);
    if (changes[i].remove) continue;
    struct value* one = malloc(sizeof *one);
    *one = (struct value){((struct space*)of)->values, copy(changes[i].key), copy(changes[i].value)};
    ((struct space*)of)->values = one;
  }
  return 0;
}

static void close_space(void* of) {
  (void)of;
}

static int crash(void* of, const struct atoll_storage_change* changes, size_t count, atoll_storage_write why,
                 void* to) {
  (void)of, (void)changes, (void)count, (void)why, (void)to;
  abort();
}

static int hang(void* of, const struct atoll_storage_change* changes, size_t count, atoll_storage_write why,
                void* to) {
  (void)of, (void)changes, (void)count, (void)why, (void)to;
  for (;;) pause();
}

static int refuse(void* of, const struct atoll_storage_change* changes, size_t count, atoll_storage_write why,
                  void* to) {
  (void)of, (void)changes, (void)count;
  say(why, to, "the moon is full");
  return 1;
}

static int lie(void* of, atoll_storage_visit visit, void* visitor, atoll_storage_write why, void* to) {
  (void)of, (void)why, (void)to;
  const struct atoll_bytes key = {"/../etc/passwd", 14}, value = {"\x05nothing", 8};
  visit(visitor, key, value);
  return 0;
}

/* Fails without a word, except at what "wordless" is not asked for: a space "opens" opens. */
static void* open_nothing(const char* directory, const char* name, atoll_storage_write why, void* to) {
  static int place;
  (void)directory, (void)why, (void)to;
  return strcmp(name, "opens") == 0 ? &place : NULL;
}

static int load_nothing(void* of, atoll_storage_visit visit, void* visitor, atoll_storage_write why,
                        void* to) {
  (void)of, (void)visit, (void)visitor, (void)why, (void)to;
  return 1;
}

static int apply_nothing(void* of, const struct atoll_storage_change* changes, size_t count,
                         atoll_storage_write why, void* to) {
  (void)of, (void)changes, (void)count, (void)why, (void)to;
  return 1;
}

static int discard_nothing(const char* directory, const char* name, atoll_storage_write why, void* to) {
  (void)directory, (void)name, (void)why, (void)to;
  return 1;
}

static int discard_space(const char* directory, const char* name, atoll_storage_write why, void* to) {
  (void)directory;
  if (strcmp(name, "kept") == 0) {
    say(why, to, "this one stays");
    return 1;
  }
  for (struct space* one = spaces; one != NULL; one = one->next)
    if (strcmp(one->name, name) == 0) one->name[0] = '\0';
  return 0;
}

static const struct atoll_storage storages[] = {
    {"memory", open_space, load, apply, close_space, NULL},
    {"crasher", open_space, load, crash, close_space, NULL},
    {"hanger", open_space, load, hang, close_space, NULL},
    {"refuser", open_space, load, refuse, close_space, NULL},
    {"liar", open_space, lie, apply, close_space, NULL},
    {"wordless", open_nothing, load_nothing, apply_nothing, close_space, discard_nothing},
    {"discarder", open_space, load, apply, close_space, discard_space},
};

const struct atoll_storage_table* atoll_storage_plugin(void) {
#ifdef PLUGIN_IS_NEWER
  static const struct atoll_storage_table table = {ATOLL_STORAGE_ABI + 1, 1, storages};
#elif defined PLUGIN_IS_EMPTY
  static const struct atoll_storage_table table = {ATOLL_STORAGE_ABI, 0, storages};
#else
  static const struct atoll_storage_table table = {ATOLL_STORAGE_ABI, sizeof storages / sizeof *storages,
                                                   storages};
#endif
  return &table;
}
