#### printf 'hello\n' | hexdump 
printf 'hello\n' | hexdump 
#| 0000000 6568 6c6c 0a6f                         
#| 0000006

#### printf 'hello\n' | hexdump -C
printf 'hello\n' | hexdump -C
#| 00000000  68 65 6c 6c 6f 0a                                 |hello.|
#| 00000006

#### printf 'hello\n' | hexdump -b
printf 'hello\n' | hexdump -b
#| 0000000 150 145 154 154 157 012                                        
#| 0000006

#### printf 'hello\n' | hexdump -c
printf 'hello\n' | hexdump -c
#| 0000000   h   e   l   l   o  \n                                        
#| 0000006

#### printf 'hello\n' | hexdump -d
printf 'hello\n' | hexdump -d
#| 0000000   25960   27756   02671                                        
#| 0000006

#### printf 'hello\n' | hexdump -o
printf 'hello\n' | hexdump -o
#| 0000000  062550  066154  005157                                        
#| 0000006

#### printf 'hello\n' | hexdump -x
printf 'hello\n' | hexdump -x
#| 0000000    6568    6c6c    0a6f                                        
#| 0000006

#### printf '0123456789abcdefXYZ' | hexdump 
printf '0123456789abcdefXYZ' | hexdump 
#| 0000000 3130 3332 3534 3736 3938 6261 6463 6665
#| 0000010 5958 005a                              
#| 0000013

#### printf '0123456789abcdefXYZ' | hexdump -C
printf '0123456789abcdefXYZ' | hexdump -C
#| 00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  |0123456789abcdef|
#| 00000010  58 59 5a                                          |XYZ|
#| 00000013

#### printf '0123456789abcdefXYZ' | hexdump -b
printf '0123456789abcdefXYZ' | hexdump -b
#| 0000000 060 061 062 063 064 065 066 067 070 071 141 142 143 144 145 146
#| 0000010 130 131 132                                                    
#| 0000013

#### printf '0123456789abcdefXYZ' | hexdump -c
printf '0123456789abcdefXYZ' | hexdump -c
#| 0000000   0   1   2   3   4   5   6   7   8   9   a   b   c   d   e   f
#| 0000010   X   Y   Z                                                    
#| 0000013

#### printf '0123456789abcdefXYZ' | hexdump -d
printf '0123456789abcdefXYZ' | hexdump -d
#| 0000000   12592   13106   13620   14134   14648   25185   25699   26213
#| 0000010   22872   00090                                                
#| 0000013

#### printf '0123456789abcdefXYZ' | hexdump -o
printf '0123456789abcdefXYZ' | hexdump -o
#| 0000000  030460  031462  032464  033466  034470  061141  062143  063145
#| 0000010  054530  000132                                                
#| 0000013

#### printf '0123456789abcdefXYZ' | hexdump -x
printf '0123456789abcdefXYZ' | hexdump -x
#| 0000000    3130    3332    3534    3736    3938    6261    6463    6665
#| 0000010    5958    005a                                                
#| 0000013

#### printf '\000\001\377\t\n' | hexdump 
printf '\000\001\377\t\n' | hexdump 
#| 0000000 0100 09ff 000a                         
#| 0000005

#### printf '\000\001\377\t\n' | hexdump -C
printf '\000\001\377\t\n' | hexdump -C
#| 00000000  00 01 ff 09 0a                                    |.....|
#| 00000005

#### printf '\000\001\377\t\n' | hexdump -b
printf '\000\001\377\t\n' | hexdump -b
#| 0000000 000 001 377 011 012                                            
#| 0000005

#### printf '\000\001\377\t\n' | hexdump -c
printf '\000\001\377\t\n' | hexdump -c
#| 0000000  \0 001 377  \t  \n                                            
#| 0000005

#### printf '\000\001\377\t\n' | hexdump -d
printf '\000\001\377\t\n' | hexdump -d
#| 0000000   00256   02559   00010                                        
#| 0000005

#### printf '\000\001\377\t\n' | hexdump -o
printf '\000\001\377\t\n' | hexdump -o
#| 0000000  000400  004777  000012                                        
#| 0000005

#### printf '\000\001\377\t\n' | hexdump -x
printf '\000\001\377\t\n' | hexdump -x
#| 0000000    0100    09ff    000a                                        
#| 0000005

#### printf 'abc' | hd
printf 'abc' | hd
#| 00000000  61 62 63                                          |abc|
#| 00000003

#### head -c 64 /dev/zero | hexdump
head -c 64 /dev/zero | hexdump
#| 0000000 0000 0000 0000 0000 0000 0000 0000 0000
#| *
#| 0000040

#### head -c 64 /dev/zero | hexdump -C
head -c 64 /dev/zero | hexdump -C
#| 00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
#| *
#| 00000040

#### head -c 64 /dev/zero | hexdump -v
head -c 64 /dev/zero | hexdump -v
#| 0000000 0000 0000 0000 0000 0000 0000 0000 0000
#| 0000010 0000 0000 0000 0000 0000 0000 0000 0000
#| 0000020 0000 0000 0000 0000 0000 0000 0000 0000
#| 0000030 0000 0000 0000 0000 0000 0000 0000 0000
#| 0000040

#### head -c 64 /dev/zero | hexdump -vC
head -c 64 /dev/zero | hexdump -vC
#| 00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
#| 00000010  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
#| 00000020  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
#| 00000030  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|
#| 00000040

#### printf 'hello world' | hexdump -n 5
printf 'hello world' | hexdump -n 5
#| 0000000 6568 6c6c 006f                         
#| 0000005

#### printf 'hello world' | hexdump -C -n 5
printf 'hello world' | hexdump -C -n 5
#| 00000000  68 65 6c 6c 6f                                    |hello|
#| 00000005

#### printf 'hello world' > f; hexdump -s 6 -C f
printf 'hello world' > f; hexdump -s 6 -C f
#| 00000006  77 6f 72 6c 64                                    |world|
#| 0000000b

#### printf 'hello world' > f; hexdump -s 2 -n 3 -c f
printf 'hello world' > f; hexdump -s 2 -n 3 -c f
#| 0000002   l   l   o                                                    
#| 0000005

#### printf 'hello world' | hexdump -e '1/1 "%02x"'; echo
printf 'hello world' | hexdump -e '1/1 "%02x"'; echo
#| 68656c*
#| 6f20776f726c64

#### printf 'hello world' | hexdump -e '16/1 "%02x " "\n"'
printf 'hello world' | hexdump -e '16/1 "%02x " "\n"'
#| 68 65 6c 6c 6f 20 77 6f 72 6c 64               

#### printf 'hello world' | hexdump -ve '1/1 "%.2x"'; echo
printf 'hello world' | hexdump -ve '1/1 "%.2x"'; echo
#| 68656c6c6f20776f726c64

#### printf 'hello' | hexdump -e '"%c"'; echo
printf 'hello' | hexdump -e '"%c"'; echo
#| hel*
#| o

#### printf 'hello' | hexdump -e '"%_c\n"'
printf 'hello' | hexdump -e '"%_c\n"'
#| h
#| e
#| l
#| *
#| o

#### printf 'a\tb' | hexdump -e '"%_u "'; echo
printf 'a\tb' | hexdump -e '"%_u "'; echo
#| a ht b 

#### printf 'hello' | hexdump -e '"%08_ax " 4/1 "%03d " "\n"'
printf 'hello' | hexdump -e '"%08_ax " 4/1 "%03d " "\n"'
#| 00000000 104 101 108 108
#| 00000004 111            

#### printf '\001\000\000\000\002\000\000\000' | hexdump -e '2/4 "%d " "\n"'
printf '\001\000\000\000\002\000\000\000' | hexdump -e '2/4 "%d " "\n"'
#| 1 2

#### printf 'abcdef' | hexdump -e '3/2 "%x " "\n"'
printf 'abcdef' | hexdump -e '3/2 "%x " "\n"'
#| 6261 6463 6665

#### printf 'hello' | hexdump -e '"x%_p"'; echo
printf 'hello' | hexdump -e '"x%_p"'; echo
#| xhxexl*
#| xo

#### hexdump < /dev/null
hexdump < /dev/null

#### hexdump -C /dev/null
hexdump -C /dev/null

#### hexdump nofile 2>/dev/null; echo $?
hexdump nofile 2>/dev/null; echo $?
#| 1

#### printf 'ab' > a; printf 'cd' > b; hexdump -C a b
printf 'ab' > a; printf 'cd' > b; hexdump -C a b
#| 00000000  61 62 63 64                                       |abcd|
#| 00000004

#### printf 'ab' > a; hexdump -C a nofile 2>/dev/null; echo $?
printf 'ab' > a; hexdump -C a nofile 2>/dev/null; echo $?
#| 00000000  61 62                                             |ab|
#| 00000002
#| 1

#### hexdump -Z 2>/dev/null; echo $?
hexdump -Z 2>/dev/null; echo $?
#| 1

#### printf x | hexdump -e 'bad' 2>/dev/null; echo $?
printf x | hexdump -e 'bad' 2>/dev/null; echo $?
#| 1

#### printf x | hexdump -n foo 2>/dev/null; echo $?
printf x | hexdump -n foo 2>/dev/null; echo $?
#| 1

#### printf 'aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcc' | hexdump -C
printf 'aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbcc' | hexdump -C
#| 00000000  61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61  |aaaaaaaaaaaaaaaa|
#| 00000010  62 62 62 62 62 62 62 62  62 62 62 62 62 62 62 62  |bbbbbbbbbbbbbbbb|
#| *
#| 00000030  63 63                                             |cc|
#| 00000032

#### printf 'hi' | hexdump -v -e '/1 "%02X "'; echo
printf 'hi' | hexdump -v -e '/1 "%02X "'; echo
#| 68 69 

#### printf 'xyz' > f; hexdump -s 0x1 -C f
printf 'xyz' > f; hexdump -s 0x1 -C f
#| 00000001  79 7a                                             |yz|
#| 00000003
