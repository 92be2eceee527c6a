import type { Offer } from './batch.ts';
import type { DownloadResult } from './download.ts';

/** Maximum number of attempts for one object or batch without notable progress in between. */
export const maxAttempts = 5;

/** More than one, because the content may have been damaged in transit or in a partial object on this disk. */
const maxWrongContents = 2;

/** Failures of one object so far. */
export interface Failures {
  readonly attempts: number;
  readonly wrongContents: number;
}

export type NextStep =
  | { readonly kind: 'landed' }
  /** `isStore`: the store may be unreachable. Otherwise it has answered for this object. */
  | { readonly kind: 'missing'; readonly detail: string; readonly isStore: boolean }
  | { readonly kind: 'retry'; readonly failures: Failures; readonly delayMs: number }
  /** The store is busy: all downloads wait. */
  | { readonly kind: 'pause'; readonly retryAfter: string | undefined };

/** Decides the next step after an attempt to download an object, or after an offer without a download. */
export function nextStep(
  failures: Failures,
  result: DownloadResult | Exclude<Offer, { kind: 'download' }>,
  backoffMs: number,
): NextStep {
  switch (result.kind) {
    case 'landed':
      return { kind: 'landed' };
    case 'none':
      return { kind: 'missing', detail: result.reason, isStore: false };
    case 'busy':
      return { kind: 'pause', retryAfter: result.retryAfter };
    case 'wrong-content': {
      const wrongContents = failures.wrongContents + 1;
      if (wrongContents >= maxWrongContents) return { kind: 'missing', detail: result.reason, isStore: false };
      return { kind: 'retry', failures: { ...failures, wrongContents }, delayMs: 0 };
    }
    case 'unauthorized':
    case 'transient': {
      const attempts = failures.attempts + 1;
      if (attempts < maxAttempts) {
        return { kind: 'retry', failures: { ...failures, attempts }, delayMs: backoffMs * 2 ** (attempts - 1) };
      }
      return { kind: 'missing', detail: result.reason, isStore: result.kind === 'transient' };
    }
  }
}
