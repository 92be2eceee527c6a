import type { KnownLock, ServiceError, Within } from '../../client/client.ts';
import { type Grant, type Intent, ttlIn } from '../ledger/entry.ts';
import { inParallel } from '../locks/in-parallel.ts';
import type { Keeper } from '../locks/keeper.ts';
import { isPassing } from '../locks/passing.ts';
import type { Parts } from '../operations/parts.ts';
import type { Claim, Claims } from './claims.ts';

/** What became of one claim. */
export type Settled =
  | { readonly kind: 'released'; readonly grant: Grant }
  | { readonly kind: 'gone'; readonly grant: Grant }
  /** Somebody else holds the path, though the job has not released it. */
  | { readonly kind: 'lost'; readonly grant: Grant; readonly holder: KnownLock | undefined }
  /** Somebody else holds the path, and nothing tells whether the job had released it before. */
  | { readonly kind: 'replaced'; readonly grant: Grant; readonly holder: KnownLock | undefined }
  /** Nothing shows that what is there is ours. */
  | { readonly kind: 'left-alone'; readonly grant: Grant }
  | { readonly kind: 'failed'; readonly grant: Grant; readonly why: string }
  /** Whether it was granted was never learned, and cannot be shown. */
  | { readonly kind: 'unproven'; readonly intent: Intent; readonly why: string }
  | { readonly kind: 'never-granted'; readonly intent: Intent };

const lostOr = (claim: Claim, holder: KnownLock | undefined): Settled => {
  const { grant, doubt } = claim;
  switch (doubt) {
    case undefined:
      return { kind: 'lost', grant, holder };
    case 'release-begun':
      return { kind: 'gone', grant };
    case 'records-damaged':
      return { kind: 'replaced', grant, holder };
  }
};

/** The token that the step has now is for the service that it names now, and goes to no other. */
const elsewhere = (service: string, now: string): string =>
  `It is on ${service}, and \`base-url\` (or WORKSPACE_BASE_URL) names ${now} by now.`;

/** Where nothing can be asked of the service. */
export const unreleased = ({ held, unclear }: Claims, why: string): readonly Settled[] => [
  ...held.map(({ grant }): Settled => ({ kind: 'failed', grant, why })),
  ...unclear.map((intent): Settled => ({ kind: 'unproven', intent, why })),
];

const firstPauseMs = 1_000;
const maxPauseMs = 8_000;

const never = new AbortController().signal;

/** What would block others for longest comes first; what tells no end, last. */
const longestFirst = <One>(all: readonly One[], endOf: (one: One) => number): readonly One[] =>
  all.toSorted((one, other) => (endOf(other) || 0) - (endOf(one) || 0));

const endOfClaim = ({ grant }: Claim): number => Date.parse(grant.lock.expires_at);
const endOfIntent = (intent: Intent): number => Date.parse(intent.at) + ttlIn(intent).seconds * 1_000;

/** What came of one try, and the error where another try may come to something else. */
interface Tried {
  readonly settled: Settled;
  readonly error?: ServiceError;
}

type Failed = Tried & { readonly error: ServiceError };

const untried = <One>(all: readonly One[]): ReadonlyMap<One, undefined> => new Map(all.map((one) => [one, undefined]));

export interface ReleaseClaimsParts extends Pick<Parts, 'clock' | 'sleep' | 'random'> {
  readonly keeper: Keeper;
}

/** Releases what can be shown to be ours, in parallel, and tries again for as long as there is time. */
export async function releaseClaims(
  { keeper, clock, sleep, random }: ReleaseClaimsParts,
  service: string,
  { held, unclear, trouble }: Claims,
  within: Within,
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];
  /** A try before may have released what is tried again, and its answer been lost. */
  let releaseBegun: 'release-begun' | undefined;

  async function release(claim: Claim): Promise<Tried> {
    const { grant, doubt = releaseBegun } = claim;
    if (grant.service !== service) {
      return { settled: { kind: 'failed', grant, why: elsewhere(grant.service, service) } };
    }
    const end = await keeper.giveBack(grant, within, doubt !== undefined);
    switch (end.kind) {
      case 'released':
        return { settled: { kind: 'released', grant } };
      case 'absent':
        return { settled: { kind: 'gone', grant } };
      case 'lost':
        return { settled: lostOr({ grant, doubt }, end.holder) };
      case 'left-alone':
        return { settled: { kind: 'left-alone', grant } };
      case 'failed':
        return { settled: { kind: 'failed', grant, why: end.error.message }, error: end.error };
    }
  }

  async function clearUp(intent: Intent): Promise<Tried> {
    if (intent.service !== service) {
      return { settled: { kind: 'unproven', intent, why: elsewhere(intent.service, service) } };
    }
    const taking = await keeper.ask(intent, true, within);
    switch (taking.kind) {
      case 'taken': {
        // With damaged records, the service may remember an answer about a lock that was released long ago.
        const doubt = trouble === undefined ? releaseBegun : 'records-damaged';
        const end = await release({ grant: taking.grant, doubt });
        const neverGranted = end.settled.kind === 'released' && taking.anew === true;
        return neverGranted ? { settled: { kind: 'never-granted', intent } } : end;
      }
      case 'held':
        return { settled: { kind: 'never-granted', intent } };
      case 'failed':
      case 'unclear':
        return { settled: { kind: 'unproven', intent, why: taking.error.message }, error: taking.error };
    }
  }

  /** Gives what is worth another try, with what is to be told of it if there is none. */
  async function tryAll<One>(
    all: ReadonlyMap<One, Failed | undefined>,
    work: (one: One) => Promise<Tried>,
  ): Promise<ReadonlyMap<One, Failed>> {
    const again = new Map<One, Failed>();
    await inParallel([...all], async ([one, before]) => {
      const tried = await work(one);
      const { error } = tried;
      if (error === undefined || !isPassing(error)) settled.push(tried.settled);
      // Cut off by the end, the last of many attempts says less than those before it.
      else
        again.set(one, before !== undefined && before.error.attempts > error.attempts ? before : { ...tried, error });
    });
    return again;
  }

  let claims: ReadonlyMap<Claim, Failed | undefined> = untried(longestFirst(held, endOfClaim));
  let intents: ReadonlyMap<Intent, Failed | undefined> = untried(longestFirst(unclear, endOfIntent));
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, 2 * pauseMs)) {
    const failedClaims = await tryAll(claims, release);
    const failedIntents = await tryAll(intents, clearUp);
    const failed = [...failedClaims.values(), ...failedIntents.values()];
    const pause = pauseMs * (0.5 + random() / 2);
    const isOver = within.signal?.aborted === true || clock() + pause >= within.deadline;
    if (failed.length === 0 || isOver) return [...settled, ...failed.map((one) => one.settled)];
    claims = failedClaims;
    intents = failedIntents;
    releaseBegun = 'release-begun';
    await sleep(pause, within.signal ?? never);
  }
}
