#### printf a > f; mkdir d; printf b > d/g; zip -q a.zip f d/g; unzip -p a.zip f; echo; unzip -p a.zip d/g; echo
printf a > f; mkdir d; printf b > d/g; zip -q a.zip f d/g; unzip -p a.zip f; echo; unzip -p a.zip d/g; echo
#| a
#| b

#### mkdir -p d/e; printf b > d/e/g; zip -qr a.zip d; rm -r d; unzip -q a.zip; find d | sort
mkdir -p d/e; printf b > d/e/g; zip -qr a.zip d; rm -r d; unzip -q a.zip; find d | sort
#| d
#| d/e
#| d/e/g

#### printf a > f; zip a.zip f
printf a > f; zip a.zip f
#|   adding: f (stored 0%)

#### printf a > f; zip -q a.zip f; unzip -l a.zip | tail -1 | tr -s ' '
printf a > f; zip -q a.zip f; unzip -l a.zip | tail -1 | tr -s ' '
#|  1 1 file

#### printf a > f; zip -q a.zip f; unzip -q -d out a.zip; ls out
printf a > f; zip -q a.zip f; unzip -q -d out a.zip; ls out
#| f

#### printf a > f; zip -q a.zip f; printf b > f; unzip -qn a.zip; cat f; echo
printf a > f; zip -q a.zip f; printf b > f; unzip -qn a.zip; cat f; echo
#| b

#### printf a > f; zip -q a.zip f; printf b > f; unzip -qo a.zip; cat f; echo
printf a > f; zip -q a.zip f; printf b > f; unzip -qo a.zip; cat f; echo
#| a

#### printf a > f; printf b > g; zip -q a.zip f g; rm f g; unzip -q a.zip g; ls
printf a > f; printf b > g; zip -q a.zip f g; rm f g; unzip -q a.zip g; ls
#| a.zip
#| g

#### mkdir d; printf a > d/f; zip -qj a.zip d/f; unzip -Z1 a.zip
mkdir d; printf a > d/f; zip -qj a.zip d/f; unzip -Z1 a.zip
#| f

#### printf a > f; zip -q0 a.zip f; unzip -p a.zip; echo
printf a > f; zip -q0 a.zip f; unzip -p a.zip; echo
#| a

#### printf a > f.txt; printf b > g.log; zip -q a.zip * -x '*.log'; unzip -Z1 a.zip
printf a > f.txt; printf b > g.log; zip -q a.zip * -x '*.log'; unzip -Z1 a.zip
#| f.txt

#### printf a > f; zip -q a f; ls
printf a > f; zip -q a f; ls
#| a.zip
#| f

#### printf a > f; printf b > g; zip -q a.zip f; zip -q a.zip g; unzip -Z1 a.zip
printf a > f; printf b > g; zip -q a.zip f; zip -q a.zip g; unzip -Z1 a.zip
#| f
#| g

#### zip a.zip missing 2>&1 | tail -2; echo ${PIPESTATUS[0]}
zip a.zip missing 2>&1 | tail -2; echo ${PIPESTATUS[0]}
#|
#| zip error: Nothing to do! (a.zip)
#| 12

#### unzip missing.zip > /dev/null 2>&1; echo $?
unzip missing.zip > /dev/null 2>&1; echo $?
#| 9

#### printf x > bad.zip; unzip bad.zip > /dev/null 2>&1; echo $?
printf x > bad.zip; unzip bad.zip > /dev/null 2>&1; echo $?
#| 9

#### printf a > f; zip -q a.zip f; unzip a.zip nothere > /dev/null 2>&1; echo $?
printf a > f; zip -q a.zip f; unzip a.zip nothere > /dev/null 2>&1; echo $?
#| 11

#### printf a > f; zip -q a.zip f; unzip -t a.zip
printf a > f; zip -q a.zip f; unzip -t a.zip
#| Archive:  a.zip
#|     testing: f                        OK
#| No errors detected in compressed data of a.zip.

#### printf a > f; mkdir d; printf b > d/f; zip -qr a.zip .; unzip -Z1 a.zip | sort
printf a > f; mkdir d; printf b > d/f; zip -qr a.zip .; unzip -Z1 a.zip | sort
#| d/
#| d/f
#| f

#### printf a > f; zip -q a.zip f; unzip -qq a.zip -d x; cat x/f; echo
printf a > f; zip -q a.zip f; unzip -qq a.zip -d x; cat x/f; echo
#| a

#### printf a > f; printf b > g; zip -q a.zip f g; unzip -q a.zip -x f -d o; ls o
printf a > f; printf b > g; zip -q a.zip f g; unzip -q a.zip -x f -d o; ls o
#| g

