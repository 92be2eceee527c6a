import { asOneSegment } from '../../interface/lock-path.ts';
import { addressIn, type Grant } from '../ledger/entry.ts';

/** As one word of a shell, whatever is in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** What releases the lock without this action. The token is not shown: whoever does it has one. */
export function byHand(grant: Grant): string {
  const { service, lock } = grant;
  const { workspace, path } = addressIn(grant);
  const tag = lock.etag ?? (lock.id === undefined ? undefined : `"${lock.id}"`);
  const condition = tag === undefined ? '' : ` -H ${quoted(`If-Match: ${tag}`)}`;
  const address = `${service}/workspaces/${encodeURIComponent(workspace)}/locks/${asOneSegment(path)}`;
  return `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>'${condition} ${quoted(address)}`;
}
