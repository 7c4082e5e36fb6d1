#### echo $?; false; echo $?
echo $?; false; echo $?
#| 0
#| 1

#### echo $# "$0" | grep -c bash
echo $# "$0" | grep -c bash
#| 1

#### set -- a b c; echo $1 $3 ${10-none}
set -- a b c; echo $1 $3 ${10-none}
#| a c none

#### [ $$ -gt 0 ] && echo ok
[ $$ -gt 0 ] && echo ok
#| ok

#### x=$RANDOM; [ $x -ge 0 ] && echo ok
x=$RANDOM; [ $x -ge 0 ] && echo ok
#| ok

#### echo $LINENO; echo $LINENO
echo $LINENO
echo $LINENO
#| 1
#| 2

#### echo ${BASH_VERSINFO[0]}
echo ${BASH_VERSINFO[0]}
#| 5

#### SECONDS=5; [ $SECONDS -ge 5 ] && echo ok
SECONDS=5; [ $SECONDS -ge 5 ] && echo ok
#| ok

#### [ ${#EPOCHSECONDS} -ge 10 ] && echo ok
[ ${#EPOCHSECONDS} -ge 10 ] && echo ok
#| ok

#### echo a b; echo $_
echo a b; echo $_
#| a b
#| b

#### [ "$PPID" -ge 0 ] && echo ok
[ "$PPID" -ge 0 ] && echo ok
#| ok

#### echo ${PIPESTATUS[0]}
echo ${PIPESTATUS[0]}
#|

#### echo $IFS | od -c | head -1
echo $IFS | od -c | head -1
#| 0000000  \n

#### [ -n "$BASH_VERSION" ] && echo v
[ -n "$BASH_VERSION" ] && echo v
#| v
