import { formatDuration, milliseconds } from '../interface/duration.ts';
import { type LockPath, parseHeldPath } from '../interface/lock-path.ts';
import type * as resources from '../interface/resources.ts';
import type { Ttl } from '../interface/ttl.ts';
import type { WorkspaceId } from './access.ts';
import { branchHeader, type Conflict, placeIn } from './acquire-lock.ts';
import { asArray, asObject, isArray, type Json, nameIn } from './json.ts';
import { type AcquiredLock, ageIn, type KnownLock, readListedLock, readLock, readOutdated } from './known-lock.ts';
import type { List } from './pages.ts';
import { type QueueWait, queueHeaders } from './queue.ts';
import { expectResource, isUnknownRoute } from './refusal.ts';
import { type AnsweredCall, type CallLimits, type ClientContext, expectSuccess, type Request } from './request.ts';
import { type ClientResponse, isSuccess, objectIn } from './response.ts';
import type { ServiceError } from './service-error.ts';

export interface LeaseKey {
  readonly workspace: WorkspaceId;
  /** Chosen by the client: 16 to 64 letters, digits, dashes and underscores. */
  readonly lease: string;
}

export interface LeaseRequest extends LeaseKey {
  readonly from: { readonly kind: 'paths'; readonly paths: readonly LockPath[] } | PoolSelection;
  /** Stands for all of them if a refusal names none. */
  readonly path: LockPath;
  readonly count: number;
  readonly type: string;
  readonly ttl: Ttl;
  /** Waits in line. A request that waits is sent once: the caller sends it again to keep its place. */
  readonly wait?: QueueWait | undefined;
}

/** The items of a pool that have all these properties. */
export interface PoolSelection {
  readonly kind: 'pool';
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
}

export interface PoolItem extends resources.PoolItem {
  readonly path: LockPath;
}

/** A lock that its lease has lost, and who holds the path now. */
export interface LostLock {
  readonly path: LockPath;
  /** `released`: on its own, by somebody of its owner. */
  readonly reason: string | undefined;
  readonly holder: KnownLock | undefined;
}

export type PutLeaseResult =
  | {
      readonly kind: 'held';
      readonly locks: readonly AcquiredLock[];
      /** The items of a pool that were locked, with the values of secret properties. */
      readonly items: readonly PoolItem[];
      /** The locks that have ended since: the response to the first request was lost. */
      readonly lost: readonly LostLock[];
    }
  /** `mayBeDone`: an earlier request without a response may still arrive, and be granted. */
  | {
      readonly kind: 'blocked';
      readonly conflicts: readonly [Conflict, ...Conflict[]];
      readonly mayBeDone: boolean;
    }
  /** The service knows only the interface, or a gateway answered in its place. */
  | { readonly kind: 'unsupported' }
  /** `mayBeDone`: there was no response until the time or the retries ran out. */
  | { readonly kind: 'failed'; readonly error: ServiceError; readonly mayBeDone: boolean };

type RenewLeaseResult =
  | { readonly kind: 'renewed'; readonly expiresAt: string; readonly lost: readonly LostLock[] }
  /** It holds nothing any more. */
  | { readonly kind: 'ended'; readonly lost: readonly LostLock[] }
  | { readonly kind: 'refused'; readonly error: ServiceError }
  | { readonly kind: 'failed'; readonly error: ServiceError };

export type EndLeaseResult =
  | { readonly kind: 'ended'; readonly released: readonly LockPath[]; readonly lost: readonly LostLock[] }
  /** The service knows only the interface. */
  | { readonly kind: 'unsupported'; readonly error: ServiceError }
  | { readonly kind: 'failed'; readonly error: ServiceError };

/** A lease is a set of locks that is acquired, renewed and released as one. */
export const createLeases = ({ call, endpoints, serverNow, branch, onCompared }: ClientContext) => ({
  async putLease(request: LeaseRequest, within: CallLimits): Promise<PutLeaseResult> {
    const { workspace, lease, wait } = request;
    const result = await call(
      {
        method: 'PUT',
        target: endpoints.lease(workspace, lease),
        headers: {
          ...branchHeader(branch),
          ...(wait && queueHeaders(wait)),
        },
        body: bodyOf(request),
        ...(wait !== undefined &&
          wait.seconds > 0 && { attempts: 'once' as const, responseDelayMs: wait.seconds * 1_000 }),
        expect(response) {
          const wrong = response.status === 202 ? expectLease(response) : expectLocks(response, request);
          // The items of a pool have secrets, which no error may quote.
          return wrong && { ...wrong, content: '' };
        },
        isOptional: request.from.kind === 'paths',
      },
      within,
    );
    if (result.kind === 'given-up') return { kind: 'failed', error: result.error, mayBeDone: result.mayBeDone };
    const { response, mayBeDone } = result;
    if (response.status === 202 || (response.status === 409 && isLocked(response))) {
      return { kind: 'blocked', conflicts: conflictsIn(result, request), mayBeDone };
    }
    if (isSuccess(response)) {
      const body = objectIn(response);
      for (const outdated of asArray(body['outdated'])) {
        onCompared?.({ outdated: readOutdated(outdated, response.sanitizer), ...ageIn(body) });
      }
      const locks = locksIn(response, request, serverNow());
      return { kind: 'held', locks, items: asArray(body['locks']).flatMap(readItem), lost: lostAmong(response) };
    }
    if (!isUnknownRoute(response)) return { kind: 'failed', error: result.refusal(), mayBeDone };
    if (request.from.kind === 'paths') return { kind: 'unsupported' };
    const reason = `The service has no pools, so no item of ${JSON.stringify(request.from.name)} can be locked.`;
    return { kind: 'failed', error: result.fail({ kind: 'unsupported', reason }), mayBeDone };
  },

  async renewLease({ workspace, lease }: LeaseKey, ttl: Ttl, within: CallLimits): Promise<RenewLeaseResult> {
    const target = `${endpoints.lease(workspace, lease)}/renew`;
    const body = { ttl: formatDuration(ttl) };
    const result = await call({ method: 'POST', target, body, expect: expectRenewal }, within);
    if (result.kind === 'given-up') return { kind: 'failed', error: result.error };
    const { response } = result;
    const lost = lostIn(response);
    if (isSuccess(response)) {
      const expiresAt =
        nameIn(objectIn(response)['expires_at']) ?? new Date(serverNow() + milliseconds(ttl)).toISOString();
      return { kind: 'renewed', expiresAt, lost };
    }
    return response.status === 410 ? { kind: 'ended', lost } : { kind: 'refused', error: result.refusal() };
  },

  /** The current locks on the paths of a lease: its own, and those of later holders. Throws a ServiceError. */
  async listLease({ workspace, lease }: LeaseKey, within: CallLimits): Promise<List<KnownLock>> {
    const target = endpoints.lease(workspace, lease);
    const { response } = expectSuccess(await call({ method: 'GET', target, expect: expectLease }, within));
    const { sanitizer } = response;
    const items = asArray(objectIn(response)['locks']).flatMap((entry) => {
      const { path, state, lock } = asObject(entry);
      const own = readListedLock(entry, sanitizer);
      if (state !== 'lost') return own ?? [];
      return lock === undefined || own === undefined
        ? []
        : (readListedLock({ ...asObject(lock), path: path ?? '' }, sanitizer) ?? []);
    });
    return { items, incomplete: undefined };
  },

  /** May be repeated. A lease that was never requested is dead from then on. */
  async endLease({ workspace, lease }: LeaseKey, within: CallLimits, attempts?: 'once'): Promise<EndLeaseResult> {
    const target = endpoints.lease(workspace, lease);
    const result = await call({ method: 'DELETE', target, attempts, expect: expectEnd }, within);
    if (result.kind === 'given-up') return { kind: 'failed', error: result.error };
    const { response } = result;
    if (!isSuccess(response)) {
      return { kind: isUnknownRoute(response) ? 'unsupported' : 'failed', error: result.refusal() };
    }
    const released = asArray(objectIn(response)['released']).flatMap((path) => {
      const parsed = parseHeldPath(nameIn(path) ?? '');
      return parsed.ok ? [parsed.value] : [];
    });
    return { kind: 'ended', released, lost: lostIn(response) };
  },
});

const bodyOf = ({ from, count, type, ttl }: LeaseRequest): NonNullable<Request['body']> => ({
  ...(from.kind === 'paths' ? { paths: from.paths } : { pool: from.name, where: from.where }),
  ...{ count, type, ttl: formatDuration(ttl) },
});

const expectLease = expectResource('lease', ({ id, state }) => typeof id === 'string' && typeof state === 'string');
/** Without all its locks, a lease was not granted, whatever the response says. */
const expectLocks = (response: ClientResponse, request: LeaseRequest) =>
  expectResource(
    'lease',
    () => locksIn(response, request, 0).length + lostAmong(response).length >= request.count,
  )(response);
const expectRenewal = expectResource('renewal of a lease', ({ expires_at }) => typeof expires_at === 'string');
const expectReleased = expectResource('end of a lease', ({ released }) => isArray(released));
const expectEnd: Request['expect'] = (response) => (response.status === 204 ? undefined : expectReleased(response));

/** Other problems with this status are about outdated files, or about a newer request for the same lease. */
const isLocked = (response: ClientResponse): boolean => objectIn(response)['blocked'] !== undefined;

function locksIn(response: ClientResponse, { lease, type, ttl }: LeaseRequest, now: number): readonly AcquiredLock[] {
  return asArray(objectIn(response)['locks']).flatMap((entry) => {
    const lock = readListedLock(entry, response.sanitizer);
    const path = parseHeldPath(lock?.path ?? '');
    if (lock === undefined || !path.ok || asObject(entry)['state'] === 'lost') return [];
    const expires_at = lock.expires_at ?? new Date(now + milliseconds(ttl)).toISOString();
    // The ETag of a lock is its id in quotes.
    const etag = lock.etag ?? (lock.id === undefined ? undefined : `"${lock.id}"`);
    return { ...lock, etag, path: path.value, type, expires_at, lease };
  });
}

/** The item of a pool that is locked; none for other locks. */
function readItem(entry: Json): readonly PoolItem[] {
  const { path, state, properties, secret } = asObject(entry);
  const parsed = parseHeldPath(nameIn(path) ?? '');
  if (!parsed.ok || state === 'lost' || properties === undefined) return [];
  const values = Object.entries(asObject(properties)).flatMap(([name, value]) => {
    const text = nameIn(value);
    return text === undefined ? [] : [[name, text] as const];
  });
  // With unreadable names, all properties are secret.
  const names = isArray(secret) ? secret.flatMap((name) => nameIn(name) ?? []) : values.map(([name]) => name);
  return [{ path: parsed.value, properties: Object.fromEntries(values), secret: names }];
}

/** A path without a holder is kept for another. */
function conflictsIn(answered: AnsweredCall, { path: firstPath }: LeaseRequest): readonly [Conflict, ...Conflict[]] {
  const { response } = answered;
  const { sanitizer } = response;
  const { blocked, locks } = objectIn(response);
  const common = {
    ...placeIn(answered, 0),
    error: answered.refusal(),
  };
  const waiting = asArray(blocked).map((entry) => ({
    path: nameIn(asObject(entry)['path']),
    holder: readListedLock(asObject(entry)['lock'] ?? '', sanitizer),
  }));
  const refused = asArray(locks).map((entry) => readListedLock(entry, sanitizer));
  const all = [...waiting, ...refused.map((holder) => ({ path: holder?.path, holder }))];
  const [first, ...others] = all.flatMap(({ path, holder }): Conflict | readonly [] => {
    const parsed = parseHeldPath(path ?? '');
    return parsed.ok ? { ...common, path: parsed.value, holder } : [];
  });
  return [first ?? { ...common, path: firstPath, holder: undefined }, ...others];
}

/** The state of each lock is part of a lease that was granted before. */
const lostAmong = (response: ClientResponse): readonly LostLock[] =>
  readLost(
    asArray(objectIn(response)['locks']).filter((entry) => asObject(entry)['state'] === 'lost'),
    response,
  );

const lostIn = (response: ClientResponse): readonly LostLock[] =>
  readLost(asArray(objectIn(response)['lost']), response);

function readLost(entries: readonly Json[], { sanitizer }: ClientResponse): readonly LostLock[] {
  return entries.flatMap((entry) => {
    const { path, reason, lock } = asObject(entry);
    const parsed = parseHeldPath(nameIn(path) ?? '');
    if (!parsed.ok) return [];
    const holder = lock === undefined ? undefined : readLock(asObject(lock), parsed.value, sanitizer);
    return { path: parsed.value, reason: nameIn(reason), holder };
  });
}
