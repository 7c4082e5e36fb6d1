# shellcheck shell=sh
# . skills/textkit/textkit.sh
find_text() {
  grep -rn -- "$1" "${2:-.}" | head -n 200
}
# around FILE LINE [COUNT]
around() {
  awk -v at="$2" -v count="${3:-5}" 'NR >= at - count && NR <= at + count { print NR ": " $0 }' "$1"
}
# replace_once OLD NEW FILE: texts without line breaks.
replace_once() {
  found=$(grep -cF -- "$1" "$3") || true
  if [ "$found" != 1 ]; then
    echo "$3: found on $found lines, must be found on one" >&2
    return 1
  fi
  OLD=$1 NEW=$2 awk '{ at = index($0, ENVIRON["OLD"])
    if (at) $0 = substr($0, 1, at - 1) ENVIRON["NEW"] substr($0, at + length(ENVIRON["OLD"])); print }' "$3" >"$3.new" &&
    mv "$3.new" "$3"
}
