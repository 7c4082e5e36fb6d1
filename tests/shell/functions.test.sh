#### f() { echo $1 $#; }; f a b
f() { echo $1 $#; }; f a b
#| a 2

#### f() { return 3; }; f; echo $?
f() { return 3; }; f; echo $?
#| 3

#### f() { local x=1; echo $x; }; x=2; f; echo $x
f() { local x=1; echo $x; }; x=2; f; echo $x
#| 1
#| 2

#### function g { echo g; }; g
function g { echo g; }; g
#| g

#### f() { echo $FUNCNAME; }; f
f() { echo $FUNCNAME; }; f
#| f

#### f() { g; }; g() { echo ${FUNCNAME[@]}; }; f
f() { g; }; g() { echo ${FUNCNAME[@]}; }; f
#| g f

#### f() (x=1; echo sub); f; echo "[$x]"
f() (x=1; echo sub); f; echo "[$x]"
#| sub
#| []

#### f() { echo "$@"; }; f "a b" c
f() { echo "$@"; }; f "a b" c
#| a b c

#### f() { x=global; }; f; echo $x
f() { x=global; }; f; echo $x
#| global

#### fact() { [ $1 -le 1 ] && echo 1 || echo $(( $1 * $(fact $(( 
fact() { [ $1 -le 1 ] && echo 1 || echo $(( $1 * $(fact $(( $1 - 1 ))) )); }; fact 6
#| 720

#### f() { local a=1; g; echo $a; }; g() { a=2; }; f
f() { local a=1; g; echo $a; }; g() { a=2; }; f
#| 2

#### f() { echo in; }; unset -f f; f 2>/dev/null; echo $?
f() { echo in; }; unset -f f; f 2>/dev/null; echo $?
#| 127

#### f() { shift; echo $1; }; f a b
f() { shift; echo $1; }; f a b
#| b

#### f() { set -- x; echo $1; }; set -- y; f; echo $1
f() { set -- x; echo $1; }; set -- y; f; echo $1
#| x
#| y

#### f() { :; }; declare -f f
f() { :; }; declare -f f
#| f () 
#| { 
#|     :
#| }

#### f() { if true; then echo a; fi; for i in 1; do echo $i; done
f() { if true; then echo a; fi; for i in 1; do echo $i; done; }; type f
#| f is a function
#| f () 
#| { 
#|     if true; then
#|         echo a;
#|     fi;
#|     for i in 1;
#|     do
#|         echo $i;
#|     done
#| }

#### f() { echo $0; } ; x=$(f); [ -n "$x" ] && echo ok
f() { echo $0; } ; x=$(f); [ -n "$x" ] && echo ok
#| ok

#### f() { return; }; false; f; echo $?
f() { return; }; false; f; echo $?
#| 1
