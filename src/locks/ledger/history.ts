import { isSameLock, type LockProof } from '../../client/known-lock.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { Entry, Grant, Intent, LeaseIntent, Loss, RecordedProcess } from './entry.ts';
import type { Ledger } from './ledger.ts';

interface WorkspaceRef {
  readonly service: string;
  readonly workspace: string;
}

/** A lock from the output of another step. */
type NamedLock = LockProof & { readonly path: LockPath };

/**
 * The workspaces in which the job holds locks, or tried to lock if it holds none. With `named`, only workspaces in
 * which its steps acquired all of these locks. Locks of other jobs may be in any workspace.
 */
export function readLockWorkspaces(ledger: Ledger, named: readonly NamedLock[] = []): readonly WorkspaceRef[] {
  const { entries } = ledger.read();
  const { held, granted } = historyOf(entries);
  const locks = [...granted()];
  const plans = entries.filter((entry) => entry.kind === 'plan');
  const usedLocks = named.length > 0 ? locks : held;
  const used: readonly WorkspaceRef[] = usedLocks.length > 0 ? usedLocks.map(({ grant }) => grant) : plans;
  const workspaces = new Map(used.map((each) => [JSON.stringify([each.service, each.workspace]), each]));
  const locksOn = Map.groupBy(locks, ({ grant }) => grant.path);
  const isIn = ({ service, workspace }: WorkspaceRef, named: NamedLock): boolean =>
    (locksOn.get(named.path) ?? []).some(
      (lock) => lock.grant.service === service && lock.grant.workspace === workspace && isMeant(lock, named) === true,
    );
  return [...workspaces.values()]
    .filter((one) => named.every((lock) => isIn(one, lock)))
    .map(({ service, workspace }) => ({ service, workspace }));
}

/**
 * The locks of a job in one workspace, according to its ledger. Steps may run in parallel, so the grants of a step
 * count only when it has all its locks, or has ended.
 */
export function readJobLocks(
  ledger: Ledger,
  service: string,
  workspace: string,
  isRunning: (main: RecordedProcess) => boolean = () => false,
) {
  const { entries, problem } = ledger.read();
  const isHere = (one: WorkspaceRef): boolean => one.service === service && one.workspace === workspace;
  const { held: all, granted, acquiring } = historyOf(entries);
  const underWay = new Set([...acquiring].filter(([, main]) => isRunning(main)).map(([step]) => step));
  const held = all.filter(({ grant }) => !underWay.has(grant.step));
  const byPath = new Map<LockPath, Granted>();
  for (const lock of held) if (isHere(lock.grant) && !lock.grantedAgain) byPath.set(lock.grant.path, lock);
  const endedAt = Map.groupBy(
    granted().filter(({ grant, ending }) => ending !== undefined && isHere(grant)),
    ({ grant }) => grant.path,
  );
  const heldByPath: ReadonlyMap<LockPath, JobLock> = byPath;
  /** The releases of locks that other jobs had acquired. */
  const releases = Map.groupBy(
    entries
      .filter((entry) => entry.kind === 'releasing' || entry.kind === 'ended')
      .filter((entry) => isHere(entry) && entry.key === undefined),
    ({ path }) => path,
  );

  /** Whether a step of the job has released the lock of another job, or may have. */
  function mayBeReleased(named: NamedLock): boolean {
    const all = (releases.get(named.path) ?? []).filter((entry) => isSameLock(entry, named) === true);
    const failed = all.filter((entry) => entry.kind === 'releasing' && entry.failed === true);
    // An attempt that had no effect has two entries.
    return all.length > 2 * failed.length;
  }

  return {
    held: heldByPath,
    /** The lock of this job that was passed; undefined if it is another one. */
    find(named: NamedLock): JobLock | undefined {
      const lock = byPath.get(named.path);
      // Some services use the same id for all locks on a path.
      const isEnded = (endedAt.get(named.path) ?? []).some((ended) => isMeant(ended, named));
      return lock && !isEnded && isMeant(lock, named) === true ? lock : undefined;
    },
    /** Whether a step of the job has already released or lost this lock, or may have. */
    hasEnded: (lock: NamedLock): boolean =>
      (endedAt.get(lock.path) ?? []).some((ended) => isMeant(ended, lock) ?? !byPath.has(lock.path)) ||
      mayBeReleased(lock),
    /** All paths that the steps of the job planned to lock. */
    planned: new Set(entries.flatMap((entry) => (entry.kind === 'plan' && isHere(entry) ? entry.paths : []))),
    /** Why there may be more locks. */
    gap: problem && `${problem} This job may have more locks: name them with \`locks\` or \`locks-file\`.`,
  };
}

/** Whether this is the passed lock, possibly before a renewal changed its ETag. Undefined if unknown. */
function isMeant({ proofs }: Granted, named: NamedLock): boolean | undefined {
  const same = new Set(proofs.map((proof) => isSameLock(proof, named)));
  return same.has(true) || (same.has(false) ? false : undefined);
}

export function historyOf(entries: readonly Entry[]) {
  const history = openHistory();
  history.add(entries);
  return history.read();
}

export interface JobLock {
  /** Includes the expiry after the last renewal. */
  readonly grant: Grant;
  /** Its release was started with an unknown result, or its record may be gone. */
  readonly mayBeReleased: boolean;
  /** The service refused to renew the lock. */
  readonly loss?: Loss | undefined;
  /** The entry that ended the lock, if known. */
  readonly ending?: Entry | undefined;
  /** Why the last renewal of its step failed; undefined if it succeeded, or none was due. */
  readonly renewalError?: string | undefined;
  /** The path was granted to this job again, so this lock must have ended. */
  readonly grantedAgain?: boolean;
}

type Renewal = Extract<Entry, { kind: 'renewed' }>;

interface Granted extends JobLock {
  /** Its ids and ETags since it was granted. */
  readonly proofs: LockProof[];
  /** The step's last renewal that is part of the expiry, or that does not apply to this lock. */
  readonly renewal: Renewal | undefined;
  /** Number of requests for its release that may have arrived. Parallel steps of a job may send several. */
  readonly releases: number;
}

export type History = ReturnType<typeof openHistory>;

/** The results of all requests of a job's steps. They grow with the ledger. */
export function openHistory() {
  const records = noRecords();
  return {
    /** Entries must be added in order, because later entries contain the results of earlier ones. */
    add(entries: readonly Entry[]): void {
      for (const entry of entries) addEntry(records, entry);
    },
    read: () => ({
      /** Granted, and not known to have ended. */
      held: [...held(records).map((lock) => ({ ...lock, renewalError: records.renewalErrors.get(lock.grant.step) }))],
      /** Requests without a result in the ledger. */
      unanswered: [...records.unanswered.values()],
      /** All granted locks, including ended ones. A path that was granted again has several. */
      granted: () => all(records),
      acquiring: records.acquiring,
      /** Leases that are not known to have ended. */
      leases: openLeases(records),
    }),
  };
}

type Records = ReturnType<typeof noRecords>;

const noRecords = () => ({
  unanswered: new Map<string, Intent>(),
  /** By idempotency key: all requests with a key are about the same lock. */
  granted: new Map<string, Granted>(),
  /** The keys of all grants of a path. */
  keysAt: new Map<string, string[]>(),
  /** The last renewal of each step. Kept per step, because thousands of locks may be renewed thousands of times. */
  renewals: new Map<string, Renewal>(),
  renewalErrors: new Map<string, string>(),
  /** The processes of steps that do not have all of their locks yet. */
  acquiring: new Map<string, RecordedProcess>(),
  leases: new Map<string, LeaseIntent>(),
});

const isHeld = ({ ending }: JobLock): boolean => ending === undefined;

const all = (records: Records): IteratorObject<Granted> =>
  records.granted.values().map((lock) => withRenewal(records, lock));

const held = (records: Records): IteratorObject<Granted> => all(records).filter(isHeld);

const withKeys = (records: Records, keys: readonly string[] = []): readonly Granted[] =>
  keys.flatMap((key) => records.granted.get(key) ?? []).map((lock) => withRenewal(records, lock));

function addEntry(records: Records, entry: Entry): void {
  const { unanswered, granted, keysAt, renewals, renewalErrors, acquiring, leases } = records;
  switch (entry.kind) {
    case 'step-started':
      if (entry.main !== undefined) acquiring.set(entry.step, entry.main);
      break;
    case 'intent':
      unanswered.set(entry.key, entry);
      break;
    case 'lease':
      leases.set(entry.lease, entry);
      break;
    case 'lease-ended':
      leases.delete(entry.lease);
      change(
        records,
        held(records).filter(({ grant }) => grant.lock.lease === entry.lease),
        { ending: entry },
      );
      break;
    case 'acquired':
    case 'step-ended':
      acquiring.delete(entry.step);
      break;
    case 'granted': {
      unanswered.delete(entry.key);
      // A second grant is about the same lock, whose ETag has changed in a renewal.
      const [before] = withKeys(records, [entry.key]).filter(isHeld);
      if (before === undefined) granted.delete(entry.key);
      const proofs = before?.proofs ?? [];
      // Changed in place, to avoid copying thousands of renewals each time.
      proofs.push({ id: entry.lock.id, etag: entry.lock.etag });
      granted.set(entry.key, {
        grant: { ...entry, at: before?.grant.at ?? entry.at },
        mayBeReleased: false,
        proofs,
        renewal: renewals.get(entry.step),
        releases: 0,
      });
      const others = (keysAt.get(locationKey(entry)) ?? []).filter((key) => key !== entry.key);
      change(records, withKeys(records, others), { grantedAgain: true });
      keysAt.set(locationKey(entry), [...others, entry.key]);
      break;
    }
    case 'renewed': {
      const { step, except = [] } = entry;
      const excepted = except.flatMap((path) => withKeys(records, keysAt.get(locationKey({ ...entry, path }))));
      change(
        records,
        excepted.filter(({ grant }) => grant.step === step),
        { renewal: entry },
      );
      renewals.set(step, entry);
      renewalErrors.delete(entry.step);
      break;
    }
    case 'unrenewed':
      renewalErrors.set(entry.step, entry.reason);
      break;
    case 'lost':
      change(records, withKeys(records, [entry.key]), { loss: entry });
      break;
    case 'releasing':
      for (const lock of locksOf(records, entry)) {
        const releases = Math.max(0, lock.releases + (entry.failed === true ? -1 : 1));
        change(records, [lock], { releases, mayBeReleased: releases > 0 });
      }
      break;
    case 'ended':
      if (entry.key !== undefined) unanswered.delete(entry.key);
      change(records, locksOf(records, entry), { ending: entry });
  }
}

/** The locks that an entry is about: by key, or by id or ETag, or otherwise the newest lock that it may be about. */
function locksOf(records: Records, entry: Extract<Entry, { kind: 'releasing' | 'ended' }>): readonly Granted[] {
  if (entry.key !== undefined) return withKeys(records, [entry.key]).filter(isHeld);
  const locks = withKeys(records, records.keysAt.get(locationKey(entry))).filter(isHeld);
  const same = locks.filter(({ grant }) => isSameLock(entry, grant.lock));
  return same.length > 0 ? same : locks.filter(({ grant }) => isSameLock(entry, grant.lock) === undefined).slice(-1);
}

function change({ granted }: Records, locks: Iterable<Granted>, to: Partial<Granted>): void {
  for (const lock of locks) granted.set(lock.grant.key, { ...lock, ...to });
}

/** Adds the expiry after the last renewal of its step. A lock that has ended, or may have, is not renewed. */
function withRenewal({ renewals }: Records, lock: Granted): Granted {
  const { grant, mayBeReleased, loss, ending } = lock;
  const renewal = renewals.get(grant.step);
  const isOver = mayBeReleased || (loss ?? ending) !== undefined;
  if (renewal === undefined || renewal === lock.renewal || isOver) return lock;
  const { expires_at, renewedUntil } = renewal;
  return { ...lock, renewal, grant: { ...grant, renewedUntil, lock: { ...grant.lock, expires_at } } };
}

/** A lease that held locks ends with the last of these. */
function openLeases(records: Records): readonly LeaseIntent[] {
  const ended = new Set(records.granted.values().map(({ grant }) => grant.lock.lease));
  for (const { grant } of held(records)) ended.delete(grant.lock.lease);
  return [...records.leases.values()].filter(({ lease }) => !ended.has(lease));
}

type Location = WorkspaceRef & { readonly path: string };

const locationKey = ({ service, workspace, path }: Location): string => JSON.stringify([service, workspace, path]);
