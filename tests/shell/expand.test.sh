#### printf 'a\tb\n\tc\td\n' | expand 
printf 'a\tb\n\tc\td\n' | expand 
#| a       b
#|         c       d

#### printf 'a\tb\n\tc\td\n' | expand -t4
printf 'a\tb\n\tc\td\n' | expand -t4
#| a   b
#|     c   d

#### printf 'a\tb\n\tc\td\n' | expand -t 2
printf 'a\tb\n\tc\td\n' | expand -t 2
#| a b
#|   c d

#### printf 'a\tb\n\tc\td\n' | expand -i
printf 'a\tb\n\tc\td\n' | expand -i
#| a	b
#|         c	d

#### printf 'a\tb\n\tc\td\n' | expand -t 4,8
printf 'a\tb\n\tc\td\n' | expand -t 4,8
#| a   b
#|     c   d

#### printf 'a\tb\n\tc\td\n' | expand --tabs=3
printf 'a\tb\n\tc\td\n' | expand --tabs=3
#| a  b
#|    c  d

#### printf 'a\tb\n\tc\td\n' | expand -t 4 -i
printf 'a\tb\n\tc\td\n' | expand -t 4 -i
#| a	b
#|     c	d

#### printf 'a\tb\n\tc\td\n' | expand -t0
printf 'a\tb\n\tc\td\n' | expand -t0
#? 1

#### printf 'a\tb\n\tc\td\n' | expand -t x
printf 'a\tb\n\tc\td\n' | expand -t x
#? 1

