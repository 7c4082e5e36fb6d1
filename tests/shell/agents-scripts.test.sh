#### associative arrays
declare -A m=([apple]=3 [pear]=5); m[fig]=1; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort; echo ${#m[@]} ${m[none]-unset} ${m[none]:-dflt}; [[ -v m[apple] ]] && echo yes; unset 'm[apple]'; echo "${!m[@]}" | tr ' ' '\n' | sort | paste -sd,; m[fig]+=2; ((m[pear]++)); echo ${m[fig]} ${m[pear]}; while read -r w; do ((c[$w]++)) 2>/dev/null; done < /dev/null; declare -A cnt; for w in a b a c a; do cnt[$w]=$(( ${cnt[$w]:-0} + 1 )); done; for w in $(printf '%s\n' "${!cnt[@]}" | sort); do echo "$w ${cnt[$w]}"; done; declare -p cnt | tr ' ' '\n' | sort | head -3; k='a b'; m[$k]='c d'; echo "${m[a b]}"; echo "${m[@]@Q}" | wc -c; declare -A copy; for k in "${!m[@]}"; do copy[$k]=${m[$k]}; done; echo ${#copy[@]}
#| apple=3
#| fig=1
#| pear=5
#| 3 unset dflt
#| yes
#| fig,pear
#| 12 6
#| a 3
#| b 1
#| c 1
#| )
#| -A
#| [a]="3"
#| c d
#| 15
#| 3

#### indexed arrays
a=(one two "three four"); a+=(five); echo ${#a[@]} "${a[2]}" "${a[-1]}" "${a[@]:1:2}" ${!a[@]}; for i in "${!a[@]}"; do printf '%d:%s;' "$i" "${a[i]}"; done; echo; unset 'a[1]'; echo "${!a[@]}"; a=("${a[@]}"); echo "${!a[@]}"; IFS=, ; echo "${a[*]}"; unset IFS; mapfile -t l < <(seq 3); echo "${l[@]/#/n}" "${l[@]%2}"; IFS=: read -ra p <<< a:b:c; echo ${#p[@]} ${p[1]}; s=(3 1 2); IFS=$'\n' sorted=($(sort <<< "${s[*]}")); unset IFS; echo "${sorted[@]}"; echo "${a[@]^}" "${a[@]//e/E}"; [[ " ${a[*]} " == *" five "* ]] && echo in; last=${a[${#a[@]}-1]}; echo $last; b=("${a[@]:0:1}" new "${a[@]:1}"); echo "${b[@]}"; declare -a e=(); echo ${#e[@]} "${e[@]:-empty}"; set -- "${a[@]}"; echo $# "$2"; printf '%s\n' "${a[@]}" | sort -r | head -1; x=([5]=f [2]=t); echo "${x[@]}" "${!x[@]}"; readarray -t -d , q <<< 'p,q,r'; echo "${#q[@]}"; a=({a..e}); echo "${a[@]: -2}"; echo "${a[@]@A}"; mapfile -t -n 2 -s 1 z < <(seq 5); echo "${z[@]}"
#| 4 three four five two three four 0 1 2 3
#| 0:one;1:two;2:three four;3:five;
#| 0 2 3
#| 0 1 2
#| one,three four,five
#| n1 n2 n3 1  3
#| 3 b
#| 1 2 3
#| One Three four Five onE thrEE four fivE
#| in
#| five
#| one new three four five
#| 0 empty
#| 3 three four
#| three four
#| t f 2 5
#| 3
#| d e
#| declare -a a=([0]="a" [1]="b" [2]="c" [3]="d" [4]="e")
#| 2 3

#### parameter expansion tricks
p=/a/b/file.tar.gz; echo ${p##*/} ${p%/*} ${p%%.*} ${p#*.} ${p##*.} ${p%.*}; f=${p##*/}; echo ${f%%.*} ${#p} ${p:3:4} ${p: -6} ${p:(-6):3}; v=hello; echo ${v^} ${v^^} ${v/l/L} ${v//l/L} ${v/#h/J} ${v/%o/0} ${v:+set} ${u:-def} ${u:=assigned} $u ${v@Q} ${v@U}; n=v; echo ${!n} ${!v*}; echo ${x:?msg} 2>&1 | sed 's/.*: x/x/'; echo "${v:0:1}${v: -1}" ${v//[aeiou]/_} ${v,,}; url='https://u:p@host.com:8080/path/x?q=1#f'; h=${url#*://}; h=${h%%/*}; echo $h ${h##*@} ${h##*:} ${url##*\#}; t='  trim me  '; t="${t#"${t%%[![:space:]]*}"}"; t="${t%"${t##*[![:space:]]}"}"; echo "[$t]"; csv=a,b,c; echo ${csv//,/ } ${csv//[^,]} ; c=${csv//[^,]/}; echo ${#c}; set -- a b c; echo "${@:2}" "${*:1:2}" ${#} ${!#} "${@: -1}"; s=abc; for ((i=0;i<${#s};i++)); do echo -n "${s:i:1}."; done; echo; printf -v pad '%*s' 5 ''; echo "${pad// /-}"; echo "${v:1:-1}" "${v/%l*/}" "${p//\//.}"; declare -u up=abc; declare -l lo=ABC; declare -i num=3+4; echo $up $lo $num; echo ${v/$'\n'/x} "${v@a}" ${BASH_VERSION%%.*}; echo {a,b}{1,2} {01..03} {a..e..2} x{,y}; echo ~root | head -c 1; echo; w='a*b'; echo "${w//\*/-}" ${w/\*/+}
#| file.tar.gz /a/b /a/b/file tar.gz gz /a/b/file.tar
#| file 16 b/fi tar.gz tar
#| Hello HELLO heLlo heLLo Jello hell0 set def assigned assigned 'hello' HELLO
#| hello v
#| ho h_ll_ hello
#| u:p@host.com:8080 host.com:8080 8080 f
#| [trim me]
#| a b c ,,
#| 2
#| b c a b 3 c c
#| a.b.c.
#| -----
#| ell he .a.b.file.tar.gz
#| ABC abc 7
#| hello  5
#| a1 a2 b1 b2 01 02 03 a c e x xy
#| /
#| a-b a+b

#### functions with locals and returns
add() { local a=$1 b=${2:-0}; echo $((a+b)); }; r=$(add 2 3); echo $r; is_even() { (( $1 % 2 == 0 )); }; is_even 4 && echo even; is_even 3 || echo odd; fail() { return 7; }; fail; echo $?; outer() { local x=1; inner; echo $x; }; inner() { x=2; }; outer; echo ${x-unset}; ref() { local -n out=$1; out="set by ref"; }; ref res; echo $res; rec() { (( $1 <= 0 )) && return; echo -n "$1 "; rec $(( $1 - 1 )); }; rec 3; echo; die() { echo "error: $*" >&2; exit "${code:-1}"; }; (die bad thing) 2>&1; echo $?; log() { printf '[%s] %s\n' "$1" "${*:2}"; }; log INFO a b; f() { echo "${FUNCNAME[0]} $# $@"; shift; echo $1; }; f a b; declare -f add | head -2; unset -f add; type add 2>&1 | sed 's/.*: type/type/'; g() { trap 'echo ret' RETURN; echo in; }; g; trap - RETURN; h() ( cd /; x=sub; echo $PWD ); h; echo "$x"; type -t g; command -v ls >/dev/null && echo has; retry() { local n=0; until "$@"; do ((++n >= 3)) && return 1; done; }; retry false; echo $?; map() { local fn=$1; shift; for x; do $fn "$x"; done; }; sq() { echo -n $(($1*$1))' '; }; map sq 1 2 3; echo
#| 5
#| even
#| odd
#| 7
#| 2
#| unset
#| set by ref
#| 3 2 1 
#| error: bad thing
#| 1
#| [INFO] a b
#| f 2 a b
#| b
#| add () 
#| { 
#| type: add: not found
#| in
#| ret
#| /
#|
#| function
#| has
#| 1
#| 1 4 9 

#### strict mode
bash -c 'set -euo pipefail; false; echo no'; echo $?; bash -c 'set -u; echo $nope' 2>&1 | sed 's/^bash: line 1: //'; bash -c 'set -e; false || true; if false; then :; fi; echo still; x=$(false); echo no'; echo $?; bash -c 'set -o pipefail; false | true'; echo $?; bash -c 'set -e; f() { false; echo in; }; f && echo a; f; echo no'; echo $?; bash -c 'trap "echo trapped line \$LINENO" ERR; false; echo on'; bash -c 'set -x; a=1; echo $a' 2>&1; bash -n -c 'if then' 2>&1 | head -1 | sed 's/.*syntax/syntax/'; set -o | grep -c . ; bash -ec '(exit 3); echo no'; echo $?; bash -c 'set -E; trap "echo E" ERR; f() { false; }; f; exit 0'; bash -c 'set -e; ! true; echo ok; [[ a == b ]]; echo no'; echo $?; bash -uc 'a=(); echo "${a[@]}" done'; bash -c 'set -eu; echo ${x:-d}; cat nofile 2>/dev/null; echo no'; echo $?; bash -c 'set -C; echo a > f; echo b > f' 2>&1 | sed 's/.*: f/f/'; cat f; bash -c 'set -f; echo *; set +f; cd /; echo etc*'; (set -e; trap 'echo exit $?' EXIT; false; echo no); echo after $?; set -n; echo not run
#| 1
#| nope: unbound variable
#| still
#| 1
#| 1
#| in
#| a
#| 1
#| trapped line 1
#| on
#| + a=1
#| + echo 1
#| 1
#| syntax error near unexpected token `then'
#| 27
#| 3
#| E
#| E
#| ok
#| 1
#| done
#| d
#| 1
#| f: cannot overwrite existing file
#| a
#| *
#| etc
#| exit 1
#| after 1

#### traps and signals
bash -c 'trap "echo bye; exit 5" TERM; kill $$; echo no'; echo $?; bash -c 'trap "" INT; kill -INT $$; echo survived'; bash -c 'trap "echo a" EXIT; trap "echo b" EXIT; exit 2'; echo $?; bash -c 'cleanup() { rc=$?; echo "rc=$rc"; }; trap cleanup EXIT; exit 9'; echo $?; bash -c 'kill -9 $$'; echo $?; bash -c 'trap - INT; trap -p; trap "echo x" HUP; trap -p HUP'; sleep 5 & p=$!; kill $p; wait $p; echo $?; (sleep 0.05; echo bg) & wait; echo fg; bash -c 'trap "echo usr1" USR1; kill -USR1 $$; sleep 0.01; echo end'; timeout 0.1 sleep 5; echo $?; timeout -s KILL 0.1 sleep 5; echo $?; timeout 5 true; echo $?; bash -c 'trap "echo dbg" DEBUG; :; :' ; kill -l 15; kill -l TERM; (trap 'echo sub' EXIT; :); { sleep 0.01; exit 3; } & wait $!; echo $?; wait -n 2>/dev/null; echo $?; p=(); for i in 1 2 3; do (exit $i) & p+=($!); done; for j in "${p[@]}"; do wait $j; echo -n "$? "; done; echo; coproc { read l; echo "got $l"; }; echo hi >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"; echo $x
#| bye
#| 5
#| survived
#| b
#| 2
#| rc=9
#| 9
#| 137
#| trap -- 'echo x' SIGHUP
#| 143
#| bg
#| fg
#| usr1
#| end
#| 124
#| 137
#| 0
#| dbg
#| dbg
#| TERM
#| 15
#| sub
#| 3
#| 127
#| 1 2 3 
#| got hi

#### case, select and menus
for x in apple 10 -v file.txt '' 'a b' yes; do case $x in [0-9]*) echo num;; -*) echo opt;; *.txt|*.md) echo doc;; '') echo empty;; *\ *) echo spaced;; [yY]|[yY][eE][sS]) echo affirm;; *) echo other;; esac; done; case abc in a*) echo 1;;& *c) echo 2;& z) echo 3;; *) echo 4;; esac; PS3='? '; select o in x y quit; do echo "$o/$REPLY"; [[ $o == quit ]] && break; done <<< $'1\n9\n3' 2>/dev/null; shopt -s nocasematch; case ABC in abc) echo ci;; esac; shopt -u nocasematch; shopt -s extglob; case foo123 in +([a-z])+([0-9])) echo ext;; esac; case "$-" in *i*) echo inter;; *) echo not;; esac
#? 2

#### read in loops
printf 'a b c\nd e f\n' | while read -r x y; do echo "$y $x"; done; printf 'no newline' | while read -r l || [[ -n $l ]]; do echo "[$l]"; done; while IFS=, read -r id name rest; do [[ $id == id ]] && continue; echo "$name:$rest"; done <<< $'id,name,x,y\n1,Ann,2,3'; read -r first _ <<< 'one two three'; echo $first; IFS= read -r line <<< '  keep  '; echo "[$line]"; read -n 3 x <<< abcdef; echo $x; read -d ';' x <<< 'a b;c'; echo $x; read -t 1 x < /dev/null; echo $?; read -a arr <<< '1 2 3'; echo ${arr[2]}; echo 'a\tb' | { read x; echo "$x"; }; echo 'a\tb' | { read -r x; echo "$x"; }; count=0; while read -r _; do ((++count)); done < <(seq 5); echo $count; read -r a b c < <(echo 1 2 3); echo $b; while read -u 3 -r l; do echo "3:$l"; done 3< <(seq 2); paste <(seq 2) <(seq 3 4) | while read -r a b; do echo $((a*b)); done; i=0; while :; do ((i++ == 2)) && continue; ((i > 4)) && break; echo -n "$i "; done; echo; until [ ${n:=0} -ge 3 ]; do n=$((n+1)); done; echo $n; for f in *.none; do [ -e "$f" ] || echo nothing; done; for i in {1..3}; do for j in a b; do [[ $i$j == 2a ]] && continue 2; echo -n $i$j' '; done; done; echo; seq 3 | while read -r x; do total=$((total+x)); done; echo "${total:-lost}"; shopt -s lastpipe; seq 3 | while read -r x; do total=$((total+x)); done; echo $total
#| b c a
#| e f d
#| [no newline]
#| Ann:2,3
#| one
#| [  keep  ]
#| abc
#| a b
#| 1
#| 3
#| atb
#| a\tb
#| 5
#| 2
#| 3:1
#| 3:2
#| 3
#| 8
#| 1 2 4 
#| 3
#| nothing
#| 1a 1b 3a 3b 
#| lost
#| 6

#### regex and BASH_REMATCH
re='^([a-z]+)-([0-9]+)\.?(.*)$'; [[ ver-12.rc1 =~ $re ]] && echo "${BASH_REMATCH[1]} ${BASH_REMATCH[2]} ${BASH_REMATCH[3]} ${#BASH_REMATCH[@]}"; [[ 2024-05-06 =~ ([0-9]{4})-([0-9]{2})-([0-9]{2}) ]] && echo "${BASH_REMATCH[@]:1}"; [[ abc =~ b ]] && echo "${BASH_REMATCH[0]}"; email=a.b@c.org; [[ $email =~ ^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$ ]] && echo valid; [[ "a b" =~ a\ b ]] && echo sp; [[ x =~ [[:digit:]] ]] || echo nod; s='k1=v1;k2=v2'; while [[ $s =~ ([^=;]+)=([^;]*)\;?(.*) ]]; do echo "${BASH_REMATCH[1]}->${BASH_REMATCH[2]}"; s=${BASH_REMATCH[3]}; done; ip=192.168.1.300; IFS=. read -ra o <<< $ip; ok=1; for x in "${o[@]}"; do ((x > 255)) && ok=0; done; echo $ok; is_int() { [[ $1 =~ ^[+-]?[0-9]+$ ]]; }; is_int -5 && echo int; is_int 5a || echo notint; [[ a =~ "." ]] || echo quoted; [[ $'a\nb' =~ a.b ]] && echo dotnl; [[ "[x]" =~ ^\[(.*)\]$ ]] && echo ${BASH_REMATCH[1]}
#| ver 12 rc1 4
#| 2024 05 06
#| b
#| valid
#| sp
#| nod
#| k1->v1
#| k2->v2
#| 0
#| int
#| notint
#| quoted
#| dotnl
#| x

#### environment and subshells
export A=1; B=2; bash -c 'echo $A ${B-none}'; A=9 bash -c 'echo $A'; echo $A; env A=3 sh -c 'echo $A'; env -i X=1 env; (A=sub; echo $A); echo $A; printenv A; unset A; printenv A; echo $?; env -u HOME bash -c 'echo ${HOME-nohome}'; cat > .env <<'E'
# comment
KEY=value with spaces
NUM=5
E
while IFS='=' read -r k v; do [[ $k =~ ^#|^$ ]] && continue; export "$k=$v"; done < .env; echo "$KEY|$NUM"; set -a; . <(grep -v '^#' .env | sed 's/=\(.*\)/="\1"/'); set +a; bash -c 'echo $KEY'; export -p | grep -c NUM; declare -x | grep '^declare -x KEY'; x=$( (echo a; echo b) | wc -l ); echo $x; echo $(echo "nested $(echo deep "$(echo er)")"); echo `echo back`; y=$(cat <<< q); echo "$y$?"; source /dev/stdin <<< 'z=sourced'; echo $z; eval 'v=$((1+1))'; echo $v; echo $BASHPID $$ | awk '{print $1==$2}'; (echo $BASH_SUBSHELL); exec 5<&0; exec 5<&-; readonly R=1; (R=2) 2>&1 | sed 's/.*: R/R/'; echo ${PIPESTATUS[@]}; true | false | true; echo ${PIPESTATUS[@]}; which ls | grep -c ls; type cd; hash -r; alias ll='ls -l'; alias ll; unalias ll; echo "$0" | wc -l; time -p true 2>/dev/null; times > /dev/null; ulimit -n > /dev/null; echo $SHLVL | grep -c .; echo $LINENO
#| 1 none
#| 9
#| 1
#| 3
#| X=1
#| sub
#| 1
#| 1
#| 1
#| nohome
#| value with spaces|5
#| value with spaces
#| 1
#| declare -x KEY="value with spaces"
#| 2
#| nested deep er
#| back
#| q0
#| sourced
#| 2
#| 0
#| 1
#| R: readonly variable
#| 1 0
#| 0 1 0
#| 1
#| cd is a shell builtin
#| alias ll='ls -l'
#| 1
#| 1
#| 6

#### logging helper with levels and colours
RED=$'\e[31m' NC=$'\e[0m'; log() { local lvl=$1; shift; case $lvl in ERROR) printf '%s[%-5s]%s %s\n' "$RED" "$lvl" "$NC" "$*" >&2;; *) printf '[%-5s] %s\n' "$lvl" "$*";; esac; }; log INFO started; log ERROR bad 2>&1 | cat -v; echo -e '\033[1mbold\033[0m' | sed 's/\x1b\[[0-9;]*m//g'; tput bold >/dev/null 2>&1; printf '%s\n' "$(date -u -d @0 '+%F %T')"; { log INFO x; log ERROR y; } > out.log 2>&1; wc -l < out.log; exec 4>&1; log INFO z >&4; exec > final.log; echo captured; exec >&4; cat final.log; echo "a" | tee /dev/stderr 2>/dev/null; echo to-err > /dev/stderr 2>&1 | cat; logf() { while IFS= read -r l; do echo "$(printf '%03d' $((++n))) $l"; done; }; printf 'x\ny\n' | logf
#| [INFO ] started
#| ^[[31m[ERROR]^[[0m bad
#| bold
#| 1970-01-01 00:00:00
#| 2
#| [INFO ] z
#| captured
#| a
#| 001 x
#| 001 y

#### simple build script
mkdir -p src build; for f in a b c; do echo "int $f;" > src/$f.c; done
build() { local out=() src; for src in src/*.c; do local o=build/$(basename "${src%.c}").o; if [[ ! -e $o || $src -nt $o ]]; then cp "$src" "$o"; out+=("$o"); fi; done; echo "built ${#out[@]}: ${out[*]##*/}"; }
build; build; sleep 0.01; touch -d '+1 hour' src/b.c; build; cat build/*.o | md5sum | cut -c1-8; cat > Makefile.sh <<'M'
target_all() { target_dep; echo all; }
target_dep() { echo dep; }
target_clean() { rm -rf build; echo clean; }
"target_${1:-all}"
M
bash Makefile.sh; bash Makefile.sh clean; bash Makefile.sh nope 2>&1 | sed 's/line [0-9]*/line N/'; echo $?; [ -d build ] || echo gone
#| built 3: a.o b.o c.o
#| built 0: 
#| built 1: b.o
#| be80c68a
#| dep
#| all
#| clean
#| Makefile.sh: line N: target_nope: command not found
#| 0
#| gone

#### parallel jobs and waiting
work() { sleep 0.0$1; echo "done $1"; return $1; }; pids=(); for i in 3 1 2; do work $i > o$i & pids+=($!); done; rc=0; for p in "${pids[@]}"; do wait "$p" || rc=$((rc + $?)); done; echo $rc; cat o1 o2 o3; (sleep 0.2; echo slow) & echo fast; wait; seq 4 | xargs -P4 -I{} sh -c 'echo {} > p{}'; cat p*; { echo a; sleep 0.8; echo c; } & { sleep 0.4; echo b; } & wait; jobs | wc -l; f=$(mktemp -u); mkfifo "$f"; echo via fifo > "$f" & cat "$f"; rm "$f"; ! true & wait $!; echo $?; x=$(sleep 0.01 & echo now); echo $x; nohup true >/dev/null 2>&1; echo $?; disown -a 2>/dev/null; while (( $(jobs -rp | wc -l) > 0 )); do wait -n; done; echo idle
#| 6
#| done 1
#| done 2
#| done 3
#| fast
#| slow
#| 1
#| 2
#| 3
#| 4
#| a
#| b
#| c
#| 0
#| via fifo
#| 0
#| now
#| 0
#| idle

#### json building without jq
a=(x 'y "q"' z); printf '['; sep=; for e in "${a[@]}"; do printf '%s"%s"' "$sep" "${e//\"/\\\"}"; sep=,; done; printf ']\n'; printf '%s\n' "${a[@]}" | jq -R . | jq -sc .; jq -n --arg a "${a[1]}" --argjson n 5 '{name: $a, count: $n, nested: {list: [$n, null, true]}}'; cat <<J | jq -r '.name + "!"'
{"name": "$(echo dynamic)", "v": [1, 2]}
J
jq -nc '$ARGS.named' --arg x 1 --arg y 2; printf '{"k": "%s"}\n' "$(printf 'a\nb' | sed ':a;N;$!ba;s/\n/\\n/g')" | jq .k; for i in 1 2; do jq -nc --argjson i $i '{i: $i}'; done | jq -s -c 'map(.i)'; jq '.version = "2.0" | .deps.x //= "1"' <<< '{"version":"1.0"}' > t && mv t pkg.json && cat pkg.json; jq -r '.deps | keys[]' pkg.json; python3 -c 1 2>/dev/null; jq -r '.a[]?' <<< '{"a":null}'; echo '[{"n":"b"},{"n":"a"}]' | jq -r 'sort_by(.n)[] | .n' | paste -sd' '
#| ["x","y \"q\"","z"]
#| ["x","y \"q\"","z"]
#| {
#|   "name": "y \"q\"",
#|   "count": 5,
#|   "nested": {
#|     "list": [
#|       5,
#|       null,
#|       true
#|     ]
#|   }
#| }
#| dynamic!
#| {"x":"1","y":"2"}
#| "a\nb"
#| [1,2]
#| {
#|   "version": "2.0",
#|   "deps": {
#|     "x": "1"
#|   }
#| }
#| x
#| a b

#### text templating
cat > t.tpl <<'T'
Dear {{name}},
Your total is {{total}}.
T
declare -A v=([name]='A & B' [total]='$5'); out=$(<t.tpl); for k in "${!v[@]}"; do out=${out//"{{$k}}"/"${v[$k]}"}; done; echo "$out"; sed -e 's/{{name}}/Bob/' -e 's/{{total}}/7/' t.tpl; awk '{while (match($0,/{{[a-z]+}}/)) {k=substr($0,RSTART+2,RLENGTH-4); $0=substr($0,1,RSTART-1) "<" k ">" substr($0,RSTART+RLENGTH)} print}' t.tpl; export N=me; envsubst < /dev/null 2>/dev/null; eval "cat <<E
Hi \$N \$((1+1))
E"; printf '%s\n' '# {{t}}' | while IFS= read -r l; do echo "${l/\{\{t\}\}/Title}"; done; tr '[a-m][n-z][A-M][N-Z]' '[n-z][a-m][N-Z][A-M]' <<< 'Hello'; s=; for i in {1..3}; do s+="$i,"; done; echo "${s%,}"; printf -- '-%.0s' $(seq 5); echo; printf '%s' {a..c} $'\n'; echo "${v[@]@K}" | wc -w
#| Dear A & B,
#| Your total is $5.
#| Dear Bob,
#| Your total is 7.
#| Dear <name>,
#| Your total is <total>.
#| Hi me 2
#| # Title
#| Uryyb
#| 1,2,3
#| -----
#| abc
#| 6

#### errors people run into
nosuchcmd 2>&1 | sed 's/.*: line [0-9]*: //'; nosuchcmd 2>/dev/null; echo $?; ./nofile 2>&1 | sed 's/.*line [0-9]*: //'; touch ne; ./ne 2>&1 | sed 's/.*line [0-9]*: //'; ./ne 2>/dev/null; echo $?; cat nofile 2>&1; ls nofile 2>&1; echo $?; cd nofile 2>&1 | sed 's/.*line [0-9]*: //'; mkdir d; cat d 2>&1; cp d e 2>&1; rm d 2>&1; mv nofile x 2>&1; rmdir nofile 2>&1; grep x nofile 2>&1; sed p nofile 2>&1; sort nofile 2>&1; head nofile 2>&1; wc nofile 2>&1; touch no/dir/f 2>&1; echo x > no/dir/f 2>&1 | cat; tail nofile 2>&1; find nofile 2>&1; tar xf nofile 2>&1 | head -1; chmod 644 nofile 2>&1; ln -s a ne 2>&1; diff nofile ne 2>&1; awk 1 nofile 2>&1; cut nofile 2>&1; cut -f1 nofile 2>&1; uniq nofile 2>&1; tr a 2>&1; xargs -n 2>&1 < /dev/null | head -1; ls --bad 2>&1; head -n x ne 2>&1; seq 2>&1; sleep 2>&1; sleep x 2>&1; kill 99999999 2>&1 | sed 's/.*: kill/kill/'; test 1 -eq 2>&1 | sed 's/.*: test/test/'; date -d xx 2>&1; basename 2>&1; dirname 2>&1; cp a 2>&1; mv a 2>&1; rm 2>&1; mkdir 2>&1; touch 2>&1; ln 2>&1; comm a 2>&1; paste nofile 2>&1; join a 2>&1; split nofile 2>&1; stat nofile 2>&1; readlink nofile; echo $?; realpath nofile/x 2>&1; file nofile; which nosuchcmd; echo $?; gzip nofile 2>&1; unzip nofile 2>&1 | head -1; base64 nofile 2>&1; md5sum nofile 2>&1; xxd nofile 2>&1; od nofile 2>&1; cmp nofile ne 2>&1; patch < /dev/null 2>&1; tee no/such 2>&1 < /dev/null; nl nofile 2>&1; tac nofile 2>&1; rev nofile 2>&1; fold nofile 2>&1; expand nofile 2>&1; shuf nofile 2>&1; env nosuchcmd 2>&1; echo $?; timeout 1 nosuchcmd 2>&1; echo $?; mktemp nofile 2>&1; du nofile 2>&1; tree nofile 2>&1 | head -1
#| nosuchcmd: command not found
#| 127
#| ./nofile: No such file or directory
#| ./ne: Permission denied
#| 126
#| cat: nofile: No such file or directory
#| ls: cannot access 'nofile': No such file or directory
#| 2
#| cd: nofile: No such file or directory
#| cat: d: Is a directory
#| cp: -r not specified; omitting directory 'd'
#| rm: cannot remove 'd': Is a directory
#| mv: cannot stat 'nofile': No such file or directory
#| rmdir: failed to remove 'nofile': No such file or directory
#| grep: nofile: No such file or directory
#| sed: can't read nofile: No such file or directory
#| sort: cannot read: nofile: No such file or directory
#| head: cannot open 'nofile' for reading: No such file or directory
#| wc: nofile: No such file or directory
#| touch: cannot touch 'no/dir/f': No such file or directory
#| tail: cannot open 'nofile' for reading: No such file or directory
#| find: 'nofile': No such file or directory
#| tar: nofile: Cannot open: No such file or directory
#| chmod: cannot access 'nofile': No such file or directory
#| ln: failed to create symbolic link 'ne': File exists
#| diff: nofile: No such file or directory
#| awk: fatal: cannot open file `nofile' for reading: No such file or directory
#| cut: you must specify a list of bytes, characters, or fields
#| Try 'cut --help' for more information.
#| cut: nofile: No such file or directory
#| uniq: nofile: No such file or directory
#| tr: missing operand after 'a'
#| Two strings must be given when translating.
#| Try 'tr --help' for more information.
#| xargs: option requires an argument -- 'n'
#| ls: unrecognized option '--bad'
#| Try 'ls --help' for more information.
#| head: invalid number of lines: 'x'
#| seq: missing operand
#| Try 'seq --help' for more information.
#| sleep: missing operand
#| Try 'sleep --help' for more information.
#| sleep: invalid time interval 'x'
#| Try 'sleep --help' for more information.
#| kill: (99999999) - No such process
#| test: 1: unary operator expected
#| date: invalid date 'xx'
#| basename: missing operand
#| Try 'basename --help' for more information.
#| dirname: missing operand
#| Try 'dirname --help' for more information.
#| cp: missing destination file operand after 'a'
#| Try 'cp --help' for more information.
#| mv: missing destination file operand after 'a'
#| Try 'mv --help' for more information.
#| rm: missing operand
#| Try 'rm --help' for more information.
#| mkdir: missing operand
#| Try 'mkdir --help' for more information.
#| touch: missing file operand
#| Try 'touch --help' for more information.
#| ln: missing file operand
#| Try 'ln --help' for more information.
#| comm: missing operand after 'a'
#| Try 'comm --help' for more information.
#| paste: nofile: No such file or directory
#| join: missing operand after 'a'
#| Try 'join --help' for more information.
#| split: cannot open 'nofile' for reading: No such file or directory
#| stat: cannot statx 'nofile': No such file or directory
#| 1
#| realpath: nofile/x: No such file or directory
#| nofile: cannot open `nofile' (No such file or directory)
#| 1
#| gzip: nofile: No such file or directory
#| unzip:  cannot find or open nofile, nofile.zip or nofile.ZIP.
#| base64: nofile: No such file or directory
#| md5sum: nofile: No such file or directory
#| xxd: nofile: No such file or directory
#| od: nofile: No such file or directory
#| cmp: nofile: No such file or directory
#| tee: no/such: No such file or directory
#| nl: nofile: No such file or directory
#| tac: failed to open 'nofile' for reading: No such file or directory
#| rev: cannot open nofile: No such file or directory
#| fold: nofile: No such file or directory
#| expand: nofile: No such file or directory
#| shuf: nofile: No such file or directory
#| env: 'nosuchcmd': No such file or directory
#| 127
#| timeout: failed to run command 'nosuchcmd': No such file or directory
#| 127
#| mktemp: too few X's in template 'nofile'
#| du: cannot access 'nofile': No such file or directory
#| nofile  [error opening dir]

#### syntax errors
bash -c 'echo "unclosed' 2>&1; echo $?; bash -c 'if true; then echo x' 2>&1; echo $?; bash -c 'for i in 1 2; echo $i; done' 2>&1; echo $?; bash -c 'echo $((1 +))' 2>&1; echo $?; bash -c 'case x in' 2>&1; bash -c ')' 2>&1; bash -c 'a=(1 2' 2>&1; bash -c 'echo ${x' 2>&1; bash -c 'cat <<E
no end' 2>&1; bash -c 'f() { echo' 2>&1; bash -c 'fi' 2>&1; bash -c 'echo a || || b' 2>&1; bash -c 'echo > ' 2>&1; bash -c 'break; echo on' 2>&1; bash -c 'return 1; echo on' 2>&1; bash -c 'local x=1; echo on' 2>&1; bash -c 'echo ${1bad}' 2>&1; echo $?; bash -c '1x=2' 2>&1; bash -c 'x =2' 2>&1; bash -c 'export 1a=2; echo $?' 2>&1; bash -c 'shift 5; echo $?' 2>&1; bash -c 'exit abc' 2>&1; echo $?; bash -c 'set -q' 2>&1; bash -c 'declare -Z x' 2>&1 | head -1; bash -c 'readonly a=1; a=2; echo on' 2>&1; bash -c 'unset -v 1a; echo $?' 2>&1; bash -c 'printf "%d\n" abc; echo $?' 2>&1; bash -c '. nofile; echo $?' 2>&1; bash nofile 2>&1; echo $?; bash -c 'read -q' 2>&1 | head -1; bash -c 'let "1 +"; echo $?' 2>&1; bash -c 'test a b c; echo $?' 2>&1; bash -c '[ 1 -eq 1' 2>&1; bash -c 'trap x NOSIG; echo $?' 2>&1; bash -c 'wait 12345; echo $?' 2>&1; bash -c 'kill -NOPE 1' 2>&1; bash -c 'cd a b' 2>&1; bash -c 'getopts' 2>&1; bash -c 'echo x > /' 2>&1; bash -c 'echo $(exit 3); echo $?; y=$(exit 4); echo $?'
#| bash: -c: line 1: unexpected EOF while looking for matching `"'
#| 2
#| bash: -c: line 2: syntax error: unexpected end of file
#| 2
#| bash: -c: line 1: syntax error near unexpected token `echo'
#| bash: -c: line 1: `for i in 1 2; echo $i; done'
#| 2
#| bash: line 1: 1 +: syntax error: operand expected (error token is "+")
#| 1
#| bash: -c: line 2: syntax error: unexpected end of file
#| bash: -c: line 1: syntax error near unexpected token `)'
#| bash: -c: line 1: `)'
#| bash: -c: line 1: unexpected EOF while looking for matching `)'
#| bash: -c: line 1: unexpected EOF while looking for matching `}'
#| bash: line 2: warning: here-document at line 1 delimited by end-of-file (wanted `E')
#| no end
#| bash: -c: line 2: syntax error: unexpected end of file
#| bash: -c: line 1: syntax error near unexpected token `fi'
#| bash: -c: line 1: `fi'
#| bash: -c: line 1: syntax error near unexpected token `||'
#| bash: -c: line 1: `echo a || || b'
#| bash: -c: line 1: syntax error near unexpected token `newline'
#| bash: -c: line 1: `echo > '
#| bash: line 1: break: only meaningful in a `for', `while', or `until' loop
#| on
#| bash: line 1: return: can only `return' from a function or sourced script
#| on
#| bash: line 1: local: can only be used in a function
#| on
#| bash: line 1: ${1bad}: bad substitution
#| 1
#| bash: line 1: 1x=2: command not found
#| bash: line 1: x: command not found
#| bash: line 1: export: `1a=2': not a valid identifier
#| 1
#| 1
#| bash: line 1: exit: abc: numeric argument required
#| 2
#| bash: line 1: set: -q: invalid option
#| set: usage: set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]
#| bash: line 1: declare: -Z: invalid option
#| bash: line 1: a: readonly variable
#| bash: line 1: unset: `1a': not a valid identifier
#| 1
#| bash: line 1: printf: abc: invalid number
#| 0
#| 1
#| bash: line 1: nofile: No such file or directory
#| 1
#| bash: nofile: No such file or directory
#| 127
#| bash: line 1: read: -q: invalid option
#| bash: line 1: let: 1 +: syntax error: operand expected (error token is "+")
#| 1
#| bash: line 1: test: b: binary operator expected
#| 2
#| bash: line 1: [: missing `]'
#| bash: line 1: trap: NOSIG: invalid signal specification
#| 1
#| bash: line 1: wait: pid 12345 is not a child of this shell
#| 127
#| bash: line 1: kill: NOPE: invalid signal specification
#| bash: line 1: cd: too many arguments
#| getopts: usage: getopts optstring name [arg ...]
#| bash: line 1: /: Is a directory
#|
#| 0
#| 4
