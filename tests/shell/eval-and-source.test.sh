#### eval "echo a; echo b"
eval "echo a; echo b"
#| a
#| b

#### x="echo hi"; eval $x
x="echo hi"; eval $x
#| hi

#### echo "y=5" > f; . ./f; echo $y
echo "y=5" > f; . ./f; echo $y
#| 5

#### echo "echo \$1" > f; . ./f arg
echo "echo \$1" > f; . ./f arg
#| arg

#### echo "return 3" > f; source ./f; echo $?
echo "return 3" > f; source ./f; echo $?
#| 3

#### . ./nope 2>/dev/null; echo $?
. ./nope 2>/dev/null; echo $?
#| 1

#### eval "exit 3"; echo no
eval "exit 3"; echo no
#? 3

#### eval ""; echo $?
eval ""; echo $?
#| 0

#### echo "echo \$0 | grep -c bash" > f; . ./f
echo "echo \$0 | grep -c bash" > f; . ./f
#| 1

#### x=1; eval "x=2"; echo $x
x=1; eval "x=2"; echo $x
#| 2

#### eval "if" 2>/dev/null; echo $?
eval "if" 2>/dev/null; echo $?
#| 2
