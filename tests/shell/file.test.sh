#### printf 'hello\n' > f; file f
printf 'hello\n' > f; file f
#| f: ASCII text

#### : > e; file e
: > e; file e
#| e: empty

#### mkdir d; file d
mkdir d; file d
#| d: directory

#### printf '#!/bin/sh\necho\n' > s; file s
printf '#!/bin/sh\necho\n' > s; file s
#| s: POSIX shell script, ASCII text executable

#### printf '#!/usr/bin/env python3\nprint(1)\n' > p; file p
printf '#!/usr/bin/env python3\nprint(1)\n' > p; file p
#| p: Python script, ASCII text executable

#### printf 'h\303\251llo\n' > u; file u
printf 'h\303\251llo\n' > u; file u
#| u: Unicode text, UTF-8 text

#### printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\002\010\002\0\0\0' > i; file i
printf '\211PNG\r\n\032\n\0\0\0\rIHDR\0\0\0\001\0\0\0\002\010\002\0\0\0' > i; file i
#| i: PNG image data, 1 x 2, 8-bit/color RGB, non-interlaced

#### printf 'x' | gzip -n > g; file g | cut -d, -f1
printf 'x' | gzip -n > g; file g | cut -d, -f1
#| g: gzip compressed data

#### ln -s f l; printf 'a\n' > f; file l
ln -s f l; printf 'a\n' > f; file l
#| l: symbolic link to f

#### ln -s none l; file l
ln -s none l; file l
#| l: broken symbolic link to none

#### mkfifo p; file p
mkfifo p; file p
#| p: fifo (named pipe)

#### printf 'hello\n' > f; file -b f
printf 'hello\n' > f; file -b f
#| ASCII text

#### printf 'hello\n' > f; file -i f
printf 'hello\n' > f; file -i f
#| f: text/plain; charset=us-ascii

#### printf 'hello\n' > f; file --mime-type f
printf 'hello\n' > f; file --mime-type f
#| f: text/plain

#### printf 'hello\n' > f; file -b --mime-type f; file --brief --mime f
printf 'hello\n' > f; file -b --mime-type f; file --brief --mime f
#| text/plain
#| text/plain; charset=us-ascii

#### file missing
file missing
#| missing: cannot open `missing' (No such file or directory)

#### printf '{"a": 1}\n' > j; file j
printf '{"a": 1}\n' > j; file j
#| j: JSON text data

#### printf 'a\r\nb\r\n' > c; file c
printf 'a\r\nb\r\n' > c; file c
#| c: ASCII text, with CRLF line terminators

#### printf '\0\001\002' > b; file b
printf '\0\001\002' > b; file b
#| b: data

#### printf '%%PDF-1.4\n' > p; file p
printf '%%PDF-1.4\n' > p; file p
#| p: PDF document, version 1.4

#### printf 'GIF89a\001\0\001\0' > g; file g
printf 'GIF89a\001\0\001\0' > g; file g
#| g: GIF image data, version 89a, 1 x 1

#### printf 'hello\n' | file -
printf 'hello\n' | file -
#| /dev/stdin: ASCII text

#### printf a > x; printf b > yyyy; file x yyyy
printf a > x; printf b > yyyy; file x yyyy
#| x:    very short file (no magic)
#| yyyy: very short file (no magic)

#### printf '<html><body></body></html>\n' > h; file h
printf '<html><body></body></html>\n' > h; file h
#| h: HTML document, ASCII text

#### file 2>&1 > /dev/null | head -1 | cut -c1-11
file 2>&1 > /dev/null | head -1 | cut -c1-11
#| Usage: file

#### printf '<?xml version="1.0"?>\n<a/>\n' > x; file x
printf '<?xml version="1.0"?>\n<a/>\n' > x; file x
#| x: XML 1.0 document, ASCII text

#### printf 'a,b\n1,2\n' > t; file --mime-type t
printf 'a,b\n1,2\n' > t; file --mime-type t
#| t: text/plain
