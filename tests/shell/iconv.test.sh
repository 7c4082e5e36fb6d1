#### printf 'caf\303\251\n' | iconv -f utf-8 -t latin1 | od -An -tx1
printf 'caf\303\251\n' | iconv -f utf-8 -t latin1 | od -An -tx1
#|  63 61 66 e9 0a

#### printf 'caf\351\n' | iconv -f latin1 -t utf-8
printf 'caf\351\n' | iconv -f latin1 -t utf-8
#| café

#### printf 'caf\351\n' | iconv -f ISO-8859-1 -t UTF-8
printf 'caf\351\n' | iconv -f ISO-8859-1 -t UTF-8
#| café

#### printf 'hi' | iconv -t utf-16 | od -An -tx1
printf 'hi' | iconv -t utf-16 | od -An -tx1
#|  ff fe 68 00 69 00

#### printf 'hi' | iconv -t UTF-16LE | od -An -tx1
printf 'hi' | iconv -t UTF-16LE | od -An -tx1
#|  68 00 69 00

#### printf 'hi' | iconv -t UTF-16BE | od -An -tx1
printf 'hi' | iconv -t UTF-16BE | od -An -tx1
#|  00 68 00 69

#### printf 'h\000i\000' | iconv -f UTF-16LE -t UTF-8; echo
printf 'h\000i\000' | iconv -f UTF-16LE -t UTF-8; echo
#| hi

#### printf 'caf\303\251\n' | iconv -f utf-8 -t ascii 2>/dev/null; echo " $?"
printf 'caf\303\251\n' | iconv -f utf-8 -t ascii 2>/dev/null; echo " $?"
#| caf 1

#### printf 'caf\303\251\n' | iconv -c -f utf-8 -t ascii
printf 'caf\303\251\n' | iconv -c -f utf-8 -t ascii
#| caf

#### printf 'ab\303' | iconv -f utf-8 -t latin1 2>/dev/null; echo " $?"
printf 'ab\303' | iconv -f utf-8 -t latin1 2>/dev/null; echo " $?"
#| ab 1

#### iconv nofile 2>/dev/null; echo $?
iconv nofile 2>/dev/null; echo $?
#| 1

#### printf 'x' | iconv -f nosuch -t utf-8 2>/dev/null; echo $?
printf 'x' | iconv -f nosuch -t utf-8 2>/dev/null; echo $?
#| 1

#### printf 'x' | iconv -t nosuch 2>/dev/null; echo $?
printf 'x' | iconv -t nosuch 2>/dev/null; echo $?
#| 1

#### printf '\200' | iconv -f cp1252 -t utf-8; echo
printf '\200' | iconv -f cp1252 -t utf-8; echo
#| €

#### printf 'a\303\244' | iconv -f utf8 -t cp850 | od -An -tx1
printf 'a\303\244' | iconv -f utf8 -t cp850 | od -An -tx1
#|  61 84

#### printf 'plain\n' > f; iconv -f ascii -t utf-8 f
printf 'plain\n' > f; iconv -f ascii -t utf-8 f
#| plain

#### printf 'one\n' > f; printf 'two\n' > g; iconv f g
printf 'one\n' > f; printf 'two\n' > g; iconv f g
#| one
#| two

#### printf 'x\n' | iconv -o out; cat out
printf 'x\n' | iconv -o out; cat out
#| x

#### printf '\320\277' | iconv -t koi8-r | od -An -tx1
printf '\320\277' | iconv -t koi8-r | od -An -tx1
#|  d0

#### printf '\344\275\240' | iconv -t gbk | od -An -tx1
printf '\344\275\240' | iconv -t gbk | od -An -tx1
#|  c4 e3

#### printf 'hello' | iconv -f utf-8 -t utf-32le | od -An -tx1
printf 'hello' | iconv -f utf-8 -t utf-32le | od -An -tx1
#|  68 00 00 00 65 00 00 00 6c 00 00 00 6c 00 00 00
#|  6f 00 00 00
