import { parseWorkspaceId, type WorkspaceId } from '../../client/workspace-id.ts';
import { type LockPath, parseHeldPath } from '../../interface/lock-path.ts';
import type { Parsed } from '../../interface/parsed.ts';
import { parseTtl, type Ttl } from '../../interface/ttl.ts';

/** A lock as the service granted it: what proves later that it is ours, and what people want to know of it. */
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

/** Which lock: a job may use several services, and several workspaces. */
export interface LockAddress {
  readonly service: string;
  readonly workspace: string;
  readonly path: string;
}

/** All that a step is about to ask for: it may never come to the last of its paths. */
export interface LockPlan {
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
  /** The idempotency key of the request: asking again with it tells what became of it. */
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
export interface Denial extends LockAddress {
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
export interface Ending extends LockAddress {
  readonly kind: 'ended';
  readonly at: string;
  readonly how: 'released' | 'absent' | 'lost';
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
}

export type Entry = LockPlan | Intent | Grant | Denial | Releasing | Ending;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const areStrings = (value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  names.every((name) => typeof value[name] === 'string');

const areOptionalStrings = (value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  names.every((name) => value[name] === undefined || typeof value[name] === 'string');

export const isGrantedLock = (value: unknown): value is GrantedLock =>
  isRecord(value) &&
  areStrings(value, ['path', 'type', 'expires_at']) &&
  areOptionalStrings(value, ['id', 'etag', 'owner', 'acquired_at']) &&
  (value['fence'] === undefined || Number.isSafeInteger(value['fence']));

const isStringList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isLockAddress = ({ service, workspace, path }: Readonly<Record<string, unknown>>): boolean =>
  typeof service === 'string' &&
  typeof workspace === 'string' &&
  parseWorkspaceId(workspace).ok &&
  typeof path === 'string' &&
  parseHeldPath(path).ok;

function isEntry(value: Readonly<Record<string, unknown>>): boolean {
  if (value['kind'] === 'plan') {
    const named = areOptionalStrings(value, ['stepName']);
    return named && areStrings(value, ['service', 'workspace', 'step', 'at']) && isStringList(value['paths']);
  }
  if (!isLockAddress(value) || !areStrings(value, ['at'])) return false;
  switch (value['kind']) {
    case 'intent':
      return (
        areStrings(value, ['step', 'key', 'type', 'ttl']) &&
        parseTtl(String(value['ttl'])).ok &&
        typeof value['byService'] === 'boolean'
      );
    case 'granted':
      return (
        areStrings(value, ['step', 'key']) && Number.isSafeInteger(value['waitedMs']) && isGrantedLock(value['lock'])
      );
    case 'denied':
      return areStrings(value, ['step', 'key']);
    case 'releasing':
      return areOptionalStrings(value, ['id', 'etag']);
    case 'ended':
      return (
        areOptionalStrings(value, ['id', 'etag']) && ['released', 'absent', 'lost'].some((how) => how === value['how'])
      );
    default:
      return false;
  }
}

/** Undefined for a line that was cut off, or that something else wrote. */
export function readEntry(line: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    // Every field has been checked for the kind that it says it is.
    return isRecord(value) && isEntry(value) ? (value as unknown as Entry) : undefined;
  } catch {
    return undefined;
  }
}

function parsedOrThrow<T>(parsed: Parsed<T>): T {
  if (parsed.ok) return parsed.value;
  throw new Error(`The ledger has an entry that must not be there. ${parsed.why}`);
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
