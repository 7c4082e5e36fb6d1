#### [ a = a ] && echo y
[ a = a ] && echo y
#| y

#### [ a != b ] && echo y
[ a != b ] && echo y
#| y

#### [ 1 -lt 2 -a 2 -gt 1 ] && echo y
[ 1 -lt 2 -a 2 -gt 1 ] && echo y
#| y

#### [ -z "" -o a = b ] && echo y
[ -z "" -o a = b ] && echo y
#| y

#### [ ! -e nope ] && echo y
[ ! -e nope ] && echo y
#| y

#### touch f; [ -f f ] && [ ! -d f ] && [ -e f ] && echo y; [ -s 
touch f; [ -f f ] && [ ! -d f ] && [ -e f ] && echo y; [ -s f ] || echo empty
#| y
#| empty

#### mkdir d; [ -d d ] && echo y
mkdir d; [ -d d ] && echo y
#| y

#### [ ]; echo $?; [ x ]; echo $?
[ ]; echo $?; [ x ]; echo $?
#| 1
#| 0

#### [ 1 -eq x ] 2>/dev/null; echo $?
[ 1 -eq x ] 2>/dev/null; echo $?
#| 2

#### test -n abc && echo y
test -n abc && echo y
#| y

#### [ "(" = "(" ] && echo y
[ "(" = "(" ] && echo y
#| y

#### [[ a < b ]] && echo y
[[ a < b ]] && echo y
#| y

#### [[ -n x && ! -z y ]] && echo y
[[ -n x && ! -z y ]] && echo y
#| y

#### [[ 5 -gt 3 || 1 -gt 2 ]] && echo y
[[ 5 -gt 3 || 1 -gt 2 ]] && echo y
#| y

#### [[ ab =~ ^a(.)$ ]] && echo ${BASH_REMATCH[1]}
[[ ab =~ ^a(.)$ ]] && echo ${BASH_REMATCH[1]}
#| b

#### [[ "a b" =~ a\ b ]] && echo y
[[ "a b" =~ a\ b ]] && echo y
#| y

#### r="^[0-9]+$"; [[ 123 =~ $r ]] && echo num; [[ 12a =~ $r ]] |
r="^[0-9]+$"; [[ 123 =~ $r ]] && echo num; [[ 12a =~ $r ]] || echo not
#| num
#| not

#### touch a; sleep 0.02; touch b; [ b -nt a ] && echo newer
touch a; sleep 0.02; touch b; [ b -nt a ] && echo newer
#| newer

#### ln -s f l; [ -L l ] && echo link; [ -e l ] || echo dangling
ln -s f l; [ -L l ] && echo link; [ -e l ] || echo dangling
#| link
#| dangling

#### [[ x == [xyz] ]] && echo set
[[ x == [xyz] ]] && echo set
#| set

#### [ a ] [ b ] 2>/dev/null; echo $?
[ a ] [ b ] 2>/dev/null; echo $?
#| 2
