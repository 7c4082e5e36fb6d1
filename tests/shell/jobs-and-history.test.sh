#### sleep 0.01 & wait; jobs; echo $?
sleep 0.01 & wait; jobs; echo $?
#| 0

#### sleep 5 & jobs; kill %1; wait %1; echo $?
sleep 5 & jobs; kill %1; wait %1; echo $?
#| [1]+  Running                 sleep 5 &
#| 143

#### sleep 5 & jobs -p | grep -c .; kill $!
sleep 5 & jobs -p | grep -c .; kill $!
#| 1

#### sleep 5 & jobs -l | sed 's/ *[0-9]\{2,\}/ PID/'; kill $!
sleep 5 & jobs -l | sed 's/ *[0-9]\{2,\}/ PID/'; kill $!
#| [1]+ PID Running                 sleep 5 &

#### sleep 5 & sleep 6 & jobs; kill %1 %2
sleep 5 & sleep 6 & jobs; kill %1 %2
#| [1]-  Running                 sleep 5 &
#| [2]+  Running                 sleep 6 &

#### sleep 5 & jobs -r; jobs -s; kill %+
sleep 5 & jobs -r; jobs -s; kill %+
#| [1]+  Running                 sleep 5 &

#### jobs %3 2>&1; echo $?
jobs %3 2>&1; echo $?
#| bash: line 1: jobs: %3: no such job
#| 1

#### jobs -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
jobs -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: jobs: -z: invalid option
#| 2

#### sleep 5 & p=$!; disown $p; jobs; kill $p
sleep 5 & p=$!; disown $p; jobs; kill $p

#### sleep 5 & disown -h %1; jobs; kill %1
sleep 5 & disown -h %1; jobs; kill %1
#| [1]+  Running                 sleep 5 &

#### sleep 5 & disown -a; jobs; kill $!
sleep 5 & disown -a; jobs; kill $!

#### disown %9 2>&1; echo $?
disown %9 2>&1; echo $?
#| bash: line 1: disown: %9: no such job
#| 1

#### fg 2>&1; echo $?
fg 2>&1; echo $?
#| bash: line 1: fg: no job control
#| 1

#### bg 2>&1; echo $?
bg 2>&1; echo $?
#| bash: line 1: bg: no job control
#| 1

#### fg %1 2>&1; echo $?
fg %1 2>&1; echo $?
#| bash: line 1: fg: no job control
#| 1

#### kill -l | head -1 | cut -c1-12
kill -l | head -1 | cut -c1-12
#|  1) SIGHUP	 

#### kill -l 15; kill -l TERM; kill -l 143
kill -l 15; kill -l TERM; kill -l 143
#| TERM
#| 15
#| TERM

#### kill -l 999 2>&1; echo $?
kill -l 999 2>&1; echo $?
#| bash: line 1: kill: 999: invalid signal specification
#| 1

#### kill 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
kill 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]
#| 2

#### kill %9 2>&1; echo $?
kill %9 2>&1; echo $?
#| bash: line 1: kill: %9: no such job
#| 1

#### kill x 2>&1; echo $?
kill x 2>&1; echo $?
#| bash: line 1: kill: x: arguments must be process or job IDs
#| 1

#### kill -NOPE $$ 2>&1; echo $?
kill -NOPE $$ 2>&1; echo $?
#| bash: line 1: kill: NOPE: invalid signal specification
#| 1

#### kill -s 2>&1; echo $?
kill -s 2>&1; echo $?
#| bash: line 1: kill: -s: option requires an argument
#| 1

#### kill -s TERM 999999 2>&1; echo $?
kill -s TERM 999999 2>&1; echo $?
#| bash: line 1: kill: (999999) - No such process
#| 1

#### sleep 5 & kill -s KILL $!; wait $!; echo $?
sleep 5 & kill -s KILL $!; wait $!; echo $?
#| 137

#### sleep 5 & kill -n 9 $!; wait $!; echo $?
sleep 5 & kill -n 9 $!; wait $!; echo $?
#| 137

#### sleep 5 & kill -TERM %sleep; wait $!; echo $?
sleep 5 & kill -TERM %sleep; wait $!; echo $?
#| 143

#### kill -0 $$; echo $?
kill -0 $$; echo $?
#| 0

#### wait 999999 2>&1; echo $?
wait 999999 2>&1; echo $?
#| bash: line 1: wait: pid 999999 is not a child of this shell
#| 127

#### wait %5 2>&1; echo $?
wait %5 2>&1; echo $?
#| bash: line 1: wait: %5: no such job
#| 127

#### (exit 3) & wait $!; echo $?; wait $!; echo $?
(exit 3) & wait $!; echo $?; wait $!; echo $?
#| 3
#| 3

#### (exit 3) & (exit 4) & wait -n; wait -n; wait -n; echo $?
(exit 3) & (exit 4) & wait -n; wait -n; wait -n; echo $?
#| 127

#### (exit 7) & wait -n -p who; echo $? $((who == $!))
(exit 7) & wait -n -p who; echo $? $((who == $!))
#| 7 1

#### sleep 0.01 & (exit 5) & wait $!; echo $?; wait; echo $?
sleep 0.01 & (exit 5) & wait $!; echo $?; wait; echo $?
#| 5
#| 0

#### wait -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
wait -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: wait: -z: invalid option
#| 2

#### history; echo $?
history; echo $?
#| 0

#### set -o history; echo a > /dev/null; history | sed 's/^ *[0-9]* *//'
set -o history; echo a > /dev/null; history | sed 's/^ *[0-9]* *//'

#### history -s 'echo one' 'two'; history | sed 's/^ *//'
history -s 'echo one' 'two'; history | sed 's/^ *//'
#| 1  echo one two

#### history -s a; history -s b; history -d 1; history | sed 's/^ *//'
history -s a; history -s b; history -d 1; history | sed 's/^ *//'
#| 1  b

#### history -s a; history -s b; history 1 | sed 's/^ *//'
history -s a; history -s b; history 1 | sed 's/^ *//'
#| 2  b

#### history -s a; history -c; history
history -s a; history -c; history

#### history -s a; history -w h; cat h
history -s a; history -w h; cat h
#| a

#### printf 'x\ny\n' > h; history -r h; history | sed 's/^ *//'
printf 'x\ny\n' > h; history -r h; history | sed 's/^ *//'
#| 1  x
#| 2  y

#### history -d 99 2>&1; echo $?
history -d 99 2>&1; echo $?
#| bash: line 1: history: 99: history position out of range
#| 1

#### history x 2>&1; echo $?
history x 2>&1; echo $?
#| bash: line 1: history: x: numeric argument required
#| 1

#### history -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
history -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: history: -z: invalid option
#| 2

#### history -a; echo $?
history -a; echo $?
#| 0

#### fc -l 2>&1; echo $?
fc -l 2>&1; echo $?
#| 0

#### history -s 'echo hi'; fc -l -1 2>&1 | sed 's/^[0-9]*//'
history -s 'echo hi'; fc -l -1 2>&1 | sed 's/^[0-9]*//'
#| 	 echo hi

#### history -s 'echo hi'; history -s 'echo ho'; fc -ln 1 2 | sed 's/^[\t ]*//'
history -s 'echo hi'; history -s 'echo ho'; fc -ln 1 2 | sed 's/^[\t ]*//'
#| echo hi
#| echo ho

#### history -s 'echo hi'; fc -s echo 2>&1
history -s 'echo hi'; fc -s echo 2>&1
#| echo hi
#| hi

#### history -s 'echo hi'; fc -s hi=ho echo 2>&1
history -s 'echo hi'; fc -s hi=ho echo 2>&1
#| echo ho
#| ho

#### fc -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
fc -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: fc: -z: invalid option
#| 2

#### suspend 2>&1 | sed 's/^.*: suspend/suspend/'; echo ${PIPESTATUS[0]}
suspend 2>&1 | sed 's/^.*: suspend/suspend/'; echo ${PIPESTATUS[0]}
#| suspend: cannot suspend: no job control
#| 1

#### logout 2>&1; echo $?
logout 2>&1; echo $?
#| bash: line 1: logout: not login shell: use `exit'
#| 1

#### times | wc -l
times | wc -l
#| 2

#### caller; echo $?
caller; echo $?
#| 1

#### f() { caller; }; f
f() { caller; }; f
#| 1 NULL

#### f() { caller 0; }; g() { f; }; g
f() { caller 0; }; g() { f; }; g
#| 1 g environment

#### f() { caller 5; echo $?; }; f
f() { caller 5; echo $?; }; f
#| 1

#### caller x 2>&1; echo $?
caller x 2>&1; echo $?
#| 1

#### enable -n echo; type -t echo; enable echo; type -t echo
enable -n echo; type -t echo; enable echo; type -t echo
#| file
#| builtin

#### enable -n test; enable -n; enable test
enable -n test; enable -n; enable test
#| enable -n test

#### enable nosuch 2>&1; echo $?
enable nosuch 2>&1; echo $?
#| bash: line 1: enable: nosuch: not a shell builtin
#| 1

#### enable -p | head -2
enable -p | head -2
#| enable .
#| enable :

#### enable -s | head -2
enable -s | head -2
#| enable .
#| enable :

#### help true | head -1
help true | head -1
#| true: true

#### help -s cd
help -s cd
#| cd: cd [-L|[-P [-e]] [-@]] [dir]

#### help nosuch 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
help nosuch 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: help: no help topics match `nosuch'.  Try `help help' or `man -k nosuch' or `info nosuch'.
#| 1

#### umask; umask 027; umask; umask -S
umask; umask 027; umask; umask -S
#| 0022
#| 0027
#| u=rwx,g=rx,o=

#### umask u=rwx,g=rx,o=; umask; umask -p
umask u=rwx,g=rx,o=; umask; umask -p
#| 0027
#| umask 0027

#### umask 022; umask g-w,o+w; umask
umask 022; umask g-w,o+w; umask
#| 0020

#### umask 999 2>&1; echo $?
umask 999 2>&1; echo $?
#| bash: line 1: umask: 999: octal number out of range
#| 1

#### umask x=y 2>&1; echo $?
umask x=y 2>&1; echo $?
#| bash: line 1: umask: `x': invalid symbolic mode operator
#| 1

#### umask -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
umask -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: umask: -z: invalid option
#| 2

#### umask 077; touch f; mkdir d; stat -c %a f d
umask 077; touch f; mkdir d; stat -c %a f d
#| 600
#| 700

#### ulimit -c; ulimit -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
ulimit -c; ulimit -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| 0
#| bash: line 1: ulimit: -z: invalid option
#| 2

#### ulimit -n 50; ulimit -n; ulimit -Sn; ulimit -Hn
ulimit -n 50; ulimit -n; ulimit -Sn; ulimit -Hn
#| 50
#| 50
#| 50

#### ulimit -n 10; ulimit -n 20 2>&1; echo $?
ulimit -n 10; ulimit -n 20 2>&1; echo $?
#| bash: line 1: ulimit: open files: cannot modify limit: Operation not permitted
#| 1

#### ulimit -n x 2>&1; echo $?
ulimit -n x 2>&1; echo $?
#| bash: line 1: ulimit: x: invalid number
#| 1

#### hash; echo $?
hash; echo $?
#| hash: hash table empty
#| 0

#### hash ls; hash -t ls | sed 's,.*/,,'
hash ls; hash -t ls | sed 's,.*/,,'
#| ls

#### hash nosuch 2>&1; echo $?
hash nosuch 2>&1; echo $?
#| bash: line 1: hash: nosuch: not found
#| 1

#### hash -r; hash -t ls 2>&1; echo $?
hash -r; hash -t ls 2>&1; echo $?
#| bash: line 1: hash: ls: not found
#| 1

#### hash -p /bin/echo e; hash -t e; e hi
hash -p /bin/echo e; hash -t e; e hi
#| /bin/echo
#| hi

#### hash -p /bin/echo e; hash -d e; hash -t e 2>&1; echo $?
hash -p /bin/echo e; hash -d e; hash -t e 2>&1; echo $?
#| bash: line 1: hash: e: not found
#| 1

#### hash -l; echo $?
hash -l; echo $?
#| 0

#### hash -p /bin/echo e; hash -l
hash -p /bin/echo e; hash -l
#| builtin hash -p /bin/echo e

#### hash -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
hash -z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: hash: -z: invalid option
#| 2
