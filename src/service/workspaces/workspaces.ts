import { type Selectable, sql } from 'kysely';
import type { BranchName } from '../../interface/branch-name.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import type { Workspace } from '../contract/schemas.ts';
import { redactRemote } from '../git/remote.ts';
import { batchQuery, inInputOrder, inputIndex, textOf } from '../storage/batch-query.ts';
import { rememberReads } from '../storage/coalesce-reads.ts';
import type { Database, Storage } from '../storage/storage.ts';
import { removedRemote, type Tables } from '../storage/tables.ts';
import { asTimestamp, now } from '../storage/timestamp.ts';
import { newWebhookSecret, type WebhookSecret } from '../webhooks/signature.ts';

/** Includes workspaces that are being removed, which requests no longer find. */
export async function allWorkspaces(db: Database) {
  const rows = await db.selectFrom('workspaces').selectAll().orderBy('id').execute();
  return rows.map((row) => ({
    id: row.id,
    remote: redactRemote(row.remote),
    created_at: asTimestamp(row.created_at),
    settings: Object.fromEntries(settingNames.map((name) => [name, row[name]])),
    isClosed: row.remote === removedRemote,
  }));
}

export async function listWorkspaces(db: Database): Promise<readonly Workspace[]> {
  return (await allWorkspaces(db)).flatMap(({ isClosed, settings, ...workspace }) => (isClosed ? [] : [workspace]));
}

type Row = Readonly<Selectable<Tables['workspaces']>>;

/** `remote` includes the credentials, so it must not be displayed. */
export type StoredWorkspace = Pick<Row, 'id' | 'remote'>;

export type WorkspaceSettings = Pick<Row, (typeof settingNames)[number]>;

export type FoundWorkspace = StoredWorkspace & Pick<Row, 'default_branch' | 'created_at'> & WorkspaceSettings;

const settingNames = ['desk_ttl', 'lfs_url', 'lfs_mode', 'latest', 'latest_branches'] as const;

const selectWorkspaces = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('workspaces', (join) => join.on('workspaces.id', '=', textOf('id')))
    .where('remote', '!=', removedRemote)
    .select([inputIndex.as('index'), 'workspaces.id', 'remote', 'default_branch', 'created_at', ...settingNames]),
);

export const workspaceWithId = rememberReads(async (db, ids) => {
  const asked = ids.map((id) => ({ id }));
  return inInputOrder(ids, await selectWorkspaces(db, asked));
});

type NewWorkspace = StoredWorkspace & Partial<WorkspaceSettings>;

/** False if a workspace with this id already exists. */
export async function addWorkspace(db: Database, actor: Actor, workspace: NewWorkspace): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await db
    .insertInto('workspaces')
    .values({ ...workspace, created_at: now })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) return false;
  await recordAudit(db, { actor, action: 'workspace.added', detail: detailOf(workspace) });
  return true;
}

/** False if the workspace does not exist. Settings that are not given stay unchanged. */
export async function updateWorkspace(
  db: Database,
  actor: Actor,
  { id, ...settings }: Pick<StoredWorkspace, 'id'> & Partial<StoredWorkspace & WorkspaceSettings>,
): Promise<boolean> {
  if ((await findWorkspace(db, id)) === undefined) return false;
  await db.updateTable('workspaces').set(settings).where('id', '=', id).execute();
  const { remote } = settings;
  const detail = { workspace: id, ...settings, ...(remote !== undefined && { remote: redactRemote(remote) }) };
  await recordAudit(db, { actor, action: 'workspace.updated', detail });
  return true;
}

/** Records the branch that clones of the mirror check out, unless the remote of the workspace has changed. */
export async function noteDefaultBranch(
  { read, commit }: Pick<Storage, 'read' | 'commit'>,
  { id, remote }: StoredWorkspace,
  branch: BranchName,
): Promise<void> {
  const workspace = await findWorkspace(read, id);
  if (workspace?.remote !== remote || workspace.default_branch === branch) return;
  await commit({ workspace: id }, (db) =>
    db
      .updateTable('workspaces')
      .set({ default_branch: branch })
      .where((where) => where.and({ id, remote }))
      .execute(),
  );
}

/**
 * Starts to remove a workspace, unless it has active locks, because their holders rely on them. Succeeds if the
 * removal was already started.
 */
export async function closeWorkspace(db: Database, actor: Actor, id: string) {
  const ofWorkspace = db.selectFrom('workspaces').select(['id', 'remote']).where('id', '=', id);
  const workspace = await ofWorkspace.executeTakeFirst();
  if (workspace === undefined) return { kind: 'unknown' } as const;
  if (workspace.remote === removedRemote) return { kind: 'closed' } as const;
  const locks = await countActiveLocks(db, id);
  if (locks > 0) return { kind: 'locked', locks } as const;
  await db.updateTable('workspaces').set({ remote: removedRemote }).where('id', '=', id).execute();
  await recordAudit(db, { actor, action: 'workspace.removed', detail: detailOf(workspace) });
  return { kind: 'closed' } as const;
}

export async function findWorkspace(db: Database, id: string): Promise<FoundWorkspace | undefined> {
  const [found] = await selectWorkspaces(db, [{ id }]);
  if (found === undefined) return undefined;
  const { index: _, ...workspace } = found;
  return workspace;
}

export async function countActiveLocks(db: Database, workspace?: string): Promise<number> {
  const { count } = await db
    .selectFrom('locks')
    .select((select) => select.fn.countAll<number>().as('count'))
    .$if(workspace !== undefined, (locks) => locks.where('workspace_id', '=', workspace ?? ''))
    .where(sql<boolean>`expires_at > ${now}`)
    .executeTakeFirstOrThrow();
  return Number(count);
}

const detailOf = ({ id, remote }: StoredWorkspace) => ({ workspace: id, remote: redactRemote(remote) });

/** The secret that signs the push events of a workspace. Undefined if it has none, or does not exist. */
export async function findPushSecret(db: Database, id: string): Promise<WebhookSecret | undefined> {
  const workspaces = db.selectFrom('workspaces').select('push_secret').where('id', '=', id);
  const row = await workspaces.where('remote', '!=', removedRemote).executeTakeFirst();
  // Only this file writes the column.
  return (row?.push_secret ?? undefined) as WebhookSecret | undefined;
}

/** The secret of an existing workspace. Created at first use, and replaced with `rotate`. */
export async function pushSecret(db: Database, actor: Actor, id: string, rotate: boolean) {
  const current = await findPushSecret(db, id);
  if (current !== undefined && !rotate) return current;
  const secret = newWebhookSecret();
  await db.updateTable('workspaces').set({ push_secret: secret }).where('id', '=', id).execute();
  await recordAudit(db, { actor, action: 'push-secret.created', detail: { workspace: id } });
  return secret;
}
