import { describe, expect, test } from 'vitest';
import { type Failures, nextStep } from '../../../../src/service/lfs/fetch/next-step.ts';

const none: Failures = { attempts: 0, wrongContents: 0 };
const transient = { kind: 'transient', reason: 'The connection broke off.' } as const;

describe('the step after an attempt to download an object', () => {
  test('retries with doubled delays, and gives up after five attempts', () => {
    let failures = none;
    const delays: number[] = [];
    for (;;) {
      const step = nextStep(failures, transient, 100);
      if (step.kind !== 'retry') {
        expect(step).toEqual({ kind: 'missing', reason: transient.reason, isStore: true });
        break;
      }
      delays.push(step.delayMs);
      failures = step.failures;
    }
    expect(delays).toEqual([100, 200, 400, 800]);
  });

  test('gives up on an object that the store refuses, without blaming the store', () => {
    const missing = { kind: 'missing', reason: 'No.', isStore: false };
    expect(nextStep(none, { kind: 'none', reason: 'No.' }, 100)).toEqual(missing);
    const last = { ...none, attempts: 4 };
    expect(nextStep(last, { kind: 'unauthorized', reason: 'No.' }, 100)).toEqual(missing);
  });

  test('retries once, immediately, for wrong content, and then gives up', () => {
    const wrong = { kind: 'wrong-content', reason: 'Another hash.' } as const;
    const step = nextStep(none, wrong, 100);
    expect(step).toEqual({ kind: 'retry', failures: { attempts: 0, wrongContents: 1 }, delayMs: 0 });
    expect(nextStep({ attempts: 0, wrongContents: 1 }, wrong, 100).kind).toBe('missing');
  });

  test('pauses all downloads if the store is busy, without counting an attempt', () => {
    expect(nextStep(none, { kind: 'busy', retryAfter: '7' }, 100)).toEqual({ kind: 'busy', retryAfter: '7' });
  });
});
