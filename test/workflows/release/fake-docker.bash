#!/usr/bin/env bash
# Stands for Docker and the registry behind it, as far as a release needs them: what is pushed has a digest, tags are given to
# digests that are there, and nothing works without signing in. Images and tags are files of $FAKE_DOCKER.
set -euo pipefail

refuse() {
  echo "ERROR: $1" >&2
  exit 1
}

mkdir -p "$FAKE_DOCKER/digests" "$FAKE_DOCKER/tags"
command="$1 ${2:-} ${3:-}"
case $command in
  login\ *) [[ -n $(cat) ]] && touch "$FAKE_DOCKER/signed-in" && exit ;;
esac
[[ -e $FAKE_DOCKER/signed-in ]] || refuse 'failed to authorize: 401 Unauthorized'

case $command in
  'buildx create --use') touch "$FAKE_DOCKER/builder" ;;
  buildx\ build\ *)
    if [[ $5 == .ci/release/executable.Dockerfile ]]; then
      digest=${9#*@}
      [[ $9 == IMAGE=* && -e $FAKE_DOCKER/digests/$digest ]] || refuse "$9: not found"
      printf 'The executable of %s' "$digest" >"${12##*dest=}/workspace-service-linux-x64"
      exit
    fi
    [[ -e $FAKE_DOCKER/builder ]] || refuse 'Multi-platform build is not supported for the docker driver.'
    digest=sha256:$(git rev-parse HEAD)$RANDOM
    echo "$*" >"$FAKE_DOCKER/digests/$digest"
    while [[ $1 != --metadata-file ]]; do shift; done
    printf '{"containerimage.digest":"%s"}' "$digest" >"$2"
    ;;
  'buildx imagetools inspect')
    cat "$FAKE_DOCKER/tags/${4//\//_}" 2>/dev/null || refuse "$4: not found"
    ;;
  'buildx imagetools create')
    [[ $4 == --tag && -e $FAKE_DOCKER/digests/${6#*@} ]] || refuse "$6: not found"
    printf '%s' "${6#*@}" >"$FAKE_DOCKER/tags/${5//\//_}"
    ;;
  create\ *)
    [[ -e $FAKE_DOCKER/digests/${2#*@} ]] || refuse "$2: not found"
    echo "${2#*@}"
    ;;
  'cp --quiet '*:/usr/local/bin/workspace-service) printf 'The command in %s' "${3%:/usr*}" >"$4" ;;
  *) refuse "unknown command: docker $*" ;;
esac
