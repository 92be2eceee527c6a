import { milliseconds, type Ttl } from '../interface/duration.ts';
import { type LockPath, maxNoteLength } from '../interface/lock-path.ts';
import type { Comparison, Outdated } from '../interface/resources.ts';
import { isHeaderValue } from './access.ts';
import { asObject, firstName, isArray, isObject, type Json, type JsonObject, nameIn } from './json.ts';
import { type ClientResponse, headerOf, objectIn } from './response.ts';
import { plainName, type Sanitizer } from './sanitizer.ts';
import { responseClockMs, timestampIn } from './time.ts';

/** Ignores ETags that identify nothing. Some servers add a weak one. */
export function etagOf(response: ClientResponse): string | undefined {
  const etag = headerOf(response, 'etag');
  return etag !== undefined && isEtag(etag) ? response.sanitizer.data(etag) : undefined;
}

/**
 * Whether a lock can be identified by the ETag in an If-Match (RFC 9110 section 13.1.1). Weak ETags (W/"…") match
 * nothing, and `*` matches any lock, also as part of a list.
 */
export function isEtag(text: string): boolean {
  const parts = text
    .replace(/"[^"]*"/g, '"')
    .split(',')
    .map((part) => part.trim());
  return isHeaderValue(text) && parts.join('') !== '' && !parts.some((part) => part === '*' || part.startsWith('W/'));
}

export type KnownLock = Readonly<ReturnType<typeof readLock>>;

/** Reads an entry of a list of locks; undefined if it has no path. */
export function readListedLock(entry: Json, sanitizer: Sanitizer): KnownLock | undefined {
  const lock = typeof entry === 'string' ? { path: entry } : lockIn(asObject(entry));
  const path = nameIn(lock['path']);
  return path === undefined ? undefined : readLock(lock, path, sanitizer);
}

/** The lock on a path, according to a complete list. */
export type FoundLock = { readonly kind: 'locked'; readonly lock: KnownLock } | { readonly kind: 'absent' };

/** Whether a response describes the blocking lock or its holder, which only a service can. */
export function namesHolder(response: ClientResponse): boolean {
  const holder = holderIn(response);
  return holder !== undefined && namesLock(holder);
}

export interface AcquiredLock extends KnownLock {
  readonly path: LockPath;
  readonly type: string;
  /** If the service returns none, the earliest possible expiry according to the ttl. */
  readonly expires_at: string;
  readonly lease?: string | undefined;
}

/** The lock in a response that grants it. `from` is the earliest time at which its ttl may have started. */
export function grantedLockIn(
  response: ClientResponse,
  { path, type, ttl }: { readonly path: LockPath; readonly type: string; readonly ttl: Ttl },
  from: (lock: KnownLock) => number,
): AcquiredLock {
  const lock = readLock(lockIn(objectIn(response)), path, response.sanitizer);
  return {
    ...lock,
    // Path and type as requested. `raw` has those of the service.
    path,
    type,
    etag: etagOf(response) ?? lock.etag,
    expires_at: lock.expires_at ?? new Date(from(lock) + milliseconds(ttl)).toISOString(),
  };
}

/** Identifies a lock by its ETag, or by its id if it has none. */
export interface LockProof {
  readonly etag?: string | undefined;
  readonly id?: string | undefined;
  /** Can show that a lock with the same id is a later one. */
  readonly acquired_at?: string | undefined;
}

/** The proof as a request header, with quotes; undefined if the lock cannot be identified there. */
export function conditionOf(proof: LockProof | undefined): string | undefined {
  const tag = proof?.etag ?? (proof?.id === undefined ? undefined : `"${proof.id}"`);
  return tag !== undefined && isEtag(tag) ? tag : undefined;
}

/**
 * Whether both are the same lock; undefined if unknown. The id decides if both have one, because an ETag may change
 * with every renewal.
 */
export function isSameLock(one: LockProof, other: LockProof): boolean | undefined {
  if (one.id !== undefined && other.id !== undefined) return one.id === other.id;
  if (one.etag !== undefined && other.etag !== undefined) return withoutQuotes(one.etag) === withoutQuotes(other.etag);
  return undefined;
}

/** The ETag to send: the latest, unless it differs only in its quotes, because only headers are certain to have them. */
export const newerEtag = (sent: string | undefined, latest: string | undefined): string | undefined =>
  isSameLock({ etag: sent }, { etag: latest }) === true ? sent : (latest ?? sent);

/** The proof of our lock, and what may have happened to the lock since. */
export interface OwnProof {
  readonly proof?: LockProof | undefined;
  /** Whether our lock may have expired, or may have been released. Asked when a response has arrived. */
  readonly mayHaveEnded?: (() => boolean) | undefined;
  /** Whether a renewal without a response may have changed its ETag and its start; undefined if unknown. */
  readonly mayHaveChanged?: boolean | undefined;
}

/**
 * Like isSameLock, for the lock in a response to a request with a condition. Some services give all locks of a path one
 * id: it counts while our lock lasts, or if both locks started at the same time.
 */
export function isSameHolder(asked: OwnProof, holder: KnownLock): boolean | undefined {
  const { proof = {}, mayHaveEnded = () => false, mayHaveChanged } = asked;
  const isSame = isSameLock(proof, holder);
  if (isSame !== true || proof.id === undefined || isSameLock({ etag: proof.etag }, { etag: holder.etag }))
    return isSame;
  const isLater = startedLater(proof, holder);
  if (isLater && mayHaveChanged === false) return false;
  if (!mayHaveEnded()) return true;
  return isLater === undefined ? undefined : !isLater;
}

/** Undefined if unknown. */
export function startedLater(proof: LockProof, holder: KnownLock): boolean | undefined {
  const laterMs = Date.parse(holder.acquired_at ?? '') - Date.parse(proof.acquired_at ?? '');
  return Number.isNaN(laterMs) ? undefined : laterMs >= responseClockMs;
}

export function holderOf(response: ClientResponse, path: string): KnownLock | undefined {
  const holder = holderIn(response);
  return holder && readLock(holder, path, response.sanitizer);
}

const maxNameLength = 256;
const maxOriginLength = 1_024;

/**
 * Reads the names of this project's service, and the columns of the product's command-line tool. `path` is used if the
 * service returns none.
 */
export function readLock(lock: JsonObject, path: string, sanitizer: Sanitizer) {
  const line = (text: string | undefined, maxLength: number): string | undefined =>
    text === undefined ? undefined : nameIn(sanitizer.line(text, maxLength));
  return {
    path: plainName(nameIn(lock['path']) ?? path),
    // Not the type of a problem that contains the lock, which is a URI.
    type: nameLike(/^[\w.-]{1,64}$/, lock['type']),
    id: nameLike(opaqueTag, firstName(lock, 'id', 'lock_id')),
    /** With quotes, which some bodies lack. */
    etag: etagIn(lock),
    owner: line(ownerIn(lock), maxNameLength),
    /** The URL of the run that acquired the lock. */
    origin: line(nameIn(lock['origin']), maxOriginLength),
    note: line(nameIn(lock['note']), maxNoteLength),
    acquired_at: beginningIn(lock),
    expires_at: endIn(lock),
    /** A number that grows with each lock, so that writes under an older lock can be rejected. */
    fence: fenceIn(lock),
    raw: lock,
  };
}

/** Whether a body is a lock, and not the message of a gateway. */
export function namesLock(body: JsonObject): boolean {
  const lock = lockIn(body);
  return firstName(lock, 'path', 'id', 'lock_id') !== undefined || describesHolder(lock);
}

/** The object itself, or the lock inside it. A lock may have a member `data` of its own. */
function lockIn(body: JsonObject): JsonObject {
  const { lock, data } = body;
  if (isObject(lock)) return lock;
  return isObject(data) && firstName(body, 'path', 'id', 'lock_id') === undefined ? data : body;
}

/** The current lock, from the body of a 409, 412 or 423. */
function holderIn(response: ClientResponse): JsonObject | undefined {
  const body = objectIn(response);
  const { lock, locks } = body;
  const named = [lock, isArray(locks) ? locks[0] : undefined].find(isObject);
  return named ?? (describesHolder(body) ? body : undefined);
}

/** Characters of an entity tag (RFC 9110 section 8.8.3). An id with any other cannot be sent as proof. */
const opaqueTag = /^[\x21\x23-\x7e\x80-\xff]{1,1024}$/;

function nameLike(pattern: RegExp, json: Json | undefined): string | undefined {
  const name = nameIn(json);
  return name !== undefined && pattern.test(name) ? name : undefined;
}

function etagIn(lock: JsonObject): string | undefined {
  const tag = withoutQuotes(nameIn(lock['etag']) ?? '');
  return opaqueTag.test(tag) ? `"${tag}"` : undefined;
}

/** Some services omit the quotes in a body, some in the header, too. */
const withoutQuotes = (etag: string): string => etag.replace(/^"(.*)"$/s, '$1');

/** Some services send large numbers as strings. An inexact number would protect nothing. */
function fenceIn(lock: JsonObject): number | undefined {
  const number = Number(nameLike(/^\d{1,16}$/, lock['fence']));
  return Number.isSafeInteger(number) ? number : undefined;
}

const describesHolder = (body: JsonObject): boolean => ownerIn(body) !== undefined || endIn(body) !== undefined;

/** A name, or a person who has one. */
const ownerIn = ({ owner, holder, locked_by, user }: JsonObject): string | undefined =>
  [owner, holder, locked_by, user]
    .map((one) => nameIn(one) ?? firstName(asObject(one), 'name', 'login', 'id'))
    .find((name) => name !== undefined);

/** Shows that a lock is later than ours if nothing else identifies it. */
const beginningIn = (lock: JsonObject): string | undefined =>
  ['acquired_at', 'locked_at', 'created_at', 'since'].map((name) => timestampIn(lock[name])).find((time) => time);

const endIn = ({ expires_at, expires }: JsonObject): string | undefined =>
  timestampIn(expires_at) ?? timestampIn(expires);

/** Files with a newer version: all of a lease, or the one of a lock. */
export const outdatedIn = ({ outdated }: JsonObject, sanitizer: Sanitizer): readonly Outdated[] =>
  (isArray(outdated) ? outdated : [outdated]).flatMap((each) => readOutdated(each, sanitizer) ?? []);

/** Undefined if the value does not name a path and a branch. */
function readOutdated(value: Json | undefined, sanitizer: Sanitizer): Outdated | undefined {
  const outdated = asObject(value);
  const line = (name: string): string => sanitizer.line(nameIn(outdated[name]) ?? '', maxNameLength);
  const path = nameIn(outdated['path']);
  const branch = line('branch');
  if (path === undefined || branch === '') return undefined;
  return {
    path: plainName(path),
    branch,
    commit: line('commit'),
    author: line('author'),
    at: timestampIn(outdated['at']) ?? '',
    ...(outdated['deleted'] === true && { deleted: true }),
  };
}

/** Newer versions of the files of granted locks. */
export type LockComparison = Pick<Comparison, 'outdated' | 'as_of'>;

/** Undefined if the locks are up to date, or were not compared. */
export function comparisonIn(response: ClientResponse): LockComparison | undefined {
  const body = lockIn(objectIn(response));
  const outdated = outdatedIn(body, response.sanitizer);
  const asOf = body['as_of'];
  if (asOf !== undefined) return { outdated, as_of: timestampIn(asOf) ?? null };
  return outdated.length === 0 ? undefined : { outdated };
}
