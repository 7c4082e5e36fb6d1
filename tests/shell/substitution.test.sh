#### echo $(echo a) `echo b`
echo $(echo a) `echo b`
#| a b

#### x=$(false); echo $?
x=$(false); echo $?
#| 1

#### echo "$(printf "a\n\n")x"
echo "$(printf "a\n\n")x"
#| ax

#### echo $(echo $(echo deep))
echo $(echo $(echo deep))
#| deep

#### x=`echo \`echo n\``; echo $x
x=`echo \`echo n\``; echo $x
#| n

#### echo $(echo a; exit 3) $?
echo $(echo a; exit 3) $?
#| a 3

#### x=$(exit 4); echo $?
x=$(exit 4); echo $?
#| 4

#### echo "$(echo "q q")"
echo "$(echo "q q")"
#| q q

#### y=1; x=$(y=2; echo $y); echo $x $y
y=1; x=$(y=2; echo $y); echo $x $y
#| 2 1
