/** A lock as the service granted it: what proves later that it is ours, and what people are told of it. */
export interface GrantedLock {
  readonly path: string;
  readonly type: string;
  readonly id?: string | undefined;
  /** As it was sent, with its quotes. */
  readonly etag?: string | undefined;
  readonly owner?: string | undefined;
  readonly acquired_at?: string | undefined;
  readonly expires_at: string;
}

interface Place {
  /** The service and the workspace: a job may use several. */
  readonly service: string;
  readonly workspace: string;
  readonly path: string;
}

/** Put down before a lock is asked for: from here on it may have been granted. */
export interface Intent extends Place {
  readonly kind: 'intent';
  readonly step: string;
  readonly at: string;
  /** The idempotency key of the request: asking again with it tells what became of it. */
  readonly key: string;
  readonly type: string;
  readonly ttl: string;
  /** False: the locks outlive the job, and the post-step leaves them alone. */
  readonly autoRelease: boolean;
}

export interface Grant extends Place {
  readonly kind: 'granted';
  readonly step: string;
  readonly at: string;
  readonly key: string;
  /** As in the intent, whose line may be damaged. */
  readonly autoRelease: boolean;
  readonly lock: GrantedLock;
}

/** The service said no: nothing is there to be released. */
export interface Denial extends Place {
  readonly kind: 'denied';
  readonly step: string;
  readonly at: string;
  readonly key: string;
}

/** The lock is no longer ours: released, found to be gone, or found to be somebody else's. */
export interface Ending extends Place {
  readonly kind: 'ended';
  readonly at: string;
  readonly how: 'released' | 'absent' | 'lost';
  readonly id?: string | undefined;
  readonly etag?: string | undefined;
}

export type Entry = Intent | Grant | Denial | Ending;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const areTexts = (value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  names.every((name) => typeof value[name] === 'string');

const areTextsIfThere = (value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean =>
  names.every((name) => value[name] === undefined || typeof value[name] === 'string');

export const isGrantedLock = (value: unknown): value is GrantedLock =>
  isRecord(value) &&
  areTexts(value, ['path', 'type', 'expires_at']) &&
  areTextsIfThere(value, ['id', 'etag', 'owner', 'acquired_at']);

function isEntry(value: unknown): value is Entry {
  if (!isRecord(value) || !areTexts(value, ['kind', 'service', 'workspace', 'path', 'at'])) return false;
  switch (value['kind']) {
    case 'intent':
      return areTexts(value, ['step', 'key', 'type', 'ttl']) && typeof value['autoRelease'] === 'boolean';
    case 'granted':
      return (
        areTexts(value, ['step', 'key']) && typeof value['autoRelease'] === 'boolean' && isGrantedLock(value['lock'])
      );
    case 'denied':
      return areTexts(value, ['step', 'key']);
    case 'ended':
      return (
        areTextsIfThere(value, ['id', 'etag']) && ['released', 'absent', 'lost'].some((how) => how === value['how'])
      );
    default:
      return false;
  }
}

/** Undefined for a line that was cut off, or that somebody else wrote. */
export function readEntry(line: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
