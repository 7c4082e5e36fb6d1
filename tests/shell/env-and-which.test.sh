#### env -i A=1 B=2 env
env -i A=1 B=2 env
#| A=1
#| B=2

#### env -i A=1 sh -c 'echo $A'
env -i A=1 sh -c 'echo $A'
#| 1

#### A=1 env -u A sh -c 'echo [$A]'
A=1 env -u A sh -c 'echo [$A]'
#| []

#### env -i A=1 B=2 printenv A B
env -i A=1 B=2 printenv A B
#| 1
#| 2

#### A=1 printenv A NOPE; echo $?
A=1 printenv A NOPE; echo $?
#| 1
#| 1

#### A=1 B=2 printenv -0 A | od -c
A=1 B=2 printenv -0 A | od -c
#| 0000000   1  \0
#| 0000002

#### env -i printenv; echo $?
env -i printenv; echo $?
#| 0

#### env nosuchcommand 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
env nosuchcommand 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| env: 'nosuchcommand': No such file or directory
#| 127

#### env --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
env --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| env: unrecognized option '--nonsense'
#| Try 'env --help' for more information.
#| 125

#### mkdir d; env -C d pwd | sed 's,.*/,,'
mkdir d; env -C d pwd | sed 's,.*/,,'
#| d

#### env -C none pwd 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
env -C none pwd 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| env: cannot change directory to 'none': No such file or directory
#| 125

#### env -S 'printf "%s|" a "b c"'; echo
env -S 'printf "%s|" a "b c"'; echo
#| a|b c|

#### env -i -0 A=1 B=2 | od -c
env -i -0 A=1 B=2 | od -c
#| 0000000   A   =   1  \0   B   =   2  \0
#| 0000010

#### env - A=1 env
env - A=1 env
#| A=1

#### env A=1 B=2 sh -c 'echo $A$B; exit 3'; echo $?
env A=1 B=2 sh -c 'echo $A$B; exit 3'; echo $?
#| 12
#| 3

#### env -u 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
env -u 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| env: option requires an argument -- 'u'
#| Try 'env --help' for more information.
#| 125

#### env -u A=B true 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
env -u A=B true 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| env: cannot unset 'A=B': Invalid argument
#| 125

#### which sh ls > /dev/null; echo $?
which sh ls > /dev/null; echo $?
#| 0

#### which nosuchcommand; echo $?
which nosuchcommand; echo $?
#| 1

#### which; echo $?
which; echo $?
#| 1

#### which -a ls | wc -l | grep -c '[12]'
which -a ls | wc -l | grep -c '[12]'
#| 1

#### mkdir b; printf '#!/bin/sh\necho mine\n' > b/tool; chmod +x b/tool; PATH=$PWD/b:$PATH; which tool | sed 's,.*/,,'; tool
mkdir b; printf '#!/bin/sh\necho mine\n' > b/tool; chmod +x b/tool; PATH=$PWD/b:$PATH; which tool | sed 's,.*/,,'; tool
#| tool
#| mine

#### touch notexec; which ./notexec; echo $?; chmod +x notexec; which ./notexec
touch notexec; which ./notexec; echo $?; chmod +x notexec; which ./notexec
#| 1
#| ./notexec

#### nproc > /dev/null; echo $?
nproc > /dev/null; echo $?
#| 0

#### nproc --ignore=9999
nproc --ignore=9999
#| 1

#### nproc --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
nproc --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| nproc: unrecognized option '--nonsense'
#| Try 'nproc --help' for more information.
#| 1

#### nproc x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
nproc x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| nproc: extra operand 'x'
#| Try 'nproc --help' for more information.
#| 1

#### uname -s; uname -o
uname -s; uname -o
#| Linux
#| GNU/Linux

#### uname -q 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
uname -q 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| uname: invalid option -- 'q'
#| Try 'uname --help' for more information.
#| 1

#### uname x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
uname x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| uname: extra operand 'x'
#| Try 'uname --help' for more information.
#| 1

#### [[ $(uname -m) == $(arch) ]] && echo same
[[ $(uname -m) == $(arch) ]] && echo same
#| same

#### [[ $(uname -a) == Linux*$(uname -r)*$(uname -m)* ]] && echo yes
[[ $(uname -a) == Linux*$(uname -r)*$(uname -m)* ]] && echo yes
#| yes

#### [[ $(uname -n) == $(hostname) ]] && echo same
[[ $(uname -n) == $(hostname) ]] && echo same
#| same

#### [[ $(whoami) == $(id -un) ]] && echo same
[[ $(whoami) == $(id -un) ]] && echo same
#| same

#### [[ $(id -u) == $UID && $(id) == uid=$UID* ]] && echo same
[[ $(id -u) == $UID && $(id) == uid=$UID* ]] && echo same
#| same

#### id -z 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
id -z 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| id: option --zero not permitted in default format
#| 1

#### id nosuchuser 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
id nosuchuser 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| id: 'nosuchuser': no such user
#| 1

#### id -n 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
id -n 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| id: cannot print only names or real IDs in default format
#| 1

#### id -u -g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
id -u -g 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| id: cannot print "only" of more than one choice
#| 1

#### [[ $(id -gn) == $(groups | cut -d' ' -f1) ]] && echo same
[[ $(id -gn) == $(groups | cut -d' ' -f1) ]] && echo same
#| same

#### [[ $(id -G) == $(id -g)* ]] && echo same
[[ $(id -G) == $(id -g)* ]] && echo same
#| same

#### whoami x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
whoami x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| whoami: extra operand 'x'
#| Try 'whoami --help' for more information.
#| 1

#### tty < /dev/null; echo $?
tty < /dev/null; echo $?
#| not a tty
#| 1

#### tty -s < /dev/null; echo $?
tty -s < /dev/null; echo $?
#| 1

#### sync; echo $?
sync; echo $?
#| 0

#### true --help | head -1 | cut -c1-6; false; echo $?
true --help | head -1 | cut -c1-6; false; echo $?
#| 1

#### yes | head -2; yes a b | head -2
yes | head -2; yes a b | head -2
#| y
#| y
#| a b
#| a b

#### sleep 0; echo $?; sleep 0.01 0.01; echo $?
sleep 0; echo $?; sleep 0.01 0.01; echo $?
#| 0
#| 0

#### sleep x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
sleep x 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| sleep: invalid time interval 'x'
#| Try 'sleep --help' for more information.
#| 1

#### sleep 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
sleep 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| sleep: missing operand
#| Try 'sleep --help' for more information.
#| 1

#### sleep 0.00001m; sleep 0.000001h; sleep 1e-3s; echo $?
sleep 0.00001m; sleep 0.000001h; sleep 1e-3s; echo $?
#| 0

#### clear | od -c | head -1 > /dev/null; echo $?
clear | od -c | head -1 > /dev/null; echo $?
#| 0

#### nice -n x true 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
nice -n x true 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| nice: invalid adjustment 'x'
#| 125

#### nohup 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
nohup 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| nohup: missing operand
#| Try 'nohup --help' for more information.
#| 125
