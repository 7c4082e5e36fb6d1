#### getopt ab: -a -b x y
getopt ab: -a -b x y
#|  -a -b x -- y

#### getopt -o ab: -l long,arg: -- -a --long --arg v rest
getopt -o ab: -l long,arg: -- -a --long --arg v rest
#|  -a --long --arg 'v' -- 'rest'

#### getopt -o ab: -- -b 'x y' "it's"
getopt -o ab: -- -b 'x y' "it's"
#|  -b 'x y' -- 'it'\''s'

#### getopt -o a -- -z 2>&1; echo $?
getopt -o a -- -z 2>&1; echo $?
#| getopt: invalid option -- 'z'
#|  --
#| 1

#### getopt -o a: -- -a 2>&1; echo $?
getopt -o a: -- -a 2>&1; echo $?
#| getopt: option requires an argument -- 'a'
#|  --
#| 1

#### getopt -o a -l long -- --lon; getopt -o a -l long,longer -- --lon 2>&1; echo $?
getopt -o a -l long -- --lon; getopt -o a -l long,longer -- --lon 2>&1; echo $?
#|  --long --
#| getopt: option '--lon' is ambiguous; possibilities: '--long' '--longer'
#|  --
#| 1

#### getopt -q -o a -- -z; echo $?
getopt -q -o a -- -z; echo $?
#|  --
#| 1

#### getopt -Q -o a -- -a; echo $?
getopt -Q -o a -- -a; echo $?
#| 0

#### getopt -T; echo $?
getopt -T; echo $?
#| 4

#### getopt -n prog -o a -- -z 2>&1; echo $?
getopt -n prog -o a -- -z 2>&1; echo $?
#| prog: invalid option -- 'z'
#|  --
#| 1

#### getopt -u -o a -- -a 'x y'
getopt -u -o a -- -a 'x y'
#|  -a -- x y

#### getopt 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
getopt 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| getopt: missing optstring argument
#| 2

#### getopt -o a:: -l opt:: -- -a -avalue --opt --opt=v
getopt -o a:: -l opt:: -- -a -avalue --opt --opt=v
#|  -a '' -a 'value' --opt '' --opt 'v' --

#### getopt -a -o a -l long -- -long
getopt -a -o a -l long -- -long
#|  --long --

#### getopt -o +a -- -a x -a; getopt -o -a -- x -a y
getopt -o +a -- -a x -a; getopt -o -a -- x -a y
#|  -a -- 'x' '-a'
#|  'x' -a 'y' --

#### getopt --nonsense 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
getopt --nonsense 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| getopt: unrecognized option '--nonsense'
#| 2

#### getopt -o a -- -a -- -a
getopt -o a -- -a -- -a
#|  -a -- '-a'

#### printf 'a b\nccc d\n' | column -t
printf 'a b\nccc d\n' | column -t
#| a    b
#| ccc  d

#### printf 'a:b\nccc:d\n' | column -t -s:
printf 'a:b\nccc:d\n' | column -t -s:
#| a    b
#| ccc  d

#### printf 'a b\nccc d\n' | column -t -o ' | '
printf 'a b\nccc d\n' | column -t -o ' | '
#| a   | b
#| ccc | d

#### printf 'a b\nccc d\n' | column -t -N X,Y
printf 'a b\nccc d\n' | column -t -N X,Y
#| X    Y
#| a    b
#| ccc  d

#### printf 'a b\nccc d\n' | column -t -R 1
printf 'a b\nccc d\n' | column -t -R 1
#|   a  b
#| ccc  d

#### printf 'a,,b\n' | column -t -s,
printf 'a,,b\n' | column -t -s,
#| a    b

#### seq 10 | column -c 20
seq 10 | column -c 20
#| 1	6
#| 2	7
#| 3	8
#| 4	9
#| 5	10

#### seq 10 | column -x -c 20
seq 10 | column -x -c 20
#| 1	2
#| 3	4
#| 5	6
#| 7	8
#| 9	10

#### column missing 2>&1; echo $?
column missing 2>&1; echo $?
#| column: missing: No such file or directory
#| 1

#### column --nonsense 2>&1 < /dev/null | sed -n 1p; echo ${PIPESTATUS[0]}
column --nonsense 2>&1 < /dev/null | sed -n 1p; echo ${PIPESTATUS[0]}
#| column: unrecognized option '--nonsense'
#| 1

#### printf 'é b\nccc d\n' | column -t
printf 'é b\nccc d\n' | column -t
#| é    b
#| ccc  d

#### printf '\na b\n\n' | column -t; printf '\na b\n\n' | column -t -L | cat -A
printf '\na b\n\n' | column -t; printf '\na b\n\n' | column -t -L | cat -A
#| a  b
#|    $
#| a  b$
#|    $
