#pragma once

// The copy of an interpreter that goes on when the interpreter dies: docs/decisions/spare-interpreters.md.
namespace atl::guest {

// As fork, but nothing that watches forks and children sees it: no handler runs, its end sends no signal, and
// only a wait that asks for such children finds it. The number of the copy, or -errno. In the copy it returns
// 0, once this process has ended: until then it stands still, in a session of its own and deaf to signals.
// One thread may be there only.
long make_spare();

// Ends the copy and waits for its end; nothing if there is no such child any more.
void end_spare(int pid);

}  // namespace atl::guest
