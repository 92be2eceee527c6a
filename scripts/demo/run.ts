import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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
  /** Waits before the end, if a user is at the terminal. */
  readonly waitsForEnter: boolean;
  readonly screen: Screen;
  readonly write: (text: string) => void;
  readonly ending: Ending;
  /** The demo is complete, and the service keeps running. */
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
  write(`\n  Live dashboard: ${service.dashboardUrl}\n  This link signs you in once:\n`);
  write(`${service.signInLink}\n`);
  const picture = await playStory({ service, folder, screen, ending, quick, atEnd });
  if (keep) {
    const token = await service.token('you', ['admin']);
    screen.part('Your turn', `The service runs until you press Ctrl-C. Its data is in ${service.dataFolder}.`);
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

/** Waits for Enter, or for the end of the input. */
async function enterPressed(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  try {
    await Promise.race([once(lines, 'line'), once(lines, 'close')]);
  } finally {
    lines.close();
  }
}

/**
 * Plays the demo in its own folder, and returns its final chart. When the promise settles, all processes have ended and
 * the folder was removed.
 */
export async function runDemo(options: DemoOptions): Promise<readonly ShownLine[]> {
  const { screen, write } = options;
  const began = performance.now();
  screen.title('Workspace Automation', 'Two jobs need the same file. One is killed, and one loses its lock by force.');
  const folder = await mkdtemp(join(tmpdir(), 'workspace-demo-'));
  const removal = { recursive: true, force: true, maxRetries: 5 } as const;
  // For an immediate exit, such as by a second Ctrl-C.
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
    `The service has ended and its folder was removed, ${inSeconds(performance.now() - began)} after the start.`,
  );
  write('\n  To try it yourself: npm run demo -- --keep\n\n');
  return picture;
}
