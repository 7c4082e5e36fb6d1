#### seq 3 > a; printf 'x\ny\n' > b; paste  a b
seq 3 > a; printf 'x\ny\n' > b; paste  a b
#| 1	x
#| 2	y
#| 3	

#### seq 3 > a; printf 'x\ny\n' > b; paste -d, a b
seq 3 > a; printf 'x\ny\n' > b; paste -d, a b
#| 1,x
#| 2,y
#| 3,

#### seq 3 > a; printf 'x\ny\n' > b; paste -d: a b
seq 3 > a; printf 'x\ny\n' > b; paste -d: a b
#| 1:x
#| 2:y
#| 3:

#### seq 3 > a; printf 'x\ny\n' > b; paste -s a b
seq 3 > a; printf 'x\ny\n' > b; paste -s a b
#| 1	2	3
#| x	y

#### seq 3 > a; printf 'x\ny\n' > b; paste -sd, a b
seq 3 > a; printf 'x\ny\n' > b; paste -sd, a b
#| 1,2,3
#| x,y

#### seq 3 > a; printf 'x\ny\n' > b; paste -d ",;" a b
seq 3 > a; printf 'x\ny\n' > b; paste -d ",;" a b
#| 1,x
#| 2,y
#| 3,

#### seq 3 > a; printf 'x\ny\n' > b; paste -d "" a b
seq 3 > a; printf 'x\ny\n' > b; paste -d "" a b
#| 1x
#| 2y
#| 3

#### seq 3 > a; printf 'x\ny\n' > b; paste -s -d "\n" a b
seq 3 > a; printf 'x\ny\n' > b; paste -s -d "\n" a b
#| 1
#| 2
#| 3
#| x
#| y

#### seq 4 | paste - -
seq 4 | paste - -
#| 1	2
#| 3	4

#### seq 6 | paste -d, - - -
seq 6 | paste -d, - - -
#| 1,2,3
#| 4,5,6

#### paste missing
paste missing
#? 1

#### seq 3 | paste -s
seq 3 | paste -s
#| 1	2	3

#### seq 3 | paste -sd+
seq 3 | paste -sd+
#| 1+2+3

#### paste -z
paste -z

#### printf 'a\nb\n' | paste -d '\t' - -
printf 'a\nb\n' | paste -d '\t' - -
#| a	b

