#### printf abcdef | dd bs=2 count=2 2>/dev/null
printf abcdef | dd bs=2 count=2 2>/dev/null
#|- abcd

#### printf abcdef | dd bs=2 skip=1 2>/dev/null
printf abcdef | dd bs=2 skip=1 2>/dev/null
#|- cdef

#### printf abcdef | dd bs=1 skip=2 count=3 status=none
printf abcdef | dd bs=1 skip=2 count=3 status=none
#|- cde

#### printf abcdef > f; dd if=f of=g bs=3 status=none; cat g
printf abcdef > f; dd if=f of=g bs=3 status=none; cat g
#|- abcdef

#### printf abcdef > f; printf XY | dd of=f bs=1 seek=2 conv=notrunc status=none; cat f
printf abcdef > f; printf XY | dd of=f bs=1 seek=2 conv=notrunc status=none; cat f
#|- abXYef

#### printf abcdef > f; printf XY | dd of=f bs=1 seek=2 status=none; cat f
printf abcdef > f; printf XY | dd of=f bs=1 seek=2 status=none; cat f
#|- abXY

#### printf 'Hello World' | dd conv=ucase status=none
printf 'Hello World' | dd conv=ucase status=none
#|- HELLO WORLD

#### printf 'Hello World' | dd conv=lcase status=none
printf 'Hello World' | dd conv=lcase status=none
#|- hello world

#### printf 'abcdef' | dd conv=swab status=none
printf 'abcdef' | dd conv=swab status=none
#|- badcfe

#### printf 'abcde' | dd conv=swab status=none
printf 'abcde' | dd conv=swab status=none
#|- badce

#### printf 'abc' | dd bs=8 conv=sync status=none | od -c
printf 'abc' | dd bs=8 conv=sync status=none | od -c
#| 0000000   a   b   c  \0  \0  \0  \0  \0
#| 0000010

#### printf 'abcdef' | dd ibs=2 obs=3 status=none
printf 'abcdef' | dd ibs=2 obs=3 status=none
#|- abcdef

#### printf 'abcdef' | dd ibs=1 count=4 obs=8 status=none
printf 'abcdef' | dd ibs=1 count=4 obs=8 status=none
#|- abcd

#### dd if=/dev/zero bs=4 count=2 status=none | od -An -tx1
dd if=/dev/zero bs=4 count=2 status=none | od -An -tx1
#|  00 00 00 00 00 00 00 00

#### dd if=/dev/zero of=z bs=1k count=3 status=none; wc -c < z
dd if=/dev/zero of=z bs=1k count=3 status=none; wc -c < z
#| 3072

#### dd if=/dev/zero of=z bs=1K count=3 2>&1 | head -2
dd if=/dev/zero of=z bs=1K count=3 2>&1 | head -2
#| 3+0 records in
#| 3+0 records out

#### printf abcdef | dd bs=2 2>&1 >/dev/null | head -2
printf abcdef | dd bs=2 2>&1 >/dev/null | head -2
#| 3+0 records in
#| 3+0 records out

#### printf abcde | dd bs=2 2>&1 >/dev/null | head -2
printf abcde | dd bs=2 2>&1 >/dev/null | head -2
#| 2+1 records in
#| 2+1 records out

#### printf abcde | dd bs=2 status=noxfer 2>&1 >/dev/null
printf abcde | dd bs=2 status=noxfer 2>&1 >/dev/null
#| 2+1 records in
#| 2+1 records out

#### printf abc | dd status=none of=out; cat out
printf abc | dd status=none of=out; cat out
#|- abc

#### printf a > f; printf bcd | dd oflag=append conv=notrunc of=f status=none; cat f
printf a > f; printf bcd | dd oflag=append conv=notrunc of=f status=none; cat f
#|- abcd

#### printf abcdef | dd iflag=fullblock bs=4 count=1 status=none
printf abcdef | dd iflag=fullblock bs=4 count=1 status=none
#|- abcd

#### printf abcdef | dd bs=2 iflag=skip_bytes skip=3 status=none
printf abcdef | dd bs=2 iflag=skip_bytes skip=3 status=none
#|- def

#### printf abcdef | dd bs=4 iflag=count_bytes count=3 status=none
printf abcdef | dd bs=4 iflag=count_bytes count=3 status=none
#|- abc

#### printf abcdef | dd bs=2w count=1 status=none
printf abcdef | dd bs=2w count=1 status=none
#|- abcd

#### printf abcdefgh | dd bs=1x4 count=1 status=none
printf abcdefgh | dd bs=1x4 count=1 status=none
#|- abcd

#### printf abcdefgh | dd bs=2x2 count=1 status=none
printf abcdefgh | dd bs=2x2 count=1 status=none
#|- abcd

#### dd if=missing of=x 2>&1; echo $?; ls
dd if=missing of=x 2>&1; echo $?; ls
#| dd: failed to open 'missing': No such file or directory
#| 1

#### dd bs=0 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd bs=0 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: invalid number: '0'
#| 1

#### dd bs=x 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd bs=x 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: invalid number: 'x'
#| 1

#### dd nonsense 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd nonsense 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: unrecognized operand 'nonsense'
#| Try 'dd --help' for more information.
#| 1

#### dd foo=1 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd foo=1 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: unrecognized operand 'foo=1'
#| Try 'dd --help' for more information.
#| 1

#### dd conv=nonsense 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd conv=nonsense 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: invalid conversion: 'nonsense'
#| Try 'dd --help' for more information.
#| 1

#### dd status=loud 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd status=loud 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: invalid status level: 'loud'
#| Try 'dd --help' for more information.
#| 1

#### dd count=-1 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd count=-1 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: invalid number: '-1'
#| 1

#### dd iflag=nonsense 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd iflag=nonsense 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: invalid input flag: 'nonsense'
#| Try 'dd --help' for more information.
#| 1

#### mkdir d; dd of=d 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
mkdir d; dd of=d 2>&1 < /dev/null | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: failed to open 'd': Is a directory
#| 1

#### printf x > f; dd if=/dev/null of=f conv=excl 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
printf x > f; dd if=/dev/null of=f conv=excl 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: failed to open 'f': File exists
#| 1

#### printf x | dd of=none/f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[1]}
printf x | dd of=none/f 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[1]}
#| dd: failed to open 'none/f': No such file or directory
#| 1

#### dd if=/dev/null of=new conv=nocreat 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
dd if=/dev/null of=new conv=nocreat 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| dd: failed to open 'new': No such file or directory
#| 1

#### printf 'a\nbb\n' | dd cbs=4 conv=block status=none | od -c
printf 'a\nbb\n' | dd cbs=4 conv=block status=none | od -c
#| 0000000   a               b   b        
#| 0000010

#### printf 'a   bb  ' | dd cbs=4 conv=unblock status=none
printf 'a   bb  ' | dd cbs=4 conv=unblock status=none
#| a
#| bb

#### printf 12345 > f; dd if=f bs=1 skip=9 2>&1 | head -3
printf 12345 > f; dd if=f bs=1 skip=9 2>&1 | head -3
#| dd: f: cannot skip to specified offset
#| 0+0 records in
#| 0+0 records out

#### printf 12345 > f; dd if=/dev/null of=f bs=1 seek=3 status=none; od -c f
printf 12345 > f; dd if=/dev/null of=f bs=1 seek=3 status=none; od -c f
#| 0000000   1   2   3
#| 0000003

#### printf 12345 > f; dd if=/dev/null of=f bs=1 seek=8 status=none; od -An -tx1 f
printf 12345 > f; dd if=/dev/null of=f bs=1 seek=8 status=none; od -An -tx1 f
#|  31 32 33 34 35 00 00 00
