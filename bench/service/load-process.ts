import { type Load, type LoadPlan, runLoad } from './load.ts';

/** The other end of load-generator.ts. */

export type LoadAnswer =
  | { readonly kind: 'load'; readonly load: Load }
  | { readonly kind: 'failed'; readonly why: string };

const answer = (what: LoadAnswer): void => void process.send?.(what);

// Only load-generator.ts sends to this process.
process.on('message', (plan: LoadPlan) => {
  runLoad(plan).then(
    (load) => answer({ kind: 'load', load }),
    (error: unknown) => answer({ kind: 'failed', why: error instanceof Error ? error.message : String(error) }),
  );
});
process.once('disconnect', () => process.exit());
