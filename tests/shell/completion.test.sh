#### compgen -W 'apple banana avocado' -- a
compgen -W 'apple banana avocado' -- a
#| apple
#| avocado

#### compgen -W 'a b c'
compgen -W 'a b c'
#| a
#| b
#| c

#### compgen -W '$(echo x y) z' -- ''
compgen -W '$(echo x y) z' -- ''
#| x
#| y
#| z

#### compgen -b -- ec
compgen -b -- ec
#| echo

#### compgen -k -- w
compgen -k -- w
#| while

#### compgen -A keyword -- fo
compgen -A keyword -- fo
#| for

#### f1() { :; }; f2() { :; }; compgen -A function f
f1() { :; }; f2() { :; }; compgen -A function f
#| f1
#| f2

#### alias ll='ls -l'; compgen -a
alias ll='ls -l'; compgen -a
#| ll

#### xyz1=1 xyz2=2; compgen -v xyz
xyz1=1 xyz2=2; compgen -v xyz
#| xyz1
#| xyz2

#### export xyzE=1; xyzN=1; compgen -e xyz
export xyzE=1; xyzN=1; compgen -e xyz
#| xyzE

#### touch aa ab; mkdir ac; compgen -f a | sort; compgen -d a
touch aa ab; mkdir ac; compgen -f a | sort; compgen -d a
#| aa
#| ab
#| ac
#| ac

#### touch a.c b.h; compgen -G '*.c'
touch a.c b.h; compgen -G '*.c'
#| a.c

#### compgen -W 'abc abd xyz' -X 'ab*' -- ''
compgen -W 'abc abd xyz' -X 'ab*' -- ''
#| xyz

#### compgen -W 'abc abd xyz' -X '!ab*' -- ''
compgen -W 'abc abd xyz' -X '!ab*' -- ''
#| abc
#| abd

#### compgen -P pre- -S -suf -W 'a b' -- ''
compgen -P pre- -S -suf -W 'a b' -- ''
#| pre-a-suf
#| pre-b-suf

#### compgen -A shopt ext | sort
compgen -A shopt ext | sort
#| extdebug
#| extglob
#| extquote

#### compgen -A setopt pipe
compgen -A setopt pipe
#| pipefail

#### compgen -A signal SIGTE
compgen -A signal SIGTE
#| SIGTERM

#### compgen -A builtin comp | sort
compgen -A builtin comp | sort
#| compgen
#| complete
#| compopt

#### compgen -W 'a b' -- zzz; echo $?
compgen -W 'a b' -- zzz; echo $?
#| 1

#### compgen -A nonsense 2>&1; echo $?
compgen -A nonsense 2>&1; echo $?
#| bash: line 1: compgen: nonsense: invalid action name
#| 2

#### compgen -Z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
compgen -Z 2>&1 | sed -n 1p; echo ${PIPESTATUS[0]}
#| bash: line 1: compgen: -Z: invalid option
#| 2

#### complete -W 'a b' cmd; complete -p
complete -W 'a b' cmd; complete -p
#| complete -W 'a b' cmd

#### complete -F fn -o nospace cmd; complete -p cmd
complete -F fn -o nospace cmd; complete -p cmd
#| complete -o nospace -F fn cmd

#### complete -A file -X '*.o' cc; complete -p cc
complete -A file -X '*.o' cc; complete -p cc
#| complete -f -X '*.o' cc

#### complete -W 'a b' cmd; complete -r cmd; complete -p; echo $?
complete -W 'a b' cmd; complete -r cmd; complete -p; echo $?
#| 0

#### complete -W x a; complete -W y b; complete -r; complete -p; echo $?
complete -W x a; complete -W y b; complete -r; complete -p; echo $?
#| 0

#### complete -p none 2>&1; echo $?
complete -p none 2>&1; echo $?
#| bash: line 1: complete: none: no completion specification
#| 1

#### complete -r none 2>&1; echo $?
complete -r none 2>&1; echo $?
#| 0

#### complete -C 'prog -x' -P 'a b' q; complete -p q
complete -C 'prog -x' -P 'a b' q; complete -p q
#| complete -P 'a b' -C 'prog -x' q

#### complete -D -W d; complete -p -D
complete -D -W d; complete -p -D
#| complete -W 'd' -D

#### complete -E -W d; complete -p -E
complete -E -W d; complete -p -E
#| complete -W 'd' -E

#### complete -o nonsense c 2>&1; echo $?
complete -o nonsense c 2>&1; echo $?
#| bash: line 1: complete: nonsense: invalid option name
#| 2

#### complete 2>&1 -W; echo $?
complete 2>&1 -W; echo $?
#| bash: line 1: complete: -W: option requires an argument
#| complete: usage: complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]
#| 2

#### complete -W x; echo $?
complete -W x; echo $?
#| 2

#### compopt -o nospace 2>&1; echo $?
compopt -o nospace 2>&1; echo $?
#| bash: line 1: compopt: not currently executing completion function
#| 1

#### complete -W x c; compopt -o nospace c; complete -p c
complete -W x c; compopt -o nospace c; complete -p c
#| complete -o nospace -W 'x' c

#### complete -o nospace -W x c; compopt +o nospace c; complete -p c
complete -o nospace -W x c; compopt +o nospace c; complete -p c
#| complete -W 'x' c

#### complete -W x c; compopt c
complete -W x c; compopt c
#| compopt +o bashdefault +o default +o dirnames +o filenames +o noquote +o nosort +o nospace +o plusdirs c

#### compopt -o nospace none 2>&1; echo $?
compopt -o nospace none 2>&1; echo $?
#| bash: line 1: compopt: none: no completion specification
#| 1

#### _f() { COMPREPLY=(one two); }; compgen -F _f 2>/dev/null
_f() { COMPREPLY=(one two); }; compgen -F _f 2>/dev/null
#| one
#| two

#### complete -d -f -G '*.x' q; complete -p q
complete -d -f -G '*.x' q; complete -p q
#| complete -d -f -G '*.x' q

#### complete -abcdefgjksuv q; complete -p q
complete -abcdefgjksuv q; complete -p q
#| complete -a -b -c -d -e -f -g -j -k -s -u -v q

#### complete -A hostname -A signal q; complete -p q
complete -A hostname -A signal q; complete -p q
#| complete -A hostname -A signal q
