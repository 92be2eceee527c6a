import type { Logger } from 'pino';
import { parseRemote } from '../../git/remote.ts';
import { limitParallel } from '../../runtime/limit-parallel.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import type { AskUpstream, ObjectResponse } from '../objects.ts';
import type { ObjectName, Oid } from '../oid.ts';
import type { Offer } from './batch.ts';
import { openOffers, StoreUnusable } from './offers.ts';
import { connectToStore, type StoreParts } from './store.ts';

export interface UpstreamParts extends StoreParts {
  readonly allowFileRemotes: boolean;
  readonly log: Logger;
}

/** Short, because a client is waiting and can ask the store itself. */
const timeoutMs = 10_000;

/** Time without requests to a store after a failed request. */
const pauseMs = 60_000;

const busy = new Error('Too many stores are being asked.');
const parallelRequests = { max: 8, maxPerKey: 4, timeout: { ms: 2_000, error: () => busy } };

/** The store rejected this batch, but may accept others. */
class BatchRefused extends Error {
  override readonly name = 'BatchRefused';
}

/** Asks the store with the credentials of the workspace. */
export function createAskUpstream({ allowFileRemotes, log, ...parts }: UpstreamParts): AskUpstream {
  const limitRequests = limitParallel(parallelRequests);
  /** End of the pause of each workspace whose store failed. */
  const pausedUntil = new Map<string, number>();

  async function askStore(
    { id, remote: address, ...settings }: FoundWorkspace,
    missing: readonly ObjectName[],
  ): Promise<ReadonlyMap<Oid, ObjectResponse> | undefined> {
    const remote = parseRemote(address, { allowFile: allowFileRemotes });
    if (!remote.ok) return undefined;
    const signal = AbortSignal.timeout(timeoutMs);
    const wanted = { workspace: id, remote: remote.value, settings };
    const store = await connectToStore(parts, wanted, { timeoutMs, signal, idleMs: timeoutMs });
    try {
      const offers = await openOffers(
        { ...store, backoffMs: 50 },
        {
          signal,
          onBusy() {
            throw offers.unreachable('it is busy');
          },
        },
      );
      const responses = new Map<Oid, ObjectResponse>();
      for (let at = 0; at < missing.length; ) {
        const some = missing.slice(at, at + offers.batchSize());
        const offered = await offers.request(some).catch((error: unknown) => {
          const isRefusal = error instanceof LfsError && !(error instanceof StoreUnusable);
          // The store may also be slow after answering earlier batches.
          throw isRefusal || at > 0 ? new BatchRefused(String(error)) : error;
        });
        if (offered === undefined) continue;
        at += some.length;
        for (const object of some) {
          const response = passedOn(object, offered.get(object.oid));
          if (response === undefined) return undefined;
          responses.set(object.oid, response);
        }
      }
      return responses;
    } finally {
      store.connection.close();
    }
  }

  async function ask(workspace: FoundWorkspace, missing: readonly ObjectName[]): ReturnType<AskUpstream> {
    if ((pausedUntil.get(workspace.id) ?? 0) > performance.now()) return undefined;
    try {
      const responses = await askStore(workspace, missing);
      pausedUntil.delete(workspace.id);
      return responses;
    } catch (error) {
      // The client reports the error when it asks the store itself.
      log.info(
        { workspace: workspace.id, err: error },
        'could not query the LFS store for objects missing from the mirror',
      );
      if (!(error instanceof BatchRefused)) pausedUntil.set(workspace.id, performance.now() + pauseMs);
      return undefined;
    }
  }

  return (workspace, missing) =>
    limitRequests(workspace.id, () => ask(workspace, missing)).catch((error: unknown) => {
      if (error === busy) return undefined;
      throw error;
    });
}

/**
 * The response for a client; undefined if it must not be passed on. Headers from a store are mostly credentials of the
 * service, so an offer with headers is not passed on.
 */
function passedOn(object: ObjectName, offer: Offer | undefined): ObjectResponse | undefined {
  if (offer === undefined || offer.kind === 'transient') return undefined;
  if (offer.kind === 'none')
    return { ...object, error: { code: 404, message: `The mirror lacks it. ${offer.reason}` } };
  const { href, headers, authenticated, endsAt } = offer;
  if (Object.keys(headers).length > 0) return undefined;
  const expires = Number.isFinite(endsAt) && { expires_in: Math.floor((endsAt - performance.now()) / 1_000) };
  return { ...object, authenticated, actions: { download: { href: href.href, ...expires } } };
}
