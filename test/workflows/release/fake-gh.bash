#!/usr/bin/env bash
# Stands for GitHub's command line and for the releases behind it, as far as a release needs them: a draft can be changed,
# what is published is immutable, and there is no release without its tag. A release is a folder of $FAKE_GH with a file
# for each field and one for each asset. It is in bash because a test starts it many times.
set -euo pipefail

refuse() {
  echo "$1" >&2
  exit 1
}

[[ -n ${GH_TOKEN:-} ]] || refuse 'gh: To use GitHub CLI in a GitHub Actions workflow, set the GH_TOKEN environment variable.'
if [[ -s $FAKE_GH/fails-once && "$*" == *"$(<"$FAKE_GH/fails-once")"* ]]; then
  rm "$FAKE_GH/fails-once"
  refuse 'HTTP 503: Service Unavailable'
fi
[[ $1 == release ]] || refuse "unknown command \"$1\" for \"gh\""
command=$2
shift 2

names=() set=() dir=. field= verify=
while (($# > 0)); do
  case $1 in
    --draft | --prerelease | --latest) set+=("${1#--} true") ;;
    --draft=* | --prerelease=* | --latest=*) set+=("$(tr = ' ' <<<"${1#--}")") ;;
    --notes-file) cp "$2" "$FAKE_GH/new-notes" && shift ;;
    --title) shift ;;
    --json) field=$2 && shift ;;
    --jq) [[ $2 == ".$field" ]] || refuse "no such query: $2" && shift ;;
    --dir) dir=$2 && shift ;;
    --verify-tag) verify=yes ;;
    --clobber) ;;
    --*) refuse "unknown flag: $1" ;;
    *) names+=("$1") ;;
  esac
  shift
done

mkdir -p "$FAKE_GH/releases"
tag=${names[0]:-$(cat "$FAKE_GH/latest" 2>/dev/null || true)}
release=$FAKE_GH/releases/$tag

if [[ -n $verify && -z $(git ls-remote --tags origin "refs/tags/$tag") ]]; then
  refuse "tag $tag doesn't exist in the repo, aborting due to --verify-tag flag"
fi
if [[ $command == create ]]; then
  [[ ! -e $release ]] || refuse 'HTTP 422: Validation Failed. Release.tag_name already exists'
  mkdir -p "$release/assets"
  echo false | tee "$release/draft" "$release/prerelease" "$release/immutable" >/dev/null
elif [[ -z $tag || ! -e $release ]]; then
  refuse 'release not found'
fi

change() {
  [[ $(<"$release/immutable") == false ]] || refuse 'HTTP 422: Cannot change an immutable release.'
}

case $command in
  create | edit)
    change
    if [[ -e $FAKE_GH/new-notes ]]; then mv "$FAKE_GH/new-notes" "$release/notes"; fi
    for pair in "${set[@]}"; do
      read -r name value <<<"$pair"
      if [[ $name != latest ]]; then echo "$value" >"$release/$name"; fi
      if [[ "$name $value" == 'latest true' ]]; then echo "$tag" >"$FAKE_GH/latest"; fi
    done
    if [[ $(<"$release/draft") == false ]]; then cp "$FAKE_GH/immutable-releases" "$release/immutable"; fi
    ;;
  upload)
    change
    cp "${names[@]:1}" "$release/assets"
    ;;
  download)
    mkdir -p "$dir"
    cp "$release"/assets/* "$dir"
    ;;
  view)
    case $field in
      isDraft) cat "$release/draft" ;;
      isImmutable) cat "$release/immutable" ;;
      tagName) echo "$tag" ;;
      *) refuse "Unknown JSON field: \"$field\"" ;;
    esac
    ;;
  *) refuse "unknown command \"$command\" for \"gh release\"" ;;
esac
