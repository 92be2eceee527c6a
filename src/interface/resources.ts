/** Times are RFC 3339 in UTC, with milliseconds. */
export type Timestamp = string;

export const syncStatuses = ['queued', 'running', 'succeeded', 'failed'] as const;
export type SyncStatus = (typeof syncStatuses)[number];

/** Maximum number of missing objects that a sync lists. `missing_objects` counts all of them. */
export const maxNamedMissing = 10;

export const lockTypes = ['exclusive'] as const;

/** A version of a file on another branch that the branch of the request does not contain. */
export interface Outdated {
  readonly path: string;
  readonly branch: string;
  readonly commit: string;
  readonly author: string;
  readonly at: Timestamp;
  /** Set if the commit deleted the file. */
  readonly deleted?: true | undefined;
}

/** Whether a lock on an outdated file is refused, acquired with a warning, or not checked. */
export const latestModes = ['refuse', 'warn', 'off'] as const;

export type LatestMode = (typeof latestModes)[number];

/** The file versions that the branch of a client does not contain. */
export interface Comparison {
  readonly latest: LatestMode;
  readonly outdated: readonly Outdated[];
  /** Age of the mirror, if it could not be brought up to date in time; null if not all branches could be compared. */
  readonly as_of?: Timestamp | null | undefined;
}

export interface Compared extends Comparison {
  /** The branch that was compared with the others. */
  readonly branch?: string | undefined;
  /** Why not all branches were compared; set if `as_of` is null. */
  readonly gap?: ComparisonGap;
}

export interface ComparisonGap {
  /** A sentence for users. */
  readonly reason: string;
  /** Whether another attempt would give the same result. */
  readonly isLasting: boolean;
}

/** A lock path with a name, in a list of similar ones, such as license seats. */
export interface PoolItem {
  readonly path: string;
  /** Omits the values of secret properties, unless the caller holds the lock on the path. */
  readonly properties: Readonly<Record<string, string>>;
  readonly secret: readonly string[];
}

/** The item without secrets, for texts that others can read. */
export function withoutSecrets<Item extends PoolItem>(item: Item): Item {
  const shown = Object.entries(item.properties).filter(([name]) => !item.secret.includes(name));
  return { ...item, properties: Object.fromEntries(shown) };
}

export const hookEvents = [
  'sync.succeeded',
  'sync.failed',
  'lock.acquired',
  'lock.released',
  'lock.expired',
  'lock.requested',
] as const;

export type HookEvent = (typeof hookEvents)[number];

export const hookFormats = ['standard', 'github', 'slack', 'discord', 'teams'] as const;

export type HookFormat = (typeof hookFormats)[number];
