#### coreutils name an option that is not there
for c in base64 basename cat chmod cksum comm cp cut date dd df dirname du expand fmt fold head id install join ln ls mkdir mktemp mv nl nproc od paste readlink realpath rm rmdir; do "$c" --nonsense < /dev/null 2>&1 | sed -n 1p; echo "${PIPESTATUS[0]}"; done | sed "s/[‘’]/'/g"
#| base64: unrecognized option '--nonsense'
#| 1
#| basename: unrecognized option '--nonsense'
#| 1
#| cat: unrecognized option '--nonsense'
#| 1
#| chmod: unrecognized option '--nonsense'
#| 1
#| cksum: unrecognized option '--nonsense'
#| 1
#| comm: unrecognized option '--nonsense'
#| 1
#| cp: unrecognized option '--nonsense'
#| 1
#| cut: unrecognized option '--nonsense'
#| 1
#| date: unrecognized option '--nonsense'
#| 1
#| dd: unrecognized option '--nonsense'
#| 1
#| df: unrecognized option '--nonsense'
#| 1
#| dirname: unrecognized option '--nonsense'
#| 1
#| du: unrecognized option '--nonsense'
#| 1
#| expand: unrecognized option '--nonsense'
#| 1
#| fmt: unrecognized option '--nonsense'
#| 1
#| fold: unrecognized option '--nonsense'
#| 1
#| head: unrecognized option '--nonsense'
#| 1
#| id: unrecognized option '--nonsense'
#| 1
#| install: unrecognized option '--nonsense'
#| 1
#| join: unrecognized option '--nonsense'
#| 1
#| ln: unrecognized option '--nonsense'
#| 1
#| ls: unrecognized option '--nonsense'
#| 2
#| mkdir: unrecognized option '--nonsense'
#| 1
#| mktemp: unrecognized option '--nonsense'
#| 1
#| mv: unrecognized option '--nonsense'
#| 1
#| nl: unrecognized option '--nonsense'
#| 1
#| nproc: unrecognized option '--nonsense'
#| 1
#| od: unrecognized option '--nonsense'
#| 1
#| paste: unrecognized option '--nonsense'
#| 1
#| readlink: unrecognized option '--nonsense'
#| 1
#| realpath: unrecognized option '--nonsense'
#| 1
#| rm: unrecognized option '--nonsense'
#| 1
#| rmdir: unrecognized option '--nonsense'
#| 1

#### more of coreutils name an option that is not there
for c in seq sha1sum shuf sleep sort split stat tac tail tee touch tr truncate tsort uname unexpand uniq wc whoami yes; do "$c" --nonsense < /dev/null 2>&1 | sed -n 1p; echo "${PIPESTATUS[0]}"; done | sed "s/[‘’]/'/g"
#| seq: unrecognized option '--nonsense'
#| 1
#| sha1sum: unrecognized option '--nonsense'
#| 1
#| shuf: unrecognized option '--nonsense'
#| 1
#| sleep: unrecognized option '--nonsense'
#| 1
#| sort: unrecognized option '--nonsense'
#| 2
#| split: unrecognized option '--nonsense'
#| 1
#| stat: unrecognized option '--nonsense'
#| 1
#| tac: unrecognized option '--nonsense'
#| 1
#| tail: unrecognized option '--nonsense'
#| 1
#| tee: unrecognized option '--nonsense'
#| 1
#| touch: unrecognized option '--nonsense'
#| 1
#| tr: unrecognized option '--nonsense'
#| 1
#| truncate: unrecognized option '--nonsense'
#| 1
#| tsort: unrecognized option '--nonsense'
#| 1
#| uname: unrecognized option '--nonsense'
#| 1
#| unexpand: unrecognized option '--nonsense'
#| 1
#| uniq: unrecognized option '--nonsense'
#| 1
#| wc: unrecognized option '--nonsense'
#| 1
#| whoami: unrecognized option '--nonsense'
#| 1
#| yes: unrecognized option '--nonsense'
#| 1

#### a letter that is not there
for c in cat chmod comm cp cut expand fold head join ln ls mkdir mv nl paste rm rmdir seq shuf sort tac tail tee touch tr uniq wc; do "$c" -@ < /dev/null 2>&1 | sed -n 1p; echo "${PIPESTATUS[0]}"; done | sed "s/[‘’]/'/g"
#| cat: invalid option -- '@'
#| 1
#| chmod: invalid option -- '@'
#| 1
#| comm: invalid option -- '@'
#| 1
#| cp: invalid option -- '@'
#| 1
#| cut: invalid option -- '@'
#| 1
#| expand: invalid option -- '@'
#| 1
#| fold: invalid option -- '@'
#| 1
#| head: invalid option -- '@'
#| 1
#| join: invalid option -- '@'
#| 1
#| ln: invalid option -- '@'
#| 1
#| ls: invalid option -- '@'
#| 2
#| mkdir: invalid option -- '@'
#| 1
#| mv: invalid option -- '@'
#| 1
#| nl: invalid option -- '@'
#| 1
#| paste: invalid option -- '@'
#| 1
#| rm: invalid option -- '@'
#| 1
#| rmdir: invalid option -- '@'
#| 1
#| seq: invalid option -- '@'
#| 1
#| shuf: invalid option -- '@'
#| 1
#| sort: invalid option -- '@'
#| 2
#| tac: invalid option -- '@'
#| 1
#| tail: invalid option -- '@'
#| 1
#| tee: invalid option -- '@'
#| 1
#| touch: invalid option -- '@'
#| 1
#| tr: invalid option -- '@'
#| 1
#| uniq: invalid option -- '@'
#| 1
#| wc: invalid option -- '@'
#| 1

#### others
for c in grep find diff cmp; do "$c" --nonsense x y < /dev/null 2>&1 | sed -n 1p; echo "${PIPESTATUS[0]}"; done | sed "s/[‘’]/'/g"
#| grep: unrecognized option '--nonsense'
#| 2
#| find: unknown predicate `--nonsense'
#| 1
#| diff: unrecognized option '--nonsense'
#| 2
#| cmp: unrecognized option '--nonsense'
#| 2

#### a long option may be shortened unless it is ambiguous
seq 3 | head --line=1; seq 3 | wc --line; seq 3 | sort --rev; ls --si 2>&1 | wc -l; sort --c < /dev/null 2>&1 | sed "s/[‘’]/'/g" | head -1
#| 1
#| 3
#| 3
#| 2
#| 1
#| 0
#| sort: option '--c' is ambiguous; possibilities: '--check' '--compress-program'

#### an option that needs a value
for c in 'head -n' 'cut -f' 'sort -k' 'fold -w' 'split -l' 'head --lines' 'seq -s' 'shuf -n'; do $c < /dev/null 2>&1 | sed -n 1p; done | sed "s/[‘’]/'/g"
#| head: option requires an argument -- 'n'
#| cut: option requires an argument -- 'f'
#| sort: option requires an argument -- 'k'
#| fold: option requires an argument -- 'w'
#| split: option requires an argument -- 'l'
#| head: option '--lines' requires an argument
#| seq: option requires an argument -- 's'
#| shuf: option requires an argument -- 'n'

#### a value where there is none
for c in 'cat --number=3' 'sort --reverse=x' 'wc --lines=2' 'ls --all=1'; do $c < /dev/null 2>&1 | sed -n 1p; done | sed "s/[‘’]/'/g"
#| cat: option '--number' doesn't allow an argument
#| sort: option '--reverse' doesn't allow an argument
#| wc: option '--lines' doesn't allow an argument
#| ls: option '--all' doesn't allow an argument

#### missing files are named by all
for c in cat 'cut -f1' expand fold head nl od paste sort tail unexpand uniq wc 'sed p' 'awk 1' 'grep x' base64 md5sum; do $c missing 2>&1 < /dev/null; echo $?; done | sed "s/[‘’]/'/g"
#| cat: missing: No such file or directory
#| 1
#| cut: missing: No such file or directory
#| 1
#| expand: missing: No such file or directory
#| 1
#| fold: missing: No such file or directory
#| 1
#| head: cannot open 'missing' for reading: No such file or directory
#| 1
#| nl: missing: No such file or directory
#| 1
#| od: missing: No such file or directory
#| 1
#| paste: missing: No such file or directory
#| 1
#| sort: cannot read: missing: No such file or directory
#| 2
#| tail: cannot open 'missing' for reading: No such file or directory
#| 1
#| unexpand: missing: No such file or directory
#| 1
#| uniq: missing: No such file or directory
#| 1
#| wc: missing: No such file or directory
#| 1
#| sed: can't read missing: No such file or directory
#| 2
#| awk: fatal: cannot open file `missing' for reading: No such file or directory
#| 2
#| grep: missing: No such file or directory
#| 2
#| base64: missing: No such file or directory
#| 1
#| md5sum: missing: No such file or directory
#| 1

#### directories are refused by all
mkdir d; for c in cat 'cut -f1' expand fold head nl sort tail unexpand wc 'sed p' 'grep x' md5sum; do $c d 2>&1 < /dev/null; echo $?; done | sed "s/[‘’]/'/g"
#| cat: d: Is a directory
#| 1
#| cut: d: Is a directory
#| 1
#| expand: d: Is a directory
#| 1
#| fold: d: Is a directory
#| 1
#| head: error reading 'd': Is a directory
#| 1
#| nl: d: Is a directory
#| 1
#| sort: read failed: d: Is a directory
#| 2
#| tail: error reading 'd': Is a directory
#| 1
#| unexpand: d: Is a directory
#| 1
#| wc: d: Is a directory
#|       0       0       0 d
#| 1
#| sed: read error on d: Is a directory
#| 4
#| grep: d: Is a directory
#| 2
#| md5sum: d: Is a directory
#| 1

#### missing operands
for c in cp mv ln rm mkdir rmdir chmod basename dirname touch readlink realpath seq comm join tr cut expr; do $c 2>&1 < /dev/null | sed -n 1p; echo ${PIPESTATUS[0]}; done | sed "s/[‘’]/'/g"
#| cp: missing file operand
#| 1
#| mv: missing file operand
#| 1
#| ln: missing file operand
#| 1
#| rm: missing operand
#| 1
#| mkdir: missing operand
#| 1
#| rmdir: missing operand
#| 1
#| chmod: missing operand
#| 1
#| basename: missing operand
#| 1
#| dirname: missing operand
#| 1
#| touch: missing file operand
#| 1
#| readlink: missing operand
#| 1
#| realpath: missing operand
#| 1
#| seq: missing operand
#| 1
#| comm: missing operand
#| 1
#| join: missing operand
#| 1
#| tr: missing operand
#| 1
#| cut: you must specify a list of bytes, characters, or fields
#| 1
#| expr: missing operand
#| 2

#### too many operands
for c in 'comm a b c' 'join a b c' 'tr a b c' 'uniq a b c' 'tac -s' 'seq 1 2 3 4' 'sleep' 'whoami a' 'split a b c' 'mktemp a b'; do $c 2>&1 < /dev/null | sed -n 1p; done | sed "s/[‘’]/'/g"
#| comm: extra operand 'c'
#| join: extra operand 'c'
#| tr: extra operand 'c'
#| uniq: extra operand 'c'
#| tac: option requires an argument -- 's'
#| seq: extra operand '4'
#| sleep: missing operand
#| whoami: extra operand 'a'
#| split: extra operand 'c'
#| mktemp: too many templates

#### bad numbers
for c in 'head -n x' 'tail -n x' 'tail -c x' 'head -c 1y' 'cut -c 0' 'cut -f x' 'cut -c 3-1' 'fold -w 0' 'fold -w x' 'nl -w 0' 'seq x' 'seq 1 0 3' 'shuf -n x' 'shuf -i 3-1' 'sort -k 0' 'sort -k x' 'uniq -f x' 'expand -t x' 'od -N x' 'fmt -w x' 'join -1 x a b' 'split -l x' 'tac -s' 'wc -q' 'touch -t 9 f' 'touch -d nonsense f' 'chmod 9 f' 'mkdir -m zz d' 'stat -c'; do $c 2>&1 < /dev/null | sed -n 1p; echo ${PIPESTATUS[0]}; done | sed "s/[‘’]/'/g"
#| head: invalid number of lines: 'x'
#| 1
#| tail: invalid number of lines: 'x'
#| 1
#| tail: invalid number of bytes: 'x'
#| 1
#| head: invalid number of bytes: '1y'
#| 1
#| cut: byte/character positions are numbered from 1
#| 1
#| cut: invalid field value 'x'
#| 1
#| cut: invalid decreasing range
#| 1
#| fold: invalid number of columns: '0': Numerical result out of range
#| 1
#| fold: invalid number of columns: 'x'
#| 1
#| nl: invalid line number field width: '0': Numerical result out of range
#| 1
#| seq: invalid floating point argument: 'x'
#| 1
#| seq: invalid Zero increment value: '0'
#| 1
#| shuf: invalid line count: 'x'
#| 1
#| shuf: invalid input range: '3-1'
#| 1
#| sort: field number is zero: invalid field specification '0'
#| 2
#| sort: invalid number at field start: invalid count at start of 'x'
#| 2
#| uniq: x: invalid number of fields to skip
#| 1
#| expand: tab size contains invalid character(s): 'x'
#| 1
#| od: invalid -N argument 'x'
#| 1
#| fmt: invalid width: 'x'
#| 1
#| join: invalid field number: 'x'
#| 1
#| split: invalid number of lines: 'x'
#| 1
#| tac: option requires an argument -- 's'
#| 1
#| wc: invalid option -- 'q'
#| 1
#| touch: invalid date format '9'
#| 1
#| touch: invalid date format 'nonsense'
#| 1
#| chmod: invalid mode: '9'
#| 1
#| mkdir: invalid mode 'zz'
#| 1
#| stat: option requires an argument -- 'c'
#| 1
