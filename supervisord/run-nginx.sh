#!/bin/sh
# Runs nginx in the foreground for the state directory's nginx folder $1, with the binary $2.
#
# A master that was killed leaves workers that hold the port and go on serving. The new master listens beside them
# (reuseport); once it does, they are asked to finish what they have and leave. They are known by name and by working
# folder: nothing else runs nginx in there.
set -u
dir=$1
nginx=$2
cd "$dir" || exit 1

leftovers() {
  for process in /proc/[0-9]*; do
    name=
    # The redirection that fails is the file's, so the one that hides its failure stands first: most processes end soon.
    read -r name 2>/dev/null <"$process/comm" || continue
    [ "$name" = nginx ] && [ "$(readlink "$process/cwd" 2>/dev/null)" = "$dir" ] && echo "${process#/proc/}"
  done
}

# nginx takes this shell's place and so its pid, and writes it down when it listens.
listens() {
  pid=
  read -r pid 2>/dev/null <"$dir/nginx.pid"
  [ "$pid" = $$ ]
}

old=$(leftovers | tr '\n' ' ')
if [ -n "$old" ]; then
  echo "run-nginx: left over from a killed master, will finish and end: $old" >&2
  (
    tries=0
    until listens || [ $tries -ge 100 ]; do
      sleep 0.05
      tries=$((tries + 1))
    done
    # shellcheck disable=SC2086
    if listens; then kill -QUIT $old 2>/dev/null; fi
  ) &
fi
rm -f "$dir/control.sock"
exec "$nginx" -e stderr -c "$dir/nginx.conf"
