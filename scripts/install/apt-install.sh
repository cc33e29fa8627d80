#!/bin/sh
# Installs the Debian packages named as arguments, as root. No service of theirs is started, and none that comes new is left
# enabled: pagefleet runs its own nginx, NATS and supervisord on its own ports and state.
set -eu
[ "$#" -gt 0 ] || { echo "usage: apt-install.sh PACKAGE..." >&2; exit 2; }
export DEBIAN_FRONTEND=noninteractive

# Debian asks this file before it starts a service; 101 means no. What was there before comes back, whatever happens.
policy=/usr/sbin/policy-rc.d
saved=$policy.before-pagefleet
restore() {
  rm -f "$policy"
  if [ -e "$saved" ]; then mv "$saved" "$policy"; fi
}
trap restore EXIT
trap 'exit 130' HUP INT TERM
if [ -e "$policy" ] && [ ! -e "$saved" ]; then mv "$policy" "$saved"; fi
printf '#!/bin/sh\nexit 101\n' >"$policy"
chmod 755 "$policy"

services() { ls /etc/init.d /lib/systemd/system 2>/dev/null | sed -n 's/\.service$//p; /\.\|:\|^$\|@/!p' | sort -u; }
before=" $(services | tr '\n' ' ') "

apt-get update -q -o DPkg::Lock::Timeout=600
apt-get install -q -y --no-install-recommends -o DPkg::Lock::Timeout=600 "$@"

for name in $(services); do
  case "$before" in *" $name "*) continue ;; esac
  if command -v systemctl >/dev/null 2>&1; then systemctl disable --quiet "$name" >/dev/null 2>&1 || true; fi
  if [ -e "/etc/init.d/$name" ] && command -v update-rc.d >/dev/null 2>&1; then
    update-rc.d "$name" disable >/dev/null 2>&1 || true
  fi
done
