import { parseWorkspaceId, type WorkspaceId } from '../../client/access.ts';
import { type LockPath, parseHeldPath } from '../../interface/lock-path.ts';
import type { Parsed } from '../../interface/parsed.ts';
import { parseTtl, type Ttl } from '../../interface/ttl.ts';

/** A lock as the service granted it, with its proof of ownership (id, ETag) and the facts for reports. */
export interface GrantedLock {
  readonly path: string;
  readonly type: string;
  readonly id?: string | undefined;
  /** As the service sent it, with quotes. */
  readonly etag?: string | undefined;
  readonly owner?: string | undefined;
  readonly acquired_at?: string | undefined;
  readonly fence?: number | undefined;
  readonly expires_at: string;
}

/** The earliest expiry of the locks, in milliseconds since 1970; NaN if any of the times is invalid. */
export const soonestEnd = (locks: readonly Pick<GrantedLock, 'expires_at'>[]): number =>
  locks.reduce((soonest, { expires_at }) => Math.min(soonest, Date.parse(expires_at)), Number.POSITIVE_INFINITY);

/** The location of a lock: a job may use several services and workspaces. */
export interface LockAddress {
  readonly service: string;
  readonly workspace: string;
  readonly path: string;
}

/** Paths that a step is about to request. It may stop before the last one. */
interface LockPlan {
  readonly kind: 'plan';
  readonly service: string;
  readonly workspace: string;
  readonly step: string;
  /** The id of the step in the workflow, or the name that the runner generated. */
  readonly stepName?: string | undefined;
  readonly at: string;
  readonly paths: readonly string[];
}

/** Written before a lock is requested: from then on it may have been granted. */
export interface Intent extends LockAddress {
  readonly kind: 'intent';
  readonly step: string;
  /** By the clock of the service if it was known, like all times here. */
  readonly at: string;
  /** False before the first response: the time is then that of this machine. */
  readonly byService: boolean;
  /** The idempotency key of the request. A repeated request with this key returns the first result. */
  readonly key: string;
  readonly type: string;
  readonly ttl: string;
  /** The id of the lock of someone else that was on the path shortly before. */
  readonly heldBy?: string | undefined;
}

export interface Grant extends LockAddress {
  readonly kind: 'granted';
  readonly step: string;
  readonly at: string;
  readonly key: string;
  /** Time since this step first requested the path. */
  readonly waitedMs: number;
  readonly lock: GrantedLock;
  /** Whether the service compares the files of locks with other branches. */
  readonly isCompared?: boolean | undefined;
}

/** The service refused the lock: there is nothing to release. */
interface Denial extends LockAddress {
  readonly kind: 'denied';
  readonly step: string;
  readonly at: string;
  readonly key: string;
}

/** Written before a lock is released: from then on it may be gone, and someone else may hold the path. */
export interface Releasing extends LockAddress {
  readonly kind: 'releasing';
  readonly at: string;
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
}

/** The lock is no longer ours: it was released, it is absent, or a different lock is on the path. */
export interface LockEnd extends LockAddress {
  readonly kind: 'ended';
  readonly at: string;
  readonly how: 'released' | 'absent' | 'lost';
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
}

/** All locks of the step were renewed, except those on the paths in `except`. */
export interface Renewed {
  readonly kind: 'renewed';
  readonly service: string;
  readonly workspace: string;
  readonly step: string;
  readonly at: string;
  /** The earliest expiry of the renewed locks. */
  readonly expires_at: string;
  readonly except?: readonly string[] | undefined;
}

/** Some locks of the step could not be renewed. The next `renewed` line supersedes this one. */
interface RenewalError {
  readonly kind: 'unrenewed';
  readonly service: string;
  readonly workspace: string;
  readonly step: string;
  readonly at: string;
  readonly reason: string;
}

/** The holder of a lost lock's path, from the refused renewal. */
interface NextHolder {
  readonly owner?: string | undefined;
  readonly origin?: string | undefined;
  readonly acquired_at?: string | undefined;
  readonly expires_at?: string | undefined;
}

/** The service refused to renew the lock: it ended while the job relied on it. */
export interface Loss extends LockAddress {
  readonly kind: 'lost';
  readonly step: string;
  readonly at: string;
  /** The idempotency key of the request that acquired the lock. */
  readonly key: string;
  readonly holder?: NextHolder | undefined;
}

/** No lock of the step is renewed after this line. */
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
  intent: {
    ...request,
    type: isText,
    ttl: isTtl,
    heldBy: isOptionalText,
    byService: (value) => typeof value === 'boolean',
  },
  granted: { ...request, waitedMs: Number.isSafeInteger, lock: isGrantedLock },
  denied: request,
  renewed: { ...place, step: isText, expires_at: isText, except: (list) => list === undefined || isTextList(list) },
  unrenewed: { ...place, step: isText, reason: isText },
  lost: { ...request, holder: (holder) => holder === undefined || hasShape(holder, nextHolder) },
  'stop-renewing': { step: isText, at: isText },
  releasing: { ...address, ...proof },
  ended: { ...address, ...proof, how: (how) => how === 'released' || how === 'absent' || how === 'lost' },
};

/** Undefined if the line was truncated, or was not written by the action. */
export function readEntry(line: string): Entry | undefined {
  try {
    const entry = JSON.parse(line);
    const kind: Entry['kind'] = entry?.kind;
    return Object.hasOwn(shapes, kind) && hasShape(entry, shapes[kind]) ? entry : undefined;
  } catch {
    return undefined;
  }
}

/** Parses the location for the client. It was checked before it was written, and again when it was read. */
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
  throw new Error(`The ledger has an invalid entry. ${parsed.reason}`);
}
