import { parseWorkspaceId } from '../../client/access.ts';
import { parseHeldPath } from '../../interface/lock-path.ts';
import { parseTtl, type Ttl } from '../../interface/ttl.ts';
import {
  type Check,
  type Checked,
  hasShape,
  isBoolean,
  isInteger,
  isOptional,
  isText,
  isTextList,
  isValid,
  type Members,
  type Shape,
} from './shape.ts';

/** A lock as the service granted it, with its proof of ownership (id, ETag) and the facts for reports. */
export type GrantedLock = Checked<typeof isGrantedLock>;

/** The earliest expiry of the locks, in milliseconds since 1970; NaN if any of the times is unknown. */
export const soonestExpiry = (locks: readonly { readonly expires_at?: string | undefined }[]): number =>
  locks.reduce((soonest, { expires_at = '' }) => Math.min(soonest, Date.parse(expires_at)), Number.POSITIVE_INFINITY);

/** The location of a lock: a job may use several services and workspaces. */
export type LockLocation = Pick<Intent, 'service' | 'workspace' | 'path'>;

type Shapes = typeof shapes;

/** A line of the ledger. Its times are by the clock of the service, once that is known. */
export type Entry = { readonly [Kind in keyof Shapes]: { readonly kind: Kind } & Members<Shapes[Kind]> }[keyof Shapes];

type EntryOf<Kind extends Entry['kind']> = Extract<Entry, { readonly kind: Kind }>;

export type Plan = EntryOf<'plan'>;
export type Intent = EntryOf<'intent'>;
export type Grant = EntryOf<'granted'>;
export type Loss = EntryOf<'lost'>;
export type Renewed = EntryOf<'renewed'>;

/** The ETag is as the service sent it, with quotes. */
const proof = { id: isOptional(isText), etag: isOptional(isText) };

const isHolder = hasShape({
  owner: isOptional(isText),
  origin: isOptional(isText),
  acquired_at: isOptional(isText),
  expires_at: isOptional(isText),
});

export const isGrantedLock = hasShape({
  ...proof,
  path: isValid(parseHeldPath),
  type: isText,
  owner: isOptional(isText),
  acquired_at: isOptional(isText),
  fence: isOptional(isInteger),
  expires_at: isText,
});

const isTtl: Check<string> = (value): value is string => isText(value) && parseTtl(value).ok;

const ofStep = { service: isText, workspace: isText, step: isText, at: isText };
const location = { service: isText, workspace: isValid(parseWorkspaceId), path: isValid(parseHeldPath), at: isText };
/** `key` is the idempotency key of the request. A repeated request with this key returns the first result. */
const request = { ...location, step: isText, key: isText };
/** `key` is that of the lock's grant, if this job has acquired it. */
const ending = { ...location, ...proof, key: isOptional(isText) };

const shapes = {
  /** Paths that a step is about to request. It may stop before the last one. `stepName` is its name in the workflow. */
  plan: { ...ofStep, stepName: isOptional(isText), paths: isTextList },
  /**
   * Written before a lock is requested: from then on it may have been granted. `byService` is false before the first
   * response: the time is then that of this machine. `heldBy` is the id of the lock of someone else that was on the
   * path shortly before.
   */
  intent: {
    ...request,
    type: isText,
    ttl: isTtl,
    heldBy: isOptional(isText),
    byService: isBoolean,
  },
  /**
   * `waitedMs` is the time since the step first requested the path. With `isCompared`, the service compares the files
   * of locks with other branches.
   */
  granted: {
    ...request,
    waitedMs: isInteger,
    lock: isGrantedLock,
    isCompared: isOptional(isBoolean),
  },
  /** The service refused the lock: there is nothing to release. */
  denied: request,
  /** All locks of the step were renewed, except those on some paths. `expires_at` is their earliest expiry. */
  renewed: { ...ofStep, expires_at: isText, except: isOptional(isTextList) },
  /** Some locks of the step could not be renewed. The next `renewed` line supersedes this one. */
  unrenewed: { ...ofStep, reason: isText },
  /** The service refused to renew the lock, and may have named its new holder: it ended while the job relied on it. */
  lost: { ...request, holder: isOptional(isHolder) },
  /** No lock of the step is renewed after this line. */
  'stop-renewing': { step: isText, at: isText },
  /** Written before a lock is released: from then on it may be gone, and someone else may hold the path. */
  releasing: ending,
  /** The lock is no longer ours: it was released, it is absent, or a different lock is on the path. */
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
