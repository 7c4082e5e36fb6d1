#### printf 'a b\nc\n' | xargs 
printf 'a b\nc\n' | xargs 
#| a b c

#### printf 'a b\nc\n' | xargs -n1
printf 'a b\nc\n' | xargs -n1
#| a
#| b
#| c

#### printf 'a b\nc\n' | xargs -n 2 echo
printf 'a b\nc\n' | xargs -n 2 echo
#| a b
#| c

#### printf 'a b\nc\n' | xargs -I{} echo "<{}>"
printf 'a b\nc\n' | xargs -I{} echo "<{}>"
#| <a b>
#| <c>

#### printf 'a b\nc\n' | xargs -L1 echo
printf 'a b\nc\n' | xargs -L1 echo
#| a b
#| c

#### printf 'a b\nc\n' | xargs echo pre
printf 'a b\nc\n' | xargs echo pre
#| pre a b c

#### printf 'a b\nc\n' | xargs -t echo 2>&1
printf 'a b\nc\n' | xargs -t echo 2>&1
#| echo a b c
#| a b c

#### printf 'a b\nc\n' | xargs -r echo
printf 'a b\nc\n' | xargs -r echo
#| a b c

#### printf 'a b\nc\n' | xargs -d" " echo
printf 'a b\nc\n' | xargs -d" " echo
#| a b
#| c
#|

#### printf 'a b\nc\n' | xargs -P2 -n1 echo | sort
printf 'a b\nc\n' | xargs -P2 -n1 echo | sort
#| a
#| b
#| c

#### printf 'a b\nc\n' | xargs -I% echo % %
printf 'a b\nc\n' | xargs -I% echo % %
#| a b a b
#| c c

#### printf 'a b\nc\n' | xargs -n2 -x echo
printf 'a b\nc\n' | xargs -n2 -x echo
#| a b
#| c

#### printf 'a b\nc\n' | xargs -s 20 echo
printf 'a b\nc\n' | xargs -s 20 echo
#| a b c

#### printf 'a\0b c\0' | xargs -0 -n1 echo
printf 'a\0b c\0' | xargs -0 -n1 echo
#| a
#| b c

#### printf '' | xargs echo x
printf '' | xargs echo x
#| x

#### printf '' | xargs -r echo x
printf '' | xargs -r echo x

#### echo '"a b" c' | xargs -n1 echo
echo '"a b" c' | xargs -n1 echo
#| a b
#| c

#### echo 'a\ b' | xargs -n1 echo
echo 'a\ b' | xargs -n1 echo
#| a b

#### echo x | xargs false; echo $?
echo x | xargs false; echo $?
#| 123

#### echo x | xargs nosuchcmd; echo $?
echo x | xargs nosuchcmd; echo $?
#| 127

#### echo x | xargs sh -c 'exit 255'; echo $?
echo x | xargs sh -c 'exit 255'; echo $?
#| 124

#### echo "it's" | xargs; echo $?
echo "it's" | xargs; echo $?
#| 1

#### printf 'a\nb\n' > f; xargs -a f echo
printf 'a\nb\n' > f; xargs -a f echo
#| a b

#### seq 5 | xargs -n2
seq 5 | xargs -n2
#| 1 2
#| 3 4
#| 5

#### printf 'a\n\nb\n' | xargs -I{} echo [{}]
printf 'a\n\nb\n' | xargs -I{} echo [{}]
#| [a]
#| [b]

#### echo a b | xargs -n0; echo $?
echo a b | xargs -n0; echo $?
#| 1

#### printf 'x y\n' | xargs -I{} sh -c 'echo got {}'
printf 'x y\n' | xargs -I{} sh -c 'echo got {}'
#| got x y

