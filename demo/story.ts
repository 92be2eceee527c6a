import { DemoFailure, type Ending } from './ending.ts';
import { type HookReceiver, startHookReceiver } from './hook-receiver.ts';
import { arena, hero } from './sample-assets.ts';
import { type DemoService, workspace } from './service.ts';
import { openShownJob, type ShownJob } from './shown-job.ts';
import type { ShownLine } from './terminal/log-lines.ts';
import type { Screen } from './terminal/screen.ts';
import { summaryLines } from './terminal/summary.ts';

export interface Stage {
  readonly service: DemoService;
  /** Where the jobs have their folders. */
  readonly folder: string;
  readonly screen: Screen;
  readonly ending: Ending;
  /** What is called, the last first, when all is over, however it ends. */
  readonly atEnd: (cleanUp: () => Promise<void>) => void;
}

const patienceMs = 30_000;

const emptyLine: ShownLine = { indent: 0, tone: 'plain', text: '' };

async function inTime<T>({ ending }: Stage, work: Promise<T>, sentence: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DemoFailure(sentence)), patienceMs);
  try {
    return await ending.orEnd(Promise.race([work, promise]));
  } finally {
    clearTimeout(timer);
  }
}

interface Cast {
  readonly release: ShownJob;
  readonly nightly: ShownJob;
  readonly receiver: HookReceiver;
  readonly releaseToken: string;
}

async function gather(stage: Stage): Promise<Cast> {
  const { service, folder, screen, ending, atEnd } = stage;
  const receiver = await startHookReceiver((sentence) => {
    if (!ending.signal.aborted) screen.say('webhook', { indent: 0, tone: 'good', text: `✓ ${sentence}` });
  });
  atEnd(() => receiver.close());
  const [releaseToken, nightlyToken] = await Promise.all([
    service.token('release-bot', ['sync', 'locks:write', 'hooks:write']),
    service.token('nightly-bot', ['locks:write']),
  ]);
  const open = async (name: 'nightly' | 'release', workflow: string, runId: string, token: string) => {
    const job = await openShownJob({
      name,
      workflow,
      runId,
      environment: { WORKSPACE_BASE_URL: service.baseUrl, WORKSPACE_ID: workspace, WORKSPACE_TOKEN: token },
      secrets: [token, receiver.secret],
      folder,
      screen,
      ending,
    });
    atEnd(() => job.end());
    return job;
  };
  return {
    release: await open('release', 'Release', '1001', releaseToken),
    nightly: await open('nightly', 'Nightly', '1002', nightlyToken),
    receiver,
    releaseToken,
  };
}

async function checkNothingIsLocked({ service, ending }: Stage, token: string): Promise<void> {
  const answer = await fetch(`${service.baseUrl}/workspaces/${workspace}/locks`, {
    headers: { authorization: `Bearer ${token}` },
    signal: ending.signal,
  });
  const text = await answer.text();
  if (answer.status !== 200) throw new DemoFailure(`The service did not list its locks: ${text}`);
  // The list of locks has this form (design, section 2); only the number of entries counts here.
  const { locks } = JSON.parse(text) as { readonly locks: readonly unknown[] };
  if (locks.length > 0) throw new DemoFailure(`Locks were left behind: ${text}`);
}

function showSummaries(screen: Screen, name: 'nightly' | 'release', { summaries }: ShownJob): void {
  screen.lines([{ indent: 0, tone: name, text: `The job ${name}` }, emptyLine]);
  for (const summary of summaries()) screen.lines([...summaryLines(summary), emptyLine]);
}

/** Two jobs that want the same file, from the first lock to the last release. */
export async function playStory(stage: Stage): Promise<void> {
  const { screen } = stage;
  const { release, nightly, receiver, releaseToken } = await gather(stage);

  screen.part(
    'A webhook',
    'The service calls whoever asked: so a build starts when a sync ends, or when a file is free.',
  );
  await release.run({
    operation: 'register-hook',
    'hook-url': receiver.url,
    'hook-events': 'sync.succeeded, lock.released',
    'hook-secret': receiver.secret,
  });

  screen.part('Two locks', 'A binary file cannot be merged, so the release takes the hero and the map: both, or none.');
  await release.run({ operation: 'lock', path: `${hero}\n${arena}`, ttl: '10m' });

  screen.part(
    'A sync, and somebody who waits',
    'The release fetches what is new. The nightly job wants the map, sees who has it, and waits.',
  );
  const sync = await release.start({ operation: 'sync', branch: 'main', wait: '5m' });
  await sync.says(/ is running| is synced/);
  const wanted = await nightly.start({ operation: 'lock', path: arena, ttl: '10m', wait: '5m' });
  await wanted.says(/ is held by release-bot /);
  await sync.done();
  await inTime(stage, receiver.arrived(1), 'The webhook call for the sync did not arrive.');

  screen.part('A look at the locks', 'Anybody with a token sees who has what, and until when.');
  await release.run({ operation: 'list-locks' });

  screen.part(
    'The end of the jobs',
    'The post-step gives back what a job has locked, even if the job fails, and the next one goes on.',
  );
  await release.post();
  await wanted.done();
  await nightly.post();
  await inTime(stage, receiver.arrived(4), 'The webhook calls for the released locks did not all arrive.');
  await checkNothingIsLocked(stage, releaseToken);

  screen.part('The job summaries', 'What the two jobs leave on the pages of their runs.');
  showSummaries(screen, 'release', release);
  showSummaries(screen, 'nightly', nightly);
  screen.reached(
    'The map went from one job to the other, all webhook calls were verified, and nothing is locked any more.',
  );
}
