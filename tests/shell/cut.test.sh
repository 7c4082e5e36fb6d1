#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f1
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f1
#| a
#| no
#| d

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f2
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f2
#| b
#| no
#| e

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f1,3
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f1,3
#| a,c
#| no
#| d,f

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f2-
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f2-
#| b,c
#| no
#| e,f

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f-2
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f-2
#| a,b
#| no
#| d,e

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f1-2
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f1-2
#| a,b
#| no
#| d,e

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f 3,1
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f 3,1
#| a,c
#| no
#| d,f

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f5
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f5
#|
#| no
#|

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, --complement -f2
printf 'a,b,c\nno\nd,e,f\n' | cut -d, --complement -f2
#| a,c
#| no
#| d,f

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -s -f1
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -s -f1
#| a
#| d

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f1,2 --output-delimiter=-
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f1,2 --output-delimiter=-
#| a-b
#| no
#| d-e

#### printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f2-3 --output-delimiter=/
printf 'a,b,c\nno\nd,e,f\n' | cut -d, -f2-3 --output-delimiter=/
#| b/c
#| no
#| e/f

#### printf 'abcdef\nxy\n' | cut -c1
printf 'abcdef\nxy\n' | cut -c1
#| a
#| x

#### printf 'abcdef\nxy\n' | cut -c2-3
printf 'abcdef\nxy\n' | cut -c2-3
#| bc
#| y

#### printf 'abcdef\nxy\n' | cut -c-2
printf 'abcdef\nxy\n' | cut -c-2
#| ab
#| xy

#### printf 'abcdef\nxy\n' | cut -c3-
printf 'abcdef\nxy\n' | cut -c3-
#| cdef
#|

#### printf 'abcdef\nxy\n' | cut -b1,3
printf 'abcdef\nxy\n' | cut -b1,3
#| ac
#| x

#### printf 'abcdef\nxy\n' | cut -c1-2,4
printf 'abcdef\nxy\n' | cut -c1-2,4
#| abd
#| xy

#### printf 'abcdef\nxy\n' | cut -c1,1
printf 'abcdef\nxy\n' | cut -c1,1
#| a
#| x

#### printf 'abcdef\nxy\n' | cut --complement -c2
printf 'abcdef\nxy\n' | cut --complement -c2
#| acdef
#| x

#### printf 'abcdef\nxy\n' | cut -c1,3 --output-delimiter=:
printf 'abcdef\nxy\n' | cut -c1,3 --output-delimiter=:
#| a:c
#| x

#### printf 'abcdef\nxy\n' | cut -b 2-
printf 'abcdef\nxy\n' | cut -b 2-
#| bcdef
#| y

#### printf 'abcdef\nxy\n' | cut -c10
printf 'abcdef\nxy\n' | cut -c10
#|
#|

#### printf 'a\tb\tc\n' | cut -f2
printf 'a\tb\tc\n' | cut -f2
#| b

#### cut
cut
#? 1

#### cut -f0
cut -f0
#? 1

#### cut -f x
cut -f x
#? 1

#### cut -d ab -f1
cut -d ab -f1
#? 1

#### cut -f1 -c1
cut -f1 -c1
#? 1

#### printf 'a b c\n' | cut -d' ' -f2-
printf 'a b c\n' | cut -d' ' -f2-
#| b c

#### cut -c1 missing
cut -c1 missing
#? 1

#### printf 'a:b\n' > f; cut -d: -f2 f
printf 'a:b\n' > f; cut -d: -f2 f
#| b

#### printf 'a:b\n' | cut -d: -f3
printf 'a:b\n' | cut -d: -f3
#|

#### printf ':x\n' | cut -d: -f1
printf ':x\n' | cut -d: -f1
#|

#### cut -f 3-1
cut -f 3-1
#? 1

#### printf 'a,b\n' | cut -d, -f1 -z | tr '\0' 'Z'
printf 'a,b\n' | cut -d, -f1 -z | tr '\0' 'Z'
#|- aZ

