#### unset x; echo "[${x-d}]"
unset x; echo "[${x-d}]"
#| [d]

#### x=; echo "[${x-d}]"
x=; echo "[${x-d}]"
#| []

#### x=v; echo "[${x-d}]"
x=v; echo "[${x-d}]"
#| [v]

#### unset x; echo "[${x:-d}]"
unset x; echo "[${x:-d}]"
#| [d]

#### x=; echo "[${x:-d}]"
x=; echo "[${x:-d}]"
#| [d]

#### x=v; echo "[${x:-d}]"
x=v; echo "[${x:-d}]"
#| [v]

#### unset x; echo "[${x+a}]"
unset x; echo "[${x+a}]"
#| []

#### x=; echo "[${x+a}]"
x=; echo "[${x+a}]"
#| [a]

#### x=v; echo "[${x+a}]"
x=v; echo "[${x+a}]"
#| [a]

#### unset x; echo "[${x:+a}]"
unset x; echo "[${x:+a}]"
#| []

#### x=; echo "[${x:+a}]"
x=; echo "[${x:+a}]"
#| []

#### x=v; echo "[${x:+a}]"
x=v; echo "[${x:+a}]"
#| [a]

#### unset x; echo ${x=new}; echo $x
unset x; echo ${x=new}; echo $x
#| new
#| new

#### x=; echo ${x:=new}; echo $x
x=; echo ${x:=new}; echo $x
#| new
#| new

#### unset x; (echo ${x?gone}); echo $?
unset x; (echo ${x?gone}); echo $?
#| 1

#### x=; (echo ${x:?}); echo $?
x=; (echo ${x:?}); echo $?
#| 1

#### echo ${1-none} ${@-none}
echo ${1-none} ${@-none}
#| none none

#### set -- a; echo ${1+set}
set -- a; echo ${1+set}
#| set

#### unset x; y=${x:-"a  b"}; echo "$y"
unset x; y=${x:-"a  b"}; echo "$y"
#| a  b

#### unset x; printf "<%s>" ${x:-a "b c"}; echo
unset x; printf "<%s>" ${x:-a "b c"}; echo
#| <a><b c>

#### single quotes inside of double quotes stay, and hide a brace
unset u; a=1; n=7; echo "${u-'}'}" "${u-'a}b'}x" "${a+'$n}'}" "${u-"'"}" "x${u+'}'}y"; cat <<E
${u-'}'}
E
#| '}' 'a}b'x '7}' ' xy
#| '}'

#### backquotes inside of an expansion in quotes
n=7; echo "${n:+`echo "a\"b"`}"; echo "${n:+`echo \"a b\"`}"; echo "${n:+`echo \\$n \$n \\\\x`}"; cat <<E
${n:+`echo "a\"b"`} `echo "a\"b"` ${n:+`echo \"a\"`}
E
#| a"b
#| "a b"
#| $n 7 \x
#| a"b a"b "a"
