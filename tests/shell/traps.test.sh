#### trap "echo bye" EXIT; echo hi
trap "echo bye" EXIT; echo hi
#| hi
#| bye

#### trap "echo e" ERR; false; true
trap "echo e" ERR; false; true
#| e

#### trap "echo u" USR1; kill -USR1 $$; echo after
trap "echo u" USR1; kill -USR1 $$; echo after
#| u
#| after

#### trap "echo x" EXIT; trap - EXIT; echo n
trap "echo x" EXIT; trap - EXIT; echo n
#| n

#### trap "echo a" EXIT; trap
trap "echo a" EXIT; trap
#| trap -- 'echo a' EXIT
#| a

#### f() { trap "echo r" RETURN; }; f
f() { trap "echo r" RETURN; }; f
#| r

#### trap "" TERM; kill -TERM $$; echo alive
trap "" TERM; kill -TERM $$; echo alive
#| alive

#### trap "echo $?" EXIT; (exit 2)
trap "echo $?" EXIT; (exit 2)
#| 0
#? 2

#### trap "echo st=\$?" EXIT; exit 5
trap "echo st=\$?" EXIT; exit 5
#| st=5
#? 5

#### set -e; trap "echo bye" EXIT; false; echo no
set -e; trap "echo bye" EXIT; false; echo no
#| bye
#? 1

#### trap "echo d" DEBUG; :; :
trap "echo d" DEBUG; :; :
#| d
#| d
