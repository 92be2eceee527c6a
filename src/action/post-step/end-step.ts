import { createRedactor } from '../../interface/redact.ts';
import { readConnection } from '../inputs/connection.ts';
import { createReader } from '../inputs/reader.ts';
import { readRawInputs } from '../inputs/table.ts';
import { type LossReaction, parseBoolean, parseLossReaction } from '../inputs/values.ts';
import type { Kept } from '../ledger/kept.ts';
import { openLedger } from '../ledger/ledger.ts';
import type { Reporter } from '../report/reporter.ts';
import { runnerPlace } from '../runner-place.ts';
import { readClaims } from './claims.ts';
import { pictureOf } from './picture.ts';
import { unreleased } from './release-claims.ts';
import { nothingLeft, tell } from './told.ts';

export interface EndOfStep {
  readonly step: string;
  readonly kept: Kept | undefined;
  /** What the step was told by its input `on-lost`; empty if it could not save that. */
  readonly onLost: string;
  readonly secrets: readonly string[];
  readonly reporter: Reporter;
  readonly environment: NodeJS.ProcessEnv;
}

function cancellation(): AbortSignal {
  const cancelled = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => cancelled.abort());
  return cancelled.signal;
}

/** The step's own word, else the input as it is now, else what is safe: a wrong one was told by the step itself. */
function lossReaction(saved: string, input: string): LossReaction {
  const [first] = [saved, input].map(parseLossReaction).filter((parsed) => parsed.ok);
  return first?.value ?? 'fail';
}

/**
 * Releases what a step has left, and tells what became of all its locks. What they are is in the ledger. Of the inputs
 * only counts how to reach the service: the runner evaluates their expressions anew, and the others may have changed.
 */
export async function endStep({ step, kept, onLost, secrets, reporter, environment }: EndOfStep): Promise<void> {
  const { log } = reporter;
  const cancelled = cancellation();
  const conceal = createRedactor(secrets);
  const place = runnerPlace(environment);
  const ledger = openLedger(place.ledger, conceal);
  const claims = readClaims({ ledger, step, locksFile: place.locksFile(step), kept });
  if (claims.trouble !== undefined) log.warn(claims.trouble);
  const nothing = claims.held.length === 0 && claims.unclear.length === 0;
  if (nothing && kept === undefined) {
    if (claims.trouble === undefined) log.line(nothingLeft);
    return;
  }

  const raw = readRawInputs(environment);
  const reader = createReader(raw);
  const connection = readConnection(reader);
  async function settle() {
    const now = Date.now();
    if (nothing) return { settled: [], now };
    if (connection === undefined) return { settled: unreleased(claims, reader.problems.join(' ')), now };
    const { release } = await import('./release.ts');
    return release({ connection, claims, ledger, step, origin: place.origin, log, cancelled });
  }

  const { settled, now } = await settle();
  const without = new Set(settled.flatMap((one) => (one.kind === 'never-granted' ? [one.intent.key] : [])));
  const picture = pictureOf(ledger, { step, without, now, conceal });
  // A summary input that is wrong was told by the step itself; here it only means the default.
  const summary = parseBoolean(raw.summary);
  const told = tell(settled, { picture, now, onLost: lossReaction(onLost, raw['on-lost']) });
  reporter.tellRelease(told, !summary.ok || summary.value);
}
