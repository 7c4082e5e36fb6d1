#### a=(1 2 3); a[5]=x; echo "${a[@]}" "${!a[@]}" ${#a[@]}
a=(1 2 3); a[5]=x; echo "${a[@]}" "${!a[@]}" ${#a[@]}
#| 1 2 3 x 0 1 2 5 4

#### a=(); echo ${#a[@]}; a+=(x y); a+=(z); echo ${a[@]}
a=(); echo ${#a[@]}; a+=(x y); a+=(z); echo ${a[@]}
#| 0
#| x y z

#### a=([3]=c [1]=a); declare -p a
a=([3]=c [1]=a); declare -p a
#| declare -a a=([1]="a" [3]="c")

#### a=(1 2 3); unset "a[1]"; declare -p a
a=(1 2 3); unset "a[1]"; declare -p a
#| declare -a a=([0]="1" [2]="3")

#### a=("x y" z); for i in "${a[@]}"; do echo "<$i>"; done
a=("x y" z); for i in "${a[@]}"; do echo "<$i>"; done
#| <x y>
#| <z>

#### a=(1 2 3); echo ${a[-1]} ${a[-3]}
a=(1 2 3); echo ${a[-1]} ${a[-3]}
#| 3 1

#### declare -A m; m[k]=v; m["a b"]=c; echo ${m[k]} "${m[a b]}" $
declare -A m; m[k]=v; m["a b"]=c; echo ${m[k]} "${m[a b]}" ${#m[@]}
#| v c 2

#### declare -A m=([x]=1 [y]=2); unset "m[x]"; declare -p m
declare -A m=([x]=1 [y]=2); unset "m[x]"; declare -p m
#| declare -A m=([y]="2" )

#### a=(b a); b=("${a[@]}" c); echo ${#b[@]}
a=(b a); b=("${a[@]}" c); echo ${#b[@]}
#| 3

#### IFS=,; a=(1 2); echo "${a[*]}"
IFS=,; a=(1 2); echo "${a[*]}"
#| 1,2

#### a=(1 2 3); a=("${a[@]/2/X}"); echo ${a[@]}
a=(1 2 3); a=("${a[@]/2/X}"); echo ${a[@]}
#| 1 X 3

#### declare -a a; a=x; declare -p a
declare -a a; a=x; declare -p a
#| declare -a a=([0]="x")

#### x=s; x[1]=t; declare -p x
x=s; x[1]=t; declare -p x
#| declare -a x=([0]="s" [1]="t")

#### a=(1 2); a[0]+=5; echo ${a[0]}
a=(1 2); a[0]+=5; echo ${a[0]}
#| 15

#### declare -i a; a=2+3; echo $a
declare -i a; a=2+3; echo $a
#| 5

#### declare -A m; m+=([a]=1); m+=([b]=2); echo ${m[a]}${m[b]}
declare -A m; m+=([a]=1); m+=([b]=2); echo ${m[a]}${m[b]}
#| 12

#### read -ra a <<< "x y z"; echo ${a[2]}
read -ra a <<< "x y z"; echo ${a[2]}
#| z

#### mapfile -t a < <(printf "1\n2\n"); echo ${#a[@]} ${a[1]}
mapfile -t a < <(printf "1\n2\n"); echo ${#a[@]} ${a[1]}
#| 2 2

#### a=({1..5}); echo ${a[@]:1:3}
a=({1..5}); echo ${a[@]:1:3}
#| 2 3 4

#### [[ -v a[0] ]] || echo no; a[0]=1; [[ -v a[0] ]] && echo yes
[[ -v a[0] ]] || echo no; a[0]=1; [[ -v a[0] ]] && echo yes
#| no
#| yes
