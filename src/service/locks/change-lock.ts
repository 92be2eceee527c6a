import { milliseconds, type Ttl } from '../../interface/duration.ts';
import { type Actor, recordAudit } from '../audit/audit.ts';
import { insufficientScope, Refusal } from '../contract/response.ts';
import type { Lock } from '../contract/schemas.ts';
import { grants } from '../contract/scopes.ts';
import { subscribersOf } from '../outbox/outbox.ts';
import { batchQuery, numberOf, textOf } from '../storage/batch-query.ts';
import type { Database } from '../storage/storage.ts';
import type { Bearer } from '../tokens/tokens.ts';
import { findLocks, type LockRow, type StoredLock, toLock } from './find.ts';
import { endLocks, type LockEnd } from './history.ts';
import { heldBy } from './refusals.ts';

/** Renewals and releases, decided in input order, with few queries for any number of them. */

interface ChangeRequest {
  readonly workspace: string;
  readonly path: string;
  readonly match: IdMatch;
  readonly bearer: Bearer;
}

const keysOf = (requests: readonly ChangeRequest[]) => requests.map(({ workspace, path }) => ({ workspace, path }));

export interface RenewRequest extends ChangeRequest {
  readonly ttl: Ttl;
  /** Never shortens the lock. */
  readonly isExtension?: boolean;
}

type ChangeDecision = { readonly kind: 'renewed' | 'released'; readonly lock: Lock } | Refusal;

export async function renewLocks(db: Database, requests: readonly RenewRequest[]): Promise<readonly ChangeDecision[]> {
  const locks = await findLocks(db, keysOf(requests));
  /** The locks with their new ends, by id. Later requests for the same lock replace earlier ones. */
  const renewals = new Map<string, { lock: LockRow }>();
  const decided = requests.map(({ path, ttl, bearer, match, isExtension }, index) => {
    const found = locks[index];
    if (found === undefined) return nothingToRenew(path);
    if (!match(found.id)) return anotherLock(found);
    if (!isOwnLock(found, bearer)) return ofAnotherOwner(found, 'Only its owner can renew it.');
    const expires_at = found.expires_at - found.remainingMs + milliseconds(ttl);
    const renewal = renewals.get(found.id) ?? { lock: found };
    if (isExtension && renewal.lock.expires_at >= expires_at) return lastsLonger();
    renewal.lock = { ...found, expires_at };
    renewals.set(found.id, renewal);
    return renewal;
  });
  const renewed = [...renewals.values()].map(({ lock }) => lock);
  if (renewed.length > 0) await storeEnds(db, renewed);
  return decided.map((each) => (each instanceof Refusal ? each : { kind: 'renewed', lock: toLock(each.lock) }));
}

const storeEnds = batchQuery((db, members) =>
  db
    .updateTable('locks')
    .from(members)
    .set({ expires_at: numberOf('expires_at') })
    .whereRef('locks.workspace_id', '=', textOf('workspace_id'))
    .whereRef('locks.path', '=', textOf('path')),
);

/** Every push renews the owner's locks. A lock with more than this share of its ttl left is not written. */
const renewedBelow = 0.9;

/** Applies only to locks of Git LFS users: jobs renew their own locks, with a ttl of their choice. */
export const isLfsRenewalDue = (
  { from_lfs, remainingMs }: Pick<StoredLock, 'from_lfs' | 'remainingMs'>,
  ttl: Ttl,
): boolean => from_lfs === 1 && remainingMs < renewedBelow * milliseconds(ttl);

export interface ReleaseRequest extends ChangeRequest {
  readonly actor: Actor;
  /** Releases a lock of any owner, if the scopes allow it. */
  readonly force: boolean;
  /** Reason for a forced release, entered by the person who forces it. */
  readonly reason?: string | null | undefined;
}

export async function releaseLocks(
  db: Database,
  requests: readonly ReleaseRequest[],
): Promise<readonly ChangeDecision[]> {
  const keys = keysOf(requests);
  const [locks, subscribers] = await Promise.all([findLocks(db, keys), subscribersOf(db, keys)]);
  const ends = new Map<string, LockEnd & { readonly request: ReleaseRequest }>();
  const releases = requests.map((request, index): ChangeDecision => {
    const found = locks[index];
    const { path, match, bearer, force } = request;
    if (found === undefined || ends.has(found.id)) {
      const detail = `There is no lock on ${path}. It was released, has expired, or never existed.`;
      return new Refusal('not-found', detail);
    }
    if (!match(found.id)) return anotherLock(found);
    const mayRelease = isOwnLock(found, bearer) || (force && grants(bearer.scopes, 'locks:admin'));
    if (!mayRelease) return force ? notAdmin(found, bearer) : ofAnotherOwner(found, forceAdvice);
    ends.set(found.id, { request, lock: found, at: found.expires_at - found.remainingMs, by: bearer.owner });
    return { kind: 'released', lock: toLock(found) };
  });
  await endLocks(db, [...ends.values()], subscribers);
  for (const { lock, request } of ends.values()) {
    const { workspace, path, bearer, actor, reason } = request;
    const { id, owner, origin } = lock;
    const detail = { workspace, path, lock: id, owner, origin, ...(reason && { reason }) };
    if (!isOwnLock(lock, bearer)) await recordAudit(db, { actor, action: 'lock.force-released', detail });
  }
  return releases;
}

/** Whether the caller may renew and release the lock without force: any token of its owner may. */
export const isOwnLock = (lock: Pick<LockRow, 'owner'>, { owner }: Pick<Bearer, 'owner'>): boolean =>
  lock.owner === owner;

const nothingToRenew = (path: string): Refusal =>
  new Refusal('lock-changed', `There is no lock on ${path} to renew. It was released or has expired.`);

const lastsLonger = (): Refusal =>
  new Refusal('invalid-request', 'The lock already lasts longer than that. Choose a longer time.');

function anotherLock(found: LockRow): Refusal {
  const lock = toLock(found);
  const detail = `The lock on ${lock.path} is not the one in the request: it is ${heldBy(lock)}.`;
  return new Refusal('lock-changed', detail, { lock, headers: { etag: entityTag(lock.id) } });
}

const ofAnotherOwner = (found: LockRow, rule: string): Refusal =>
  new Refusal('lock-of-another-owner', `${found.path} is ${heldBy(toLock(found))}. ${rule}`, { lock: toLock(found) });

const forceAdvice = 'A token with the scope locks:admin can release it, with --force or ?force=true.';

function notAdmin(found: LockRow, { scopes }: Bearer): Refusal {
  const lock = toLock(found);
  const { problem, message, extras } = insufficientScope('locks:admin', scopes);
  return new Refusal(problem, `${lock.path} is ${heldBy(lock)}. ${message}`, { ...extras, lock });
}

export const entityTag = (id: string): string => `"${id}"`;

type IdMatch = (id: string) => boolean;

const anyTag = /^[ \t]*\*[ \t]*$/;

/** RFC 9110 section 8.8.3. The opaque part may contain commas. */
export const tagPattern = '(?:W/)?"[\\x21\\x23-\\x7e\\x80-\\xff]*"';

const tags = new RegExp(tagPattern, 'g');

/** Elements may be empty (RFC 9110 section 5.6.1.2). */
const tagList = new RegExp(`^[ \\t,]*${tagPattern}(?:[ \\t]*,[ \\t,]*${tagPattern})*[ \\t,]*$`);

/**
 * `If-Match` of RFC 9110 section 13.1.1: `*` or a list of entity tags, compared strongly, so that a weak one never
 * matches. Invalid values match nothing: a condition that cannot be parsed must not allow a change.
 */
export function parseIfMatch(header: string | undefined): IdMatch {
  if (header === undefined || anyTag.test(header)) return () => true;
  const given = new Set<string>(tagList.test(header) ? header.match(tags) : []);
  return (id) => given.has(entityTag(id));
}
