/** Where a lock is released, after a confirmation: exactly the lock with this id. */
export const releaseAddress = (
  workspace: string,
  { path, id }: { readonly path: string; readonly id: string },
): string => `/workspaces/${workspace}/locks/release?${new URLSearchParams({ path, lock: id })}`;
