import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scopes } from '../src/interface/scopes.ts';
import type { Ending } from './ending.ts';
import { createSampleAssets } from './sample-assets.ts';
import { startDemoService } from './service.ts';
import { playStory } from './story.ts';
import type { Screen } from './terminal/screen.ts';
import { tryIt } from './try-it.ts';

export interface DemoOptions {
  readonly keep: boolean;
  readonly screen: Screen;
  readonly write: (text: string) => void;
  readonly ending: Ending;
  /** All has been shown, and the service goes on. */
  readonly onKept: () => void;
}

const inSeconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

async function play(
  { keep, screen, write, ending, onKept }: DemoOptions,
  folder: string,
  atEnd: (cleanUp: () => Promise<void>) => void,
): Promise<void> {
  screen.part(
    'The service',
    'It keeps the locks and mirrors a git repository of assets: here a sample, in a temporary folder.',
  );
  const repository = createSampleAssets(folder);
  const service = await startDemoService({ folder, repository, ending });
  atEnd(() => service.stop());
  process.prependOnceListener('exit', service.kill);
  screen.reached(`workspace-service ${service.version} listens on ${service.baseUrl}`);
  await playStory({ service, folder, screen, ending, atEnd });
  if (!keep) return;
  const token = await service.token('you', scopes);
  screen.part('Your turn', `The service goes on until you press Ctrl-C, with its data in ${service.dataFolder}.`);
  write(tryIt(service.baseUrl, token).replace(/^\n/, ''));
  onKept();
  await ending.orEnd(new Promise<never>(() => {}));
}

/** Plays it all in a folder of its own. When the promise is settled, nothing of it runs any more, and the folder is gone. */
export async function runDemo(options: DemoOptions): Promise<void> {
  const { screen, write } = options;
  const began = performance.now();
  screen.title(
    'Workspace Automation',
    'Locks, syncs and webhooks for large binary assets: two jobs that want the same file, live.',
  );
  const folder = await mkdtemp(join(tmpdir(), 'workspace-demo-'));
  const removal = { recursive: true, force: true, maxRetries: 5 } as const;
  // For an end that leaves no time for more, such as a second Ctrl-C.
  const removeAtOnce = (): void => rmSync(folder, removal);
  process.once('exit', removeAtOnce);
  const cleanUps: (() => Promise<void>)[] = [];
  try {
    await play(options, folder, (cleanUp) => void cleanUps.push(cleanUp));
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    await rm(folder, removal);
    process.off('exit', removeAtOnce);
  }
  screen.reached(
    `The service has ended and its folder is gone, ${inSeconds(performance.now() - began)} after the start.`,
  );
  write('\n  To try it yourself: npm run demo -- --keep\n\n');
}
