#### echo {a,b,c}
echo {a,b,c}
#| a b c

#### echo a{1,2}b
echo a{1,2}b
#| a1b a2b

#### echo {1..5}
echo {1..5}
#| 1 2 3 4 5

#### echo {5..1..2}
echo {5..1..2}
#| 5 3 1

#### echo {a..e}
echo {a..e}
#| a b c d e

#### echo {01..03}
echo {01..03}
#| 01 02 03

#### echo {a,b}{c,d}
echo {a,b}{c,d}
#| ac ad bc bd

#### echo {a,{b,c}}
echo {a,{b,c}}
#| a b c

#### echo {a}
echo {a}
#| {a}

#### echo {,x}y
echo {,x}y
#| y xy

#### echo "{a,b}"
echo "{a,b}"
#| {a,b}

#### echo {1..3}{x,y}
echo {1..3}{x,y}
#| 1x 1y 2x 2y 3x 3y

#### echo \{a,b}
echo \{a,b}
#| {a,b}

#### x=1; echo {$x,2}
x=1; echo {$x,2}
#| 1 2

#### echo {-2..2}
echo {-2..2}
#| -2 -1 0 1 2

#### echo a{b,c
echo a{b,c
#| a{b,c

#### echo {x..z}{1..2}
echo {x..z}{1..2}
#| x1 x2 y1 y2 z1 z2
