import { describe, expect, test } from 'vitest';
import { type Failures, nextStep } from '../../../../src/service/lfs/fetch/next-step.ts';

const none: Failures = { attempts: 0, wrongContents: 0 };
const transient = { kind: 'transient', reason: 'The connection broke off.' } as const;

describe('the step after an attempt to download an object', () => {
  test('is a retry that waits twice as long each time, and the end after five attempts', () => {
    let failures = none;
    const delays: number[] = [];
    for (;;) {
      const step = nextStep(failures, transient, 100);
      if (step.kind !== 'retry') {
        expect(step).toEqual({ kind: 'missing', detail: transient.reason, isStore: true });
        break;
      }
      delays.push(step.delayMs);
      failures = step.failures;
    }
    expect(delays).toEqual([100, 200, 400, 800]);
  });

  test('is the end for an object that the store refuses, which says nothing against the store', () => {
    const missing = { kind: 'missing', detail: 'No.', isStore: false };
    expect(nextStep(none, { kind: 'none', reason: 'No.' }, 100)).toEqual(missing);
    const last = { ...none, attempts: 4 };
    expect(nextStep(last, { kind: 'unauthorized', reason: 'No.' }, 100)).toEqual(missing);
  });

  test('is one more download for wrong content, at once, and then the end', () => {
    const wrong = { kind: 'wrong-content', reason: 'Another hash.' } as const;
    const step = nextStep(none, wrong, 100);
    expect(step).toEqual({ kind: 'retry', failures: { attempts: 0, wrongContents: 1 }, delayMs: 0 });
    expect(nextStep({ attempts: 0, wrongContents: 1 }, wrong, 100).kind).toBe('missing');
  });

  test('is a pause of all downloads for a busy store, which costs the object no attempt', () => {
    expect(nextStep(none, { kind: 'busy', retryAfter: '7' }, 100)).toEqual({ kind: 'pause', retryAfter: '7' });
  });
});
