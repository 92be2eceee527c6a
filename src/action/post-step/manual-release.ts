import { asOneSegment } from '../../interface/lock-path.ts';
import { shellQuoted } from '../../interface/shell-word.ts';
import type { Grant } from '../../locks/ledger/entry.ts';

/** A command that releases the lock without this action, with a placeholder for the token. */
export function manualReleaseCommand({ service, workspace, path, lock }: Grant): string {
  const tag = lock.etag ?? (lock.id === undefined ? undefined : `"${lock.id}"`);
  const condition = tag === undefined ? '' : ` -H ${shellQuoted(`If-Match: ${tag}`)}`;
  const url = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${asOneSegment(path)}`;
  return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${shellQuoted(url)}`;
}
