import type { Logger } from 'pino';
import type { Git } from '../../git/git.ts';
import { parseRemote } from '../../git/remote.ts';
import { limitParallel } from '../../runtime/limit-parallel.ts';
import type { TargetCheck } from '../../webhooks/target-address.ts';
import type { FoundWorkspace } from '../../workspaces/workspaces.ts';
import type { AskUpstream, ObjectAnswer } from '../objects.ts';
import type { ObjectName, Oid } from '../oid.ts';
import { createAddressGuard } from './address-guard.ts';
import { type Offer, requestBatch } from './batch.ts';
import { openConnection } from './connection.ts';
import { findStore, trustedAuthorities } from './store.ts';

export interface UpstreamParts {
  readonly git: Pick<Git, 'lfsAuthenticate'>;
  readonly targets: TargetCheck;
  readonly allowFileRemotes: boolean;
  /** The operator's. */
  readonly environment: NodeJS.ProcessEnv;
  readonly log: Logger;
}

/** A client waits meanwhile, and can ask the store by itself. */
const patienceMs = 10_000;

/** A store that could not be asked is not asked again so soon. */
const pauseMs = 60_000;

const busy = new Error('Too many stores are being asked.');

const parallelRequests = { max: 8, maxPerKey: 4, patience: { maxWaitMs: 2_000, busy: () => busy } };

/**
 * What a client may be told. A header is in most stores the credential of whoever has asked, which is the service: such an
 * answer is for nobody else.
 */
function passedOn(object: ObjectName, offer: Offer | undefined, now: number): ObjectAnswer | undefined {
  if (offer === undefined || offer.kind === 'trouble') return undefined;
  if (offer.kind === 'none') return { ...object, error: { code: 404, message: `The mirror lacks it. ${offer.why}` } };
  const { href, headers, authenticated, endsAt } = offer;
  if (Object.keys(headers).length > 0) return undefined;
  const expires = Number.isFinite(endsAt) && { expires_in: Math.floor((endsAt - now) / 1_000) };
  return { ...object, authenticated, actions: { download: { href: href.href, ...expires } } };
}

/** Asks the store with the credentials of the workspace. */
export function createAskUpstream({ git, targets, allowFileRemotes, environment, log }: UpstreamParts): AskUpstream {
  const inTurn = limitParallel(parallelRequests);
  /** Until when nothing is asked for a workspace. */
  const pausedUntil = new Map<string, number>();

  async function askStore(
    { id, remote: address, ...settings }: FoundWorkspace,
    missing: readonly ObjectName[],
  ): Promise<ReadonlyMap<Oid, ObjectAnswer> | undefined> {
    const remote = parseRemote(address, { allowFile: allowFileRemotes });
    if (!remote.ok) return undefined;
    const signal = AbortSignal.timeout(patienceMs);
    const limits = { timeoutMs: patienceMs, signal };
    const store = await findStore({ git }, { workspace: id, remote: remote.value, settings }, limits);
    const ca = await trustedAuthorities(environment);
    const guard = createAddressGuard(targets, store.isNamed);
    const connection = openConnection({ guard, parallel: 1, idleMs: patienceMs, ca });
    try {
      const now = Date.now();
      const answer = await requestBatch(connection, store, { objects: missing, signal, now });
      if (answer.kind !== 'offers') return undefined;
      const answers = missing.map((object) => passedOn(object, answer.offers.get(object.oid), now));
      const passed = answers.filter((each) => each !== undefined);
      return passed.length < missing.length ? undefined : new Map(passed.map((each) => [each.oid, each]));
    } finally {
      connection.close();
    }
  }

  async function ask(workspace: FoundWorkspace, missing: readonly ObjectName[]): ReturnType<AskUpstream> {
    if ((pausedUntil.get(workspace.id) ?? 0) > performance.now()) return undefined;
    // The client that asks by itself is told what is wrong.
    const answers = await askStore(workspace, missing).catch((error: unknown) => {
      log.info({ workspace: workspace.id, err: error }, 'the LFS store was not asked for what the mirror lacks');
      return undefined;
    });
    if (answers === undefined) pausedUntil.set(workspace.id, performance.now() + pauseMs);
    else pausedUntil.delete(workspace.id);
    return answers;
  }

  return (workspace, missing) =>
    inTurn(workspace.id, () => ask(workspace, missing)).catch((error: unknown) => {
      if (error === busy) return undefined;
      throw error;
    });
}
