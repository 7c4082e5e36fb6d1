#### variables that the shell computes
RANDOM=5; a=$RANDOM; RANDOM=5; [[ $a == "$RANDOM" ]] && echo seeded
[[ $SRANDOM -ge 0 ]] && echo srandom; [[ $EPOCHSECONDS -gt 1000000000 ]] && echo epoch; [[ $EPOCHREALTIME == *.* ]] && echo real
SECONDS=100; [[ $SECONDS -ge 100 && $SECONDS -lt 160 ]] && echo seconds; echo $LINENO; [[ $BASHPID == $$ ]] && echo pid; (echo $BASH_SUBSHELL; (echo $BASH_SUBSHELL))
echo $BASH_VERSINFO ${BASH_VERSINFO[1]} ${#BASH_VERSINFO[@]}; [[ $BASH_VERSION == 5.2* ]] && echo version; echo $SHELLOPTS; [[ $UID == $EUID ]] && echo uid
#| seeded
#| srandom
#| epoch
#| real
#| seconds
#| 3
#| pid
#| 1
#| 2
#| 5 2 6
#| version
#| braceexpand:hashall:interactive-comments
#| uid

#### variables about calls
f() { echo "${FUNCNAME[@]} ${BASH_LINENO[0]} ${BASH_SOURCE[0]}"; g; }; g() { echo "${FUNCNAME[@]}" ${#BASH_SOURCE[@]}; }; f
echo ${PIPESTATUS[@]}; true | false | (exit 3); echo ${PIPESTATUS[@]}; : a b; echo $_; set -- 1 2 3; echo $# $* "$@" ${@: -1}
#| f 1 environment
#| g f 2
#| 0
#| 0 1 3
#| b
#| 3 1 2 3 1 2 3 3

#### assignments of all kinds
a=1; a+=2; echo $a; declare -i i=1; i+=2; echo $i; b=(1 2); b+=(3); b[0]+=x; b[-1]=z; echo "${b[@]}"; b[2+3]=q; echo "${!b[@]}"
declare -A m; m[x]=1; m[x]+=2; m+=([y]=3 [z]=4); echo ${m[x]} ${#m[@]}; m=([only]=1); echo "${!m[@]}"
#| 12
#| 3
#| 1x 2 z
#| 0 1 2 5
#| 12 3
#| only

#### name references
a=1; declare -n ref=a; ref=9; echo $a; b=(1 2); declare -n el='b[1]'; el=new; echo ${b[1]}; unset -n ref; f() { local -n p=$1; p=set; }; f target; echo $target
declare -n r=a; declare -p r; declare +n r; echo $r; declare -n u; u=a; echo $u; declare -n arr=b; arr+=(3); echo "${arr[@]}" ${#arr[@]}; unset arr; echo ${#b[@]}; for k in 1; do declare -n loop=a; echo ${!loop}; done
#| 9
#| new
#| set
#| declare -n r="a"
#| a
#| 9
#| 1 new 3 3
#| 0
#| a

#### variables more 1: readonly q 1  q 2  echo not reached  2 dev null
(readonly q=1; q=2; echo not reached) 2>/dev/null
echo $?
(readonly -a q=(1); q[0]=2) 2>/dev/null
echo $?
(readonly q=1; unset q) 2>/dev/null
echo $?
(declare -r q=1; q+=2) 2>/dev/null
echo $?
#| 1
#| 1
#| 1
#| 1

#### variables more 2: declare -u U abc
declare -u U=abc
U+=def
echo $U
declare -l L
L=ABC
echo $L
declare -il n=5
n=n*2
echo $n
declare -x E=1
declare -p E
declare -rx F=2
declare -p F
declare -ai G=(1+1 2+2)
declare -p G
declare -iA H=([a]=1+1)
declare -p H
#| ABCDEF
#| abc
#| 10
#| declare -x E="1"
#| declare -rx F="2"
#| declare -ai G=([0]="2" [1]="4")
#| declare -Ai H=([a]="2" )

#### variables more 3: x 5  f    local x 6  g  echo $x    g    echo $x  x
x=5; f() { local x=6; g; echo $x; }; g() { echo $x; x=7; unset x; echo $x; }; f; echo $x; h() { local y; echo "[$y]"; y=1; }; y=2; h; echo $y; k() { declare z=1; export z; env | grep -c '^z='; }; k; echo "[$z]"; shopt -s localvar_inherit; f2() { local x; echo $x; }; f2
#| 6
#| 5
#| 5
#| 5
#| []
#| 2
#| 1
#| []
#| 5

#### variables more 4: a
a=()
echo "${a[@]+set}" ${#a[@]}
unset a
a[3]=x
echo ${a[3]} ${#a[@]} "${!a[@]}"
a=(1 2 3)
unset 'a[0]'
echo "${a[@]}" "${a[@]:1:1}" "${a[@]: -1}" "${#a[1]}"
echo "${a[@]/2/x}" "${a[@]^}" "${a[@]#2}" "${a[*]%3}"
#| 0
#| x 1 3
#| 2 3 2 3 1
#| x 3 2 3  3 2 

#### variables more 5: x
x='ÀÉ αβγ Жж'
echo ${x,,} ${x^^} ${x~~} ${#x} ${x:1:2}
[[ $x == *[[:upper:]]* ]]
echo $?
printf '%s\n' "${x//[[:lower:]]/.}"
shopt -s nocasematch
[[ É == é ]]
echo $?
echo $'\u00e9\U0001F600' | od -An -tx1
#| àé αβγ жж ÀÉ ΑΒΓ ЖЖ àé ΑΒΓ жЖ 9 É
#| 0
#| ÀÉ ... Ж.
#| 0
#|  c3 a9 f0 9f 98 80 0a
