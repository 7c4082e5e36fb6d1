#### echo ${x?} 2>&1; echo after
echo ${x?} 2>&1; echo after
#? 127

#### echo ${x:?msg here} 2>&1; echo after
echo ${x:?msg here} 2>&1; echo after
#? 127

#### (echo ${x?}) 2>/dev/null; echo $?
(echo ${x?}) 2>/dev/null; echo $?
#| 1

#### set -u; echo $nope 2>&1; echo after
set -u; echo $nope 2>&1; echo after
#? 127

#### set -u; a=(); echo "${a[@]}" ok; echo ${a[0]} 2>&1
set -u; a=(); echo "${a[@]}" ok; echo ${a[0]} 2>&1
#| ok
#? 127

#### set -u; echo ${nope:-d} ${#nope} 2>&1
set -u; echo ${nope:-d} ${#nope} 2>&1
#? 127

#### set -u; echo $1 2>&1
set -u; echo $1 2>&1
#? 127

#### echo ${1x} 2>&1; echo after
echo ${1x} 2>&1; echo after
#? 1

#### echo ${x!y} 2>&1; echo after
echo ${x!y} 2>&1; echo after
#? 1

#### echo ${#x y} 2>&1
echo ${#x y} 2>&1
#? 1

#### echo ${!nope} 2>&1; x='a b'; echo ${!x} 2>&1; echo after
echo ${!nope} 2>&1; x='a b'; echo ${!x} 2>&1; echo after
#? 1

#### x=abc; echo ${x:1:-5} 2>&1; echo after
x=abc; echo ${x:1:-5} 2>&1; echo after
#? 1

#### a=(1 2 3); echo ${a[@]:0:-1} 2>&1; echo after
a=(1 2 3); echo ${a[@]:0:-1} 2>&1; echo after
#? 1

#### a=(1 2); echo ${a[-5]} 2>&1; a[-5]=x 2>&1; echo after
a=(1 2); echo ${a[-5]} 2>&1; a[-5]=x 2>&1; echo after
#|
#? 1

#### a=(1); a[]=2 2>&1; echo ${a[]} 2>&1; echo after
a=(1); a[]=2 2>&1; echo ${a[]} 2>&1; echo after
#? 1

#### echo $((1/0)) 2>&1; echo after
echo $((1/0)) 2>&1; echo after
#? 1

#### echo $((1+)) 2>&1; echo after
echo $((1+)) 2>&1; echo after
#? 1

#### echo $((08)) 2>&1; echo after
echo $((08)) 2>&1; echo after
#? 1

#### echo $((2#12)) 2>&1; echo $((99#1)) 2>&1; echo after
echo $((2#12)) 2>&1; echo $((99#1)) 2>&1; echo after
#? 1

#### echo $((x=)) 2>&1; echo $((1 2)) 2>&1; echo $(( ( 1 )) 2>&1; echo after
echo $((x=)) 2>&1; echo $((1 2)) 2>&1; echo $(( ( 1 )) 2>&1; echo after
#? 2

#### x=x; echo $((x)) 2>&1; x='1+'; echo $((x)) 2>&1; echo after
x=x; echo $((x)) 2>&1; x='1+'; echo $((x)) 2>&1; echo after
#? 1

#### echo $((1 ? 2)) 2>&1; echo $((a[)) 2>&1; echo $((2**-1)) 2>&1; echo after
echo $((1 ? 2)) 2>&1; echo $((a[)) 2>&1; echo $((2**-1)) 2>&1; echo after
#? 1

#### [[ a -eq ]] 2>&1; echo after
[[ a -eq ]] 2>&1; echo after

#### [[ x =~ [ ]] 2>&1; echo $?
[[ x =~ [ ]] 2>&1; echo $?
#| 2

#### [[ a < b && b > a || ! a == b ]]; echo $?; [[ ( a == a ) ]]; echo $?; [[ -v HOME ]]; echo $?; [[ a -nt b ]]; echo $?
[[ a < b && b > a || ! a == b ]]; echo $?; [[ ( a == a ) ]]; echo $?; [[ -v HOME ]]; echo $?; [[ a -nt b ]]; echo $?
#| 0
#| 0
#| 0
#| 1

#### a=(1 'b c'); echo "${a[@]@Q}" "${a[*]@A}" "${a[@]@K}"; declare -A m=([x]=1); echo "${m[@]@K}" "${m[@]@k}"; echo "${@@Q}"
a=(1 'b c'); echo "${a[@]@Q}" "${a[*]@A}" "${a[@]@K}"; declare -A m=([x]=1); echo "${m[@]@K}" "${m[@]@k}"; echo "${@@Q}"
#| '1' 'b c' declare -a a=([0]="1" [1]="b c") 0 "1" 1 "b c"
#| x "1"  x 1
#|

#### PS4='+${x}'; x=y; set -x; echo a 2>&1; set +x; P='\u@\h \w \$ \!\#\t'; echo "${P@P}" | wc -l
PS4='+${x}'; x=y; set -x; echo a 2>&1; set +x; P='\u@\h \w \$ \!\#\t'; echo "${P@P}" | wc -l
#| a
#| 1

#### echo {1..3..0} {a..c..2} {3..1} {01..3} {-1..1} {a..1} {1..a} {z..a..5} {1..2..x}; echo {a,b}{1,2} {a} {,} {a,{b,c}d} \{a,b} "{a,b}" ${x}{1,2}
echo {1..3..0} {a..c..2} {3..1} {01..3} {-1..1} {a..1} {1..a} {z..a..5} {1..2..x}; echo {a,b}{1,2} {a} {,} {a,{b,c}d} \{a,b} "{a,b}" ${x}{1,2}
#| 1 2 3 a c 3 2 1 01 02 03 -1 0 1 {a..1} {1..a} z u p k f a {1..2..x}
#| a1 a2 b1 b2 {a} a bd cd {a,b} {a,b} 1 2

#### echo ~nosuchuser ~+ ~- 2>&1 | sed 's,/.*,DIR,'; x=~; [[ $x == "$HOME" ]] && echo home; echo a~ "~" \~
echo ~nosuchuser ~+ ~- 2>&1 | sed 's,/.*,DIR,'; x=~; [[ $x == "$HOME" ]] && echo home; echo a~ "~" \~
#| ~nosuchuser DIR
#| home
#| a~ ~ ~

#### IFS=:; x=a:b::c; echo $x; set -- $x; echo $#; IFS=' :'; x=' a : b '; set -- $x; echo $#; IFS=; x='a b'; set -- $x; echo $#
IFS=:; x=a:b::c; echo $x; set -- $x; echo $#; IFS=' :'; x=' a : b '; set -- $x; echo $#; IFS=; x='a b'; set -- $x; echo $#
#| a b  c
#| 4
#| 2
#| 1

#### echo $'\a\b\e\f\n\r\t\v\\\'\"\?\x41\u41\U41\101\cA' | od -An -c; echo $'\xZ' $'\8'; echo $"loc"
echo $'\a\b\e\f\n\r\t\v\\\'\"\?\x41\u41\U41\101\cA' | od -An -c; echo $'\xZ' $'\8'; echo $"loc"
#|   \a  \b 033  \f  \n  \r  \t  \v   \   '   "   ?   A   A   A   A
#|  001  \n
#| \xZ \8
#| loc

#### bash -c 'echo '"'"'unterminated' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'echo '"'"'unterminated' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: unexpected EOF while looking for matching `''
#| 2

#### bash -c 'echo "unterminated' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'echo "unterminated' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: unexpected EOF while looking for matching `"'
#| 2

#### bash -c 'echo `echo' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'echo `echo' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: unexpected EOF while looking for matching ``'
#| 2

#### bash -c 'if true; then' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'if true; then' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 2: syntax error: unexpected end of file
#| 2

#### bash -c 'for i in 1; do' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'for i in 1; do' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 2: syntax error: unexpected end of file
#| 2

#### bash -c 'case x in x)' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'case x in x)' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 2: syntax error: unexpected end of file
#| 2

#### bash -c '{ echo' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c '{ echo' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 2: syntax error: unexpected end of file
#| 2

#### bash -c '( echo' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c '( echo' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 2: syntax error: unexpected end of file
#| 2

#### bash -c fi 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c fi 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `fi'
#| -c: line 1: `fi'
#| 2

#### bash -c done 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c done 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `done'
#| -c: line 1: `done'
#| 2

#### bash -c 'echo )' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'echo )' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `)'
#| -c: line 1: `echo )'
#| 2

#### bash -c 'echo a | | b' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'echo a | | b' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `|'
#| -c: line 1: `echo a | | b'
#| 2

#### bash -c '; echo' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c '; echo' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `;'
#| -c: line 1: `; echo'
#| 2

#### bash -c 'echo a && && b' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'echo a && && b' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `&&'
#| -c: line 1: `echo a && && b'
#| 2

#### bash -c 'f( { :; }' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'f( { :; }' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `{'
#| -c: line 1: `f( { :; }'
#| 2

#### bash -c 'for 1x in a; do :; done' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'for 1x in a; do :; done' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| line 1: `1x': not a valid identifier
#| 1

#### case x in esac; echo ok
case x in esac; echo ok
#| ok

#### bash -c 'while do :; done' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'while do :; done' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `do'
#| -c: line 1: `while do :; done'
#| 2

#### bash -c 'if; then :; fi' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'if; then :; fi' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| -c: line 1: syntax error near unexpected token `;'
#| -c: line 1: `if; then :; fi'
#| 2

#### bash -c 'select x in; do :; done' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
bash -c 'select x in; do :; done' 2>&1 | sed 's/^bash: //'; echo ${PIPESTATUS[0]}
#| 0

#### function 1f { echo x; }; 1f
function 1f { echo x; }; 1f
#| x

#### { cat < nope; echo $?; } 2>&1
{ cat < nope; echo $?; } 2>&1
#| bash: line 1: nope: No such file or directory
#| 1

#### { echo a > /; echo $?; } 2>&1
{ echo a > /; echo $?; } 2>&1
#| bash: line 1: /: Is a directory
#| 1

#### mkdir d; echo a > d; echo $?
mkdir d; echo a > d; echo $?
#| 1

#### { echo a > nope/f; echo $?; } 2>&1
{ echo a > nope/f; echo $?; } 2>&1
#| bash: line 1: nope/f: No such file or directory
#| 1

#### { echo a >&9; echo $?; cat <&9; echo $?; echo a > "" ; echo $?; x='a b'; echo q > $x; echo $?; } 2>&1
{ echo a >&9; echo $?; cat <&9; echo $?; echo a > "" ; echo $?; x='a b'; echo q > $x; echo $?; } 2>&1
#| bash: line 1: 9: Bad file descriptor
#| 1
#| bash: line 1: 9: Bad file descriptor
#| 1
#| bash: line 1: : No such file or directory
#| 1
#| bash: line 1: $x: ambiguous redirect
#| 1

#### { set -C; echo a > f; echo b > f; echo $?; echo c >| f; cat f; echo d >> f; cat f; } 2>&1
{ set -C; echo a > f; echo b > f; echo $?; echo c >| f; cat f; echo d >> f; cat f; } 2>&1
#| bash: line 1: f: cannot overwrite existing file
#| 1
#| c
#| c
#| d

#### exec 9>&1; echo x >&9; exec 9>&-; echo y >&9; echo $?; echo z 2>&1 >&-; echo $?
exec 9>&1; echo x >&9; exec 9>&-; echo y >&9; echo $?; echo z 2>&1 >&-; echo $?
#| x
#| 1
#| bash: line 1: echo: write error: Bad file descriptor
#| 1

#### { echo out; echo err >&2; } &> f; cat f; { echo a; echo b >&2; } &>> f; cat f; echo x |& cat; ls nope |& wc -l
{ echo out; echo err >&2; } &> f; cat f; { echo a; echo b >&2; } &>> f; cat f; echo x |& cat; ls nope |& wc -l
#| out
#| err
#| out
#| err
#| a
#| b
#| x
#| 1

#### exec {fd}> f; echo $((fd >= 10)); echo a >&$fd; exec {fd}>&-; cat f; exec {1x}> f; echo $?; : {v}< /dev/null; [[ $v ]] && echo set
exec {fd}> f; echo $((fd >= 10)); echo a >&$fd; exec {fd}>&-; cat f; exec {1x}> f; echo $?; : {v}< /dev/null; [[ $v ]] && echo set
#| 1
#| a
#? 127

#### a redirection that cannot be expanded ends a program alone
n=7; cat <<E
${n:1: -5}
E
echo $?; cat <<< $((1 / 0)); echo $?; cat < $((1 / 0)); echo $?; cat <<< ${none?no}; echo $?; set -u; cat <<< $none; echo $?
#| 1
#| 1
#| 1
#| 127
#| 127

#### a redirection that cannot be expanded ends the script with a builtin, a function, a compound command
(: <<< $((1 / 0)); echo on); echo $?; f() { :; }; (f <<< $((1 / 0)); echo on); echo $?; ({ :; } <<< $((1 / 0)); echo on); echo $?; (exec 3<<< $((1 / 0)); echo on); echo $?
#| 1
#| 1
#| 1
#| 1
