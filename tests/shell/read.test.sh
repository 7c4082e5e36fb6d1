#### echo "a b c" | { read x y; echo "$x|$y"; }
echo "a b c" | { read x y; echo "$x|$y"; }
#| a|b c

#### echo "a\b" | { read x; echo $x; }
echo "a\b" | { read x; echo $x; }
#| ab

#### echo "a\b" | { read -r x; echo $x; }
echo "a\b" | { read -r x; echo $x; }
#| a\b

#### printf "a:b" | { IFS=: read x y; echo $x-$y; }
printf "a:b" | { IFS=: read x y; echo $x-$y; }
#| a-b

#### echo abc | { read -n 2 x; echo $x; }
echo abc | { read -n 2 x; echo $x; }
#| ab

#### printf "x;y" | { read -d ";" a; echo $a; }
printf "x;y" | { read -d ";" a; echo $a; }
#| x

#### read x < /dev/null; echo $?
read x < /dev/null; echo $?
#| 1

#### echo "  s  " | { read x; echo "[$x]"; }
echo "  s  " | { read x; echo "[$x]"; }
#| [s]

#### echo "  s  " | { IFS= read -r x; echo "[$x]"; }
echo "  s  " | { IFS= read -r x; echo "[$x]"; }
#| [  s  ]

#### printf "l1\nl2\n" | while read -r l; do echo "<$l>"; done
printf "l1\nl2\n" | while read -r l; do echo "<$l>"; done
#| <l1>
#| <l2>

#### echo a | { read; echo $REPLY; }
echo a | { read; echo $REPLY; }
#| a

#### printf nonl | { read x; echo $? $x; }
printf nonl | { read x; echo $? $x; }
#| 1 nonl

#### echo "1 2 3" | { read -a a; echo ${#a[@]}; }
echo "1 2 3" | { read -a a; echo ${#a[@]}; }
#| 3

#### exec 3<<< "z"; read -u 3 v; echo $v
exec 3<<< "z"; read -u 3 v; echo $v
#| z
