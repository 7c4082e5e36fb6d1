#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print}'
#| alice 30 x
#| bob 25 y
#| carol 35 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $1}'
#| alice
#| bob
#| carol

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $2,$1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $2,$1}'
#| 30 alice
#| 25 bob
#| 35 carol

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print NF}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print NF}'
#| 3
#| 3
#| 3

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print NR":"$0}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print NR":"$0}'
#| 1:alice 30 x
#| 2:bob 25 y
#| 3:carol 35 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '$2>26'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '$2>26'
#| alice 30 x
#| carol 35 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '/bob/'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '/bob/'
#| bob 25 y

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '!/bob/'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '!/bob/'
#| alice 30 x
#| carol 35 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '$3=="x"{print $1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '$3=="x"{print $1}'
#| alice
#| carol

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{s+=$2}END{print s}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{s+=$2}END{print s}'
#| 90

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{s+=$2}END{print s/NR}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{s+=$2}END{print s/NR}'
#| 30

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'END{print NR}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'END{print NR}'
#| 3

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1+1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1+1}'
#| 2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'NR==2'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'NR==2'
#| bob 25 y

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'NR%2'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'NR%2'
#| alice 30 x
#| carol 35 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $NF}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $NF}'
#| x
#| y
#| x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $(NF-1)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $(NF-1)}'
#| 30
#| 25
#| 35

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{$2="";print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{$2="";print}'
#| alice  x
#| bob  y
#| carol  x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{$5="e";print;print NF}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{$5="e";print;print NF}'
#| alice 30 x  e
#| 5
#| bob 25 y  e
#| 5
#| carol 35 x  e
#| 5

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{NF=1;print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{NF=1;print}'
#| alice
#| bob
#| carol

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{OFS="-"}{$1=$1;print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{OFS="-"}{$1=$1;print}'
#| alice-30-x
#| bob-25-y
#| carol-35-x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print length($1)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print length($1)}'
#| 5
#| 3
#| 5

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print toupper($1)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print toupper($1)}'
#| ALICE
#| BOB
#| CAROL

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print substr($1,2,2)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print substr($1,2,2)}'
#| li
#| ob
#| ar

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print index($1,"o")}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print index($1,"o")}'
#| 0
#| 2
#| 4

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{n=split($1,c,"");print n,c[1]}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{n=split($1,c,"");print n,c[1]}'
#| 5 a
#| 3 b
#| 5 c

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{gsub(/o/,"0");print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{gsub(/o/,"0");print}'
#| alice 30 x
#| b0b 25 y
#| car0l 35 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{sub(/[aeiou]/,"#");print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{sub(/[aeiou]/,"#");print}'
#| #lice 30 x
#| b#b 25 y
#| c#rol 35 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print match($1,/o+/),RSTART,RLENGTH}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print match($1,/o+/),RSTART,RLENGTH}'
#| 0 0 -1
#| 2 2 1
#| 4 4 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{a[$3]+=$2}END{for(k in a)print k,a[k]}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{a[$3]+=$2}END{for(k in a)print k,a[k]}'
#| x 65
#| y 25

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{c[$3]++}END{print c["x"],c["y"]}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{c[$3]++}END{print c["x"],c["y"]}'
#| 2 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{printf "%s-%d\n",$1,$2}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{printf "%s-%d\n",$1,$2}'
#| alice-30
#| bob-25
#| carol-35

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{printf "%5s|%-5s|%05d|%.2f\n",$1,$1,$2,$2}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{printf "%5s|%-5s|%05d|%.2f\n",$1,$1,$2,$2}'
#| alice|alice|00030|30.00
#|   bob|bob  |00025|25.00
#| carol|carol|00035|35.00

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{if($2>28)print "old";else print "young"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{if($2>28)print "old";else print "young"}'
#| old
#| young
#| old

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{for(i=0;i<3;i++)print i}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{for(i=0;i<3;i++)print i}'
#| 0
#| 1
#| 2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{while(i<3)print i++}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{while(i<3)print i++}'
#| 0
#| 1
#| 2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{do print i++; while(i<2)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{do print i++; while(i<2)}'
#| 0
#| 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print length("hello")}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print length("hello")}'
#| 5

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{x="A";x=x"B";print x}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{x="A";x=x"B";print x}'
#| AB

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 7%3,2^3,2**3,7/2,int(3.9)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 7%3,2^3,2**3,7/2,int(3.9)}'
#| 1 8 8 3.5 3

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1e3,0.1+0.2,100000*100000}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1e3,0.1+0.2,100000*100000}'
#| 1000 0.3 10000000000

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1==1.0,"a"<"b","10"<"9",10<9}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1==1.0,"a"<"b","10"<"9",10<9}'
#| 1 1 1 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print -3%2,!0,!"",!"a"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print -3%2,!0,!"",!"a"}'
#| -1 1 1 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'function f(x){return x*2}{print f($2)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'function f(x){return x*2}{print f($2)}'
#| 60
#| 50
#| 70

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'function f(n){return n<2?1:n*f(n-1)}BEGIN{print f
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'function f(n){return n<2?1:n*f(n-1)}BEGIN{print f(10)}'
#| 3628800

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{a[1];a[2];delete a[1];print length(a)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{a[1];a[2];delete a[1];print length(a)}'
#| 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{if(!("x" in a))print "no"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{if(!("x" in a))print "no"}'
#| no

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{a[1,2]=3;for(k in a){split(k,p,SUBSEP);prin
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{a[1,2]=3;for(k in a){split(k,p,SUBSEP);print p[1],p[2]}}'
#| 1 2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{next}END{print "end"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{next}END{print "end"}'
#| end

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'NR==2{exit}{print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'NR==2{exit}{print}'
#| alice 30 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{exit 3}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{exit 3}'
#? 3

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{getline;print "got "$0}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{getline;print "got "$0}'
#| got alice 30 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{while((getline l)>0)n++;print n}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{while((getline l)>0)n++;print n}'
#| 3

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{"echo hi"|getline x;print x}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{"echo hi"|getline x;print x}'
#| hi

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print|"sort -r"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print|"sort -r"}'
#| carol 35 x
#| bob 25 y
#| alice 30 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $1>"out"}END{close("out");while((getline l
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $1>"out"}END{close("out");while((getline l<"out")>0)print "r:"l}'
#| r:alice
#| r:bob
#| r:carol

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{system("echo sys")}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{system("echo sys")}'
#| sys

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print sprintf("%c%c",65,"hello")}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print sprintf("%c%c",65,"hello")}'
#| Ah

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{printf "%x %o %e %g %i%%\n",255,8,1234.5,0.
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{printf "%x %o %e %g %i%%\n",255,8,1234.5,0.0001,42}'
#| ff 10 1.234500e+03 0.0001 42%

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print tolower("ABC") toupper("def")}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print tolower("ABC") toupper("def")}'
#| abcDEF

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print index("abc","z")}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print index("abc","z")}'
#| 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '/alice/,/bob/'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '/alice/,/bob/'
#| alice 30 x
#| bob 25 y

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '$1~/^b/'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '$1~/^b/'
#| bob 25 y

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '$1!~/o/'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '$1!~/o/'
#| alice 30 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{FS="o"}{print $1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{FS="o"}{print $1}'
#| alice 30 x
#| b
#| car

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $1,$2 > "/dev/stderr"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $1,$2 > "/dev/stderr"}'

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print gensub(/(a)(b)/,"\\2\\1","g","abab")}
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print gensub(/(a)(b)/,"\\2\\1","g","abab")}'
#| baba

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{n=asort(a);print n}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{n=asort(a);print n}'
#| 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{split("c a b",x);n=asort(x);for(i=1;i<=n;i+
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{split("c a b",x);n=asort(x);for(i=1;i<=n;i++)print x[i]}'
#| a
#| b
#| c

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print strftime("%Y-%m-%d",0,1)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print strftime("%Y-%m-%d",0,1)}'
#| 1970-01-01

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print length()}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print length()}'
#| 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{x[1]=1;print (1 in x),(2 in x)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{x[1]=1;print (1 in x),(2 in x)}'
#| 1 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print "a" "b" 1+2}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print "a" "b" 1+2}'
#| ab3

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1,2,3;OFS="-";print 1,2}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1,2,3;OFS="-";print 1,2}'
#| 1 2 3
#| 1-2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{ORS="|";print 1;print 2}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{ORS="|";print 1;print 2}'
#|- 1|2|

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{printf "%s"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{printf "%s"}'
#? 2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{printf "%d %d\n",1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{printf "%d %d\n",1}'
#? 2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $0}END{print $0}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $0}END{print $0}'
#| alice 30 x
#| bob 25 y
#| carol 35 x
#| carol 35 x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{a=1;a+=2;a*=3;a-=1;a/=2;a%=3;a^=2;print a}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{a=1;a+=2;a*=3;a-=1;a/=2;a%=3;a^=2;print a}'
#| 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{i=5;print i++,i,++i,i--,--i}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{i=5;print i++,i,++i,i--,--i}'
#| 5 6 7 7 5

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1?"t":"f"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1?"t":"f"}'
#| t

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print substr("x",2) "|"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print substr("x",2) "|"}'
#| |

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{switch(2){case 1:print 1;break;case 2:print
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{switch(2){case 1:print 1;break;case 2:print 2}}'
#| 2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{switch($1){case /^a/:print "A";break;default:pri
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{switch($1){case /^a/:print "A";break;default:print "D"}}'
#| A
#| D
#| D

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print and(5,3),or(5,3),xor(5,3),lshift(1,4)
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print and(5,3),or(5,3),xor(5,3),lshift(1,4),rshift(16,2)}'
#| 1 7 6 16 4

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print strtonum("0x1F"),strtonum("017")}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print strtonum("0x1F"),strtonum("017")}'
#| 31 15

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print toupper(substr("abc",1,1)) substr("ab
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print toupper(substr("abc",1,1)) substr("abc",2)}'
#| Abc

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print log(1),exp(0),sqrt(16),sin(0),cos(0),
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print log(1),exp(0),sqrt(16),sin(0),cos(0),atan2(0,1)}'
#| 0 1 4 0 1 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{srand(1);r=rand();print (r>=0&&r<1)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{srand(1);r=rand();print (r>=0&&r<1)}'
#| 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print}'
#|

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN {'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN {'
#? 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $-1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk '{print $-1}'
#? 2

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print (1,2) in a}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print (1,2) in a}'
#| 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{a["b"]=1;for(k in a)delete a[k];print lengt
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{a["b"]=1;for(k in a)delete a[k];print length(a)}'
#| 0

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{$0="a b c";print NF,$2}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{$0="a b c";print NF,$2}'
#| 3 b

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{$3="x";print NF;print}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{$3="x";print NF;print}'
#| 3
#|   x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print length(12345)}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print length(12345)}'
#| 5

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 3 " " -1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 3 " " -1}'
#| 3-1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 2 3}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 2 3}'
#| 23

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print "x">"/dev/stdout"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print "x">"/dev/stdout"}'
#| x

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{PROCINFO["sorted_in"]="@ind_str_asc";a["b"]
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{PROCINFO["sorted_in"]="@ind_str_asc";a["b"];a["a"];for(k in a)print k}'
#| a
#| b

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print -2^2,2^-1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print -2^2,2^-1}'
#| -4 0.5

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1>2?"a":"b"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print 1>2?"a":"b"}'
#? 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print !1+1}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print !1+1}'
#| 1

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print "a\tb\\n"}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print "a\tb\\n"}'
#| a	b\n

#### printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print substr("héllo",2,1),length("héllo")}'
printf 'alice 30 x\nbob 25 y\ncarol 35 x\n' | awk 'BEGIN{print substr("héllo",2,1),length("héllo")}'
#| é 5

#### printf 'a,b\n' | awk -F, '{print $2}'
printf 'a,b\n' | awk -F, '{print $2}'
#| b

#### printf 'a:b\n' | awk -F: '{print $2}'
printf 'a:b\n' | awk -F: '{print $2}'
#| b

#### printf 'a\tb c\n' | awk -F'\t' '{print $2}'
printf 'a\tb c\n' | awk -F'\t' '{print $2}'
#| b c

#### printf 'a1b22c\n' | awk -F'[0-9]+' '{print $3}'
printf 'a1b22c\n' | awk -F'[0-9]+' '{print $3}'
#| c

#### printf 'a|b\n' | awk -F'|' '{print $2}'
printf 'a|b\n' | awk -F'|' '{print $2}'
#| b

#### awk -v x=5 'BEGIN{print x*2}'
awk -v x=5 'BEGIN{print x*2}'
#| 10

#### awk -v 's=a\tb' 'BEGIN{print s}'
awk -v 's=a\tb' 'BEGIN{print s}'
#| a	b

#### printf 'BEGIN{print 9}\n' > p; awk -f p
printf 'BEGIN{print 9}\n' > p; awk -f p
#| 9

#### echo x | awk '{print v}' v=3 -
echo x | awk '{print v}' v=3 -
#| 3

#### awk 'BEGIN{print ARGC,ARGV[1]}' a b
awk 'BEGIN{print ARGC,ARGV[1]}' a b
#| 3 a

#### awk '{print}' missing; echo $?
awk '{print}' missing; echo $?
#| 2

#### awk
awk
#? 1

#### awk 'BEGIN{print ENVIRON["HOME"]!=""}'
awk 'BEGIN{print ENVIRON["HOME"]!=""}'
#| 1

#### printf 'a b\n\nc d\n' | awk 'BEGIN{RS=""}{print NR": "$1}'
printf 'a b\n\nc d\n' | awk 'BEGIN{RS=""}{print NR": "$1}'
#| 1: a
#| 2: c

#### printf 'a;b;c' | awk 'BEGIN{RS=";"}{print}'
printf 'a;b;c' | awk 'BEGIN{RS=";"}{print}'
#| a
#| b
#| c

#### printf 'a1b2c' | awk 'BEGIN{RS="[0-9]"}{print}'
printf 'a1b2c' | awk 'BEGIN{RS="[0-9]"}{print}'
#| a
#| b
#| c

#### printf '1\n2\n' > f; awk 'FNR==NR{a[$1];next}{print $1,($1 in a)}' f - <<< 2
printf '1\n2\n' > f; awk 'FNR==NR{a[$1];next}{print $1,($1 in a)}' f - <<< 2
#| 2 1

#### echo 'a b c' | awk '{for(i=NF;i>0;i--)printf "%s ",$i;print ""}'
echo 'a b c' | awk '{for(i=NF;i>0;i--)printf "%s ",$i;print ""}'
#| c b a 

#### seq 10 | awk '{s+=$1}END{printf "%.1f\n",s/NR}'
seq 10 | awk '{s+=$1}END{printf "%.1f\n",s/NR}'
#| 5.5

#### seq 5 | awk 'NR>1{print p}{p=$0}'
seq 5 | awk 'NR>1{print p}{p=$0}'
#| 1
#| 2
#| 3
#| 4

#### printf 'b\na\nb\n' | awk '!s[$0]++'
printf 'b\na\nb\n' | awk '!s[$0]++'
#| b
#| a

#### echo 'k=v' | awk -F= '{print $2}'
echo 'k=v' | awk -F= '{print $2}'
#| v

#### echo '  lead' | awk '{print $1}'
echo '  lead' | awk '{print $1}'
#| lead

#### printf 'x y\n' | awk '{$1=""; print $0}'
printf 'x y\n' | awk '{$1=""; print $0}'
#|  y

#### echo 5 | awk '{exit $1}'
echo 5 | awk '{exit $1}'
#? 5

#### echo 'a' | awk '{print > "/dev/null"}'
echo 'a' | awk '{print > "/dev/null"}'

#### seq 3 | awk 'END{print $0, NR}'
seq 3 | awk 'END{print $0, NR}'
#| 3 3

#### echo a:b | awk 'BEGIN{FS=":"} {print $1}'
echo a:b | awk 'BEGIN{FS=":"} {print $1}'
#| a

#### echo abc | awk '{print substr($0, length($0))}'
echo abc | awk '{print substr($0, length($0))}'
#| c

#### awk 'BEGIN { printf "%s %s\n", "a", "b" }'
awk 'BEGIN { printf "%s %s\n", "a", "b" }'
#| a b

#### echo '3 4' | awk '{print $1*$2, $1/$2, $1-$2}'
echo '3 4' | awk '{print $1*$2, $1/$2, $1-$2}'
#| 12 0.75 -1

