/* The interface between Atoll and a tool that is a shared object. C, so that any language can provide it.
 *
 * A plugin exports one function, atoll_tool_plugin(), that gives the table of its tools. Atoll loads it only
 * inside a sandbox that is made for one call: a plugin may crash, hang or eat memory, and only that call
 * fails. It reads its input and writes its output as JSON; the schemas are in the tool's YAML, and Atoll
 * checks both. Build: cc -shared -fPIC -o libwords.so words.c */
#ifndef ATOLL_TOOL_PLUGIN_H
#define ATOLL_TOOL_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when this file changes in a way that older plugins cannot follow. */
#define ATOLL_TOOL_ABI 1u

/* Takes `size` bytes of the answer. May be called several times; the pieces are put together. */
typedef void (*atoll_tool_write)(void* to, const char* bytes, size_t size);

struct atoll_tool {
  const char* name; /* as in the YAML */
  /* Answers one call: 0 is success, and what was written is the output as JSON. Anything else is failure, and
   * what was written is the reason as text. `input` is JSON with `size` bytes, and a NUL behind them. */
  int (*call)(const char* input, size_t size, atoll_tool_write write, void* to);
};

struct atoll_tool_table {
  uint32_t abi; /* ATOLL_TOOL_ABI */
  uint32_t count;
  const struct atoll_tool* tools;
};

/* What a plugin exports. The table lives as long as the plugin is loaded. */
const struct atoll_tool_table* atoll_tool_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
