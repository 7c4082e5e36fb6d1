#### set -- -a -b v x; while getopts ab: o; do echo $o $OPTARG; d
set -- -a -b v x; while getopts ab: o; do echo $o $OPTARG; done; shift $((OPTIND-1)); echo $1
#| a
#| b v
#| x

#### set -- -x; while getopts a o; do echo "$o"; done 2>/dev/null
set -- -x; while getopts a o; do echo "$o"; done 2>/dev/null
#| ?

#### set -- -x; while getopts :a o; do echo "$o $OPTARG"; done
set -- -x; while getopts :a o; do echo "$o $OPTARG"; done
#| ? x

#### set -- -b; while getopts :b: o; do echo "$o $OPTARG"; done
set -- -b; while getopts :b: o; do echo "$o $OPTARG"; done
#| : b

#### set -- -abc; while getopts abc o; do echo -n $o; done; echo
set -- -abc; while getopts abc o; do echo -n $o; done; echo
#| abc

#### set -- a -b; getopts b o; echo $? $OPTIND
set -- a -b; getopts b o; echo $? $OPTIND
#| 1 1
