# shellcheck shell=sh
# . skills/web/http.sh; fetch URL: the body on standard output, the status as exit status 22 for 400 and above.
fetch() {
  curl --silent --show-error --fail --location --max-time 20 --max-filesize 5242880 -- "$1"
}
