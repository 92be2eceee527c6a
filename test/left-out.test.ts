import { expect, onTestFinished, test, vi } from 'vitest';
import { leaveOut } from './support/left-out.ts';

const context = { task: { name: 'some test' }, skip: () => Promise.reject() } as never;

test('a test cannot be skipped in CI for a reason that is not allowed', () => {
  vi.stubEnv('CI', 'true');
  onTestFinished(() => void vi.unstubAllEnvs());
  expect(() => leaveOut(context, 'There is no git-lfs on this machine.')).toThrow('must not be skipped in CI');
});
