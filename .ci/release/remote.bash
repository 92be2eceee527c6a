# Talks to the remote as the job: its token is in no file and in no argument.

remote() {
  git -c credential.helper= -c credential.helper='!gh auth git-credential' "$@"
}

# The tags of the remote with the commits they point to, one a line: COMMIT TAG.
remote_tags() {
  remote ls-remote --tags origin | awk '
    { sub("refs/tags/", "", $2) }
    # An annotated tag is an object of its own; the line with ^{} has the commit.
    sub(/\^\{\}$/, "", $2) || !($2 in commit) { commit[$2] = $1 }
    END { for (tag in commit) print commit[tag], tag }
  '
}

commit_of_remote_tag() {
  remote_tags | awk -v tag="$1" '$2 == tag { print $1 }'
}
