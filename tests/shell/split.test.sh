#### seq 5 | split -l 2; ls; cat xab
seq 5 | split -l 2; ls; cat xab
#| xaa
#| xab
#| xac
#| 3
#| 4

#### seq 5 | split -l2 - part.; ls; cat part.ac
seq 5 | split -l2 - part.; ls; cat part.ac
#| part.aa
#| part.ab
#| part.ac
#| 5

#### seq 10 > f; split -l 4 -d f p; ls; cat p02
seq 10 > f; split -l 4 -d f p; ls; cat p02
#| f
#| p00
#| p01
#| p02
#| 9
#| 10

#### seq 10 > f; split -l 4 --numeric-suffixes=5 f p; ls
seq 10 > f; split -l 4 --numeric-suffixes=5 f p; ls
#| f
#| p05
#| p06
#| p07

#### seq 10 > f; split -l 4 -x f p; ls
seq 10 > f; split -l 4 -x f p; ls
#| f
#| p00
#| p01
#| p02

#### seq 10 > f; split -l 4 --hex-suffixes=9 f p; ls
seq 10 > f; split -l 4 --hex-suffixes=9 f p; ls
#| f
#| p09
#| p0a
#| p0b

#### seq 10 > f; split -l 4 -a 3 f p; ls
seq 10 > f; split -l 4 -a 3 f p; ls
#| f
#| paaa
#| paab
#| paac

#### printf abcdefg | split -b 3 - b; ls; cat bac; echo
printf abcdefg | split -b 3 - b; ls; cat bac; echo
#| baa
#| bab
#| bac
#| g

#### printf abcdefg | split -b 1K - b; ls
printf abcdefg | split -b 1K - b; ls
#| baa

#### seq 1000 | split -b 1k; ls; wc -c xaa xad
seq 1000 | split -b 1k; ls; wc -c xaa xad
#| xaa
#| xab
#| xac
#| xad
#| 1024 xaa
#|  821 xad
#| 1845 total

#### seq 10 | split -C 7 - c; head c*
seq 10 | split -C 7 - c; head c*
#| ==> caa <==
#| 1
#| 2
#| 3
#|
#| ==> cab <==
#| 4
#| 5
#| 6
#|
#| ==> cac <==
#| 7
#| 8
#| 9
#|
#| ==> cad <==
#| 10

#### seq 10 > f; split -n 3 f n; ls; cat nab
seq 10 > f; split -n 3 f n; ls; cat nab
#| f
#| naa
#| nab
#| nac
#|
#| 5
#| 6
#| 7

#### seq 10 > f; split -n l/3 f n; head n*
seq 10 > f; split -n l/3 f n; head n*
#| ==> naa <==
#| 1
#| 2
#| 3
#| 4
#|
#| ==> nab <==
#| 5
#| 6
#| 7
#|
#| ==> nac <==
#| 8
#| 9
#| 10

#### seq 10 > f; split -n r/3 f n; head n*
seq 10 > f; split -n r/3 f n; head n*
#| ==> naa <==
#| 1
#| 4
#| 7
#| 10
#|
#| ==> nab <==
#| 2
#| 5
#| 8
#|
#| ==> nac <==
#| 3
#| 6
#| 9

#### seq 10 > f; split -n 2/3 f
seq 10 > f; split -n 2/3 f
#|
#| 5
#| 6
#| 7

#### seq 10 > f; split -n l/2/3 f
seq 10 > f; split -n l/2/3 f
#| 5
#| 6
#| 7

#### seq 10 > f; split -n r/2/3 f
seq 10 > f; split -n r/2/3 f
#| 2
#| 5
#| 8

#### seq 3 > f; split -n 5 f e; ls; wc -c e*
seq 3 > f; split -n 5 f e; ls; wc -c e*
#| eaa
#| eab
#| eac
#| ead
#| eae
#| f
#| 1 eaa
#| 1 eab
#| 1 eac
#| 1 ead
#| 2 eae
#| 6 total

#### seq 3 > f; split -e -n 9 f e; ls
seq 3 > f; split -e -n 9 f e; ls
#| eaa
#| eab
#| eac
#| ead
#| eae
#| eaf
#| f

#### seq 4 | split -l 1 --additional-suffix=.txt - q; ls
seq 4 | split -l 1 --additional-suffix=.txt - q; ls
#| qaa.txt
#| qab.txt
#| qac.txt
#| qad.txt

#### seq 4 | split -l 2 --filter='cat > $FILE.out; echo $FILE'; ls
seq 4 | split -l 2 --filter='cat > $FILE.out; echo $FILE'; ls
#| xaa
#| xab
#| xaa.out
#| xab.out

#### seq 4 | split -l 2 --verbose 2>&1 | sed "s/[‘’]/'/g"
seq 4 | split -l 2 --verbose 2>&1 | sed "s/[‘’]/'/g"
#| creating file 'xaa'
#| creating file 'xab'

#### seq 4 | split -2; ls
seq 4 | split -2; ls
#| xaa
#| xab

#### printf 'a:b:c:' | split -t : -l 2; ls; cat xab
printf 'a:b:c:' | split -t : -l 2; ls; cat xab
#| xaa
#| xab
#|- c:

#### printf 'a\0b\0c' | split -t '\0' -l 1; ls
printf 'a\0b\0c' | split -t '\0' -l 1; ls
#| xaa
#| xab
#| xac

#### split missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split missing 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: cannot open 'missing' for reading: No such file or directory
#| 1

#### split -l 0 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split -l 0 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: invalid number of lines: '0': Numerical result out of range
#| 1

#### split -l x /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split -l x /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: invalid number of lines: 'x'
#| 1

#### split -b 0 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split -b 0 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: invalid number of bytes: '0': Numerical result out of range
#| 1

#### split -b 1 -l 1 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split -b 1 -l 1 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: cannot split in more than one way
#| Try 'split --help' for more information.
#| 1

#### split -n 0 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split -n 0 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: invalid number of chunks: '0': Numerical result out of range
#| 1

#### split -n 4/3 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split -n 4/3 /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: invalid chunk number: '4': Numerical result out of range
#| 1

#### split a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split a b c 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: extra operand 'c'
#| Try 'split --help' for more information.
#| 1

#### split --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split --nonsense 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: unrecognized option '--nonsense'
#| Try 'split --help' for more information.
#| 1

#### split -t ab /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
split -t ab /dev/null 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[0]}
#| split: multi-character separator 'ab'
#| 1

#### seq 700 | split -l 1 -a 1 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[1]}; ls | wc -l
seq 700 | split -l 1 -a 1 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[1]}; ls | wc -l
#| split: output file suffixes exhausted
#| 1
#| 26

#### seq 30 | split -l 1; ls | tail -3
seq 30 | split -l 1; ls | tail -3
#| xbb
#| xbc
#| xbd

#### split -l 2 /dev/null; ls
split -l 2 /dev/null; ls

#### seq 3 | split -l 2 --additional-suffix=a/b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[1]}
seq 3 | split -l 2 --additional-suffix=a/b 2>&1 | sed "s/[‘’]/'/g"; echo ${PIPESTATUS[1]}
#| split: invalid suffix 'a/b', contains directory separator
#| Try 'split --help' for more information.
#| 1
