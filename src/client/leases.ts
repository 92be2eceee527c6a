import { formatDuration, milliseconds, type Ttl } from '../interface/duration.ts';
import { type LockPath, parseHeldPath } from '../interface/lock-path.ts';
import type * as resources from '../interface/resources.ts';
import type { WorkspaceId } from './access.ts';
import { asArray, asObject, isArray, isObject, type Json, type JsonObject, nameIn } from './json.ts';
import { type AcquiredLock, comparisonIn, conditionOf, type KnownLock, readLock } from './known-lock.ts';
import type { List } from './pages.ts';
import type { Conflicts, LockRequest } from './post-lock.ts';
import { lineIn, lineParts } from './queue.ts';
import { expectResource, orEmpty, refusalOf } from './refusal.ts';
import { type CallLimits, type ClientContext, expectSuccess, type Failed } from './request.ts';
import { type ClientResponse, objectIn } from './response.ts';
import { type ServiceError, unknownRoute } from './service-error.ts';
import { timestampIn } from './time.ts';

export interface LeaseKey {
  readonly workspace: WorkspaceId;
  /** Chosen by the client: 16 to 64 letters, digits, dashes and underscores. */
  readonly lease: string;
}

export interface LeaseRequest extends LeaseKey, LockRequest {
  readonly paths: readonly LockPath[];
  /** Requests the items with all of these properties instead of paths. */
  readonly pool?: { readonly name: string; readonly where: Readonly<Record<string, string>> } | undefined;
  readonly count: number;
}

/** The name of a lease in texts. */
export const leaseName = ({ paths, pool }: Pick<LeaseRequest, 'paths' | 'pool'>): string =>
  pool === undefined ? (paths[0] ?? '') : `The pool ${pool.name}`;

export interface PoolItem extends resources.PoolItem {
  readonly path: LockPath;
}

/** A lock that its lease has lost, and the current holder of the path. */
export interface LostLock {
  readonly path: LockPath;
  /** `released`: the same owner released this lock alone. */
  readonly reason: string | undefined;
  readonly holder: KnownLock | undefined;
}

export type PutLeaseResult =
  | {
      readonly kind: 'held';
      readonly locks: readonly AcquiredLock[];
      /** The locked items of a pool, with the values of secret properties. */
      readonly items: readonly PoolItem[];
      /** Locks that have ended since the grant, if the response to the first request was lost. */
      readonly lost: readonly LostLock[];
    }
  /** `mayBeDone`: an earlier request without a response may still arrive and be granted. */
  | {
      readonly kind: 'blocked';
      readonly conflicts: Conflicts;
      readonly mayBeDone: boolean;
    }
  | Failed;

type RenewLeaseResult =
  | { readonly kind: 'renewed'; readonly expiresAt: string; readonly lost: readonly LostLock[] }
  /** The lease no longer holds any locks. */
  | { readonly kind: 'ended'; readonly lost: readonly LostLock[] }
  | Failed;

export type EndLeaseResult =
  | { readonly kind: 'ended'; readonly released: readonly LockPath[]; readonly lost: readonly LostLock[] }
  | Failed;

/** A lease is a set of locks that is acquired, renewed and released as one. */
export const createLeases = ({ call, endpoints, branch, onCompared }: ClientContext) => ({
  async putLease(request: LeaseRequest, within: CallLimits): Promise<PutLeaseResult> {
    const { workspace, lease, pool, wait } = request;
    const result = await call(
      {
        method: 'PUT',
        target: endpoints.lease(workspace, lease),
        ...lineParts(wait, branch),
        body: bodyOf(request),
        expect: (response) => (response.status === 202 ? expectLease : expectLocks(request))(response),
        finalAt: pool === undefined ? unknownRoute : [],
      },
      within,
    );
    const { response, mayBeDone } = result;
    if (response?.status === 202 || (response?.status === 409 && isLocked(response))) {
      const error = result.kind === 'failed' ? result.error : result.error(refusalOf(response));
      return { kind: 'blocked', conflicts: conflictsIn(response, error, request), mayBeDone };
    }
    if (result.kind === 'failed') return result;
    const comparison = comparisonIn(result.response);
    if (comparison !== undefined) onCompared?.(comparison);
    const items = onPaths(objectIn(result.response)['locks']).flatMap(readItem);
    return { kind: 'held', locks: locksIn(result.response, request), items, lost: lostIn(result.response, 'locks') };
  },

  async renewLease({ workspace, lease }: LeaseKey, ttl: Ttl, within: CallLimits): Promise<RenewLeaseResult> {
    const target = `${endpoints.lease(workspace, lease)}/renew`;
    const body = { ttl: formatDuration(ttl) };
    const result = await call({ method: 'POST', target, body, expect: expectRenewal }, within);
    const { response } = result;
    if (response?.status === 410) return { kind: 'ended', lost: lostIn(response, 'lost') };
    if (result.kind === 'failed') return result;
    const expiresAt = timestampIn(objectIn(result.response)['expires_at']) ?? endOf(result.response, ttl);
    return { kind: 'renewed', expiresAt, lost: lostIn(result.response, 'lost') };
  },

  /** The current locks on the paths of a lease: its own, and those of later holders. Throws a ServiceError. */
  async listLease({ workspace, lease }: LeaseKey, within: CallLimits): Promise<List<KnownLock>> {
    const target = endpoints.lease(workspace, lease);
    const { response } = expectSuccess(await call({ method: 'GET', target, expect: expectLease }, within));
    const items = onPaths(objectIn(response)['locks']).flatMap((one) =>
      isLost(one) ? (holderIn(one, response) ?? []) : readLock(one.entry, one.path, response.sanitizer),
    );
    return { items, incomplete: undefined };
  },

  /** Can be repeated. A lease that was never requested can then never acquire anything. */
  async endLease({ workspace, lease }: LeaseKey, within: CallLimits): Promise<EndLeaseResult> {
    const target = endpoints.lease(workspace, lease);
    const result = await call({ method: 'DELETE', target, expect: expectEnd }, within);
    if (result.kind === 'failed') return result;
    const { response } = result;
    const released = asArray(objectIn(response)['released']).flatMap(pathIn);
    return { kind: 'ended', released, lost: lostIn(response, 'lost') };
  },
});

const bodyOf = ({ paths, pool, count, type, ttl, note }: LeaseRequest): object => ({
  ...(pool === undefined ? { paths } : { pool: pool.name, where: pool.where }),
  count,
  type,
  ttl: formatDuration(ttl),
  note,
});

// Errors must not quote items of a pool, which may have secrets.
const expectLease = expectResource(
  'lease',
  ({ id, state }) => typeof id === 'string' && typeof state === 'string',
  true,
);
/** A lease without all of its locks was not granted, whatever the response says. */
const expectLocks = ({ count }: LeaseRequest) =>
  expectResource('lease', ({ locks }) => onPaths(locks).length >= count, true);
const expectRenewal = expectResource('renewal of a lease', ({ expires_at }) => typeof expires_at === 'string');
const expectEnd = orEmpty(expectResource('end of a lease', ({ released }) => isArray(released)));

/** Other 409 problems are about outdated files, or about a newer request for the same lease. */
const isLocked = (response: ClientResponse): boolean => objectIn(response)['blocked'] !== undefined;

interface OnPath {
  readonly path: LockPath;
  readonly entry: JsonObject;
}

const onPaths = (list: Json | undefined): readonly OnPath[] =>
  asArray(list)
    .map(asObject)
    .flatMap((entry) => pathIn(entry['path']).map((path) => ({ path, entry })));

function pathIn(json: Json | undefined): readonly LockPath[] {
  const parsed = parseHeldPath(nameIn(json) ?? '');
  return parsed.ok ? [parsed.value] : [];
}

const isLost = ({ entry }: OnPath): boolean => entry['state'] === 'lost';

/** The current lock on the path, which the service may spell in a different case. */
const holderIn = ({ path, entry }: OnPath, { sanitizer }: ClientResponse): KnownLock | undefined =>
  isObject(entry['lock']) ? { ...readLock(entry['lock'], path, sanitizer), path } : undefined;

const endOf = ({ receivedAt }: ClientResponse, ttl: Ttl): string =>
  new Date(receivedAt + milliseconds(ttl)).toISOString();

function locksIn(response: ClientResponse, { lease, type, ttl }: LeaseRequest): readonly AcquiredLock[] {
  const held = onPaths(objectIn(response)['locks']).filter((one) => !isLost(one));
  return held.map(({ path, entry: { state: _, ...entry } }) => {
    const lock = readLock(entry, path, response.sanitizer);
    // The ETag of a lock is its id in quotes.
    return { ...lock, etag: conditionOf(lock), path, type, expires_at: lock.expires_at ?? endOf(response, ttl), lease };
  });
}

/** The item of a pool that was locked; empty for other locks. */
function readItem(one: OnPath): readonly PoolItem[] {
  const { properties, secret } = one.entry;
  if (isLost(one) || properties === undefined) return [];
  const values = Object.entries(asObject(properties)).flatMap(([name, value]) => {
    const text = nameIn(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  // If the list of secret properties is unreadable, all of them count as secret.
  const names = isArray(secret) ? secret.flatMap((name) => nameIn(name) ?? []) : values.map(([name]) => name);
  return [{ path: one.path, properties: Object.fromEntries(values), secret: names }];
}

/** A path without a holder is kept for another request. */
function conflictsIn(response: ClientResponse, error: ServiceError, request: LeaseRequest): Conflicts {
  const { blocked, locks } = objectIn(response);
  const common = { ...lineIn(response), error };
  const waiting = onPaths(blocked).map((one) => ({ ...common, path: one.path, holder: holderIn(one, response) }));
  const refused = onPaths(locks).map(({ path, entry }) => {
    return { ...common, path, holder: readLock(entry, path, response.sanitizer) };
  });
  const [first = { ...common, path: leaseName(request), holder: undefined }, ...others] = [...waiting, ...refused];
  return [first, ...others];
}

/** A lease that was granted earlier has a state for each lock. Other responses list only the lost ones. */
const lostIn = (response: ClientResponse, list: 'locks' | 'lost'): readonly LostLock[] =>
  onPaths(objectIn(response)[list])
    .filter((one) => list === 'lost' || isLost(one))
    .map((one) => ({ path: one.path, reason: nameIn(one.entry['reason']), holder: holderIn(one, response) }));
