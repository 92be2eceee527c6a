import { unlessAborted } from '../../interface/timers.ts';

/**
 * The system resolves names in half of the 64 threads that scripts/one-file.js sets. The other lookups of the
 * process, such as those for connections to PostgreSQL, need some of them.
 */
const maxLookups = 28;

/** A group may use a fraction of the free lookups, so that the next group always finds one, unless all are in use. */
const shareOfFree = 1 / 4;

/**
 * Limits the lookups of each group: a lookup cannot be cancelled, and takes up to a minute if its name server does not
 * respond. Callers of one group share the lookup of a name.
 */
export function limitLookups<Found>(lookUp: (hostname: string) => Promise<Found>) {
  const running = new Map<string, { readonly group: string; readonly found: Promise<Found> }>();
  let ended = Promise.withResolvers<void>();

  function mayStart(group: string): boolean {
    const ofGroup = running.values().reduce((count, other) => count + (other.group === group ? 1 : 0), 0);
    return ofGroup < (maxLookups - running.size) * shareOfFree;
  }

  function start(key: string, group: string, hostname: string): Promise<Found> {
    const found = lookUp(hostname).finally(() => {
      running.delete(key);
      ended.resolve();
      ended = Promise.withResolvers();
    });
    running.set(key, { group, found });
    return found;
  }

  return async (hostname: string, group: string, signal: AbortSignal): Promise<Found> => {
    signal.throwIfAborted();
    // With a space, which no host name contains.
    const key = `${hostname} ${group}`;
    while (!running.has(key) && !mayStart(group)) await unlessAborted(ended.promise, signal);
    return unlessAborted(running.get(key)?.found ?? start(key, group, hostname), signal);
  };
}
