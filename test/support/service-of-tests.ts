import { afterAll, beforeAll } from 'vitest';
import { type DatabaseKind, sqlite } from './databases.ts';
import { type RunningService, type RunningServiceOptions, startTestService } from './running-service.ts';

/** One service for all tests of a file or of a group. */
export function serviceOfTests(options?: RunningServiceOptions, kind: DatabaseKind = sqlite): RunningService {
  // Filled in before the first test runs.
  const shared = {} as RunningService;
  beforeAll(async () => void Object.assign(shared, await startTestService(kind, options)));
  afterAll(() => shared.stop());
  return shared;
}
