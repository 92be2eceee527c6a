/** What the service's work costs, in milliseconds. The simulation knows nothing else of the machine. */
export interface ServiceTimes {
  /** Of every request: to read it, to know its token, to answer. */
  readonly requestMs: number;
  /** A path taken, or released. */
  readonly writeMs: number;
  /** A path asked for that somebody holds. */
  readonly refuseMs: number;
  /** Once for each group of changes. */
  readonly groupMs: number;
  /** Once more for a group in which something was written: until it is on disk. */
  readonly flush: { readonly medianMs: number; readonly sigma: number };
  /** One lock in a list. */
  readonly listedMs: number;
  readonly listedBytes: number;
  /** There and back, and the client's own work. */
  readonly wireMs: number;
}

/** `nothing`: the route of locks without a database; `poll`: a path that somebody holds; `take`: one that nobody does. */
export const kinds = ['nothing', 'poll', 'take'] as const;
export type Kind = (typeof kinds)[number];

/** Of these two the model is made, and the one in between is left for it to predict. */
export const fewestClients = 1;
export const someClients = 32;
export const mostClients = 256;
export const clientCounts = [fewestClients, someClients, mostClients] as const;

export interface Load {
  readonly kind: Kind;
  readonly clients: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** What was measured of a real service on one database. */
export interface Measurements {
  readonly loads: readonly Load[];
  /** One page of a list of locks, with nobody else there. */
  readonly page: { readonly ms: number; readonly locks: number; readonly bytes: number };
}

/** Of a normal distribution, how far its 99th percentile is above its median. */
const sigmasOfP99 = 2.326;

/** Far beyond what a disk does: a p99 that is worse is that of a machine with other work. */
const widestFlush = 1.5;

export function loadOf({ loads }: Measurements, kind: Kind, clients: number): Load {
  const load = loads.find((each) => each.kind === kind && each.clients === clients);
  if (load === undefined) throw new Error(`There is no measurement of "${kind}" with ${clients} clients.`);
  return load;
}

/**
 * One client alone pays for the whole of a group, and of many each pays its part. So one measurement tells what a group
 * costs, and the other what comes with each request. What a release costs is not measured: it counts as a path taken.
 */
export function calibrate(measured: Measurements): ServiceTimes {
  const crowded = (kind: Kind): number => 1_000 / loadOf(measured, kind, mostClients).perSecond;
  const alone = (kind: Kind): Load => loadOf(measured, kind, fewestClients);
  const above = (ms: number, floor = 0): number => Math.max(floor, ms);

  const requestMs = crowded('nothing');
  const wireMs = above(alone('nothing').p50Ms - requestMs);
  const pollMs = crowded('poll');
  const groupMs = above(alone('poll').p50Ms - pollMs - wireMs);
  const takeMs = crowded('take');
  const before = takeMs + groupMs + wireMs;
  const flushMs = above(alone('take').p50Ms - before, 0.01);
  const flushP99 = above(alone('take').p99Ms - before, flushMs);
  return {
    requestMs,
    refuseMs: above(pollMs - requestMs),
    writeMs: above(takeMs - requestMs),
    groupMs,
    flush: { medianMs: flushMs, sigma: Math.min(widestFlush, Math.log(flushP99 / flushMs) / sigmasOfP99) },
    listedMs: above(measured.page.ms - wireMs - requestMs) / measured.page.locks,
    listedBytes: measured.page.bytes / measured.page.locks,
    wireMs,
  };
}

/** The same machine, so many times as fast. */
export const faster = (times: ServiceTimes, by: number): ServiceTimes => ({
  ...times,
  requestMs: times.requestMs / by,
  writeMs: times.writeMs / by,
  refuseMs: times.refuseMs / by,
  groupMs: times.groupMs / by,
  flush: { ...times.flush, medianMs: times.flush.medianMs / by },
  listedMs: times.listedMs / by,
});
