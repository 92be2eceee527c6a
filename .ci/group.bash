# Runs a command in its own process group, so that it can be ended together with all processes that it started.

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

# Forwards the signal, and waits for the command to end.
end_group() {
  if [[ -z $group ]]; then return; fi
  kill "-$1" -- "-$group" 2>/dev/null || true
  wait "$group" 2>/dev/null || true
  kill_group
}

# Kills the remaining processes of the command.
kill_group() {
  kill -KILL -- "-$group" 2>/dev/null || true
  group=
}

trap 'end_group INT; exit 130' INT
trap 'end_group TERM; exit 143' TERM
