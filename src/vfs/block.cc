#include "vfs/block.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <new>

namespace atl::vfs::tree {
namespace {

std::uint64_t prefix_of(std::string_view name) {
  std::uint64_t word = 0;
  std::memcpy(&word, name.data(), name.size() < 8 ? name.size() : 8);
  return __builtin_bswap64(word);
}

std::string_view smallest_name(const Block* block) {
  while (block->level > 0) block = block->block(0);
  return block->node(0)->name();
}

std::string_view name_at(const Block& block, std::size_t i) {
  return block.level == 0 ? block.node(i)->name() : smallest_name(block.block(i));
}

// The first entry whose name is not less than `name`.
std::size_t lower_bound(const Block& block, std::string_view name, std::uint64_t prefix) {
  std::size_t low = 0, count = block.count;
  const BlockEntry* entries = block.entries();
  while (count > 0) {
    std::size_t half = count / 2;
    std::size_t middle = low + half;
    bool less = entries[middle].prefix < prefix ||
                (entries[middle].prefix == prefix && name_at(block, middle) < name);
    if (less) {
      low = middle + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return low;
}

// The child of an inner block that holds `name`, or would.
std::size_t child_for(const Block& block, std::string_view name, std::uint64_t prefix) {
  std::size_t i = lower_bound(block, name, prefix);
  if (i < block.count && block.entries()[i].prefix == prefix && name_at(block, i) == name) return i;
  return i == 0 ? 0 : i - 1;
}

void retain_targets(const Block& block) {
  for (std::size_t i = 0; i < block.count; ++i) {
    if (block.level == 0) {
      retain(block.node(i));
    } else {
      retain_block(block.block(i));
    }
  }
}

// A block with the same entries and room for `capacity`; takes over the entries if `block` was only ours.
Block* rebuilt(Block* block, std::size_t capacity) {
  Block* copy = new_block(capacity, block->level);
  copy->count = block->count;
  std::memcpy(copy->entries(), block->entries(), block->count * sizeof(BlockEntry));
  if (block->refs.load(std::memory_order_acquire) == 1) {
    free_block(block);
    return copy;
  }
  retain_targets(*copy);
  if (drop_block(block)) {
    // The other owner left between the two looks at the counter: the entries' references are one too many.
    for (std::size_t i = 0; i < copy->count; ++i) {
      if (copy->level == 0) {
        release(copy->node(i));
      } else {
        drop_block(copy->block(i));
      }
    }
    free_block(block);
  }
  return copy;
}

void own_block(Block*& slot, std::size_t room) {
  bool shared = slot->refs.load(std::memory_order_acquire) > 1;
  std::size_t needed = slot->count + room;
  if (!shared && needed <= slot->capacity) return;
  std::size_t capacity = needed <= slot->capacity ? slot->capacity : std::bit_ceil(needed);
  slot = rebuilt(slot, std::min(capacity, Block::kEntriesMax));
}

void put(Block& block, std::size_t at, BlockEntry entry) {
  BlockEntry* entries = block.entries();
  std::memmove(entries + at + 1, entries + at, (block.count - at) * sizeof(BlockEntry));
  entries[at] = entry;
  ++block.count;
}

void cut(Block& block, std::size_t at) {
  BlockEntry* entries = block.entries();
  std::memmove(entries + at, entries + at + 1, (block.count - at - 1) * sizeof(BlockEntry));
  --block.count;
}

BlockEntry entry_of(Block* block) {
  BlockEntry entry;
  entry.prefix = prefix_of(smallest_name(block));
  entry.to_block = block;
  return entry;
}

// Puts `entry` at `at` of the block in `slot`. A full block is split; then the right part is returned.
// Appending to a full block starts a new one, so names that come in order fill their blocks.
Block* put_or_split(Block*& slot, std::size_t at, BlockEntry entry) {
  if (slot->count < Block::kEntriesMax) {
    own_block(slot, 1);
    put(*slot, at, entry);
    return nullptr;
  }
  own_block(slot, 0);
  std::size_t keep = at == slot->count ? slot->count : slot->count / 2;
  std::size_t moved = slot->count - keep;
  Block* right = new_block(moved == 0 ? 4 : Block::kEntriesMax, slot->level);
  std::memcpy(right->entries(), slot->entries() + keep, moved * sizeof(BlockEntry));
  right->count = static_cast<std::uint8_t>(moved);
  slot->count = static_cast<std::uint8_t>(keep);
  if (at <= keep && moved > 0) {
    put(*slot, at, entry);
  } else {
    put(*right, at - keep, entry);
  }
  return right;
}

Block* insert_below(Block*& slot, Node* node, std::string_view name, std::uint64_t prefix) {
  if (slot->level == 0)
    return put_or_split(slot, lower_bound(*slot, name, prefix), BlockEntry{prefix, {node}});
  own_block(slot, 0);
  std::size_t i = child_for(*slot, name, prefix);
  Block* child = slot->block(i);
  Block* right = insert_below(child, node, name, prefix);
  slot->entries()[i] = entry_of(child);
  return right == nullptr ? nullptr : put_or_split(slot, i + 1, entry_of(right));
}

// Joins child `i` with its right neighbour when both together are small.
void join_small(Block& parent, std::size_t i) {
  if (i + 1 >= parent.count) {
    if (i == 0) return;
    --i;
  }
  Block* left = parent.block(i);
  Block* right = parent.block(i + 1);
  if (left->count + right->count > Block::kEntriesMax / 2) return;
  own_block(left, right->count);
  std::memcpy(left->entries() + left->count, right->entries(), right->count * sizeof(BlockEntry));
  left->count = static_cast<std::uint8_t>(left->count + right->count);
  parent.entries()[i].to_block = left;
  retain_targets(*right);
  if (drop_block(right)) {
    for (std::size_t k = 0; k < right->count; ++k) {
      if (right->level == 0) {
        release(right->node(k));
      } else {
        drop_block(right->block(k));
      }
    }
    free_block(right);
  }
  cut(parent, i + 1);
}

Node* take_below(Block*& slot, std::string_view name, std::uint64_t prefix) {
  own_block(slot, 0);
  if (slot->level == 0) {
    std::size_t i = lower_bound(*slot, name, prefix);
    Node* node = slot->node(i);
    cut(*slot, i);
    return node;
  }
  std::size_t i = child_for(*slot, name, prefix);
  Block* child = slot->block(i);
  Node* node = take_below(child, name, prefix);
  if (child->count == 0) {
    free_block(child);
    cut(*slot, i);
  } else {
    slot->entries()[i] = entry_of(child);
    if (child->count < Block::kEntriesMax / 4) join_small(*slot, i);
  }
  return node;
}

}  // namespace

Block* new_block(std::size_t capacity, std::uint8_t level) {
  void* memory = std::malloc(sizeof(Block) + capacity * sizeof(BlockEntry));
  if (memory == nullptr) throw std::bad_alloc();
  auto* block = new (memory) Block;
  block->capacity = static_cast<std::uint8_t>(capacity);
  block->level = level;
  return block;
}

void retain_block(Block* block) {
  block->refs.fetch_add(1, std::memory_order_relaxed);
}
bool drop_block(Block* block) {
  return block->refs.fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void free_block(Block* block) {
  block->~Block();
  std::free(block);
}

Node* find_in(const Block* root, std::string_view name) {
  if (root == nullptr) return nullptr;
  std::uint64_t prefix = prefix_of(name);
  while (root->level > 0) root = root->block(child_for(*root, name, prefix));
  std::size_t i = lower_bound(*root, name, prefix);
  if (i == root->count || root->entries()[i].prefix != prefix) return nullptr;
  Node* node = root->node(i);
  return node->name() == name ? node : nullptr;
}

void insert_into(Block*& slot, Node* node) {
  std::string_view name = node->name();
  if (slot == nullptr) slot = new_block(2, 0);
  Block* right = insert_below(slot, node, name, prefix_of(name));
  if (right == nullptr) return;
  Block* top = new_block(4, static_cast<std::uint8_t>(slot->level + 1));
  put(*top, 0, entry_of(slot));
  put(*top, 1, entry_of(right));
  slot = top;
}

Node* take_from(Block*& slot, std::string_view name) {
  if (find_in(slot, name) == nullptr) return nullptr;
  Node* node = take_below(slot, name, prefix_of(name));
  while (slot->level > 0 && slot->count == 1) {
    Block* child = slot->block(0);
    free_block(slot);
    slot = child;
  }
  if (slot->count == 0) {
    free_block(slot);
    slot = nullptr;
  }
  return node;
}

Node*& slot_in(Block*& slot, std::string_view name) {
  std::uint64_t prefix = prefix_of(name);
  Block** at = &slot;
  while (true) {
    own_block(*at, 0);
    if ((*at)->level == 0) break;
    std::size_t i = child_for(**at, name, prefix);
    at = &(*at)->entries()[i].to_block;
  }
  std::size_t i = lower_bound(**at, name, prefix);
  assert(i < (*at)->count && (*at)->node(i)->name() == name);
  return (*at)->entries()[i].to_node;
}

std::size_t count_in(const Block* root) {
  if (root == nullptr) return 0;
  if (root->level == 0) return root->count;
  std::size_t sum = 0;
  for (std::size_t i = 0; i < root->count; ++i) sum += count_in(root->block(i));
  return sum;
}

}  // namespace atl::vfs::tree
