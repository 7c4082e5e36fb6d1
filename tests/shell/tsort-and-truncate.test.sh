#### printf 'a b\nb c\n' | tsort
printf 'a b\nb c\n' | tsort
#| a
#| b
#| c

#### printf 'a b c d\n' | tsort
printf 'a b c d\n' | tsort
#| a
#| c
#| b
#| d

#### printf 'a a\n' | tsort
printf 'a a\n' | tsort
#| a

#### printf 'a b c\n' | tsort 2>&1; echo $?
printf 'a b c\n' | tsort 2>&1; echo $?
#| tsort: -: input contains an odd number of tokens
#| 1

#### printf '3 4\n1 2\n2 3\n' > f; tsort f
printf '3 4\n1 2\n2 3\n' > f; tsort f
#| 1
#| 2
#| 3
#| 4

#### tsort missing 2>&1; echo $?
tsort missing 2>&1; echo $?
#| tsort: missing: No such file or directory
#| 1

#### tsort a b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
tsort a b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| tsort: extra operand 'b'
#| Try 'tsort --help' for more information.
#| 1

#### tsort < /dev/null
tsort < /dev/null

#### printf 'a b\na c\nb d\nc d\n' | tsort
printf 'a b\na c\nb d\nc d\n' | tsort
#| a
#| c
#| b
#| d

#### truncate -s 5 f; wc -c < f
truncate -s 5 f; wc -c < f
#| 5

#### printf abcdef > f; truncate -s 3 f; cat f
printf abcdef > f; truncate -s 3 f; cat f
#|- abc

#### printf abcdef > f; truncate -s +2 f; wc -c < f
printf abcdef > f; truncate -s +2 f; wc -c < f
#| 8

#### printf abcdef > f; truncate -s -2 f; cat f
printf abcdef > f; truncate -s -2 f; cat f
#|- abcd

#### printf abcdef > f; truncate -s '<4' f; cat f
printf abcdef > f; truncate -s '<4' f; cat f
#|- abcd

#### printf abcdef > f; truncate -s '>9' f; wc -c < f
printf abcdef > f; truncate -s '>9' f; wc -c < f
#| 9

#### printf abcdef > f; truncate -s /4 f; wc -c < f
printf abcdef > f; truncate -s /4 f; wc -c < f
#| 4

#### printf abcdef > f; truncate -s %4 f; wc -c < f
printf abcdef > f; truncate -s %4 f; wc -c < f
#| 8

#### printf abcdef > f; truncate -s -99 f; wc -c < f
printf abcdef > f; truncate -s -99 f; wc -c < f
#| 0

#### printf abc > r; truncate -r r f; wc -c < f
printf abc > r; truncate -r r f; wc -c < f
#| 3

#### printf abc > r; truncate -r r -s +2 f; wc -c < f
printf abc > r; truncate -r r -s +2 f; wc -c < f
#| 5

#### truncate -c -s 3 none; ls; echo $?
truncate -c -s 3 none; ls; echo $?
#| 0

#### truncate -s 1K f; wc -c < f
truncate -s 1K f; wc -c < f
#| 1024

#### truncate -s 1KB f; wc -c < f
truncate -s 1KB f; wc -c < f
#| 1000

#### truncate -s x f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
truncate -s x f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| truncate: Invalid number: 'x'
#| 1

#### truncate f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
truncate f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| truncate: you must specify either '--size' or '--reference'
#| Try 'truncate --help' for more information.
#| 1

#### truncate -s 1 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
truncate -s 1 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| truncate: missing file operand
#| Try 'truncate --help' for more information.
#| 1

#### truncate -r none f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
truncate -r none f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| truncate: cannot stat 'none': No such file or directory
#| 1

#### truncate -r r -s 3 f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
truncate -r r -s 3 f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| truncate: you must specify a relative '--size' with '--reference'
#| Try 'truncate --help' for more information.
#| 1

#### truncate -s /0 f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
truncate -s /0 f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| truncate: division by zero
#| 1

#### mkdir d; truncate -s 1 d 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mkdir d; truncate -s 1 d 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| truncate: cannot open 'd' for writing: Is a directory
#| 1

#### truncate -s 1 no/f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
truncate -s 1 no/f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| truncate: cannot open 'no/f' for writing: No such file or directory
#| 1

#### truncate -o -s 1 f 2>&1 | sed "s/[‘’]/'/g"
truncate -o -s 1 f 2>&1 | sed "s/[‘’]/'/g"
