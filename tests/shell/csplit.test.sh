#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 8
#| 0
#| xx00:
#| 1
#| 2
#| xx01:
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -s f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -s f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 0
#| xx00:
#| 1
#| 2
#| xx01:
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -s f 2 4; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -s f 2 4; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 0
#| xx00:
#| 1
#| xx01:
#| 2
#| 3
#| xx02:
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /3/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /3/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 8
#| 0
#| xx00:
#| 1
#| 2
#| xx01:
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /3/ /5/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /3/ /5/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 4
#| 4
#| 0
#| xx00:
#| 1
#| 2
#| xx01:
#| 3
#| 4
#| xx02:
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f %3%; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f %3%; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 8
#| 0
#| xx00:
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f %3% /5/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f %3% /5/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 4
#| 0
#| xx00:
#| 3
#| 4
#| xx01:
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /3/+1; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /3/+1; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 6
#| 6
#| 0
#| xx00:
#| 1
#| 2
#| 3
#| xx01:
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /3/-1; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /3/-1; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 2
#| 10
#| 0
#| xx00:
#| 1
#| xx01:
#| 2
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f 2 '{1}'; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f 2 '{1}'; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 2
#| 4
#| 6
#| 0
#| xx00:
#| 1
#| xx01:
#| 2
#| 3
#| xx02:
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f '/[24]/' '{*}'; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f '/[24]/' '{*}'; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 2
#| 4
#| 6
#| 0
#| xx00:
#| 1
#| xx01:
#| 2
#| 3
#| xx02:
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -z f '/[14]/' '{*}'; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -z f '/[14]/' '{*}'; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 6
#| 6
#| 0
#| xx00:
#| 1
#| 2
#| 3
#| xx01:
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -f part f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -f part f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 8
#| 0
#| part00:
#| 1
#| 2
#| part01:
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -n 3 f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -n 3 f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 8
#| 0
#| xx000:
#| 1
#| 2
#| xx001:
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -b '%03d.txt' f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -b '%03d.txt' f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 8
#| 0
#| xx000.txt:
#| 1
#| 2
#| xx001.txt:
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -f p -b '%x' f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -f p -b '%x' f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 8
#| 0
#| p0:
#| 1
#| 2
#| p1:
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit --suppress-matched f /3/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit --suppress-matched f /3/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 4
#| 6
#| 0
#| xx00:
#| 1
#| 2
#| xx01:
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -k f /9/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -k f /9/; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 12
#| 1
#| xx00:
#| 1
#| 2
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -q f 1; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -q f 1; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 0
#| xx00:
#| xx01:
#| 1
#| 2
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -z -s f 1; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -z -s f 1; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 0
#| xx00:
#| 1
#| 2
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit -s --suppress-matched f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit -s --suppress-matched f 3; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 0
#| xx00:
#| 1
#| 2
#| xx01:
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /2/ '{0}'; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f /2/ '{0}'; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 2
#| 10
#| 0
#| xx00:
#| 1
#| xx01:
#| 2
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit  f 2 2; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
printf '%s\n' 1 2 3 4 5 6 > f; csplit  f 2 2; echo $?; for i in [!f]*; do echo "$i:"; cat $i; done
#| 2
#| 0
#| 10
#| 0
#| xx00:
#| 1
#| xx01:
#| xx02:
#| 2
#| 3
#| 4
#| 5
#| 6

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f /9/ 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f /9/ 2>/dev/null; echo $?; ls
#| 12
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f 9 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f 9 2>/dev/null; echo $?; ls
#| 12
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f /3/ '{5}' 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f /3/ '{5}' 2>/dev/null; echo $?; ls
#| 4
#| 8
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f x 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f x 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f 0 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f 0 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f 3 2 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f 3 2 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f /a 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f /a 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f 2 '{x}' 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f 2 '{x}' 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f -n x 2 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f -n x 2 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f -b %x%x 2 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f -b %x%x 2 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f -b x 2 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f -b x 2 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f  2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f  2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f /3/+x 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f /3/+x 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f %9% 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f %9% 2>/dev/null; echo $?; ls
#| 1
#| f

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f -k /3/ /9/ 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f -k /3/ /9/ 2>/dev/null; echo $?; ls
#| 4
#| 8
#| 1
#| f
#| xx00
#| xx01

#### printf '%s\n' 1 2 3 4 5 6 > f; csplit f '/[/' 2>/dev/null; echo $?; ls
printf '%s\n' 1 2 3 4 5 6 > f; csplit f '/[/' 2>/dev/null; echo $?; ls
#| 1
#| f

#### csplit nofile 1 2>/dev/null; echo $?
csplit nofile 1 2>/dev/null; echo $?
#| 1

#### csplit
csplit
#? 1

#### printf 'a\nb\nc\n' | csplit - 2
printf 'a\nb\nc\n' | csplit - 2
#| 2
#| 4

#### printf 'one\n---\ntwo\n---\nthree\n' | csplit -s -z --suppress-matched - /---/ '{*}'; cat xx00 xx01 xx02; ls
printf 'one\n---\ntwo\n---\nthree\n' | csplit -s -z --suppress-matched - /---/ '{*}'; cat xx00 xx01 xx02; ls
#| one
#| two
#| three
#| xx00
#| xx01
#| xx02

#### csplit --foo 2>/dev/null; echo $?
csplit --foo 2>/dev/null; echo $?
#| 1
