import type { Logger } from 'pino';
import { parseRemote } from '../../git/remote.ts';
import { limitParallel } from '../../runtime/limit-parallel.ts';
import { LfsError } from '../../syncs/lfs-objects.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import type { AskUpstream, ObjectResponse } from '../objects.ts';
import type { ObjectName, Oid } from '../oid.ts';
import type { Offer } from './batch.ts';
import { type Offers, openOffers } from './offers.ts';
import type { StoreParts } from './store.ts';
import { StoreUnusable } from './store-error.ts';

interface UpstreamParts extends StoreParts {
  readonly allowFileRemotes: boolean;
  readonly log: Logger;
}

/** Short, because a client is waiting and can ask the store itself. */
const timeoutMs = 10_000;

/** Time without requests to a store after a failed request. */
const pauseMs = 60_000;

const busy = new Error('Too many stores are being asked.');
const parallelRequests = { max: 8, maxPerKey: 4, timeout: { ms: 2_000, error: () => busy } };

/** Asks the store with the credentials of the workspace. */
export function createAskUpstream({ allowFileRemotes, log, ...parts }: UpstreamParts): AskUpstream {
  const limitRequests = limitParallel(parallelRequests);
  const pausedUntil = new Map<string, number>();

  async function ask(
    { id, remote: address, ...settings }: FoundWorkspace,
    missing: readonly ObjectName[],
  ): ReturnType<AskUpstream> {
    const remote = parseRemote(address, { allowFile: allowFileRemotes });
    if (!remote.ok || (pausedUntil.get(id) ?? 0) > performance.now()) return undefined;
    const signal = AbortSignal.timeout(timeoutMs);
    const responses = new Map<Oid, ObjectResponse>();
    let offers: Offers | undefined;
    try {
      const wanted = { workspace: id, remote: remote.value, settings };
      offers = await openOffers(parts, wanted, { timeoutMs, signal, idleMs: timeoutMs, backoffMs: 50 });
      for (let at = 0; at < missing.length; ) {
        const some = missing.slice(at, at + offers.batchSize());
        const response = await offers.request(some, signal);
        if (response?.kind === 'busy') throw offers.unreachable('it is busy');
        if (response?.kind !== 'offers') continue;
        at += some.length;
        pausedUntil.delete(id);
        for (const object of some) {
          const objectResponse = toObjectResponse(object, response.offers.get(object.oid));
          if (objectResponse === undefined) return undefined;
          responses.set(object.oid, objectResponse);
        }
      }
      return responses;
    } catch (error) {
      // The client reports the error when it asks the store itself.
      log.info({ workspace: id, err: error }, 'could not query the LFS store for objects missing from the mirror');
      const isBatchRefused = error instanceof LfsError && !(error instanceof StoreUnusable);
      // The store may also be slow after answering earlier batches.
      if (!isBatchRefused && responses.size === 0) pausedUntil.set(id, performance.now() + pauseMs);
      return undefined;
    } finally {
      offers?.close();
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
function toObjectResponse(object: ObjectName, offer: Offer | undefined): ObjectResponse | undefined {
  if (offer === undefined || offer.kind === 'transient') return undefined;
  if (offer.kind === 'none')
    return { ...object, error: { code: 404, message: `The mirror lacks it. ${offer.reason}` } };
  const { href, headers, authenticated, endsAt } = offer;
  if (Object.keys(headers).length > 0) return undefined;
  const expires = Number.isFinite(endsAt) && { expires_in: Math.floor((endsAt - performance.now()) / 1_000) };
  return { ...object, authenticated, actions: { download: { href: href.href, ...expires } } };
}
