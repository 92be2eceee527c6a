import { isHeaderValue, parseWorkspaceId } from '../../client/access.ts';
import type { AcquiredLock } from '../../client/known-lock.ts';
import { timestampIn } from '../../client/time.ts';
import { parseTtl, type Ttl } from '../../interface/duration.ts';
import { parseHeldPath } from '../../interface/lock-path.ts';
import type { Parsed } from '../../interface/parsed.ts';

/** A lock as granted by the service, with its proof of ownership (id, ETag) and the facts for reports. */
export type GrantedLock = Checked<typeof isGrantedLock>;

/** The earliest expiry of the locks, in milliseconds since 1970; NaN if the expiry of any lock is unknown. */
export const soonestExpiry = (locks: readonly { readonly expires_at?: string | undefined }[]): number =>
  locks.reduce((soonest, { expires_at = '' }) => Math.min(soonest, Date.parse(expires_at)), Number.POSITIVE_INFINITY);

/**
 * The lifetime of a lock after `at`, the time of a response by the clock of the service. A service may shorten the ttl,
 * and a response repeated after an outage has less of it left. Measure it with a monotonic clock: the clock of this
 * machine may be wrong by days. So may `at`, if a gateway sets `Date`, so a lifetime that has passed is ignored.
 */
export function lifetimeMs({ at, lock }: Pick<Grant, 'at' | 'lock'>, { seconds }: Ttl): number {
  const end = Date.parse(lock.expires_at);
  const lifetimes = [at, lock.acquired_at ?? at].map((from) => end - Date.parse(from)).filter((ms) => ms > 0);
  return Math.min(seconds * 1_000, ...lifetimes);
}

type Shapes = typeof shapes;

/** A line of the ledger. Times are by the clock of the service, once it is known. */
export type Entry = { readonly [Kind in keyof Shapes]: { readonly kind: Kind } & Members<Shapes[Kind]> }[keyof Shapes];

type EntryOf<Kind extends Entry['kind']> = Extract<Entry, { readonly kind: Kind }>;

export type Intent = EntryOf<'intent'>;
export type Grant = EntryOf<'granted'>;
export type Loss = EntryOf<'lost'>;
export type LeaseIntent = EntryOf<'lease'>;

/** The ETag is stored as the service sent it, with quotes. */
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

/** Omits fields that only reports and outputs of the step itself show. */
export const grantedLock = ({ note, origin, raw, ...lock }: AcquiredLock): GrantedLock => lock;

/** Valid in a header. */
const isKey: Check<string> = (value): value is string => isString(value) && isHeaderValue(value);

const isTtl: Check<string> = (value): value is string => isString(value) && parseTtl(value).ok;

const ofStep = { service: isString, workspace: isString, step: isString, at: isTime };
const location = {
  service: isString,
  workspace: isValid(parseWorkspaceId),
  path: isValid(parseHeldPath),
  at: isTime,
};
/** A process, identified by id and start time, because the system reuses ids. */
export type RecordedProcess = Checked<typeof isRecordedProcess>;

export const isRecordedProcess = hasShape({ pid: isInteger, startedAt: isOptional(isString) });

/** `key` is the idempotency key of the request. Repeating the request with this key returns the first result. */
const request = { ...location, step: isString, key: isKey };
/** `key` belongs to the grant of the lock, if this job acquired it. */
const ending = { ...location, ...proof, key: isOptional(isString) };

const shapes = {
  /** The first line of a step. `main` is the process that sends its requests. */
  'step-started': { step: isString, at: isTime, main: isOptional(isRecordedProcess) },
  /** Paths that a step is about to request. It may end before it has requested all of them. */
  plan: { ...ofStep, paths: isStringList },
  /**
   * Written before a lock is requested, because from then on it may be granted. `notSentBefore` is the time by the clock
   * of the machine, because the clock of the service may be unknown before its first response.
   */
  intent: { ...request, type: isString, ttl: isTtl, note: isOptional(isString), notSentBefore: isInteger },
  /**
   * `waitedMs` is the time since the first request for the path. `lastsUntil` is the earliest expiry without a renewal,
   * by the clock of the machine. `renewedUntil` includes the last renewal, which a gateway may have answered.
   */
  granted: {
    ...request,
    waitedMs: isInteger,
    lock: isGrantedLock,
    lastsUntil: isOptional(isInteger),
    renewedUntil: isOptional(isInteger),
  },
  /**
   * Written before a lease is requested, because from then on it may hold locks. `path` is its first path, or the name
   * of the pool.
   */
  lease: { ...location, path: isString, step: isString, lease: isString, type: isString, ttl: isTtl },
  /** The lease has ended: it holds no locks, and will not be granted any. */
  'lease-ended': { ...ofStep, lease: isString },
  /**
   * The step has all its locks. Until this line, it may still roll back its grants. `outlivesJob`, which only the state
   * of the step contains, means that the locks outlive the job: `auto-release` is false.
   */
  acquired: { ...ofStep, outlivesJob: isOptional(isBoolean) },
  /**
   * The post-step has started. After this line, no lock of the step is renewed, and the step releases whatever it is
   * still granted.
   */
  'step-ended': { step: isString, at: isTime },
  /**
   * All locks of the step were renewed, except those in `except` and those lost before. `expires_at` is the earliest
   * expiry of the renewed locks, and `renewedUntil` is the same by the clock of the machine.
   */
  renewed: { ...ofStep, expires_at: isTime, renewedUntil: isOptional(isInteger), except: isOptional(isStringList) },
  /** Some locks of the step could not be renewed. The next `renewed` line supersedes this one. */
  unrenewed: { ...ofStep, reason: isString },
  /** The lock ended while the job relied on it: the service refused to renew it, and may have named the new holder. */
  lost: { ...request, holder: isOptional(isHolder) },
  /** A different lock, found or made by a renewal while ours was being released. `reason` is why it stayed. */
  'left-alone': { step: isString, at: isTime, reason: isString },
  /** The run was to be cancelled because the step lost a lock. If it was not, `reason` says why. */
  'run-cancelled': { step: isString, at: isTime, reason: isOptional(isString) },
  /**
   * Written before a lock is released, because from then on it may be gone, and someone else may hold the path.
   * `failed` means that the request had no effect.
   */
  releasing: { ...ending, failed: isOptional(isBoolean) },
  /** The service has shown its marks. From then on, responses without marks are from a gateway. */
  marks: { service: isString, at: isTime },
  /** The lock does not exist, or is no longer this job's: refused, released, or another lock is on the path. */
  ended: ending,
};

/** Undefined if the line was truncated, or not written by the action. */
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
/** A check for each member. Other members are allowed. */
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

/** Reports convert times to other formats, which would throw for any other text. */
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

/** Whether the text is valid without any correction. */
function isValid<T extends string>(parse: (text: string) => Parsed<T>): Check<T> {
  return (value): value is T => {
    const parsed = isString(value) ? parse(value) : undefined;
    return parsed?.ok === true && parsed.value === value;
  };
}
