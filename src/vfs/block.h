#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "vfs/tree.h"

// The B+ tree of one directory. A leaf holds nodes, an inner block holds blocks; both are sorted by the bytes
// of names. Next to each pointer stand the first eight bytes of its (smallest) name, big-endian, so that a
// search rarely leaves the block.
namespace atl::vfs::tree {

struct Block;

struct BlockEntry {
  std::uint64_t prefix;
  union {
    Node* to_node;    // in a leaf (level 0)
    Block* to_block;  // above
  };
};

struct Block {
  static constexpr std::size_t kEntriesMax = 64;

  std::atomic<std::uint32_t> refs{1};
  std::uint8_t count = 0;
  std::uint8_t capacity = 0;
  std::uint8_t level = 0;

  // They follow the header in the same allocation.
  // JUSTIFICATION: the entries follow the header in the same allocation.
  BlockEntry* entries() { return reinterpret_cast<BlockEntry*>(this + 1); }
  const BlockEntry* entries() const { return reinterpret_cast<const BlockEntry*>(this + 1); }
  Node* node(std::size_t i) const { return entries()[i].to_node; }
  Block* block(std::size_t i) const { return entries()[i].to_block; }
};

Block* new_block(std::size_t capacity, std::uint8_t level);
void retain_block(Block* block);
// Takes one reference away; true if it was the last, and then the block's entries are the caller's to
// release.
bool drop_block(Block* block);
void free_block(Block* block);

// `slot` is the root block of a directory, null when empty; see the functions of the same purpose in tree.h.
Node* find_in(const Block* root, std::string_view name);
void insert_into(Block*& slot, Node* node);
Node* take_from(Block*& slot, std::string_view name);
Node*& slot_in(Block*& slot, std::string_view name);
std::size_t count_in(const Block* root);

}  // namespace atl::vfs::tree
