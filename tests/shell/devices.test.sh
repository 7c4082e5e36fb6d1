#### devices exist
ls /dev/null; [ -e /dev/null ] && echo there; [ -c /dev/null ] && echo device; [ -f /dev/null ] || echo no file; [ -s /dev/null ] || echo empty
#| /dev/null
#| there
#| device
#| no file
#| empty

#### more of them
for d in null zero full random urandom; do [ -c /dev/$d ] && echo $d; done; ls -d /dev/fd /dev/stdin /dev/stdout /dev/stderr
#| null
#| zero
#| full
#| random
#| urandom
#| /dev/fd
#| /dev/stderr
#| /dev/stdin
#| /dev/stdout

#### nothing is read and everything is taken
cat /dev/null; echo x > /dev/null; wc -c < /dev/null; echo $?
#| 0
#| 0

#### a copy of nothing empties a file
echo x > f; cp /dev/null f; wc -c < f
#| 0

#### a copy to nowhere
echo x > f; cp f /dev/null; echo $?; cat f; cat /dev/null
#| 0
#| x

#### a copy of standard input
echo x | cp /dev/stdin f; cat f
#| x

#### a copy from one substitution to another file
cp <(echo hi) f; cat f
#| hi

#### a link to a device
ln -s /dev/null l; echo x > l; cat l; ls; wc -c < l
#| l
#| 0

#### zeros
head -c 3 /dev/zero | od -An -tx1
#|  00 00 00

#### a device that is full
echo x > /dev/full; echo $?
#| 1

#### commands as files
ls /bin/ls /usr/bin/awk; test -x /bin/ls; echo $?; test -f /usr/bin/sort; echo $?
#| /bin/ls
#| /usr/bin/awk
#| 0
#| 0

#### found by name
type -p sort; command -v sort; which sort; type sort
#| /usr/bin/sort
#| /usr/bin/sort
#| /usr/bin/sort
#| sort is /usr/bin/sort

#### a pattern finds them
echo /usr/bin/ba[s]h /bin/se[dx]
#| /usr/bin/bash /bin/sed

#### run by path
/bin/echo a; /usr/bin/printf '%s\n' b; /bin/cat <<< c; /usr/bin/env echo d; /usr/bin/test 1 = 1; echo $?
#| a
#| b
#| c
#| d
#| 0

#### a copy of a command is the same command
mkdir b; cp /usr/bin/seq b/mine; b/mine 2; PATH=$PWD/b:$PATH; mine 3
#| 1
#| 2
#| 1
#| 2
#| 3

#### a link to a command
ln -s /usr/bin/seq s; ./s 2
#| 1
#| 2

#### a command found first in another directory
mkdir b; printf '#!/bin/sh\necho own\n' > b/seq; chmod +x b/seq; PATH=$PWD/b:$PATH; seq 3; type -p seq | grep -c /b/seq
#| own
#| 1

#### a script names its interpreter
printf '#!/bin/bash\necho $0 $1\n' > s; chmod +x s; ./s x; printf '#!/usr/bin/env bash\necho env $1\n' > s; ./s y; printf '#!/usr/bin/awk -f\nBEGIN { print "awk" }\n' > s; ./s
#| ./s x
#| env y
#| awk

#### an interpreter that is not there
printf '#!/no/such\n' > s; chmod +x s; ./s 2> /dev/null; echo $?
#| 127

#### grep does not wait for devices
mkdir d; echo x > d/f; grep -r x d /dev/null; echo $?
#| d/f:x
#| 0

#### the same file by two ways
[ /bin/sh -ef /bin/sh ]; echo $?; [[ /bin/sed -ef /usr/bin/sed ]]; echo $?
#| 0
#| 0

#### the root looks as usual
for d in bin dev etc home tmp usr var; do [ -d /$d ] && echo $d; done
#| bin
#| dev
#| etc
#| home
#| tmp
#| usr
#| var
