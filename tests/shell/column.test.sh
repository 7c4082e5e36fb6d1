#### printf 'a b\ncc dd\n' | column -t
printf 'a b\ncc dd\n' | column -t
#| a   b
#| cc  dd

#### printf 'a:b\ncc:dd\n' | column -t -s:
printf 'a:b\ncc:dd\n' | column -t -s:
#| a   b
#| cc  dd

#### printf 'a:b\ncc:dd\n' | column -ts: -o ' | '
printf 'a:b\ncc:dd\n' | column -ts: -o ' | '
#| a  | b
#| cc | dd

#### seq 6 | column -c 40
seq 6 | column -c 40
#| 1	3	5
#| 2	4	6

#### printf 'x\ny\n' | column
printf 'x\ny\n' | column
#| x	y

#### printf 'a b c\nd\n' | column -t
printf 'a b c\nd\n' | column -t
#| a  b  c
#| d     

