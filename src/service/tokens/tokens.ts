import type { Selectable } from 'kysely';
import { type Duration, milliseconds } from '../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import { isScope, type Scope } from '../contract/scopes.ts';
import { batchQuery, inInputOrder, inputIndex, textOf } from '../storage/batch-query.ts';
import { rememberReads } from '../storage/coalesce-reads.ts';
import type { Database, Storage } from '../storage/storage.ts';
import type { Tables } from '../storage/tables.ts';
import { asTimestamp, asTimestampOrNull, now, timeOf } from '../storage/timestamp.ts';
import { newTokenId, newTokenSecret, secretHash } from './secret.ts';

/** The token of an authenticated request, with its permissions. */
export interface Bearer {
  readonly id: string;
  readonly name: string;
  /** Owner of its locks. Case-sensitive. */
  readonly owner: string;
  readonly scopes: readonly Scope[];
  /** Null for all. */
  readonly workspaces: readonly string[] | null;
  /** Set if a job got the token in exchange for its identity token: see trust/proven-run.ts. */
  readonly run?: {
    /** The run URL, if the identity token proves it. */
    readonly origin: string | null;
    /** The id of this token. `id` is the id of the run. */
    readonly tokenId: string;
  };
}

export type Token = ReturnType<typeof toToken>;
export type TokenState = Token['state'];

export interface NewToken {
  readonly name: string;
  /** Default: the name. */
  readonly owner?: string | undefined;
  readonly scopes: readonly Scope[];
  readonly workspaces: readonly string[] | null;
  readonly lifetime: Duration | null;
}

/** Creates a token, and returns the only copy of its secret: the database has just its hash. */
export async function createToken(
  db: Database,
  actor: Actor,
  { name, owner = name, scopes, workspaces, lifetime }: NewToken,
): Promise<{ readonly token: Token; readonly secret: string }> {
  const secret = newTokenSecret();
  const at = await timeOf(db);
  const row = await db
    .insertInto('tokens')
    .values({
      id: newTokenId(),
      name,
      owner,
      hash: secretHash(secret),
      scopes: JSON.stringify(scopes),
      workspaces: workspaces && JSON.stringify(workspaces),
      created_at: at,
      expires_at: lifetime && at + milliseconds(lifetime),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const token = toToken({ ...row, now: at });
  const detail = { token: token.id, name, owner, scopes, workspaces, expires_at: token.expires_at };
  await recordAudit(db, { actor, action: 'token.created', detail });
  return { token, secret };
}

export async function listTokens({ read }: Storage): Promise<Token[]> {
  return (await withNow(read).orderBy('created_at').orderBy('id').execute()).map(toToken);
}

export async function findToken(db: Database, id: string): Promise<Token | undefined> {
  const row = await withNow(db).where('id', '=', id).executeTakeFirst();
  return row && toToken(row);
}

export const tokensOfOwner = async (db: Database, owner: string): Promise<Token[]> =>
  (await withNow(db).where('owner', '=', owner).execute()).map(toToken);

/** Supports exchanged tokens, too. False once the row was removed, which happens only after the token has expired. */
export async function isRevoked(db: Database, { id, run }: Bearer): Promise<boolean> {
  const token = db.selectFrom('tokens').where('id', '=', run?.tokenId ?? id);
  return (await token.where('revoked_at', 'is not', null).select('id').executeTakeFirst()) !== undefined;
}

/** Adds no audit entry if the token was already revoked. */
export async function revokeToken(db: Database, actor: Actor, id: string) {
  const row = await db.selectFrom('tokens').select(['name', 'revoked_at']).where('id', '=', id).executeTakeFirst();
  if (row === undefined) return 'unknown';
  if (row.revoked_at !== null) return 'already-revoked';
  await db.updateTable('tokens').set({ revoked_at: now }).where('id', '=', id).execute();
  await recordAudit(db, { actor, action: 'token.revoked', detail: { token: id, name: row.name } });
  return 'revoked';
}

const selectTokens = batchQuery((db, members) =>
  db
    .selectFrom(members)
    .innerJoin('tokens', (join) => join.on('tokens.hash', '=', textOf('hash')))
    .selectAll('tokens')
    .select([inputIndex.as('index'), now.as('now')]),
);

const tokenOfHash = rememberReads(async (db, hashes) => {
  const members = hashes.map((hash) => ({ hash }));
  const rows = await selectTokens(db, members);
  const readAt = Date.now();
  return inInputOrder(hashes, rows).map((row) => row && { row, bearer: bearerOf(row), readAt });
});

/** Checked on every request, so that expiry and revocation take effect at once. */
export async function authenticate(storage: Storage, secret: string): Promise<Parsed<Bearer>> {
  const known = await tokenOfHash(storage, secretHash(secret));
  if (known === undefined) return refused('Unknown API token.');
  const { row, bearer, readAt } = known;
  // The current time of the database: its time at the read, plus the time since. Rows are remembered for SQLite only,
  // whose clock is that of this machine.
  return checkToken(row, row.now + Date.now() - readAt, bearer);
}

export const maySee = (bearer: Bearer, workspace: string): boolean =>
  bearer.workspaces === null || bearer.workspaces.includes(workspace);

type Row = Selectable<Tables['tokens']>;

export function checkToken(row: Row, at: number, bearer = bearerOf(row)): Parsed<Bearer> {
  switch (stateOf(row, at)) {
    case 'active':
      return accepted(bearer);
    case 'expired':
      return refused(`The API token "${row.name}" has expired.`);
    case 'revoked':
      return refused(`The API token "${row.name}" has been revoked.`);
  }
}

const toToken = (row: Row & { readonly now: number }) => ({
  ...bearerOf(row),
  state: stateOf(row, row.now),
  /** Id of the successor, if the token was rotated. */
  replaced_by: row.replaced_by,
  created_at: asTimestamp(row.created_at),
  expires_at: asTimestampOrNull(row.expires_at),
});

/** An exchanged token has the id of its run: the processes of a run have different tokens, but share stored data. */
const bearerOf = (row: Row): Bearer => ({
  id: row.run_id ?? row.id,
  name: row.name,
  owner: row.owner,
  ...permissionsOf(row),
  ...(row.run_id !== null && { run: { origin: row.run_origin, tokenId: row.id } }),
});

/**
 * The permissions of a token, or of the tokens that a trust rule issues. Only createToken(), issue() in exchange.ts and
 * addTrustRule() write these columns.
 */
export const permissionsOf = ({
  scopes,
  workspaces,
}: Pick<Row, 'scopes' | 'workspaces'>): Pick<Bearer, 'scopes' | 'workspaces'> => ({
  scopes: (JSON.parse(scopes) as string[]).filter(isScope),
  workspaces: JSON.parse(workspaces ?? 'null') as string[] | null,
});

function stateOf(row: Row, at: number) {
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at !== null && row.expires_at <= at ? 'expired' : 'active';
}

/** Excludes exchanged tokens: there can be thousands a day, and nobody created them by hand. */
const withNow = (db: Database) => db.selectFrom('tokens').selectAll().select(now.as('now')).where('run_id', 'is', null);

/**
 * Replaces a token with a new one of the same name, owner and permissions, which can therefore release the locks of the
 * old one. The old secret stays valid for a week, unless the token expires or is revoked sooner.
 */
export async function rotateToken(db: Database, actor: Actor, id: string) {
  const old = await findToken(db, id);
  if (old === undefined) return { kind: 'unknown' } as const;
  // Expired, revoked or already rotated, possibly by the same form. The new secret cannot be shown again.
  if (old.state !== 'active' || old.replaced_by !== null) return { kind: 'over', token: old } as const;
  const { name, owner, scopes, workspaces } = old;
  const newToken = { name, owner, scopes, workspaces, lifetime: lifetimeOf(old) };
  const { token, secret } = await createToken(db, actor, newToken);
  const keptUntil = Date.parse(token.created_at) + keptMs;
  const validUntil = old.expires_at === null ? keptUntil : Math.min(keptUntil, Date.parse(old.expires_at));
  await db.updateTable('tokens').set({ expires_at: validUntil, replaced_by: token.id }).where('id', '=', id).execute();
  const oldValidUntil = asTimestamp(validUntil);
  await recordAudit(db, {
    actor,
    action: 'token.rotated',
    detail: { token: id, name, owner, replaced_by: token.id, old_valid_until: oldValidUntil },
  });
  return { kind: 'rotated', token, secret, oldValidUntil } as const;
}

/** Longer than any job that started with the old secret, because it must still be able to release its locks. */
const keptMs = 7 * 86_400_000;

const lifetimeOf = ({ created_at, expires_at }: Token) =>
  expires_at === null ? null : { seconds: Math.ceil((Date.parse(expires_at) - Date.parse(created_at)) / 1_000) };
