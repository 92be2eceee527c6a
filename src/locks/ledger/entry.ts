import { isHeaderValue, parseWorkspaceId } from '../../client/access.ts';
import type { AcquiredLock } from '../../client/known-lock.ts';
import { timestampIn } from '../../client/time.ts';
import { parseTtl, type Ttl } from '../../interface/duration.ts';
import { parseHeldPath } from '../../interface/lock-path.ts';
import type { Parsed } from '../../interface/parsed.ts';

/** A lock as the service granted it, with its proof of ownership (id, ETag) and the facts for reports. */
export type GrantedLock = Checked<typeof isGrantedLock>;

/** The earliest expiry of the locks, in milliseconds since 1970; NaN if any of the times is unknown. */
export const soonestExpiry = (locks: readonly { readonly expires_at?: string | undefined }[]): number =>
  locks.reduce((soonest, { expires_at = '' }) => Math.min(soonest, Date.parse(expires_at)), Number.POSITIVE_INFINITY);

/**
 * The lifetime of a lock from `at` on, the time of a response by the clock of the service. A service may shorten it, and
 * a response that is repeated after an outage has less of it. Count it by a monotonic clock: the clock of this machine
 * may be wrong by days. So may `at`, if a gateway sets `Date`: a lifetime that is already over is ignored.
 */
export function lifetimeMs({ at, lock }: Pick<Grant, 'at' | 'lock'>, { seconds }: Ttl): number {
  const end = Date.parse(lock.expires_at);
  const lifetimes = [at, lock.acquired_at ?? at].map((from) => end - Date.parse(from)).filter((ms) => ms > 0);
  return Math.min(seconds * 1_000, ...lifetimes);
}

type Shapes = typeof shapes;

/** A line of the ledger. Its times are by the clock of the service, once that is known. */
export type Entry = { readonly [Kind in keyof Shapes]: { readonly kind: Kind } & Members<Shapes[Kind]> }[keyof Shapes];

type EntryOf<Kind extends Entry['kind']> = Extract<Entry, { readonly kind: Kind }>;

export type Intent = EntryOf<'intent'>;
export type Grant = EntryOf<'granted'>;
export type Loss = EntryOf<'lost'>;
export type LeaseIntent = EntryOf<'lease'>;

/** The ETag is as the service sent it, with quotes. */
const proof = { id: isOptional(isString), etag: isOptional(isString) };

const isHolder = hasShape({
  owner: isOptional(isString),
  origin: isOptional(isString),
  acquired_at: isOptional(isTime),
  expires_at: isOptional(isTime),
});

const isGrantedLock = hasShape({
  ...proof,
  path: isValid(parseHeldPath),
  type: isString,
  owner: isOptional(isString),
  acquired_at: isOptional(isTime),
  fence: isOptional(isInteger),
  expires_at: isTime,
  lease: isOptional(isString),
});

/** Without what only reports and outputs of the step itself show. */
export const grantedLock = ({ note, origin, raw, ...lock }: AcquiredLock): GrantedLock => lock;

/** Sent in a header. */
const isKey: Check<string> = (value): value is string => isString(value) && isHeaderValue(value);

const isTtl: Check<string> = (value): value is string => isString(value) && parseTtl(value).ok;

const ofStep = { service: isString, workspace: isString, step: isString, at: isTime };
const location = {
  service: isString,
  workspace: isValid(parseWorkspaceId),
  path: isValid(parseHeldPath),
  at: isTime,
};
/** A process by id and start time, because the system reuses ids. */
export type RecordedProcess = Checked<typeof isRecordedProcess>;

export const isRecordedProcess = hasShape({ pid: isInteger, startedAt: isOptional(isString) });

/** `key` is the idempotency key of the request. A repeated request with this key returns the first result. */
const request = { ...location, step: isString, key: isKey };
/** `key` is that of the lock's grant, if this job has acquired it. */
const ending = { ...location, ...proof, key: isOptional(isString) };

const shapes = {
  /** The first line of a step. `main` is the process that sends its requests. */
  'step-started': { step: isString, at: isTime, main: isOptional(isRecordedProcess) },
  /** Paths that a step is about to request. It may stop before the last one. */
  plan: { ...ofStep, paths: isStringList },
  /**
   * Written before a lock is requested: from then on it may have been granted. `byService` is false before the first
   * response: the time is then that of this machine.
   */
  intent: { ...request, type: isString, ttl: isTtl, note: isOptional(isString), byService: isBoolean },
  /**
   * `waitedMs` is the time since the step first requested the path. `lastsUntil`: the earliest expiry without a renewal, by
   * the clock of the machine. `renewedUntil`: with the last one, which a gateway may have answered.
   */
  granted: {
    ...request,
    waitedMs: isInteger,
    lock: isGrantedLock,
    lastsUntil: isOptional(isInteger),
    renewedUntil: isOptional(isInteger),
  },
  /**
   * Written before a lease is requested: from then on it may hold locks. `path` is the first of its paths, or names the
   * pool.
   */
  lease: { ...location, path: isString, step: isString, lease: isString, type: isString, ttl: isTtl },
  /** The lease is dead: it holds nothing, and will be granted nothing. */
  'lease-ended': { ...ofStep, lease: isString },
  /**
   * The step has all its locks. Until then, it may still give back what it was granted. With `outlivesJob`, which only
   * the state of the step has, they outlive the job: `auto-release` is false.
   */
  acquired: { ...ofStep, outlivesJob: isOptional(isBoolean) },
  /**
   * The post-step has begun: no lock of the step is renewed after this line, and whatever the step is granted after it,
   * it gives back.
   */
  'step-ended': { step: isString, at: isTime },
  /**
   * All locks of the step were renewed, except those on some paths, and those lost before. `expires_at` is their earliest
   * expiry, and `renewedUntil` by the clock of the machine.
   */
  renewed: { ...ofStep, expires_at: isTime, renewedUntil: isOptional(isInteger), except: isOptional(isStringList) },
  /** Some locks of the step could not be renewed. The next `renewed` line supersedes this one. */
  unrenewed: { ...ofStep, reason: isString },
  /** The service refused to renew the lock, and may have named its new holder: it ended while the job relied on it. */
  lost: { ...request, holder: isOptional(isHolder) },
  /** Another lock, which a renewal has found or made while ours was released. `reason` says why it was not released. */
  'left-alone': { step: isString, at: isTime, reason: isString },
  /** The run was to be cancelled because the step lost a lock. `reason` says why it was not. */
  'run-cancelled': { step: isString, at: isTime, reason: isOptional(isString) },
  /**
   * Written before a lock is released: from then on it may be gone, and someone else may hold the path. With `failed`,
   * the request had no effect.
   */
  releasing: { ...ending, failed: isOptional(isBoolean) },
  /** The service has shown that it is ours: from then on, responses without its marks are from a gateway. */
  marks: { service: isString, at: isTime },
  /** The lock is not ours, or no longer: it was refused, released, is absent, or a different lock is on the path. */
  ended: ending,
};

/** Undefined if the line was truncated, or was not written by the action. */
export function readEntry(line: string): Entry | undefined {
  try {
    const entry = JSON.parse(line);
    const kind: Entry['kind'] = entry?.kind;
    if (!Object.hasOwn(shapes, kind)) return undefined;
    const isComplete: (value: unknown) => boolean = hasShape<Shape>(shapes[kind]);
    return isComplete(entry) ? entry : undefined;
  } catch {
    return undefined;
  }
}

export function parsedTtl({ ttl }: Intent): Ttl {
  const parsed = parseTtl(ttl);
  if (parsed.ok) return parsed.value;
  throw new Error(`The ledger has an invalid entry. ${parsed.reason}`);
}

type Check<T> = (value: unknown) => value is T;
type Checked<C> = C extends Check<infer T> ? T : never;
/** A check for each member; others are allowed. */
type Shape = Readonly<Record<string, Check<unknown>>>;
type Optional<S extends Shape> = { [Name in keyof S]: undefined extends Checked<S[Name]> ? Name : never }[keyof S];
type Members<S extends Shape> = { readonly [Name in Exclude<keyof S, Optional<S>>]: Checked<S[Name]> } & {
  readonly [Name in Optional<S>]?: Checked<S[Name]>;
};

/** Whether a value from a file has the members of the shape. */
function hasShape<S extends Shape>(shape: S): Check<Members<S>> {
  return (value): value is Members<S> =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(shape).every(([name, check]) => check(Reflect.get(value, name)));
}

function isOptional<T>(check: Check<T>): Check<T | undefined> {
  return (value): value is T | undefined => value === undefined || check(value);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** Reports convert it to other formats, which would throw for any other text. */
function isTime(value: unknown): value is string {
  return isString(value) && timestampIn(value) !== undefined;
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === 'boolean';
}

function isStringList(list: unknown): list is readonly string[] {
  return Array.isArray(list) && list.every(isString);
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

/** Whether the text is valid as it is, without any correction. */
function isValid<T extends string>(parse: (text: string) => Parsed<T>): Check<T> {
  return (value): value is T => {
    const parsed = isString(value) ? parse(value) : undefined;
    return parsed?.ok === true && parsed.value === value;
  };
}
