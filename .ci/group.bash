# Runs a command in a process group of its own, so that it can be ended together with all that it started.

group=

run_in_group() {
  local status=0
  set -m
  "$@" </dev/null &
  group=$!
  set +m
  wait "$group" || status=$?
  kill_group
  return "$status"
}

# Passes the signal on and lets the command end in its own way.
end_group() {
  if [[ -z $group ]]; then return; fi
  kill "-$1" -- "-$group" 2>/dev/null || true
  wait "$group" 2>/dev/null || true
  kill_group
}

# Ends what the command has left behind.
kill_group() {
  kill -KILL -- "-$group" 2>/dev/null || true
  group=
}

trap 'end_group INT; exit 130' INT
trap 'end_group TERM; exit 143' TERM
