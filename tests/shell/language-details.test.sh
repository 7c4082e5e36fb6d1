#### a missing file does not end exec with descriptors
exec 3< missing; echo after $?
#| after 1

#### time in the middle of a pipe is a command
echo a | time -p cat 2> /dev/null; echo b | command time -p cat 2> /dev/null
#| a
#| b

#### time at the beginning is a word of the language
TIMEFORMAT=%%; time echo a; { time echo b; } 2>&1 | cat
#| a
#| b
#| %

#### arguments of all levels
shopt -s extdebug; g() { echo ${BASH_ARGC[@]} / ${BASH_ARGV[@]}; }; f() { g x y; }; f a b c
#| 2 3 0 / y x c b a

#### arguments of a sourced file
shopt -s extdebug; echo 'echo ${BASH_ARGC[@]} / ${BASH_ARGV[@]}' > s; . ./s 1 2
#| 2 0 / 2 1

#### the zone of printf
TZ=JST-9; printf '%(%H %Z)T\n' 0; export TZ=EST5EDT,M3.2.0,M11.1.0; printf '%(%Y-%m-%d)T\n' 1557978599
#| 00 UTC
#| 2019-05-15

#### a here-document that ends at a substitution's text
cat <<$(x)
a
$(x)
echo end
#| a
#| end

#### a delimiter with parts in quotes
cat <<E'O'F
$x
EOF
cat <<"a b"
q
a b
#| $x
#| q

#### descriptors by variable
exec {fd}> f; echo hi >&$fd; exec {fd}>&-; cat f; (( fd >= 10 )); echo $?
#| hi
#| 0

#### descriptors by element
declare -A h; exec {h[x]}> f; echo hi >&${h[x]}; exec {h[x]}>&-; cat f
#| hi

#### a descriptor that lasts
{ echo a >&$fd; } {fd}> f; cat f; echo b >&$fd; cat f
#| a
#| a
#| b

#### the name of the host
[ "$HOSTNAME" = "$(hostname)" ]; echo $?; [ "$(uname -n)" = "$HOSTNAME" ]; echo $?
#| 0
#| 0

#### escapes inside a parameter inside double quotes
x=1; echo "${x:+$'a\tb'}" "${y-$'\x41'}" "${y:-'$x'}"
#| a	b A '1'

#### braces in a declaration
declare -u s={a,b}; echo $s; f() { local v={1..4}; echo $v; }; f; export E=x{1,2}; echo $E; t={a,b}; echo $t
#| B
#| 4
#| x2
#| {a,b}

#### braces that do not close
echo {a,{b,c} {a,b}} a{b {x,y}z{ {{a,b}} {a{b,c}d,e} {,} {} {a} {{1..3}} }{a,b}
#| {a,b {a,c a} b} a{b xz{ yz{ {a} {b} abd acd e {} {a} {1} {2} {3} }a }b

#### what is wrong inside backquotes shows when they run
echo a; echo `echo x )` 2>/dev/null; echo b
#| a
#|
#| b

#### an expansion that fails in a here-string fails the command alone
c=; cat <<< ${c:0: -1} 2>/dev/null; echo $?; cat <<< $((1/0)) 2>/dev/null; echo $?
#| 1
#| 1

#### an expansion that fails in a condition ends the line
(n=1; [[ $((n/0)) == 1 ]] 2>/dev/null; echo not reached); echo $?; [[ 1/0 -eq 1 ]] 2>/dev/null; echo $?
#| 1
#| 1

#### a unary operator takes what follows as its operand
bash -c '[[ -f = x ]]; echo $?' 2>/dev/null; echo $?; bash -c '[[ -n ]]' 2>/dev/null; echo $?; [[ -n == ]]; echo $?; bash -c '[[ -n < x ]]' 2>/dev/null; echo $?
#| 0
#| 0
#| 0
#| 0

#### set -u lets arithmetic read an element that is not set
set -u; a=(1); echo $((a[9] + 1)); (echo $((b[1]))) 2>/dev/null; echo $?
#| 1
#| 1

#### a class asks for the character as it is, whatever the case
shopt -s nocasematch nocaseglob; [[ a == [[:upper:]] ]]; echo $?; [[ a == [A-C] ]]; echo $?; touch x Y; echo [[:upper:]]
#| 1
#| 0
#| Y

#### slices of associative arrays and of what is not set
declare -A m=([k]=v); echo "${m[@]:1:0}" "${nope:0: -1}"; printf '%c|' '' a | od -An -c
#| v 
#|   \0   |   a   |
