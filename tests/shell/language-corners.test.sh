#### IFS with characters of several bytes
IFS=ç; x=çx; printf "<%s>" $x; echo; x='aéb→c d'; IFS=→é; printf "<%s>" $x; echo; set -- 1 2 3; IFS=→; echo "$*"; x=1→2→→3; printf "<%s>" $x; echo; a=(p q); printf '<%s>' "${a[*]}" ${a[*]}; echo
#| <><x>
#| <a><b><c d>
#| 1→2→3
#| <1><2><><3>
#| <p→q><p><q>

#### break and continue with too many arguments end the script
bash -c 'for x in a b; do echo $x; break 1 2 3; done; echo --'; echo $?; bash -c 'while :; do continue 1 2; done; echo --'; echo $?; bash -c 'for x in a b; do echo $x; break 0; done; echo -- $?'
#| a
#| 1
#| 1
#| a
#| -- 1

#### in where a command begins
bash -c 'in; echo no' 2>&1; echo $?; for x in in; do echo $x; done; case in in in) echo matched;; esac; echo in
#| bash: -c: line 1: syntax error near unexpected token `in'
#| bash: -c: line 1: `in; echo no'
#| 2
#| in
#| matched
#| in

#### {name}> without a command leaves nothing behind
{fd}>f; echo "[$fd]"; : {other}>g; echo $other; exec {third}>h; echo $third; x=1 {fd}>f; echo "$x[$fd]"; { echo y; } {fourth}>i; echo $fourth; {fd}</nothere; echo $?
#| []
#| 10
#| 11
#| 1[]
#| y
#| 12
#| 1

#### set lists what -c was given
bash -c 'FOO=1; set | grep FOO'; bash -c 'set | grep -c "^BASH_EXECUTION_STRING="'; echo 'set | grep -c EXECUTION' | bash
#| BASH_EXECUTION_STRING='FOO=1; set | grep FOO'
#| FOO=1
#| 1
#| 0
#? 1

#### declare -p with several attributes lists what has any of them
declare -r zzro=1; declare -t zztr=2; declare -rt zzboth=3; declare -i zzint=4; declare -prt | grep zz | sort; declare -pi | grep zz
#| declare -r zzro="1"
#| declare -rt zzboth="3"
#| declare -t zztr="2"
#| declare -i zzint="4"

#### compgen: words with quotes, substitutions and directories
mkdir subdir bdir; touch subfile; compgen -W 'completion' -o dirnames -- s; compgen -W completion -o default -- s | sort; compgen -o plusdirs -W 'a b1 b2' b; compgen -o dirnames b; compgen -o dirnames -W b1 b; compgen -A directory -W 'bx v2' b; (IFS=':%'; compgen -W 'spam:eggs%ham cheese\:colon'); compgen -W 'a\ b "c d" e'; compgen -W '$(echo x y) z'; (IFS=,; compgen -W "a,b c,'d,e'"); compgen -W "it's"; compgen -W '' ; echo $?; compgen -W 'one two' t; v='p q'; compgen -W '$v "$v"'
#| subdir
#| subdir
#| subfile
#| b1
#| b2
#| bdir
#| bdir
#| b1
#| bdir
#| bx
#| spam
#| eggs
#| ham cheese:colon
#| a b
#| c d
#| e
#| x
#| y
#| z
#| a
#| b c
#| d,e
#| its
#| 1
#| two
#| p
#| q
#| p q

#### complete -r of the special ones
complete -W other -E; complete -W x cmd; complete -r -E; complete -p; complete -W d -D; complete -r -D; complete -p; complete -r; complete -p
#| complete -W 'x' cmd
#| complete -W 'x' cmd

#### braces behind a parameter whose word opens some
a=v; echo ${a-{1..2}{x,y}}; echo ${a-{1..2}{x,y}} {p,q}; echo ${a-{1..2}{x,y}}{p,q}; echo ${a-{}{x,y}; echo ${a-{1}}{x,y}; echo ${a-"{"}{x,y}; echo ${a-\{}{x,y}; echo ${a-{b,c}}{x,y}; echo ${u-{b,c}}{x,y}; echo ${u-{{b}}{x,y}}; echo ${a:+{1..2}{x,y}t} ${a}{1,2} ${a-${b-{}}}{x,y}
#| v{x,y}}
#| v{x,y}} p q
#| v{x,y}}p v{x,y}}q
#| v{x,y}
#| v}x v}y
#| vx vy
#| vx vy
#| v}x v}y
#| {b,c}x {b,c}y
#| {{b}{x,y}}
#| {1..2{x,y}t} v1 v2 v}x v}y

#### what is unset is not replaced, and nobody asks where it is cut
unset u; e=; echo "[${u//*/q}][${e//*/q}][${u/*/q}][${e/*/q}][${u/#/q}][${e/#/q}][${u/%/q}][${e/#*/q}][${u//x/q}][${u/#*/q}]"; a=(); echo "[${a[@]//*/q}][${a[*]/*/q}]"; set --; echo "[${@//*/q}]" "[${1/*/q}]"; n='x y'; echo "[${u:n: -1}]"; echo ${u//$(echo run >&2)/x} 2>&1; ("${e:n}") 2>/dev/null; echo $?
#| [][q][][q][][q][][q][][]
#| [][]
#| [] []
#| []
#|
#| 1

#### years far from now
export TZ=UTC; printf '%(%Y-%m-%d)T\n' 99999999999 -99999999999 253402300800 9999999999999; date -d @99999999999 +%F; date -d @-99999999999 +%F; date -d 9999-12-31 +%s; date -d '2024-01-01 +8000 years' +%Y; date -d '0001-01-01' +%s; awk 'BEGIN { print strftime("%Y", 99999999999, 1) }'; jq -n '99999999999 | todate, strftime("%Y")'; echo $(( ($(date -d 9999-12-31 +%s) - $(date -d 2024-01-01 +%s)) / 86400 ))
#| 5138-11-16
#| -1199-02-15
#| 10000-01-01
#| 318857-05-20
#| 5138-11-16
#| -1199-02-15
#| 253402214400
#| 10024
#| -62135596800
#| 5138
#| "5138-11-16T09:46:39Z"
#| "5138"
#| 2913173
