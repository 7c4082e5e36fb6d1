#### x=hello; echo ${#x}
x=hello; echo ${#x}
#| 5

#### x=日本; echo ${#x}
x=日本; echo ${#x}
#| 2

#### a=(1 2 3); echo ${#a[@]} ${#a} ${#a[1]}
a=(1 2 3); echo ${#a[@]} ${#a} ${#a[1]}
#| 3 1 1

#### set -- a b; echo $# ${#@} ${#*} ${#1}
set -- a b; echo $# ${#@} ${#*} ${#1}
#| 2 2 2 1

#### echo ${#nope}
echo ${#nope}
#| 0
