# shellcheck shell=sh
# . skills/csv/table.sh: for plain files with commas and without quoted fields.
csv_columns() {
  head -n 1 -- "$1" | tr ',' '\n'
}
# csv_count FILE COLUMN: how often each value of a column occurs, the most frequent first.
csv_count() {
  awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
    at { seen[$at]++ } END { for (value in seen) print seen[value] "\t" value }' "$1" | sort -k1,1nr -k2
}
