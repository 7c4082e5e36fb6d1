#### if; echo no
if; echo no
#? 2

#### echo a; )
echo a; )
#? 2

#### for
for
#? 2

#### echo "unterminated
echo "unterminated
#? 2

#### ${x
${x
#? 2

#### x=1; x = 2 2>/dev/null; echo $?
x=1; x = 2 2>/dev/null; echo $?
#| 127

#### echo $(
echo $(
#? 2

#### case x in
case x in
#? 2

#### f() {
f() {
#? 2

#### [[ a
[[ a
#? 2

#### exit 300
exit 300
#? 44

#### return 2>/dev/null; echo $?
return 2>/dev/null; echo $?
#| 2

#### break; echo $?
break; echo $?
#| 0

#### shift 5; echo $?
shift 5; echo $?
#| 1

#### exit abc 2>/dev/null; echo no
exit abc 2>/dev/null; echo no
#? 2

#### echo ${x!} 2>/dev/null; echo after
echo ${x!} 2>/dev/null; echo after
#? 1

#### echo a; echo ${}; echo b
echo a
echo ${}; echo b
#| a
#? 1

#### a b=; echo $?
a b=; echo $?
#| 127

#### && echo no
&& echo no
#? 2

#### echo a ;; echo b
echo a ;; echo b
#? 2

#### time true 2>/dev/null; echo $?
time true 2>/dev/null; echo $?
#| 0

#### { echo a; } }
{ echo a; } }
#? 2
