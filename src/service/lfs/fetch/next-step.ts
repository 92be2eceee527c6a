import type { RefusedOffer } from './batch.ts';
import type { DownloadResult } from './download.ts';

/** Maximum number of attempts for one object or batch without notable progress in between. */
export const maxAttempts = 5;

/** More than one, because the content may have been damaged in transit or in a partial object on this disk. */
const maxWrongContents = 2;

export interface Failures {
  readonly attempts: number;
  readonly wrongContents: number;
}

type NextStep =
  | { readonly kind: 'stored' }
  /** `isStore`: the store may be unreachable. Otherwise it has answered for this object. */
  | { readonly kind: 'missing'; readonly reason: string; readonly isStore: boolean }
  | { readonly kind: 'retry'; readonly failures: Failures; readonly delayMs: number }
  /** The store is busy: all downloads wait. */
  | { readonly kind: 'busy'; readonly retryAfter: string | undefined };

/** Decides the next step after an attempt to download an object, or after an offer without a download. */
export function nextStep(
  { attempts, wrongContents }: Failures,
  result: DownloadResult | RefusedOffer,
  backoffMs: number,
): NextStep {
  switch (result.kind) {
    case 'stored':
    case 'busy':
      return result;
    case 'none':
      return { kind: 'missing', reason: result.reason, isStore: false };
    case 'wrong-content': {
      const failures = { attempts, wrongContents: wrongContents + 1 };
      if (failures.wrongContents < maxWrongContents) return { kind: 'retry', failures, delayMs: 0 };
      return { kind: 'missing', reason: result.reason, isStore: false };
    }
    case 'unauthorized':
    case 'transient': {
      const failures = { attempts: attempts + 1, wrongContents };
      if (failures.attempts < maxAttempts) return { kind: 'retry', failures, delayMs: backoffMs * 2 ** attempts };
      return { kind: 'missing', reason: result.reason, isStore: result.kind === 'transient' };
    }
  }
}
