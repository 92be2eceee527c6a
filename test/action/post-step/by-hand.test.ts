import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Grant } from '../../../src/action/ledger/entry.ts';
import { manualReleaseCommand } from '../../../src/action/post-step/report.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';

const grantOn = (path: string, lock: { readonly id?: string; readonly etag?: string } = {}): Grant => ({
  kind: 'granted',
  service: 'https://workspaces.example.com/v1',
  workspace: 'game assets',
  path,
  step: 's',
  at: '2026-03-01T12:00:00.000Z',
  key: 'k',
  waitedMs: 0,
  lock: { path, type: 'exclusive', expires_at: '2026-03-01T13:00:00.000Z', ...lock },
});

test('a lock is released by its address, on the condition that it still is that lock', () => {
  expect(manualReleaseCommand(grantOn('Content/Hero.uasset', { id: 'l1' }))).toBe(
    `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>' -H 'If-Match: "l1"' 'https://workspaces.example.com/v1/workspaces/game%20assets/locks/Content%2FHero.uasset'`,
  );
  expect(manualReleaseCommand(grantOn('a', { id: 'l1', etag: '"v2"' }))).toContain(`-H 'If-Match: "v2"'`);
  expect(manualReleaseCommand(grantOn('a'))).not.toContain('If-Match');
});

test('pasted into a shell, whatever a path or a service has in it is words of one command', () => {
  const path = fc
    .string({
      unit: fc.constantFrom("'", '"', '$', '(', ')', '`', ';', ' ', '&', '|', '!', '*', 'a', 'ä'),
      minLength: 1,
    })
    .filter((text) => parseLockPath(text).ok);
  const etag = fc.string({ unit: fc.constantFrom("'", '$', '(', ')', '`', ';', '&', '|', '!', 'a'), maxLength: 8 });
  const samples = fc.sample(fc.record({ path, etag }), { numRuns: 40 });
  // A function stands for curl; it tells what it was given, a word a line.
  const script = samples
    .map(({ path: one, etag: tag }) => manualReleaseCommand(grantOn(one, { etag: `"${tag}"` })))
    .join('\n');
  const words = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${script}`], { encoding: 'utf8' });
  expect(words.trimEnd().split('\n')).toEqual(
    samples.flatMap(({ path: one, etag: tag }) => [
      '-X',
      'DELETE',
      '-H',
      'Authorization: Bearer <API_TOKEN>',
      '-H',
      `If-Match: "${tag}"`,
      `https://workspaces.example.com/v1/workspaces/game%20assets/locks/${encodeURIComponent(one)}`,
    ]),
  );
});
