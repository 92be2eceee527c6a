import type { KnownLock, Within } from '../../client/client.ts';
import type { Grant, Intent } from '../ledger/entry.ts';
import { inParallel } from '../locks/in-parallel.ts';
import type { Keeper } from '../locks/keeper.ts';
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

/** Releases what can be shown to be ours, in parallel, each within what is left of the one deadline. */
export async function releaseClaims(
  keeper: Keeper,
  service: string,
  { held, unclear, trouble }: Claims,
  within: Within,
): Promise<readonly Settled[]> {
  const settled: Settled[] = [];

  async function settle(claim: Claim): Promise<Settled> {
    const { grant, doubt } = claim;
    if (grant.service !== service) return { kind: 'failed', grant, why: elsewhere(grant.service, service) };
    const release = await keeper.giveBack(grant, within, doubt !== undefined);
    switch (release.kind) {
      case 'released':
        return { kind: 'released', grant };
      case 'absent':
        return { kind: 'gone', grant };
      case 'lost':
        return lostOr(claim, release.holder);
      case 'left-alone':
        return { kind: 'left-alone', grant };
      case 'failed':
        return { kind: 'failed', grant, why: release.error.message };
    }
  }

  async function clearUp(intent: Intent): Promise<Settled> {
    if (intent.service !== service) return { kind: 'unproven', intent, why: elsewhere(intent.service, service) };
    const taking = await keeper.ask(intent, true, within);
    switch (taking.kind) {
      case 'taken': {
        // With damaged records, the service may remember an answer about a lock that was released long ago.
        const doubt = trouble === undefined ? undefined : 'records-damaged';
        const end = await settle({ grant: taking.grant, doubt });
        return end.kind === 'released' && taking.anew === true ? { kind: 'never-granted', intent } : end;
      }
      case 'held':
        return { kind: 'never-granted', intent };
      case 'failed':
      case 'unclear':
        return { kind: 'unproven', intent, why: taking.error.message };
    }
  }

  await inParallel(held, async (claim) => {
    settled.push(await settle(claim));
  });
  await inParallel(unclear, async (intent) => {
    settled.push(await clearUp(intent));
  });
  return settled;
}
