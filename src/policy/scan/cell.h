#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/verdict.h"

namespace atl::policy {

// A cell is Python with a notebook's shorthands: lines that begin with ! or %, and %%words that take the
// whole cell. The interpreter (guest/runners/python.py) turns them into calls before Python sees the cell, so
// they are turned here by the same steps, and what they run is read as what it is.

// Text that a cell runs and that is not its Python.
struct Embedded {
  std::uint32_t offset = 0;  // in the cell's own text as read_cell() gives it
  Language language = Language::shell;
  std::string text;
};

struct Cell {
  // What `text` is: Python in general, another language where a %%word says so.
  Language language = Language::python;
  // As many lines as were written, with a call in the place of each shorthand.
  std::string text;
  std::vector<Embedded> embedded;
  // %%words that nothing here knows: the interpreter refuses them, or runs we know not what.
  std::string unknown_word;
};

// False, at the cost of a search, for a cell that is nothing but Python as it is written.
// True may be wrong (a % inside a string); read_cell() then gives the cell back unchanged.
bool has_shorthands(std::string_view code);
// Total: every text gives a cell. Lines keep their numbers, so findings stand where the user wrote them.
Cell read_cell(std::string_view code);
// What `%word rest` and `%%word rest` with a body run, as a cell: for get_ipython().run_cell_magic(...).
std::string magic_cell(std::string_view word, std::string_view rest, std::string_view body);

}  // namespace atl::policy
