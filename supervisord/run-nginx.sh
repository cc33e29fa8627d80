#!/bin/sh
# Runs nginx in the foreground for the state directory's nginx folder $1, with the binary $2.
#
# A master that was killed leaves workers that hold the port and go on serving. They are asked to finish what they have
# (SIGQUIT closes their listening sockets at once), so the new master can take over. They are known by name and by working
# folder: nothing else runs nginx in there.
set -u
dir=$1
nginx=$2
cd "$dir" || exit 1

leftovers() {
  for process in /proc/[0-9]*; do
    name=
    read -r name <"$process/comm" 2>/dev/null || continue
    [ "$name" = nginx ] && [ "$(readlink "$process/cwd" 2>/dev/null)" = "$dir" ] && echo "${process#/proc/}"
  done
}

for pid in $(leftovers); do
  echo "run-nginx: process $pid is left over from a killed master; it finishes its requests and ends" >&2
  kill -QUIT "$pid" 2>/dev/null
done
rm -f "$dir/control.sock"
exec "$nginx" -e stderr -c "$dir/nginx.conf"
