import { parseWorkspaceId, type WorkspaceId } from '../../client/access.ts';
import { type LockPath, parseHeldPath } from '../../interface/lock-path.ts';
import type { Parsed } from '../../interface/parsed.ts';
import { parseTtl, type Ttl } from '../../interface/ttl.ts';

/** A lock as the service granted it, with its proof of ownership (id, ETag) and the facts for reports. */
export interface GrantedLock {
  readonly path: string;
  readonly type: string;
  readonly id?: string | undefined;
  /** As it was sent, with its quotes. */
  readonly etag?: string | undefined;
  readonly owner?: string | undefined;
  readonly acquired_at?: string | undefined;
  readonly fence?: number | undefined;
  readonly expires_at: string;
}

/** When the first of the locks expires, in milliseconds since 1970; NaN if one of the times is not readable. */
export const soonestEnd = (locks: readonly Pick<GrantedLock, 'expires_at'>[]): number =>
  locks.reduce((soonest, { expires_at }) => Math.min(soonest, Date.parse(expires_at)), Number.POSITIVE_INFINITY);

/** Which lock: a job may use several services, and several workspaces. */
export interface LockAddress {
  readonly service: string;
  readonly workspace: string;
  readonly path: string;
}

/** Paths that a step is about to ask for; it may never get to the last of them. A long plan takes several lines. */
interface LockPlan {
  readonly kind: 'plan';
  readonly service: string;
  readonly workspace: string;
  readonly step: string;
  /** What the workflow calls the step: its id there, or the name that the runner gives it. */
  readonly stepName?: string | undefined;
  readonly at: string;
  readonly paths: readonly string[];
}

/** Written before a lock is asked for: from here on it may have been granted. */
export interface Intent extends LockAddress {
  readonly kind: 'intent';
  readonly step: string;
  /** By the clock of the service if it was known, like all times here. */
  readonly at: string;
  /** Whether it was known: before the first answer, the time is that of this machine. */
  readonly byService: boolean;
  /** The idempotency key of the request: sent again with it, the request returns its first result. */
  readonly key: string;
  readonly type: string;
  readonly ttl: string;
}

export interface Grant extends LockAddress {
  readonly kind: 'granted';
  readonly step: string;
  readonly at: string;
  readonly key: string;
  /** Since this step first asked for the path. */
  readonly waitedMs: number;
  readonly lock: GrantedLock;
}

/** The service said no: there is nothing to release. */
interface Denial extends LockAddress {
  readonly kind: 'denied';
  readonly step: string;
  readonly at: string;
  readonly key: string;
}

/** Written before a lock is released: from here on it may be gone, and the path somebody else's. */
export interface Releasing extends LockAddress {
  readonly kind: 'releasing';
  readonly at: string;
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
}

/** The lock is no longer ours: released, found to be gone, or found to be somebody else's. */
export interface LockEnd extends LockAddress {
  readonly kind: 'ended';
  readonly at: string;
  readonly how: 'released' | 'absent' | 'lost';
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
}

/** Paths that the next round of renewals leaves out, if they are too many for its own line. */
interface LeftOut {
  readonly kind: 'left-out';
  readonly step: string;
  readonly at: string;
  readonly paths: readonly string[];
}

/** All locks that the step held were renewed, except those on the paths of `except` and of the lines `left-out` before. */
export interface Renewed {
  readonly kind: 'renewed';
  readonly service: string;
  readonly workspace: string;
  readonly step: string;
  readonly at: string;
  /** The first of them ends then. */
  readonly expires_at: string;
  readonly except?: readonly string[] | undefined;
}

/** Some locks of the step could not be renewed, until a later line says that they were. */
interface RenewalError {
  readonly kind: 'unrenewed';
  readonly service: string;
  readonly workspace: string;
  readonly step: string;
  readonly at: string;
  readonly reason: string;
}

/** The holder of a lost lock's path, from the refusal to renew that lock. */
interface NextHolder {
  readonly owner?: string | undefined;
  readonly origin?: string | undefined;
  readonly acquired_at?: string | undefined;
  readonly expires_at?: string | undefined;
}

/** The service has refused to renew the lock: it ended while the job relied on it. */
export interface Loss extends LockAddress {
  readonly kind: 'lost';
  readonly step: string;
  readonly at: string;
  /** The key of the request that was granted the lock. */
  readonly key: string;
  readonly holder?: NextHolder | undefined;
}

/** From here on no lock of the step is renewed. */
interface RenewalStop {
  readonly kind: 'stop-renewing';
  readonly step: string;
  readonly at: string;
}

export type Entry =
  | LockPlan
  | Intent
  | Grant
  | Denial
  | LeftOut
  | Renewed
  | RenewalError
  | Loss
  | RenewalStop
  | Releasing
  | LockEnd;

type Check = (value: unknown) => boolean;
/** The type of each required member; others are allowed. */
type Shape = Readonly<Record<string, Check>>;

const isText: Check = (value) => typeof value === 'string';
const isOptionalText: Check = (value) => value === undefined || isText(value);

const hasShape = (value: unknown, shape: Shape): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(shape).every(([name, check]) => check(Reflect.get(value, name)));

const proof: Shape = { id: isOptionalText, etag: isOptionalText };
const lockShape: Shape = {
  ...proof,
  path: isText,
  type: isText,
  owner: isOptionalText,
  acquired_at: isOptionalText,
  fence: (fence) => fence === undefined || Number.isSafeInteger(fence),
  expires_at: isText,
};

export const isGrantedLock = (value: unknown): value is GrantedLock => hasShape(value, lockShape);

const place: Shape = { service: isText, workspace: isText, at: isText };
const address: Shape = {
  ...place,
  workspace: (id) => typeof id === 'string' && parseWorkspaceId(id).ok,
  path: (path) => typeof path === 'string' && parseHeldPath(path).ok,
};
const request: Shape = { ...address, step: isText, key: isText };
const isTtl: Check = (ttl) => typeof ttl === 'string' && parseTtl(ttl).ok;
const nextHolder: Shape = {
  owner: isOptionalText,
  origin: isOptionalText,
  acquired_at: isOptionalText,
  expires_at: isOptionalText,
};
const isTextList: Check = (list) => Array.isArray(list) && list.every(isText);

const shapes: Readonly<Record<Entry['kind'], Shape>> = {
  plan: { ...place, step: isText, stepName: isOptionalText, paths: isTextList },
  intent: { ...request, type: isText, ttl: isTtl, byService: (value) => typeof value === 'boolean' },
  granted: { ...request, waitedMs: Number.isSafeInteger, lock: isGrantedLock },
  denied: request,
  'left-out': { step: isText, at: isText, paths: isTextList },
  renewed: { ...place, step: isText, expires_at: isText, except: (list) => list === undefined || isTextList(list) },
  unrenewed: { ...place, step: isText, reason: isText },
  lost: { ...request, holder: (holder) => holder === undefined || hasShape(holder, nextHolder) },
  'stop-renewing': { step: isText, at: isText },
  releasing: { ...address, ...proof },
  ended: { ...address, ...proof, how: (how) => how === 'released' || how === 'absent' || how === 'lost' },
};

/** Undefined for a line that was cut off, or that something else wrote. */
export function readEntry(line: string): Entry | undefined {
  try {
    const entry = JSON.parse(line);
    const kind: Entry['kind'] = entry?.kind;
    return Object.hasOwn(shapes, kind) && hasShape(entry, shapes[kind]) ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** The address as the client takes it: it was parsed before it was written, and again when it was read. */
export const parsedAddress = ({
  workspace,
  path,
}: LockAddress): { readonly workspace: WorkspaceId; readonly path: LockPath } => ({
  workspace: parsedOrThrow(parseWorkspaceId(workspace)),
  path: parsedOrThrow(parseHeldPath(path)),
});

export const parsedTtl = ({ ttl }: Intent): Ttl => parsedOrThrow(parseTtl(ttl));

function parsedOrThrow<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`The ledger has an entry that must not be there. ${parsed.reason}`);
}
