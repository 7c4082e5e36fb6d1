#### echo '1+2' | bc
echo '1+2' | bc
#| 3

#### echo '2^100' | bc
echo '2^100' | bc
#| 1267650600228229401496703205376

#### echo '10/3' | bc
echo '10/3' | bc
#| 3

#### echo '-7/2' | bc
echo '-7/2' | bc
#| -3

#### echo '-7%3' | bc
echo '-7%3' | bc
#| -1

#### echo '7%-3' | bc
echo '7%-3' | bc
#| 1

#### echo '2^-1' | bc
echo '2^-1' | bc
#| 0

#### echo '.5+.5' | bc
echo '.5+.5' | bc
#| 1.0

#### echo '1.10+2' | bc
echo '1.10+2' | bc
#| 3.10

#### echo '1.5*1.5' | bc
echo '1.5*1.5' | bc
#| 2.2

#### echo '-.5' | bc
echo '-.5' | bc
#| -.5

#### echo '2^0' | bc
echo '2^0' | bc
#| 1

#### echo '0.00' | bc
echo '0.00' | bc
#| 0

#### echo '100000*100000' | bc
echo '100000*100000' | bc
#| 10000000000

#### echo '1==1' | bc
echo '1==1' | bc
#| 1

#### echo '1!=1' | bc
echo '1!=1' | bc
#| 0

#### echo '1<2' | bc
echo '1<2' | bc
#| 1

#### echo '2<=2' | bc
echo '2<=2' | bc
#| 1

#### echo '!0' | bc
echo '!0' | bc
#| 1

#### echo '!5' | bc
echo '!5' | bc
#| 0

#### echo '1&&0' | bc
echo '1&&0' | bc
#| 0

#### echo '1||0' | bc
echo '1||0' | bc
#| 1

#### echo '5;6' | bc
echo '5;6' | bc
#| 5
#| 6

#### echo 'x=5;x*2' | bc
echo 'x=5;x*2' | bc
#| 10

#### echo 'x+=3;x' | bc
echo 'x+=3;x' | bc
#| 3

#### echo 'x=7;x-=2;x' | bc
echo 'x=7;x-=2;x' | bc
#| 5

#### echo 'x=2;x*=5;x' | bc
echo 'x=2;x*=5;x' | bc
#| 10

#### echo 'x=9;x/=2;x' | bc
echo 'x=9;x/=2;x' | bc
#| 4

#### echo 'x=9;x%=4;x' | bc
echo 'x=9;x%=4;x' | bc
#| 1

#### echo 'x=2;x^=10;x' | bc
echo 'x=2;x^=10;x' | bc
#| 1024

#### echo 'i++;i' | bc
echo 'i++;i' | bc
#| 0
#| 1

#### echo '++i' | bc
echo '++i' | bc
#| 1

#### echo 'i=5;i--;i' | bc
echo 'i=5;i--;i' | bc
#| 5
#| 4

#### echo '-(3+4)' | bc
echo '-(3+4)' | bc
#| -7

#### echo '-2^2' | bc
echo '-2^2' | bc
#| 4

#### echo '2^3^2' | bc
echo '2^3^2' | bc
#| 512

#### echo '(1+2)*3' | bc
echo '(1+2)*3' | bc
#| 9

#### echo '1+2*3-4/2' | bc
echo '1+2*3-4/2' | bc
#| 5

#### echo 'length(12345)' | bc
echo 'length(12345)' | bc
#| 5

#### echo 'length(0.001)' | bc
echo 'length(0.001)' | bc
#| 3

#### echo 'scale(1.234)' | bc
echo 'scale(1.234)' | bc
#| 3

#### echo 'sqrt(16)' | bc
echo 'sqrt(16)' | bc
#| 4

#### echo 'sqrt(2)' | bc
echo 'sqrt(2)' | bc
#| 1

#### echo 'last+1' | bc
echo 'last+1' | bc
#| 1

#### echo 'a[3]=4;a[3]+a[2]' | bc
echo 'a[3]=4;a[3]+a[2]' | bc
#| 4

#### echo '"text"' | bc
echo '"text"' | bc
#|- text

#### echo '"a";"b"' | bc
echo '"a";"b"' | bc
#|- ab

#### echo 'print 1,2,"x"' | bc
echo 'print 1,2,"x"' | bc
#|- 12x

#### echo 'print "a\tb\n"' | bc
echo 'print "a\tb\n"' | bc
#| a	b

#### echo 'if(1>0) 5' | bc
echo 'if(1>0) 5' | bc
#| 5

#### echo 'if(1>2) 5 else 6' | bc
echo 'if(1>2) 5 else 6' | bc
#| 6

#### echo 'while(i<3) i++' | bc
echo 'while(i<3) i++' | bc
#| 0
#| 1
#| 2

#### echo 'for(i=0;i<4;i++) i' | bc
echo 'for(i=0;i<4;i++) i' | bc
#| 0
#| 1
#| 2
#| 3

#### echo 'ibase=16;FF' | bc
echo 'ibase=16;FF' | bc
#| 255

#### echo 'ibase=2;1011' | bc
echo 'ibase=2;1011' | bc
#| 11

#### echo 'obase=16;255' | bc
echo 'obase=16;255' | bc
#| FF

#### echo 'obase=2;10' | bc
echo 'obase=2;10' | bc
#| 1010

#### echo 'obase=8;64.5' | bc
echo 'obase=8;64.5' | bc
#| 100.40

#### echo 'obase=20;399' | bc
echo 'obase=20;399' | bc
#|  19 19

#### echo 'scale=5;1/3' | bc
echo 'scale=5;1/3' | bc
#| .33333

#### echo 'scale=2;7.555*2' | bc
echo 'scale=2;7.555*2' | bc
#| 15.110

#### echo 'scale=10;1/7;22/7' | bc
echo 'scale=10;1/7;22/7' | bc
#| .1428571428
#| 3.1428571428

#### echo 'scale=3;sqrt(2)' | bc
echo 'scale=3;sqrt(2)' | bc
#| 1.414

#### echo 'scale=2;10%3' | bc
echo 'scale=2;10%3' | bc
#| .01

#### echo '99999999999999999999*99999999999999999999' | bc
echo '99999999999999999999*99999999999999999999' | bc
#| 9999999999999999999800000000000000000001

#### echo '2^200' | bc
echo '2^200' | bc
#| 1606938044258990275541962092341162602522202993782792835301376

#### echo '1000000007*998244353' | bc
echo '1000000007*998244353' | bc
#| 998244359987710471

#### echo '12345678901234567890%97' | bc
echo '12345678901234567890%97' | bc
#| 3

#### echo 'halt;5' | bc
echo 'halt;5' | bc

#### echo 'quit' | bc
echo 'quit' | bc

#### echo '5.2^2' | bc
echo '5.2^2' | bc
#| 27.0

#### echo '0.1^5' | bc
echo '0.1^5' | bc
#| 0

#### echo '3.14159*2' | bc
echo '3.14159*2' | bc
#| 6.28318

#### echo '1/3*3' | bc
echo '1/3*3' | bc
#| 0

#### echo 'a=b=3;a+b' | bc
echo 'a=b=3;a+b' | bc
#| 6

#### echo 'x=3;x==3' | bc
echo 'x=3;x==3' | bc
#| 1

#### echo '(x=4)' | bc
echo '(x=4)' | bc
#| 4

#### echo '1;;2' | bc
echo '1;;2' | bc
#| 1
#| 2

#### echo '{1;2}' | bc
echo '{1;2}' | bc
#| 1
#| 2

#### echo '5 /* c */ + 1' | bc
echo '5 /* c */ + 1' | bc
#| 6

#### echo '7 # comment' | bc
echo '7 # comment' | bc
#| 7

#### echo '10^15+1' | bc
echo '10^15+1' | bc
#| 1000000000000001

#### echo '-0' | bc
echo '-0' | bc
#| 0

#### echo '00012' | bc
echo '00012' | bc
#| 12

#### echo '1.' | bc
echo '1.' | bc
#| 1

#### echo '.' | bc
echo '.' | bc
#| 0

#### printf 'scale=20\n1/3\n' | bc
printf 'scale=20\n1/3\n' | bc
#| .33333333333333333333

#### printf 'define f(x) {\n  return x*x\n}\nf(5)\nf(1.5)\n' | bc
printf 'define f(x) {\n  return x*x\n}\nf(5)\nf(1.5)\n' | bc
#| 25
#| 2.2

#### printf 'define f(n) { if (n<2) return 1; return n*f(n-1) }\nf(20)\nf(50)\n' | bc
printf 'define f(n) { if (n<2) return 1; return n*f(n-1) }\nf(20)\nf(50)\n' | bc
#| 2432902008176640000
#| 30414093201713378043612608166064768844377641568960512000000000000

#### printf 'define g(a,b) { auto t; t=a; a=b; b=t; return a-b }\nt=9\ng(1,5)\nt\n' | bc
printf 'define g(a,b) { auto t; t=a; a=b; b=t; return a-b }\nt=9\ng(1,5)\nt\n' | bc
#| 4
#| 9

#### printf 'define s2(a[],n) { auto i,t; for(i=0;i<n;i++) t+=a[i]; return t }\nx[0]=1;x[1]=2;x[2]=4\ns2(x[],3)\n' | bc
printf 'define s2(a[],n) { auto i,t; for(i=0;i<n;i++) t+=a[i]; return t }\nx[0]=1;x[1]=2;x[2]=4\ns2(x[],3)\n' | bc
#| 7

#### printf 'i=0\nwhile (1) {\n  i++\n  if (i==2) continue\n  if (i>4) break\n  i\n}\n' | bc
printf 'i=0\nwhile (1) {\n  i++\n  if (i==2) continue\n  if (i>4) break\n  i\n}\n' | bc
#| 0
#| 1
#| 1
#| 2
#| 3
#| 3
#| 4
#| 4

#### seq 1 1000 | paste -sd+ | bc
seq 1 1000 | paste -sd+ | bc
#| 500500

#### echo '2^300' | BC_LINE_LENGTH=0 bc
echo '2^300' | BC_LINE_LENGTH=0 bc
#| 2037035976334486086268445688409378161051468393665936250636140449354381299763336706183397376

#### echo '2^300' | BC_LINE_LENGTH=20 bc
echo '2^300' | BC_LINE_LENGTH=20 bc
#| 203703597633448608\
#| 626844568840937816\
#| 105146839366593625\
#| 063614044935438129\
#| 976333670618339737\
#| 6

#### echo '4*a(1)' | bc -l
echo '4*a(1)' | bc -l
#| 3.14159265358979323844

#### echo 'e(1)' | bc -l
echo 'e(1)' | bc -l
#| 2.71828182845904523536

#### echo 'l(10)' | bc -l
echo 'l(10)' | bc -l
#| 2.30258509299404568401

#### echo 's(1)' | bc -l
echo 's(1)' | bc -l
#| .84147098480789650665

#### echo 'c(0)' | bc -l
echo 'c(0)' | bc -l
#| 1.00000000000000000000

#### echo 'e(-1)' | bc -l
echo 'e(-1)' | bc -l
#| .36787944117144232159

#### echo 'scale=30;4*a(1)' | bc -l
echo 'scale=30;4*a(1)' | bc -l
#| 3.141592653589793238462643383276

#### echo 'l(2);e(2);c(1)' | bc -l
echo 'l(2);e(2);c(1)' | bc -l
#| .69314718055994530941
#| 7.38905609893065022723
#| .54030230586813971740

#### echo 'scale=4;e(0.5);l(0.5)' | bc -l
echo 'scale=4;e(0.5);l(0.5)' | bc -l
#| 1.6487
#| -.6931

#### echo 'sqrt(2)' | bc -l
echo 'sqrt(2)' | bc -l
#| 1.41421356237309504880

#### echo 'j(0,1)' | bc -l
echo 'j(0,1)' | bc -l
#| .76519768655796655144

#### echo 'a(0.5);a(-2)' | bc -l
echo 'a(0.5);a(-2)' | bc -l
#| .46364760900080611621
#| -1.10714871779409050301

#### echo 'e(10.5)' | bc -l
echo 'e(10.5)' | bc -l
#| 36315.50267424663773891202

#### echo 'l(-1)' | bc -l
echo 'l(-1)' | bc -l
#| -99999999999999999999.00000000000000000000

#### echo '1/3' | bc -l
echo '1/3' | bc -l
#| .33333333333333333333

#### echo 's(10);c(10)' | bc -l
echo 's(10);c(10)' | bc -l
#| -.54402111088936981340
#| -.83907152907645245225

#### echo '5+5' > p.bc; echo 'quit' | bc p.bc
echo '5+5' > p.bc; echo 'quit' | bc p.bc
#| 10

#### echo '5+5' > p.bc; bc -q p.bc < /dev/null
echo '5+5' > p.bc; bc -q p.bc < /dev/null
#| 10

#### bc <<< '3 + 4'
bc <<< '3 + 4'
#| 7

#### bc <<< 'scale=2; 100 * 1.175'
bc <<< 'scale=2; 100 * 1.175'
#| 117.500

#### x=$(echo '12.5 * 3' | bc); echo "$x"
x=$(echo '12.5 * 3' | bc); echo "$x"
#| 37.5

#### echo '1/0; 5' | bc 2>/dev/null
echo '1/0; 5' | bc 2>/dev/null

#### printf '1/0\n5\n' | bc 2>/dev/null
printf '1/0\n5\n' | bc 2>/dev/null
#| 5

#### printf '1+\n5\n' | bc 2>/dev/null
printf '1+\n5\n' | bc 2>/dev/null
#| 5

#### echo 'sqrt(-1)' | bc 2>/dev/null; echo $?
echo 'sqrt(-1)' | bc 2>/dev/null; echo $?
#| 0

#### echo 'nofn(1)' | bc 2>/dev/null; echo $?
echo 'nofn(1)' | bc 2>/dev/null; echo $?
#| 0

#### bc nofile < /dev/null 2>/dev/null; echo $?
bc nofile < /dev/null 2>/dev/null; echo $?
#| 1

#### bc nofile < /dev/null
bc nofile < /dev/null
#? 1

#### echo '1 +' | bc
echo '1 +' | bc

#### echo 'foo bar' | bc
echo 'foo bar' | bc

#### echo '@' | bc
echo '@' | bc

#### bc -Z < /dev/null > /dev/null 2>&1; echo $?
bc -Z < /dev/null > /dev/null 2>&1; echo $?
#| 1

#### printf 'a=1\nb=2\nif (a<b) {\n"less\n"\n}\n' | bc
printf 'a=1\nb=2\nif (a<b) {\n"less\n"\n}\n' | bc
#| less

#### echo 'obase=16; 3735928559; obase=2; 5' | bc
echo 'obase=16; 3735928559; obase=2; 5' | bc
#| DEADBEEF
#| 101

#### echo 'ibase=16; obase=A; FF+1' | bc
echo 'ibase=16; obase=A; FF+1' | bc
#| 256

#### echo 'scale=2; x=5.678; x/1' | bc
echo 'scale=2; x=5.678; x/1' | bc
#| 5.67

#### printf '10\n20\n' | bc
printf '10\n20\n' | bc
#| 10
#| 20

#### echo '5 > 3' | bc
echo '5 > 3' | bc
#| 1

#### for i in 1 2 3; do echo "$i^2" | bc; done
for i in 1 2 3; do echo "$i^2" | bc; done
#| 1
#| 4
#| 9
