#### declare 1x=3 2>&1; echo $?
declare 1x=3 2>&1; echo $?
#| bash: line 1: declare: `1x=3': not a valid identifier
#| 1

#### declare -Z x 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
declare -Z x 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: declare: -Z: invalid option
#| 2

#### declare -p nope 2>&1; echo $?
declare -p nope 2>&1; echo $?
#| bash: line 1: declare: nope: not found
#| 1

#### declare -r r=1; r=2 2>&1; echo after
declare -r r=1; r=2 2>&1; echo after
#? 1

#### declare -r r=1; declare r=2 2>&1; echo $?
declare -r r=1; declare r=2 2>&1; echo $?
#| bash: line 1: declare: r: readonly variable
#| 1

#### declare -r r=1; unset r 2>&1; echo $?
declare -r r=1; unset r 2>&1; echo $?
#| bash: line 1: unset: r: cannot unset: readonly variable
#| 1

#### declare -a a; declare -A a 2>&1; echo $?
declare -a a; declare -A a 2>&1; echo $?
#| bash: line 1: declare: a: cannot convert indexed to associative array
#| 1

#### declare -A m; declare -a m 2>&1; echo $?
declare -A m; declare -a m 2>&1; echo $?
#| bash: line 1: declare: m: cannot convert associative to indexed array
#| 1

#### declare -A m=(x) 2>&1; echo $?
declare -A m=(x) 2>&1; echo $?
#| 0

#### declare -n r=r 2>&1; echo $?
declare -n r=r 2>&1; echo $?
#| bash: line 1: declare: r: nameref variable self references not allowed
#| 1

#### declare -n r='1x' 2>&1; echo $?
declare -n r='1x' 2>&1; echo $?
#| bash: line 1: declare: `1x': invalid variable name for name reference
#| 1

#### declare -F nope; echo $?; declare -f nope; echo $?
declare -F nope; echo $?; declare -f nope; echo $?
#| 1
#| 1

#### f() { :; }; declare -F f; declare -f f; declare -F
f() { :; }; declare -F f; declare -f f; declare -F
#| f
#| f () 
#| { 
#|     :
#| }
#| declare -f f

#### f() { :; }; readonly -f f; f() { echo x; } 2>&1; echo $?
f() { :; }; readonly -f f; f() { echo x; } 2>&1; echo $?
#| 1

#### f() { :; }; export -f f; bash -c 'f; echo $?'
f() { :; }; export -f f; bash -c 'f; echo $?'
#| 0

#### local x=1 2>&1; echo $?
local x=1 2>&1; echo $?
#| bash: line 1: local: can only be used in a function
#| 1

#### f() { local 1x 2>&1; echo $?; }; f
f() { local 1x 2>&1; echo $?; }; f
#| environment: line 1: local: `1x': not a valid identifier
#| 1

#### f() { local -r x=1; local x=2 2>&1; echo $?; }; f
f() { local -r x=1; local x=2 2>&1; echo $?; }; f
#| environment: line 1: local: x: readonly variable
#| 1

#### f() { local -; set -f; echo $-; }; f; [[ $- == *f* ]] || echo no
f() { local -; set -f; echo $-; }; f; [[ $- == *f* ]] || echo no
#| fhBc
#| no

#### f() { local -I x; echo $x; }; x=5; f
f() { local -I x; echo $x; }; x=5; f
#| 5

#### f() { local x; declare -p x; local -a y; declare -p y; }; f
f() { local x; declare -p x; local -a y; declare -p y; }; f
#| declare -- x
#| declare -a y

#### declare -i n=5; n+=3; echo $n; n=x+1; echo $n
declare -i n=5; n+=3; echo $n; n=x+1; echo $n
#| 8
#| 1

#### declare -l l=ABC; declare -u u=abc; declare -c c=aBC; echo $l $u $c
declare -l l=ABC; declare -u u=abc; declare -c c=aBC; echo $l $u $c
#| abc ABC Abc

#### declare -x X=1; declare +x X; bash -c 'echo [$X]'
declare -x X=1; declare +x X; bash -c 'echo [$X]'
#| []

#### declare -t T=1; declare -p T; declare -g G=1; declare -p G
declare -t T=1; declare -p T; declare -g G=1; declare -p G
#| declare -t T="1"
#| declare -- G="1"

#### f() { declare -g G=5; declare L=6; }; f; echo $G$L
f() { declare -g G=5; declare L=6; }; f; echo $G$L
#| 5

#### export 1x 2>&1; echo $?
export 1x 2>&1; echo $?
#| bash: line 1: export: `1x': not a valid identifier
#| 1

#### export -n X=1; declare -p X; export -p | grep -c PATH
export -n X=1; declare -p X; export -p | grep -c PATH
#| declare -- X="1"
#| 1

#### export -Z 2>&1 | sed -n 1p; export -f nope 2>&1; echo $?
export -Z 2>&1 | sed -n 1p; export -f nope 2>&1; echo $?
#| bash: line 1: export: -Z: invalid option
#| bash: line 1: export: nope: not a function
#| 1

#### readonly 1x=2 2>&1; echo $?
readonly 1x=2 2>&1; echo $?
#| bash: line 1: readonly: `1x=2': not a valid identifier
#| 1

#### readonly R=1; readonly -p | grep ' R='; readonly -a A=(1); declare -p A
readonly R=1; readonly -p | grep ' R='; readonly -a A=(1); declare -p A
#| declare -r R="1"
#| declare -ar A=([0]="1")

#### unset 1x 2>&1; echo $?; unset -f nope; echo $?; unset -v nope; echo $?
unset 1x 2>&1; echo $?; unset -f nope; echo $?; unset -v nope; echo $?
#| 0
#| 0
#| 0

#### unset -Z 2>&1 | sed -n 1p; a=(1 2 3); unset 'a[1]'; declare -p a; unset 'a[x'  2>&1; echo $?
unset -Z 2>&1 | sed -n 1p; a=(1 2 3); unset 'a[1]'; declare -p a; unset 'a[x'  2>&1; echo $?
#| bash: line 1: unset: -Z: invalid option
#| declare -a a=([0]="1" [2]="3")
#| 0

#### unset -n nope; declare -n r=x; x=1; unset -n r; echo $x
unset -n nope; declare -n r=x; x=1; unset -n r; echo $x
#| 1

#### shift 5 2>&1; echo $?; shift x 2>&1; echo $?; set -- a b; shift -1 2>&1; echo $?; shift 1 2 2>&1; echo $?
shift 5 2>&1; echo $?; shift x 2>&1; echo $?; set -- a b; shift -1 2>&1; echo $?; shift 1 2 2>&1; echo $?
#| 1
#| bash: line 1: shift: x: numeric argument required
#| 1
#| bash: line 1: shift: -1: shift count out of range
#| 1
#| bash: line 1: shift: too many arguments
#? 1

#### set -Z 2>&1 | sed -n 1p; set -o nope 2>&1; echo $?
set -Z 2>&1 | sed -n 1p; set -o nope 2>&1; echo $?
#| bash: line 1: set: -Z: invalid option
#| bash: line 1: set: nope: invalid option name
#| 2

#### set -o | wc -l; set +o | sed -n 1p; set -o | grep '^errexit'
set -o | wc -l; set +o | sed -n 1p; set -o | grep '^errexit'
#| 27
#| set +o allexport
#| errexit        	off

#### shopt nope 2>&1; echo $?; shopt -s nope 2>&1; echo $?
shopt nope 2>&1; echo $?; shopt -s nope 2>&1; echo $?
#| bash: line 1: shopt: nope: invalid shell option name
#| 1
#| bash: line 1: shopt: nope: invalid shell option name
#| 1

#### shopt extglob; echo $?; shopt -q extglob; echo $?; shopt -p extglob; shopt -o errexit; shopt -po pipefail
shopt extglob; echo $?; shopt -q extglob; echo $?; shopt -p extglob; shopt -o errexit; shopt -po pipefail
#| extglob        	off
#| 1
#| 1
#| shopt -u extglob
#| errexit        	off
#| set +o pipefail
#? 1

#### shopt -s -u x 2>&1; echo $?; shopt -Z 2>&1 | sed -n 1p
shopt -s -u x 2>&1; echo $?; shopt -Z 2>&1 | sed -n 1p
#| bash: line 1: shopt: cannot set and unset shell options simultaneously
#| 1
#| bash: line 1: shopt: -Z: invalid option

#### getopts 2>&1; echo $?; getopts a 2>&1; echo $?; getopts a 1x 2>&1; echo $?
getopts 2>&1; echo $?; getopts a 2>&1; echo $?; getopts a 1x 2>&1; echo $?
#| getopts: usage: getopts optstring name [arg ...]
#| 2
#| getopts: usage: getopts optstring name [arg ...]
#| 2
#| bash: line 1: getopts: `1x': not a valid identifier
#| 1

#### read 1x <<< a 2>&1; echo $?; read -Z 2>&1 | sed -n 1p; read -u 99 x 2>&1; echo $?; read -t x y 2>&1; echo $?
read 1x <<< a 2>&1; echo $?; read -Z 2>&1 | sed -n 1p; read -u 99 x 2>&1; echo $?; read -t x y 2>&1; echo $?
#| bash: line 1: read: `1x': not a valid identifier
#| 1
#| bash: line 1: read: -Z: invalid option
#| bash: line 1: read: 99: invalid file descriptor: Bad file descriptor
#| 1
#| bash: line 1: read: x: invalid timeout specification
#| 1

#### read -n x y <<< a 2>&1; echo $?; read -d '' x <<< ab; echo "[$x]$?"; read -N 3 x <<< abcdef; echo $x
read -n x y <<< a 2>&1; echo $?; read -d '' x <<< ab; echo "[$x]$?"; read -N 3 x <<< abcdef; echo $x
#| bash: line 1: read: x: invalid number
#| 1
#| [ab]1
#| abc

#### read -t 0 x < /dev/null; echo $?; read -t 0.01 x < <(sleep 1); echo $?; read -s x <<< s; echo $x; read -e x <<< e; echo $x
read -t 0 x < /dev/null; echo $?; read -t 0.01 x < <(sleep 1); echo $?; read -s x <<< s; echo $x; read -e x <<< e; echo $x
#| 0
#| 142
#| s
#| e

#### read -p prompt x <<< p; echo $x; read -i init x <<< i; echo $x; read -a 1x <<< 1 2>&1; echo $?; read -ra a <<< '1 2'; echo ${a[1]}
read -p prompt x <<< p; echo $x; read -i init x <<< i; echo $x; read -a 1x <<< 1 2>&1; echo $?; read -ra a <<< '1 2'; echo ${a[1]}
#| p
#| i
#| bash: line 1: read: `1x': not a valid identifier
#| 1
#| 2

#### mapfile -Z 2>&1 | sed -n 1p; mapfile 1x < /dev/null 2>&1; echo $?; mapfile -n x a 2>&1; echo $?; mapfile -u 99 a 2>&1; echo $?
mapfile -Z 2>&1 | sed -n 1p; mapfile 1x < /dev/null 2>&1; echo $?; mapfile -n x a 2>&1; echo $?; mapfile -u 99 a 2>&1; echo $?
#| bash: line 1: mapfile: -Z: invalid option
#| bash: line 1: mapfile: `1x': not a valid identifier
#| 1
#| bash: line 1: mapfile: x: invalid line count
#| 1
#| bash: line 1: mapfile: 99: invalid file descriptor: Bad file descriptor
#| 1

#### mapfile -n 2 a < <(seq 5); echo ${#a[@]}; mapfile -s 2 a < <(seq 5); echo ${a[0]}; a=(x y z); mapfile -O 1 -t a < <(seq 2); echo "${a[@]}"
mapfile -n 2 a < <(seq 5); echo ${#a[@]}; mapfile -s 2 a < <(seq 5); echo ${a[0]}; a=(x y z); mapfile -O 1 -t a < <(seq 2); echo "${a[@]}"
#| 2
#| 3
#| x 1 2

#### mapfile -t -c 2 -C 'echo cb' a < <(seq 4); mapfile -d : a <<< a:b; echo "${a[0]}"; readarray -t b < <(seq 2); echo ${b[1]}
mapfile -t -c 2 -C 'echo cb' a < <(seq 4); mapfile -d : a <<< a:b; echo "${a[0]}"; readarray -t b < <(seq 2); echo ${b[1]}
#| cb 1 2
#| cb 3 4
#| a:
#| 2

#### printf 2>&1; echo $?; printf -Z 2>&1 | sed -n 1p; printf '%z' 2>&1; echo $?; printf '%d' x 2>&1; echo $?; printf -v 1x a 2>&1; echo $?
printf 2>&1; echo $?; printf -Z 2>&1 | sed -n 1p; printf '%z' 2>&1; echo $?; printf '%d' x 2>&1; echo $?; printf -v 1x a 2>&1; echo $?
#| printf: usage: printf [-v var] format [arguments]
#| 2
#| bash: line 1: printf: -Z: invalid option
#| bash: line 1: printf: `%z': missing format character
#| 1
#| bash: line 1: printf: x: invalid number
#| 01
#| bash: line 1: printf: `1x': not a valid identifier
#| 2

#### printf '%d %i %o %x %X %u\n' 10 -10 8 255 255 7; printf '%e %f %g %G %a\n' 1.5 1.5 1e10 1e-10 1
printf '%d %i %o %x %X %u\n' 10 -10 8 255 255 7; printf '%e %f %g %G %a\n' 1.5 1.5 1e10 1e-10 1
#| 10 -10 10 ff FF 7
#| 1.500000e+00 1.500000 1e+10 1E-10 0x8p-3

#### printf '%5s|%-5s|%05d|%+d|% d|%#x|%#o|%.3s|%*d|%-*d|\n' a b 42 42 42 255 8 abcdef 5 42 5 42
printf '%5s|%-5s|%05d|%+d|% d|%#x|%#o|%.3s|%*d|%-*d|\n' a b 42 42 42 255 8 abcdef 5 42 5 42
#|     a|b    |00042|+42| 42|0xff|010|abc|   42|42   |

#### printf '%b\n' 'a\tb\x41\0101\u00e9\cX'; printf '%q %q %q\n' 'a b' "it's" $'x\ny'; printf '%Q\n' 'a b' 2>&1
printf '%b\n' 'a\tb\x41\0101\u00e9\cX'; printf '%q %q %q\n' 'a b' "it's" $'x\ny'; printf '%Q\n' 'a b' 2>&1
#| a	bAAéa\ b it\'s $'x\ny'
#| a\ b

#### printf '%(%Y)T\n' 0; printf '%(%F %T)T\n' 86400; printf '%c%c\n' abc d; printf '%%\n'; printf '%s %s\n' a b c
printf '%(%Y)T\n' 0; printf '%(%F %T)T\n' 86400; printf '%c%c\n' abc d; printf '%%\n'; printf '%s %s\n' a b c
#| 1970
#| 1970-01-02 00:00:00
#| ad
#| %
#| a b
#| c 

#### printf '%d\n' "'a" '"b' 0x1f 010 2>&1; printf '%d\n' 9999999999999999999 2>&1; printf '%d\n' 1.5 2>&1
printf '%d\n' "'a" '"b' 0x1f 010 2>&1; printf '%d\n' 9999999999999999999 2>&1; printf '%d\n' 1.5 2>&1
#| 97
#| 98
#| 31
#| 8
#| bash: line 1: printf: warning: 9999999999999999999: Numerical result out of range
#| 9223372036854775807
#| bash: line 1: printf: 1.5: invalid number
#| 1
#? 1

#### printf '\x41\101\u0041\U00000041\e[0m\a\b\f\v\r\\\n' | od -An -c; printf '%.0f %.2f\n' 2.5 3.14159; printf '%s' ; printf '%n' x 2>&1; echo $?
printf '\x41\101\u0041\U00000041\e[0m\a\b\f\v\r\\\n' | od -An -c; printf '%.0f %.2f\n' 2.5 3.14159; printf '%s' ; printf '%n' x 2>&1; echo $?
#|    A   A   A   A 033   [   0   m  \a  \b  \f  \v  \r   \  \n
#| 2 3.14
#| 0

#### printf '%-10.3s|%10.2f|\n' abcdef 3.14159; printf '%ld %lld %hd\n' 1 2 3; printf '%5%|\n'; printf '%s\n' -- a; printf -- '-x\n'
printf '%-10.3s|%10.2f|\n' abcdef 3.14159; printf '%ld %lld %hd\n' 1 2 3; printf '%5%|\n'; printf '%s\n' -- a; printf -- '-x\n'
#| abc       |      3.14|
#| 1 2 3
#| --
#| a
#| -x

#### echo -e 'a\tb\c'; echo x; echo -n a; echo -E 'a\tb'; echo -ne '\x41\n'; echo -z; echo - -e; echo -e '\0101\u00e9\U0001F600'
echo -e 'a\tb\c'; echo x; echo -n a; echo -E 'a\tb'; echo -ne '\x41\n'; echo -z; echo - -e; echo -e '\0101\u00e9\U0001F600'
#| a	bx
#| aa\tb
#| A
#| -z
#| - -e
#| Aé😀

#### test 1 -eq 2>&1; echo $?; test a b c 2>&1; echo $?; [ 1 -eq 1 2>&1; echo $?; [ x -eq 1 ] 2>&1; echo $?; test ! ; echo $?
test 1 -eq 2>&1; echo $?; test a b c 2>&1; echo $?; [ 1 -eq 1 2>&1; echo $?; [ x -eq 1 ] 2>&1; echo $?; test ! ; echo $?
#| bash: line 1: test: 1: unary operator expected
#| 2
#| bash: line 1: test: b: binary operator expected
#| 2
#| bash: line 1: [: missing `]'
#| 2
#| bash: line 1: [: x: integer expression expected
#| 2
#| 0

#### test -n ''; echo $?; test 'a' = 'a' -a 1 -lt 2; echo $?; test a -o ''; echo $?; test \( a \); echo $?; test ! a = b; echo $?; test a \< b; echo $?
test -n ''; echo $?; test 'a' = 'a' -a 1 -lt 2; echo $?; test a -o ''; echo $?; test \( a \); echo $?; test ! a = b; echo $?; test a \< b; echo $?
#| 1
#| 0
#| 0
#| 0
#| 0
#| 0

#### builtin errors 1: touch f
touch f
test -e f -a -f f
echo $?
test -s f
echo $?
test -r f -a -w f
echo $?
test -x f
echo $?
test -L f
echo $?
test -O f
echo $?
test -G f
echo $?
test -N f
echo $?
#| 0
#| 1
#| 0
#| 1
#| 1
#| 0
#| 0
#| 1

#### builtin errors 2: touch -d 2001-01-01 a
touch -d 2001-01-01 a
touch -d 2002-01-01 b
test a -nt b
echo $?
test a -ot b
echo $?
ln a c
test a -ef c
echo $?
test -t 0
echo $?
test -p f
test -S f
test -b f
test -c f
test -u f
test -g f
test -k f
echo $?
#| 1
#| 0
#| 0
#| 1
#| 1

#### builtin errors 3: x 1
x=1
test -v x
echo $?
test -v nope
echo $?
a=(1)
test -v 'a[0]'
echo $?
test -o errexit
echo $?
declare -n r=x
test -R r
echo $?
test -Z 2>&1
echo $?
#| 0
#| 1
#| 0
#| 1
#| 0
#| 0

#### let 2>&1; echo $?; let 'x=1+' 2>&1; echo $?; let x=5 y=x*2; echo $x $y; let 0; echo $?
let 2>&1; echo $?; let 'x=1+' 2>&1; echo $?; let x=5 y=x*2; echo $x $y; let 0; echo $?
#| bash: line 1: let: expression expected
#| 1
#| bash: line 1: let: x=1+: syntax error: operand expected (error token is "+")
#| 1
#| 5 10
#| 1

#### eval 'echo a' b; eval; echo $?; eval 'fi' 2>&1; echo $?; . 2>&1; echo $?; . ./nope 2>&1; echo $?; source -z 2>&1 | sed -n 1p
eval 'echo a' b; eval; echo $?; eval 'fi' 2>&1; echo $?; . 2>&1; echo $?; . ./nope 2>&1; echo $?; source -z 2>&1 | sed -n 1p
#| a b
#| 0
#| bash: eval: line 1: syntax error near unexpected token `fi'
#| bash: eval: line 1: `fi'
#| 2
#| bash: line 1: .: filename argument required
#| .: usage: . filename [arguments]
#| 2
#| bash: line 1: ./nope: No such file or directory
#| 1
#| bash: line 1: source: -z: invalid option

#### exec nope 2>&1; echo not reached
exec nope 2>&1; echo not reached
#| bash: line 1: exec: nope: not found
#? 127

#### shopt -s execfail; exec nope 2>&1; echo $?
shopt -s execfail; exec nope 2>&1; echo $?
#| bash: line 1: exec: nope: not found
#| 127

#### exec -a name bash -c 'echo $0'
exec -a name bash -c 'echo $0'
#| name

#### exec -c env | wc -l
exec -c env | wc -l
#| 0

#### exec -Z 2>&1 | sed -n 1p; (exec -l bash -c 'echo $0'); (exec 3>f; echo x >&3; cat f)
exec -Z 2>&1 | sed -n 1p; (exec -l bash -c 'echo $0'); (exec 3>f; echo x >&3; cat f)
#| bash: line 1: exec: -Z: invalid option
#| -bash
#| x

#### trap -Z 2>&1 | sed -n 1p; trap 'x' NOPE 2>&1; echo $?; trap -l | sed -n 1p | cut -c1-12; trap 'echo t' USR1; trap -p; trap -p USR1; trap - USR1; trap
trap -Z 2>&1 | sed -n 1p; trap 'x' NOPE 2>&1; echo $?; trap -l | sed -n 1p | cut -c1-12; trap 'echo t' USR1; trap -p; trap -p USR1; trap - USR1; trap
#| bash: line 1: trap: -Z: invalid option
#| bash: line 1: trap: NOPE: invalid signal specification
#| 1
#|  1) SIGHUP	 
#| trap -- 'echo t' SIGUSR1
#| trap -- 'echo t' SIGUSR1

#### trap 'echo e' EXIT; trap '' INT; trap -p; trap 2 3; trap -p | wc -l
trap 'echo e' EXIT; trap '' INT; trap -p; trap 2 3; trap -p | wc -l
#| trap -- 'echo e' EXIT
#| trap -- '' SIGINT
#| 1
#| e

#### builtin errors 4: type nope 2 1
type nope 2>&1
echo $?
type -t cd if ls nope
type -a cd
type -p ls | sed 's,.*/,,'
f() { :; }
type f
type -f f 2>&1
echo $?
alias a=b
type a
type -P cat | sed 's,.*/,,'
#| bash: line 1: type: nope: not found
#| 1
#| builtin
#| keyword
#| file
#| cd is a shell builtin
#| ls
#| f is a function
#| f () 
#| { 
#|     :
#| }
#| bash: line 8: type: f: not found
#| 1
#| cat

#### builtin errors 5: command -v cd
command -v cd
command -V cd
command -v nope
echo $?
command -V nope 2>&1
echo $?
command nope 2>&1
echo $?
command -Z 2>&1 | sed -n 1p
command -p echo p
cd() { echo mine; }
command cd /
builtin cd /
pwd
#| cd
#| cd is a shell builtin
#| 1
#| bash: line 5: command: nope: not found
#| 1
#| bash: line 7: nope: command not found
#| 127
#| bash: line 9: command: -Z: invalid option
#| p
#| /

#### builtin errors 6: builtin nope 2 1
builtin nope 2>&1
echo $?
builtin
echo $?
alias nope 2>&1
echo $?
unalias nope 2>&1
echo $?
alias a=b 'c=d e'
alias
unalias -a
alias
unalias 2>&1 | sed -n 1p
alias -p
#| bash: line 1: builtin: nope: not a shell builtin
#| 1
#| 0
#| bash: line 5: alias: nope: not found
#| 1
#| bash: line 7: unalias: nope: not found
#| 1
#| alias a='b'
#| alias c='d e'
#| unalias: usage: unalias [-a] name [name ...]

#### builtin errors 7: return 3 2 1  echo $  f    return x 2 1    f  echo $  f    r
return 3 2>&1; echo $?; f() { return x 2>&1; }; f; echo $?; f() { return 300; }; f; echo $?; break 2>&1; echo $?; continue 2>&1; echo $?; for i in 1; do break x 2>&1; done; echo $?
#| bash: line 1: return: can only `return' from a function or sourced script
#| 2
#| environment: line 1: return: x: numeric argument required
#| 2
#| 44
#| bash: line 1: break: only meaningful in a `for', `while', or `until' loop
#| 0
#| bash: line 1: continue: only meaningful in a `for', `while', or `until' loop
#| 0
#| bash: line 1: break: x: numeric argument required
#? 128

#### for i in 1 2; do break 0 2>&1; done; echo $?; for i in 1 2; do for j in 1 2; do continue 2; done; done; echo $i$j; while :; do break 99; done; echo $?
for i in 1 2; do break 0 2>&1; done; echo $?; for i in 1 2; do for j in 1 2; do continue 2; done; done; echo $i$j; while :; do break 99; done; echo $?
#| bash: line 1: break: 0: loop count out of range
#| 1
#| 21
#| 0

#### exit x 2>&1
exit x 2>&1
#| bash: line 1: exit: x: numeric argument required
#? 2

#### (exit 300); echo $?; (exit -1); echo $?; (exit 1 2) 2>&1; echo $?
(exit 300); echo $?; (exit -1); echo $?; (exit 1 2) 2>&1; echo $?
#| 44
#| 255
#| bash: line 1: exit: too many arguments
#| 1

#### ulimit -c 0; ulimit -c; ulimit -t 100; ulimit -t; ulimit -S -n 64; ulimit -Sn
ulimit -c 0; ulimit -c; ulimit -t 100; ulimit -t; ulimit -S -n 64; ulimit -Sn
#| 0
#| 100
#| 64

#### wait $! 2>/dev/null; echo $?; times > /dev/null; echo $?; hash -d nope 2>&1; echo $?; pwd -L | sed 's,.*/,,' | wc -l
wait $! 2>/dev/null; echo $?; times > /dev/null; echo $?; hash -d nope 2>&1; echo $?; pwd -L | sed 's,.*/,,' | wc -l
#| 0
#| 0
#| 0
#| 1
