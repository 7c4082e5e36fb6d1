#### a file is not copied to its own end
echo a > f; cat f >> f; echo $?; cat f
#| 1
#| a

#### nor through a descriptor
echo a > f; cat < f >> f; echo $?; cat f
#| 1
#| a

#### nor with line numbers
echo a > f; cat -n f >> f; echo $?; cat f
#| 1
#| a

#### a file that is emptied first is copied to itself
echo a > f; cat f > f; echo $?; cat f
#| 0

#### links that lead to each other
ln -s a b; ln -s b a; cat a; echo $?; cd a; echo $?; ls a; echo $?; echo x > a; echo $?; [ -e a ]; echo $?; [ -L a ]; echo $?
#| 1
#| 1
#| 2
#| 1
#| 1
#| 0

#### a link to itself
ln -s me me; cat me; echo $?; stat -L me > /dev/null; echo $?; stat me > /dev/null; echo $?; rm me; ls
#| 1
#| 1
#| 0

#### a link to itself in the middle of a path
ln -s me me; cat me/x; echo $?; mkdir -p me/x; echo $?; find . | sort; cp me x; echo $?
#| 1
#| 1
#| .
#| ./me
#| 1

#### walking into a loop of links
mkdir d; ln -s .. d/up; find -L d -maxdepth 3 -name x 2> /dev/null; ls -R d | head -n 3; grep -r nothing d; echo $?
#| d:
#| up
#| 1

#### the smallest number divided by minus one
echo $(( -9223372036854775808 / -1 )) $(( -9223372036854775808 % -1 ))
#| -9223372036854775808 0

#### the same by assignment
x=$(( 1 << 63 )); (( x /= -1 )); echo $x; (( x %= -1 )); echo $x
#| -9223372036854775808
#| 0

#### let and variables
declare -i x=-9223372036854775808 y=-1; let z=x/y w=x%y; echo $z $w $((x * y)) $((-x)) $((x - 1))
#| -9223372036854775808 0 -9223372036854775808 -9223372036854775808 9223372036854775807

#### overflow wraps
echo $(( 9223372036854775807 + 1 )) $(( 9223372036854775807 * 9223372036854775807 )) $(( 2 ** 63 )) $(( 3 ** 100 ))
#| -9223372036854775808 1 -9223372036854775808 -2984622845537545263

#### shifts beyond the width
echo $(( 1 << 63 )) $(( 1 << 64 )) $(( 1 << 65 )) $(( -1 >> 70 )) $(( 1 << -1 ))
#| -9223372036854775808 1 2 -1 -9223372036854775808

#### division by zero
echo $(( 1 / 0 )); echo after
#? 1

#### division by zero in a condition
(( 1 / 0 )); echo $?; (( 1 % 0 )); echo $?; let 1/0; echo $?
#| 1
#| 1
#| 1

#### a power that is negative
echo $(( 2 ** -1 )); echo after
#? 1

#### a subscript that runs a command
a=(1 2); i='a[$(echo ran >&2; echo 1)]'; echo $((i)) 2>&1
#| 2

#### a subscript that is data for an associative array
declare -A m; k='$(echo ran >&2)'; m[$k]=1; echo "${!m[@]}" ${m[$k]}
#| $(echo ran >&2) 1

#### a key with quotes and brackets
declare -A m; k='a]b"c'; m["$k"]=1; echo "${!m[@]}" "${m["$k"]}"
#| a]b"c 1

#### unset does not run what a key says
declare -A m; k='x$(echo ran >&2)'; m[$k]=1; unset "m[x]"; echo ${#m[@]}
#| 1

#### a number that names itself
x=x; echo $((x)) 2> /dev/null; echo after
#? 1

#### endless output and a reader that leaves
yes | head -n 2; echo ${PIPESTATUS[@]}
#| y
#| y
#| 141 0

#### a chain of readers that leave
yes | cat | cat | head -n 1; echo ${PIPESTATUS[0]} ${PIPESTATUS[3]}
#| y
#| 141 0

#### a here-document in a loop
for i in 1 2 3; do cat <<E
$i $(cat <<F
in $i
F
)
E
done
#| 1 in 1
#| 2 in 2
#| 3 in 3

#### a width from an argument
printf '%*s|%-*s|%.*s\n' 5 a 5 b 2 cde
#|     a|b    |cd

#### a negative width
printf '%*s|\n' -5 a
#| a    |

#### fields that look like options
set -- -n -e '*'; echo "$@"; printf '%s\n' "$@"
#| *-n
#| -e
#| *

#### a name with a newline
touch $'a\nb'; ls | cat; for f in *; do printf '%q\n' "$f"; done
#| a
#| b
#| $'a\nb'

#### a name that begins with a dash
touch -- -rf; ls; rm -- -rf; ls
#| -rf

#### removing what one stands on
mkdir d; cd d; rmdir ../d; echo $?; cd; ls
#| 0

#### a descriptor that is closed twice
exec 7> f; exec 7>&-; exec 7>&-; echo $?; echo x >&7; echo $?
#| 0
#| 1

#### a file that is unlinked while open
exec 7<> f; echo kept >&7; rm f; ls; exec 7>&-; ls

#### reading what is unlinked
echo text > f; exec 7< f; rm f; cat <&7
#| text

#### a directory as a file
mkdir d; echo x > d; echo $?; cat d; echo $?; echo x >> d; echo $?
#| 1
#| 1
#| 1

#### a file as a directory
echo x > f; echo y > f/g; echo $?; cat f/g; echo $?; cd f; echo $?
#| 1
#| 1
#| 1

#### a name that is too long
n=$(printf '%0300d' 1); touch $n; echo $?; ls
#| 1

#### recursion ends where it is told
f() { (( $1 > 0 )) && f $(( $1 - 1 )) || echo bottom; }; f 200
#| bottom

#### eval of eval
x='echo deep'; for i in 1 2 3 4 5; do x="eval '${x//\'/\'\\\'\'}'"; done; eval "$x"
#| deep

#### a deeply nested document
printf '[%.0s' {1..200} > f; printf ']%.0s' {1..200} >> f; jq -c 'flatten | length' f
#| 0
