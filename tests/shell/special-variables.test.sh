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

#### an element of BASH_ALIASES is an alias
shopt -s expand_aliases
BASH_ALIASES[hi]='echo hello'; alias hi; eval 'hi you'; BASH_ALIASES=([two]='echo 2'); alias; BASH_ALIASES[hi]+=' dear'; eval hi
declare -p BASH_ALIASES; echo "${!BASH_ALIASES[@]}|${#BASH_ALIASES[@]}"; [[ -v BASH_ALIASES[two] ]]; echo $?; unset 'BASH_ALIASES[two]'; alias two
printf -v 'BASH_ALIASES[w]' 'echo %s' W; alias w; read 'BASH_ALIASES[z]' <<< 'echo Z'; alias z; BASH_ALIASES['a b']=x; echo $?
#| alias hi='echo hello'
#| hello you
#| alias hi='echo hello'
#| alias two='echo 2'
#| hello dear
#| declare -A BASH_ALIASES=([two]="echo 2" [hi]="echo hello dear" )
#| two hi|2
#| 0
#| alias two='echo 2'
#| alias w='echo W'
#| alias z='echo Z'
#| 0

#### an element of BASH_CMDS is where a command is
BASH_CMDS[say]=/bin/echo; say hi; hash -t say; echo "${BASH_CMDS[say]}"; unset 'BASH_CMDS[say]'; hash -p /bin/echo other; echo "${BASH_CMDS[other]}"; other x
#| hi
#| /bin/echo
#| /bin/echo
#| /bin/echo
#| x

#### BASH_ARGV0 is $0
BASH_ARGV0=zed; echo "$0 $BASH_ARGV0"; f() { local BASH_ARGV0=q; echo "$0"; }; f; echo "$0"
#| zed zed
#| zed
#| zed

#### computed variables that ignore what they are assigned
BASHPID=3; [[ $BASHPID == 3 ]]; echo $?; FUNCNAME=x; echo "<$FUNCNAME>"; GROUPS=5; echo $?; EPOCHSECONDS=5; [[ $EPOCHSECONDS == 5 ]]; echo $?; BASH_COMMAND=x; echo "$BASH_COMMAND"; BASH_SUBSHELL=7; echo $BASH_SUBSHELL
#| 1
#| <>
#| 0
#| 1
#| echo "$BASH_COMMAND"
#| 7

#### computed variables that cannot be assigned or unset
(UID=3; echo no); echo $?; (PPID=3; echo no); echo $?; unset UID; echo $?; unset BASH_VERSINFO; echo $?
#| 1
#| 1
#| 1
#| 1

#### a computed variable that is unset loses its meaning
unset RANDOM; echo "<${RANDOM-}>"; RANDOM=5; echo $RANDOM; unset SECONDS; SECONDS=99; echo $SECONDS; unset LINENO; LINENO=3; echo $LINENO; unset BASHPID; echo "${BASHPID-gone}"
#| <>
#| 5
#| 99
#| 3
#| gone
