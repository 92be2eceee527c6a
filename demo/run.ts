import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { scopes } from '../src/interface/scopes.ts';
import type { Ending } from './ending.ts';
import { createSampleAssets } from './sample-assets.ts';
import { startDemoService } from './service.ts';
import { playStory } from './story.ts';
import type { ShownLine } from './terminal/log-lines.ts';
import type { Screen } from './terminal/screen.ts';
import { tryIt } from './try-it.ts';

export interface DemoOptions {
  readonly keep: boolean;
  readonly quick: boolean;
  /** Before the end, for a person at a terminal. */
  readonly waitsForEnter: boolean;
  readonly screen: Screen;
  readonly write: (text: string) => void;
  readonly ending: Ending;
  /** All has been shown, and the service goes on. */
  readonly onKept: () => void;
}

const inSeconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;

async function play(
  { keep, quick, waitsForEnter, screen, write, ending, onKept }: DemoOptions,
  folder: string,
  atEnd: (cleanUp: () => Promise<void>) => void,
): Promise<readonly ShownLine[]> {
  const repository = createSampleAssets(folder);
  const service = await startDemoService({ folder, repository, ending });
  atEnd(() => service.stop());
  process.prependOnceListener('exit', service.kill);
  write(`\n  The dashboard, live: ${service.dashboardUrl}\n  This link signs you in to it, once:\n`);
  write(`${service.signInLink}\n`);
  const picture = await playStory({ service, folder, screen, ending, quick, atEnd });
  if (keep) {
    const token = await service.token('you', scopes);
    screen.part('Your turn', `The service goes on until you press Ctrl-C, with its data in ${service.dataFolder}.`);
    write(tryIt(service.baseUrl, token).replace(/^\n/, ''));
    onKept();
    await ending.orEnd(new Promise<never>(() => {}));
  }
  if (!keep && waitsForEnter) {
    write('\n  The dashboard stays until you press Enter.\n');
    await ending.orEnd(enterPressed());
  }
  return picture;
}

/** Or the end of the input. */
async function enterPressed(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  try {
    await Promise.race([once(lines, 'line'), once(lines, 'close')]);
  } finally {
    lines.close();
  }
}

/**
 * Plays it all in a folder of its own, and gives its last picture. When the promise is settled, nothing of it runs any
 * more, and the folder is gone.
 */
export async function runDemo(options: DemoOptions): Promise<readonly ShownLine[]> {
  const { screen, write } = options;
  const began = performance.now();
  screen.title('Workspace Automation', 'Two jobs want the same file. One is killed, and one loses its lock by force.');
  const folder = await mkdtemp(join(tmpdir(), 'workspace-demo-'));
  const removal = { recursive: true, force: true, maxRetries: 5 } as const;
  // For an end that leaves no time for more, such as a second Ctrl-C.
  const removeAtOnce = (): void => rmSync(folder, removal);
  process.once('exit', removeAtOnce);
  const cleanUps: (() => Promise<void>)[] = [];
  let picture: readonly ShownLine[];
  try {
    picture = await play(options, folder, (cleanUp) => void cleanUps.push(cleanUp));
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    await rm(folder, removal);
    process.off('exit', removeAtOnce);
  }
  screen.reached(
    `The service has ended and its folder is gone, ${inSeconds(performance.now() - began)} after the start.`,
  );
  write('\n  To try it yourself: npm run demo -- --keep\n\n');
  return picture;
}
