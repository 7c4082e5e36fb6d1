#### every construct, printed back
f() { if a; then b; elif c; then d; else e; fi; while a; do b; done; until a; do b; done; for i in 1 2 "$@"; do c; done; for i; do d; done; for ((i = 0; i < 3; i++)); do e; done; }
declare -f f
g() { case $x in a|b) c;; d*) e;& [f]) g;;& *) h;; esac; select x in a b; do c; done; { a; b; }; (a; b); ((x + 1)); [[ -n $a && ( $b == c* || ! $d -lt 3 ) ]]; [[ $a =~ ^x ]]; }
h() { a | b |& c; ! a; time a; time -p b; a && b || c; a & b; wait; coproc d; coproc N { e; }; function i { j; }; k() (l); }
#| f () 
#| { 
#|     if a; then
#|         b;
#|     else
#|         if c; then
#|             d;
#|         else
#|             e;
#|         fi;
#|     fi;
#|     while a; do
#|         b;
#|     done;
#|     until a; do
#|         b;
#|     done;
#|     for i in 1 2 "$@";
#|     do
#|         c;
#|     done;
#|     for i in "$@";
#|     do
#|         d;
#|     done;
#|     for ((i = 0; i < 3; i++))
#|     do
#|         e;
#|     done
#| }

#### redirections and words, printed back
f() { a > b 2>&1 < c >> d 3<> e 4>| f &> g &>> h <&5 >&- 2>&-; cat <<< "x y"; x=1 y=2 z+=4 cmd; }
declare -f f
g() { cat <<HERE
body $x
HERE
echo after; }
h() { echo 'a b' "c $d" $'e\n' `g` $(h i) $((1 + 2)) ${j:-k} ${l[@]} ${!m} ${#n} ${o/p/q} ${r:1:2} ${s^^} <(t) >(u) {v,w} ~x \y *z?[a]; }
k() { x=(1 2 [5]=3); w[2]=5; local -a v=(a b); declare -A m=([k]=v); export E=1; }
declare -f k
#| f () 
#| { 
#|     a > b 2>&1 < c >> d 3<> e 4>| f &> g &>> h 0<&5 1>&- 2>&-;
#|     cat <<< "x y";
#|     x=1 y=2 z+=4 cmd
#| }
#| k () 
#| { 
#|     x=(1 2 [5]=3);
#|     w[2]=5;
#|     local -a v=(a b);
#|     declare -A m=([k]=v);
#|     export E=1
#| }

#### printing 1: f    a    type f  declare -F  unset -f f  declare
f() { a; }; type f; declare -F; unset -f f; declare -f f; echo $?
#| f is a function
#| f () 
#| { 
#|     a
#| }
#| declare -f f
#| 1

#### printing 2: f    g    h    g    declare -f f  f 2 dev null  de
f() { g() { h; }; g; }; declare -f f; f 2>/dev/null; declare -F
#| f () 
#| { 
#|     function g () 
#|     { 
#|         h
#|     };
#|     g
#| }
#| declare -f f
#| declare -f g

#### printing 3: f    a      out 2 1  declare -f f  function n-a me
f() { a; } > out 2>&1; declare -f f; function n-a.me { b; }; declare -f n-a.me
#| f () 
#| { 
#|     a
#| } > out 2>&1
#| n-a.me () 
#| { 
#|     b
#| }

#### printing 4: trap  if a  then b  fi  EXIT  trap  trap - EXIT
trap 'if a; then b; fi' EXIT; trap; trap - EXIT
#| trap -- 'if a; then b; fi' EXIT
