#### parentheses and negations in a condition stay
f() { [[ ( $a == b || -n $c ) && ! ( -z $d ) ]]; [[ ! ! $x ]]; [[ x && $y ]]; [[ $a =~ ^(x|y)$ ]]; }; declare -f f
#| f () 
#| { 
#|     [[ ( $a == b || -n $c ) && ! ( -z $d ) ]];
#|     [[ -n $x ]];
#|     [[ -n x && -n $y ]];
#|     [[ $a =~ ^(x|y)$ ]]
#| }

#### substitutions are printed from what they hold
f() { echo $(a;b) "$(a|b)" $(<file) $( (sub) ) $(a &) `left;as is` <(x;y) ${v:-$(a;b)} $(); }; declare -f f
#| f () 
#| { 
#|     echo $(a; b) "$(a | b)" $(< file) $( ( sub )) $(a &) `left;as is` <(x; y) ${v:-$(a; b)} $()
#| }

#### a line that ends inside of a substitution stays
f() { x=$(a
b); y=$(a;
b); echo $(if a;then b;fi); }; declare -f f
#| f () 
#| { 
#|     x=$(a
#| b);
#|     y=$(a; b);
#|     echo $(if a; then
#|     b;
#| fi)
#| }

#### quotes that are decoded where they are read
f() { echo $'a\tb' $'it\'s' $"words" "a\
b" c\
d; }; declare -f f
#| f () 
#| { 
#|     echo 'a	b' 'it'\''s' "words" "ab" cd
#| }

#### lists of an array on one line
f() { x=( 1   2
3 # comment
[7]=$(a;b) ); local -a y=( a   b ); x[ 1 ]+=2; }; declare -f f
#| f () 
#| { 
#|     x=(1 2 3 [7]=$(a; b));
#|     local -a y=(a b);
#|     x[ 1 ]+=2
#| }

#### background commands stay on their line
f() { a & b; c & d & e; if a & then b & fi; while a & do b & done; { a & }; ( a & ); }; declare -f f
#| f () 
#| { 
#|     a & b;
#|     c & d & e;
#|     if a & then
#|         b &
#|     fi;
#|     while a & do
#|         b &
#|     done;
#|     { 
#|         a &
#|     };
#|     ( a & )
#| }

#### lists inside subshells and conditions
f() { ( a; b ); if a; b; then c; fi; while a; b; do c; d; done; ( a
b ) | ( c ); }; declare -f f
#| f () 
#| { 
#|     ( a;
#|     b );
#|     if a;
#|     b; then
#|         c;
#|     fi;
#|     while a;
#|     b; do
#|         c;
#|         d;
#|     done;
#|     ( a;
#|     b ) | ( c )
#| }

#### here-documents where commands are connected
f() { cat <<A | wc && b
one $x
A
cat <<-'B C' <<"D" > f
	tabs
B C
two
D
cat <<E & x
three\
joined
E
if cat <<F
four
F
then y; fi; }; declare -f f
#| f () 
#| { 
#|     cat <<A |
#| one $x
#| A
#|   wc && b
#|     cat <<-'B C' <<'D' > f
#| tabs
#| B C
#| two
#| D
#|
#|     cat <<E &
#| threejoined
#| E
#|   x
#|     if cat <<F; then
#|         y
#| four
#| F
#|
#|     fi
#| }

#### a here-document alone, and in every body
f() { cat <<A
one
A
}; declare -f f
g() { for i in 1; do cat <<A
one
A
done; case x in y) cat <<B
two
B
;; esac; }; declare -f g
#| f () 
#| { 
#|     cat <<A
#| one
#| A
#|
#| }
#| g () 
#| { 
#|     for i in 1;
#|     do
#|         cat <<A
#| one
#| A
#|
#|     done
#|     case x in 
#|         y)
#|             cat <<B
#| two
#| B
#|
#|         ;;
#|     esac
#| }

#### every redirection
f() { a >f 1>f 2>f >>f <f 0<f 3<>f <>f 1<>f >|f &>f &>>f >&f 2>&$x >&$x <&$x; b >&2 <&3 3>&4- <&4- >&$x- >&- <&- 3<&-; c {v}>f {v}<&3 {v}>&- <<<w 3<<< "w x"; } 2>&1 <f; declare -f f
#| f () 
#| { 
#|     a > f > f 2> f >> f < f < f 3<> f 0<> f <> f >| f &> f &>> f >&f 2>&$x >&$x <&$x;
#|     b 1>&2 0<&3 3>&4- 0<&4- 1>&$x- 1>&- 0>&- 3>&-;
#|     c {v}> f {v}<&3 {v}>&- <<< w 3<<< "w x"
#| } 2>&1 < f

#### both streams into a pipe
f() { a |& b | c |& d; { a; } |& b; a 2>f |& b; }; declare -f f
#| f () 
#| { 
#|     a 2>&1 | b | c 2>&1 | d;
#|     { 
#|         a
#|     } 2>&1 | b;
#|     a 2> f 2>&1 | b
#| }

#### time and not, in any order
f() { time a; time -p b; ! c; ! time d; time ! e; ! ! g; time -- h; time a | b; }; declare -f f
! time false; echo $?
#| f () 
#| { 
#|     time a;
#|     time -p b;
#|     ! c;
#|     time ! d;
#|     time ! e;
#|     g;
#|     time -p h;
#|     time a | b
#| }
#| 0

#### every loop and its oddities
f() { for i; do a; done; for i in; do a; done; for ((;;)); do a; done; for (( i = 0 ; i < 3 ; i++ )) { a; }; select x in a b; do c; done; until a; do b; done > f; }; declare -f f
#| f () 
#| { 
#|     for i in "$@";
#|     do
#|         a;
#|     done;
#|     for i in ;
#|     do
#|         a;
#|     done;
#|     for ((1; 1; 1))
#|     do
#|         a;
#|     done;
#|     for ((i = 0 ; i < 3 ; i++ ))
#|     do
#|         a;
#|     done;
#|     select x in a b;
#|     do
#|         c;
#|     done;
#|     until a; do
#|         b;
#|     done > f
#| }

#### cases with every end
f() { case $x in a) b;; c|d) e;& (f) ;;& *) g; h; esac; case x in esac; }; declare -f f
#| f () 
#| { 
#|     case $x in 
#|         a)
#|             b
#|         ;;
#|         c | d)
#|             e
#|         ;&
#|         f)
#|
#|         ;;&
#|         *)
#|             g;
#|             h
#|         ;;
#|     esac;
#|     case x in 
#|     esac
#| }

#### functions inside functions
f() { g() { a; }; function h { b; } > f; i() ( c; d ); function j () if a; then b; fi; }; declare -f f
#| f () 
#| { 
#|     function g () 
#|     { 
#|         a
#|     };
#|     function h () 
#|     { 
#|         b
#|     } > f;
#|     function i () 
#|     { 
#|         ( c;
#|         d )
#|     };
#|     function j () 
#|     { 
#|         if a; then
#|             b;
#|         fi
#|     }
#| }

#### bodies that are not groups
f() ( a; b ); g() if a; then b; fi > x; h() { a; } 2>&1; i() [[ -n x ]]; declare -f f g h i
#| f () 
#| { 
#|     ( a;
#|     b )
#| }
#| g () 
#| { 
#|     if a; then
#|         b;
#|     fi > x
#| }
#| h () 
#| { 
#|     a
#| } 2>&1
#| i () 
#| { 
#|     [[ -n x ]]
#| }

#### coprocesses
f() { coproc a b; coproc N { c; }; coproc ( d ); coproc { e; }; }; declare -f f
#| f () 
#| { 
#|     coproc COPROC a b;
#|     coproc N { 
#|         c
#|     };
#|     coproc COPROC ( d );
#|     coproc COPROC { 
#|         e
#|     }
#| }

#### process substitutions and names that need the keyword
f() { diff <(a;b) >(c|d); }; declare -f f
function if { a; }; declare -f if
#| f () 
#| { 
#|     diff <(a; b) >(c | d)
#| }
#| function if () 
#| { 
#|     a
#| }

#### what is printed is the same function
f() { local x=( a  'b c' ); for i in "${x[@]}"; do if [[ ( $i == a ) || $i == 'b c' ]]; then echo "<$i>" | cat <<E
$(cat; echo "in $i")
E
fi; done; }; f; first=$(declare -f f); eval "$first"; f; [[ $(declare -f f) == "$first" ]] && echo same
#| <a>
#| in a
#| <b c>
#| in b c
#| <a>
#| in a
#| <b c>
#| in b c
#| same

#### BASH_COMMAND and jobs show commands the same way
trap 'echo "$BASH_COMMAND"' DEBUG; x=$(echo a;echo b); echo $'a b' "$x" > /dev/null; trap - DEBUG
#| x=$(echo a; echo b)
#| echo 'a b' "$x" > /dev/null
#| trap - DEBUG

#### a newline inside of a substitution does not begin the here-document of its line
cat <<A; echo $(echo one;
echo two) <(
:) | tr -d '[:digit:]'; echo end
body
A
#| body
#| one two /dev/fd/
#| end
