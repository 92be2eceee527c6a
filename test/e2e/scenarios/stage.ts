import { afterAll, beforeAll } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import { type RunningService, type RunningServiceOptions, startTestService } from '../../support/running-service.ts';
import { openPlace, type Place, type PlaceOptions } from './place.ts';

/** A workspace of the service in this process, with its own token. */
export interface Stage extends Place {
  readonly service: RunningService;
  readonly tokenId: string;
}

let running: RunningService | undefined;

/** Starts one service for all tests of a file. */
export function useService(options: RunningServiceOptions = {}): void {
  beforeAll(async () => {
    running = await startTestService(sqlite, options);
  });
  afterAll(() => running?.stop());
}

/** Uses the service of `useService` by default. */
export async function openStage(
  end?: PlaceOptions['end'],
  service: RunningService | undefined = running,
): Promise<Stage> {
  if (service === undefined) throw new Error('Call useService() at the top of the file.');
  const token = await service.token({ name: 'build-bot', scopes: ['locks:write'] });
  const place = openPlace({
    storage: service.storage,
    baseUrl: `${service.baseUrl}/v1`,
    workspace: await service.workspace(),
    token: token.secret,
    graces: (await service.token({ name: 'grace', scopes: ['locks:write'] })).secret,
    admins: (await service.token()).secret,
    ...(end && { end }),
  });
  return Object.assign(place, { service, tokenId: token.id });
}
