#### touch a b c.txt .h; echo *
touch a b c.txt .h; echo *
#| a b c.txt

#### touch a1 a2 b1; echo a*; echo ?1; echo [ab]1; echo [!a]1
touch a1 a2 b1; echo a*; echo ?1; echo [ab]1; echo [!a]1
#| a1 a2
#| a1 b1
#| a1 b1
#| b1

#### mkdir d; touch d/x d/y; echo d/*; echo */x
mkdir d; touch d/x d/y; echo d/*; echo */x
#| d/x d/y
#| d/x

#### echo nope*
echo nope*
#| nope*

#### touch a; echo "*" \*
touch a; echo "*" \*
#| * *

#### shopt -s nullglob; echo x*y; echo end
shopt -s nullglob; echo x*y; echo end
#|
#| end

#### shopt -s dotglob; touch .a b; echo *
shopt -s dotglob; touch .a b; echo *
#| .a b

#### touch a b; set -f; echo *
touch a b; set -f; echo *
#| *

#### shopt -s extglob; touch a.c b.h c.o; echo *.@(c|h); echo !(*
shopt -s extglob; touch a.c b.h c.o; echo *.@(c|h); echo !(*.o)
#? 2

#### shopt -s globstar; mkdir -p p/q; touch p/q/f p/g; echo **
shopt -s globstar; mkdir -p p/q; touch p/q/f p/g; echo **
#| p p/g p/q p/q/f

#### touch "a b"; for f in *; do echo "<$f>"; done
touch "a b"; for f in *; do echo "<$f>"; done
#| <a b>

#### touch x1 x2; v=x*; echo $v; echo "$v"
touch x1 x2; v=x*; echo $v; echo "$v"
#| x1 x2
#| x*

#### GLOBIGNORE=a; touch a b; echo *
GLOBIGNORE=a; touch a b; echo *
#| b

#### mkdir e; echo e/*
mkdir e; echo e/*
#| e/*
