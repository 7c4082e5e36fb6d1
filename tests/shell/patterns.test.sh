#### case abc in a*c) echo y;; esac
case abc in a*c) echo y;; esac
#| y

#### case x in [[:alpha:]]) echo y;; esac
case x in [[:alpha:]]) echo y;; esac
#| y

#### case "*" in "*") echo q;; esac
case "*" in "*") echo q;; esac
#| q

#### [[ abc == a?c ]] && echo y
[[ abc == a?c ]] && echo y
#| y

#### [[ "a*" == "a*" ]] && echo y
[[ "a*" == "a*" ]] && echo y
#| y

#### p="a*"; [[ abc == $p ]] && echo y; [[ abc == "$p" ]] || echo
p="a*"; [[ abc == $p ]] && echo y; [[ abc == "$p" ]] || echo n
#| y
#| n

#### shopt -s extglob; [[ aab == +(a)b ]] && echo y; [[ x == !(y)
shopt -s extglob; [[ aab == +(a)b ]] && echo y; [[ x == !(y) ]] && echo z; [[ "" == *(q) ]] && echo e; [[ ab == @(ab|c) ]] && echo o; [[ a == ?(a) ]] && echo m
#| y
#| z
#| e
#| o
#| m

#### case foo in bar|foo) echo y;; *) echo n;; esac
case foo in bar|foo) echo y;; *) echo n;; esac
#| y

#### case a in a) echo 1;;& [a-z]) echo 2;; *) echo 3;; esac
case a in a) echo 1;;& [a-z]) echo 2;; *) echo 3;; esac
#| 1
#| 2

#### case a in a) echo 1;& b) echo 2;; esac
case a in a) echo 1;& b) echo 2;; esac
#| 1
#| 2

#### shopt -s nocasematch; [[ ABC == abc ]] && echo y
shopt -s nocasematch; [[ ABC == abc ]] && echo y
#| y

#### with extglob !( in a condition is a pattern
e= s=x; [[ !($e) ]] && echo 1; [[ !($s) ]] || echo 2
shopt -s extglob
[[ !($e) ]] && echo 3; [[ !($s) ]] && echo 4; [[ ! ( $s ) ]] || echo 5
#| 1
#| 2
#| 3
#| 4
#| 5
