import { defineConfig } from 'vitest/config';
import everyday from './vitest.config.ts';

/** What other commands run, because it is slow and seldom breaks. `.ci/run` calls them all. */
const elsewhere = [
  // npm run test:docs
  'test/{docs,demo,workflows,bench}/**',
  'test/package.test.ts',
  // npm run test:browser
  'test/browser/**',
  'test/service/dashboard/browser/**',
  // npm run test:fire
  'test/fire/**',
  'test/service/syncs/remotes-that-hang.test.ts',
  'test/service/webhooks/silent-receivers.test.ts',
  // npm run test:git
  'test/service/git/{estimate,fetch,https-remote,ssh-remote}.test.ts',
  'test/service/mirror/{access,clone,limits,published}.test.ts',
  'test/service/lfs/{client-settings,download,errors,git-lfs,mirror,outdated}.test.ts',
  'test/service/cli/{receive,receive-time,lock-outdated}.test.ts',
  'test/service/lfs/fetch/{fetch-objects,store}.test.ts',
  'test/service/resilience/{killed,restarted}-sync.test.ts',
  // npm run test:e2e
  'test/runner/**',
  'test/e2e/gateways/**',
  'test/e2e/{connections,rate-limited,run-api}.test.ts',
  // The model test has what happens in these as well.
  'test/e2e/scenarios/{cancelled,lost-lock,lost-response,network-gone}.test.ts',
  'test/e2e/scenarios/{limited-service,several-steps,silent-at-deadline,sync-last-look,wrong-clock}.test.ts',
  'test/service/cli/{completion,lock-run,lock-run-identity,serve-stop}.test.ts',
];

/** `npm test`: all that a change is likely to break, in its short forms. */
export default defineConfig({
  test: { ...everyday.test, exclude: [...(everyday.test?.exclude ?? []), ...elsewhere] },
});
