#### x=1; (x=2; echo $x); echo $x
x=1; (x=2; echo $x); echo $x
#| 2
#| 1

#### (cd /; pwd); [ "$PWD" != / ] && echo ok
(cd /; pwd); [ "$PWD" != / ] && echo ok
#| /
#| ok

#### echo a & wait; echo b
echo a & wait; echo b
#| a
#| b

#### (exit 3) & wait $!; echo $?
(exit 3) & wait $!; echo $?
#| 3

#### true & p=$!; wait $p; echo $?
true & p=$!; wait $p; echo $?
#| 0

#### { echo bg; } & wait
{ echo bg; } & wait
#| bg

#### (trap "echo t" EXIT; echo b)
(trap "echo t" EXIT; echo b)
#| b
#| t

#### echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL)
echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL)
#| 0
#| 1

#### kill -0 $$ && echo alive
kill -0 $$ && echo alive
#| alive

#### (kill -TERM $BASHPID); echo $?
(kill -TERM $BASHPID); echo $?
#| 143

#### wait 99999 2>/dev/null; echo $?
wait 99999 2>/dev/null; echo $?
#| 127
