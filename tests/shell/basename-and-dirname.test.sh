#### basename /a/b/c.txt
basename /a/b/c.txt
#| c.txt

#### basename /a/b/c.txt .txt
basename /a/b/c.txt .txt
#| c

#### basename c.txt c.txt
basename c.txt c.txt
#| c.txt

#### basename /
basename /
#| /

#### basename //
basename //
#| /

#### basename ''
basename ''
#|

#### basename a/
basename a/
#| a

#### basename -a /a/b /c/d
basename -a /a/b /c/d
#| b
#| d

#### basename -s .c x/a.c y/b.c
basename -s .c x/a.c y/b.c
#| a
#| b

#### basename -z -a a/b c/d | od -c
basename -z -a a/b c/d | od -c
#| 0000000   b  \0   d  \0
#| 0000004

#### basename --suffix=.h include/stdio.h
basename --suffix=.h include/stdio.h
#| stdio

#### basename 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
basename 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| basename: missing operand
#| Try 'basename --help' for more information.
#| 1

#### basename a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
basename a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| basename: extra operand 'c'
#| Try 'basename --help' for more information.
#| 1

#### basename --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
basename --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| basename: unrecognized option '--nonsense'
#| Try 'basename --help' for more information.
#| 1

#### dirname /a/b/c
dirname /a/b/c
#| /a/b

#### dirname a
dirname a
#| .

#### dirname /
dirname /
#| /

#### dirname //a
dirname //a
#| /

#### dirname a/b/
dirname a/b/
#| a

#### dirname /a
dirname /a
#| /

#### dirname '' a/b c/d
dirname '' a/b c/d
#| .
#| a
#| c

#### dirname -z a/b | od -c
dirname -z a/b | od -c
#| 0000000   a  \0
#| 0000002

#### dirname 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dirname 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dirname: missing operand
#| Try 'dirname --help' for more information.
#| 1

#### dirname -q 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dirname -q 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dirname: invalid option -- 'q'
#| Try 'dirname --help' for more information.
#| 1
