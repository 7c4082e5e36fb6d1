#### nested shells 1: bash -c  echo $0 $1 $  name a b
bash -c 'echo $0 $1 $#' name a b
sh -c 'echo $0'
bash -c 'exit 3'
echo $?
echo 'echo in $1' | bash -s arg
printf 'echo file $0 $1\n' > s
bash s x
bash ./s y
chmod +x s
./s z
#| name a 2
#| sh
#| 3
#| in arg
#| file s x
#| file ./s y
#| file ./s z

#### nested shells 2: bash -e -c  false  echo no
bash -e -c 'false; echo no'
echo $?
bash -u -c 'echo $nope' 2>/dev/null
echo $?
bash -x -c 'echo a' 2>&1
bash -n -c 'echo no'
echo $?
bash -ec 'echo e; false; echo no'
bash -o pipefail -c 'false | true'
echo $?
bash +o pipefail -c 'false | true'
echo $?
bash -O extglob -c 'shopt extglob'
bash +O extglob -c 'shopt extglob'
#| 1
#| 127
#| + echo a
#| a
#| 0
#| e
#| 1
#| 0
#| extglob        	on
#| extglob        	off
#? 1

#### nested shells 3: bash -v -c  echo v  2 1
bash -f -c 'echo *'
bash -C -c 'echo a > f; echo b > f' 2>/dev/null
echo $?
bash -a -c 'x=1; env | grep -c ^x='
bash --norc --noprofile -c 'echo n'
bash -i -c 'echo i' 2>/dev/null
#| *
#| 1
#| 1
#| n
#| i

#### nested shells 4: bash nosuchfile 2 1
bash nosuchfile 2>&1
echo $?
mkdir d
bash d 2>&1
echo $?
bash -c 2>&1
echo $?
bash --nope 2>&1 | sed -n 1p
bash -Z 2>&1 | sed -n 1p
bash --version | sed -n 1p | cut -c1-17
bash -c 'fi' 2>&1
echo $?
printf 'fi\n' > bad
bash bad 2>&1
echo $?
#| bash: nosuchfile: No such file or directory
#| 127
#| d: d: Is a directory
#| 126
#| bash: -c: option requires an argument
#| 2
#| bash: --nope: invalid option
#| bash: -Z: invalid option
#| GNU bash, version
#| bash: -c: line 1: syntax error near unexpected token `fi'
#| bash: -c: line 1: `fi'
#| 2
#| bad: line 1: syntax error near unexpected token `fi'
#| bad: line 1: `fi'
#| 2

#### nested shells 5: x 1  export y 2  bash -c  echo  $x $y  y 3  echo $
x=1; export y=2; bash -c 'echo "[$x][$y]"; y=3'; echo $y; f() { echo fn; }; export -f f; bash -c f; bash -c 'trap "echo bye" EXIT; exit 2'; echo $?; bash -c 'kill -TERM $$'; echo $?; printf 'read x; echo "<$x>"\nline\n' > t; bash < t; bash -c 'echo err >&2' 2>&1; (exec bash -c 'echo replaced'); bash -c 'umask 077; umask'; umask; bash -c 'set -- a b; shift; echo $1'
#| [][2]
#| 2
#| fn
#| bye
#| 2
#| 143
#| <line>
#| err
#| replaced
#| 0077
#| 0022
#| b

#### nested shells 6: sh -c  echo $ BASH_VERSION bash
printf '#!/bin/sh\necho sh $1\n' > p
chmod +x p
./p a
printf '#!/usr/bin/env bash\necho env $1\n' > q
chmod +x q
./q b
printf 'echo plain\n' > r
chmod +x r
./r
printf '#!/no/such\n' > u
chmod +x u
./u 2>/dev/null
echo $?
printf '#!/bin/cat\nshown\n' > v
chmod +x v
./v
printf '#!/bin/sed -n 2p\nsecond\n' > w
chmod +x w
./w
PATH=$PWD:$PATH
p c
command -v p | sed 's,.*/,,'
#| sh a
#| env b
#| plain
#| 127
#| #!/bin/cat
#| shown
#| sh c
#| p
