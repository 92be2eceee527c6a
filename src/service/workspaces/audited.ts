import { shownRemote } from '../git/remote.ts';
import { type Actor, recordAudit } from '../operation/audit.ts';
import type { Database, Now } from '../storage/storage.ts';
import { addWorkspace, findWorkspace, type Removal, removeWorkspace, type StoredWorkspace } from './workspaces.ts';

const detailOf = ({ id, remote }: StoredWorkspace) => ({ workspace: id, remote: shownRemote(remote) });

/** False: there is one with this id already. */
export async function addWorkspaceBy(
  db: Database,
  now: Now,
  actor: Actor,
  workspace: StoredWorkspace,
): Promise<boolean> {
  const fresh = await addWorkspace(db, now, workspace);
  if (fresh) await recordAudit(db, now, { actor, action: 'workspace.added', detail: detailOf(workspace) });
  return fresh;
}

export async function removeWorkspaceBy(db: Database, now: Now, actor: Actor, id: string): Promise<Removal> {
  const workspace = await findWorkspace(db, id);
  const removal = await removeWorkspace(db, now, id);
  if (workspace !== undefined && removal.kind === 'removed') {
    await recordAudit(db, now, { actor, action: 'workspace.removed', detail: detailOf(workspace) });
  }
  return removal;
}
