#### printf '        a       b\n    c   d\n' | unexpand 
printf '        a       b\n    c   d\n' | unexpand 
#| 	a       b
#|     c   d

#### printf '        a       b\n    c   d\n' | unexpand -a
printf '        a       b\n    c   d\n' | unexpand -a
#| 	a	b
#|     c	d

#### printf '        a       b\n    c   d\n' | unexpand -t4
printf '        a       b\n    c   d\n' | unexpand -t4
#| 		a		b
#| 	c	d

#### printf '        a       b\n    c   d\n' | unexpand --first-only
printf '        a       b\n    c   d\n' | unexpand --first-only
#| 	a       b
#|     c   d

#### printf '        a       b\n    c   d\n' | unexpand -t 4
printf '        a       b\n    c   d\n' | unexpand -t 4
#| 		a		b
#| 	c	d

