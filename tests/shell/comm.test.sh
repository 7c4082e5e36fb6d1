#### seq 1 4 > a; seq 3 6 > b; comm a b
seq 1 4 > a; seq 3 6 > b; comm a b
#| 1
#| 2
#| 		3
#| 		4
#| 	5
#| 	6

#### seq 1 4 > a; seq 3 6 > b; comm -12 a b
seq 1 4 > a; seq 3 6 > b; comm -12 a b
#| 3
#| 4

#### seq 1 4 > a; seq 3 6 > b; comm -23 a b
seq 1 4 > a; seq 3 6 > b; comm -23 a b
#| 1
#| 2

#### seq 1 4 > a; seq 3 6 > b; comm -13 a b
seq 1 4 > a; seq 3 6 > b; comm -13 a b
#| 5
#| 6

#### seq 1 4 > a; seq 3 6 > b; comm -3 a b
seq 1 4 > a; seq 3 6 > b; comm -3 a b
#| 1
#| 2
#| 	5
#| 	6

#### seq 1 3 > a; comm a
seq 1 3 > a; comm a
#? 1

#### comm a b
comm a b
#? 1

#### seq 1 2 > a; seq 2 3 > b; comm --output-delimiter=: a b
seq 1 2 > a; seq 2 3 > b; comm --output-delimiter=: a b
#| 1
#| ::2
#| :3

#### seq 1 2 > a; seq 2 3 | comm -12 a -
seq 1 2 > a; seq 2 3 | comm -12 a -
#| 2

#### seq 1 3 > a; seq 2 4 > b; comm --total a b
seq 1 3 > a; seq 2 4 > b; comm --total a b
#| 1
#| 		2
#| 		3
#| 	4
#| 1	1	2	total

