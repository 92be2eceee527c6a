# buildah that keeps everything in $folder, and asks no registry of images.

export HOME=$folder/home TMPDIR=$folder/tmp XDG_RUNTIME_DIR=$folder/run BUILDAH_ISOLATION=chroot
mkdir -p "$HOME" "$TMPDIR" "$XDG_RUNTIME_DIR"

buildah() {
  command buildah --root "$folder/storage" --runroot "$folder/run/storage" "$@"
}

# Copies of layers are slower, and possible on every file system.
export STORAGE_DRIVER=overlay
if ! buildah info >/dev/null 2>&1; then
  rm -rf "$folder/storage"
  STORAGE_DRIVER=vfs
fi
