# Versions of releases: https://semver.org without build metadata, which tags do not need.

number='(0|[1-9][0-9]*)'
identifier='(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
version_tag="^v$number\.$number\.$number(-$identifier(\.$identifier)*)?\$"

is_version_tag() { [[ $1 =~ $version_tag ]]; }

is_prerelease() { [[ $1 == *-* ]]; }

# Succeeds if the first of two tags has the higher version. Neither may be a prerelease.
is_newer() {
  local one other index
  IFS=. read -r -a one <<<"${1#v}"
  IFS=. read -r -a other <<<"${2#v}"
  for index in 0 1 2; do
    if ((one[index] != other[index])); then
      ((one[index] > other[index]))
      return
    fi
  done
  return 1
}
