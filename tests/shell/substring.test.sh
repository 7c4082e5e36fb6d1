#### x=abcdefg; echo "[${x:0}]"
x=abcdefg; echo "[${x:0}]"
#| [abcdefg]

#### set -- a b c d; echo "${@:0}"
set -- a b c d; echo "${@:0}"
#| bash a b c d

#### a=(p q r s t); echo "${a[@]:0}"
a=(p q r s t); echo "${a[@]:0}"
#| p q r s t

#### x=abcdefg; echo "[${x:2}]"
x=abcdefg; echo "[${x:2}]"
#| [cdefg]

#### set -- a b c d; echo "${@:2}"
set -- a b c d; echo "${@:2}"
#| b c d

#### a=(p q r s t); echo "${a[@]:2}"
a=(p q r s t); echo "${a[@]:2}"
#| r s t

#### x=abcdefg; echo "[${x:2:3}]"
x=abcdefg; echo "[${x:2:3}]"
#| [cde]

#### set -- a b c d; echo "${@:2:3}"
set -- a b c d; echo "${@:2:3}"
#| b c d

#### a=(p q r s t); echo "${a[@]:2:3}"
a=(p q r s t); echo "${a[@]:2:3}"
#| r s t

#### x=abcdefg; echo "[${x: -3}]"
x=abcdefg; echo "[${x: -3}]"
#| [efg]

#### set -- a b c d; echo "${@: -3}"
set -- a b c d; echo "${@: -3}"
#| b c d

#### a=(p q r s t); echo "${a[@]: -3}"
a=(p q r s t); echo "${a[@]: -3}"
#| r s t

#### x=abcdefg; echo "[${x: -3:2}]"
x=abcdefg; echo "[${x: -3:2}]"
#| [ef]

#### set -- a b c d; echo "${@: -3:2}"
set -- a b c d; echo "${@: -3:2}"
#| b c

#### a=(p q r s t); echo "${a[@]: -3:2}"
a=(p q r s t); echo "${a[@]: -3:2}"
#| r s

#### x=abcdefg; echo "[${x:1:-1}]"
x=abcdefg; echo "[${x:1:-1}]"
#| [bcdef]

#### set -- a b c d; echo "${@:1}"
set -- a b c d; echo "${@:1}"
#| a b c d

#### x=abcdefg; echo "[${x:9}]"
x=abcdefg; echo "[${x:9}]"
#| []

#### set -- a b c d; echo "${@:9}"
set -- a b c d; echo "${@:9}"
#|

#### a=(p q r s t); echo "${a[@]:9}"
a=(p q r s t); echo "${a[@]:9}"
#|

#### x=abcdefg; echo "[${x:0:0}]"
x=abcdefg; echo "[${x:0:0}]"
#| []

#### set -- a b c d; echo "${@:0:0}"
set -- a b c d; echo "${@:0:0}"
#|

#### a=(p q r s t); echo "${a[@]:0:0}"
a=(p q r s t); echo "${a[@]:0:0}"
#|

#### x=abcdefg; echo "[${x:${#x}}]"
x=abcdefg; echo "[${x:${#x}}]"
#| []

#### x=abcdefg; echo "[${x:1+1:2}]"
x=abcdefg; echo "[${x:1+1:2}]"
#| [cd]

#### set -- a b c d; echo "${@:1+1:2}"
set -- a b c d; echo "${@:1+1:2}"
#| b c

#### a=(p q r s t); echo "${a[@]:1+1:2}"
a=(p q r s t); echo "${a[@]:1+1:2}"
#| r s
