# Makes buildah keep all its data in $folder, and work without an image registry.

export HOME=$folder/home TMPDIR=$folder/tmp XDG_RUNTIME_DIR=$folder/run BUILDAH_ISOLATION=chroot
mkdir -p "$HOME" "$TMPDIR" "$XDG_RUNTIME_DIR"

buildah() {
  command buildah --root "$folder/storage" --runroot "$folder/run/storage" "$@"
}

# The fallback vfs copies layers, which is slower but works on all file systems.
export STORAGE_DRIVER=overlay
if ! buildah info >/dev/null 2>&1; then
  rm -rf "$folder/storage"
  STORAGE_DRIVER=vfs
fi
