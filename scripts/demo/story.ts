import { setTimeout as sleep } from 'node:timers/promises';
import { shellWord } from '../../src/interface/shell-word.ts';
import { DemoFailure, type Ending } from './ending.ts';
import { type HookEvent, type HookReceiver, startHookReceiver } from './hook-receiver.ts';
import { arena, hero } from './sample-assets.ts';
import { type DemoService, workspace } from './service.ts';
import { openShownJob, type ShownJob } from './shown-job.ts';
import { chartLines, type Span } from './terminal/chart.ts';
import type { ShownLine } from './terminal/log-lines.ts';
import type { Screen } from './terminal/screen.ts';

export interface Stage {
  readonly service: DemoService;
  /** The parent of the folders of the jobs. */
  readonly folder: string;
  readonly screen: Screen;
  readonly ending: Ending;
  /** Skips the pauses for viewers. */
  readonly quick: boolean;
  /** Registers cleanup work, which runs in reverse order when the demo ends for any reason. */
  readonly atEnd: (cleanUp: () => Promise<void>) => void;
}

const timeoutMs = 30_000;

async function inTime<T>({ ending }: Stage, work: Promise<T>, sentence: string): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new DemoFailure(sentence)), timeoutMs);
  try {
    return await ending.orEnd(Promise.race([work, promise]));
  } finally {
    clearTimeout(timer);
  }
}

interface Actors {
  readonly release: ShownJob;
  readonly nightly: ShownJob;
  readonly receiver: HookReceiver;
  readonly releaseToken: string;
  readonly leadToken: string;
}

async function gather(stage: Stage): Promise<Actors> {
  const { service, folder, screen, ending, atEnd } = stage;
  const receiver = await startHookReceiver((sentence) => {
    if (!ending.signal.aborted) screen.say('webhook', { indent: 0, tone: 'good', text: `✓ ${sentence}` });
  });
  atEnd(() => receiver.close());
  const [releaseToken, nightlyToken, leadToken] = await Promise.all([
    service.token('release-bot', ['sync', 'locks:write', 'hooks:write']),
    service.token('nightly-bot', ['locks:write']),
    service.token('lead', ['locks:admin']),
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
    leadToken,
  };
}

/** Verifies that the service has exactly the locks that the demo shows. */
async function expectLocked({ service, ending }: Stage, token: string, paths: readonly string[]): Promise<void> {
  const response = await fetch(`${service.baseUrl}/workspaces/${workspace}/locks`, {
    headers: { authorization: `Bearer ${token}` },
    signal: ending.signal,
  });
  const text = await response.text();
  if (response.status !== 200) throw new DemoFailure(`Could not list the locks: ${text}`);
  // The list of locks has this form (design, section 2).
  const { locks } = JSON.parse(text) as { readonly locks: readonly { readonly path: string }[] };
  if (locks.map(({ path }) => path).join() === paths.join()) return;
  throw new DemoFailure(`Expected these locks: ${paths.join(', ') || 'none'}. The service returned: ${text}`);
}

/** Runs a command of the service, and shows it with its output. */
async function runAtConsole({ service, screen }: Stage, args: readonly string[], token: string): Promise<void> {
  const show = (text: string): void => screen.say('console', { indent: 0, tone: 'plain', text });
  show(`$ workspace-service ${args.map(shellWord).join(' ')}`);
  for (const line of (await service.run(args, token)).trimEnd().split('\n')) show(line);
}

/** The time that each lock was held, from the event at its end. */
const heldSpans = (events: readonly HookEvent[]): readonly Span[] =>
  events.flatMap(({ timestamp, data: { lock } }) =>
    lock === undefined
      ? []
      : [
          {
            path: lock.path,
            job: lock.owner === 'release-bot' ? 'release' : 'nightly',
            kind: 'held',
            from: Date.parse(lock.acquired_at),
            to: Date.parse(timestamp),
          },
        ],
  );

/** Plays two jobs that need the same file, from the first lock to the last. Returns the chart of all locks. */
export async function playStory(stage: Stage): Promise<readonly ShownLine[]> {
  const { screen, ending, quick } = stage;
  const pause = (seconds: number): Promise<void> =>
    sleep(quick ? 0 : seconds * 1_000, undefined, { signal: ending.signal });
  const { release, nightly, receiver, releaseToken, leadToken } = await gather(stage);
  const released = (count: number): Promise<readonly HookEvent[]> =>
    inTime(stage, receiver.arrived('lock.released', count), 'The webhook calls for released locks did not all arrive.');
  await pause(5);

  screen.part('A webhook', 'The service notifies registered receivers. ✓ marks calls with a valid signature.');
  await release.run({
    operation: 'register-hook',
    'hook-url': receiver.url,
    'hook-events': 'sync.succeeded, lock.released',
    'hook-secret': receiver.secret,
  });

  screen.part('Two locks', 'A binary file cannot be merged, so the release locks the hero and the map: both, or none.');
  await release.run({ operation: 'lock', path: `${hero}\n${arena}`, ttl: '10m' });
  await pause(2);

  screen.part('A second job', 'The nightly job needs the map too. It sees who holds it, and waits.');
  const wantedAt = Date.now();
  const wanted = await nightly.start({ operation: 'lock', path: arena, ttl: '10m', wait: '5m' });
  await wanted.says(/ is held by release-bot /);
  await pause(2);

  screen.part('SIGKILL', 'The release starts a sync, and its process is killed, as if memory had run out.');
  const sync = await release.start({ operation: 'sync', branch: 'main', wait: '5m' }, 'SIGKILL');
  await sync.says(/ is running, [1-9]/);
  screen.say('console', { indent: 0, tone: 'error', text: `$ kill -KILL ${sync.pid}` });
  const killedAt = Date.now();
  sync.kill();
  await sync.done();
  await expectLocked(stage, releaseToken, [hero, arena]);
  screen.reached('The step was killed before it could clean up: both files are still locked.');

  screen.part(
    'What the runner does next',
    'As after any failed step, it runs the post-steps of the job. If the machine had failed too, the locks would expire.',
  );
  await release.post();
  const givenBack = heldSpans(await released(2));
  const last = Math.max(...givenBack.map(({ to }) => to));
  screen.reached(`The post-step released both, ${((last - killedAt) / 1_000).toFixed(1)} s after SIGKILL.`);
  await wanted.done();
  await nightly.run({ operation: 'check' });
  screen.reached('The nightly job now holds the map, as the dashboard shows.');
  await pause(8);

  screen.part(
    'Force',
    'Someone needs the map at once, and releases the lock of the nightly job. The audit log has the reason.',
  );
  const reason = 'The trailer needs the map tonight.';
  await runAtConsole(stage, ['lock', 'release', arena, '--force', '--reason', reason], leadToken);
  await pause(1);
  const check = await nightly.run({ operation: 'check' }, 'failure');
  await nightly.post();
  const spans = heldSpans(await released(3));
  await inTime(stage, receiver.arrived('sync.succeeded', 1), 'The webhook call for the sync did not arrive.');
  await expectLocked(stage, releaseToken, []);
  screen.reached('The nightly job detects that it lost the map, and fails. No locks remain.');
  await pause(1);

  screen.part('The timeline', 'All locks, as reported by the webhooks.');
  const had = spans.findLast(({ path, job }) => path === arena && job === 'nightly');
  if (had === undefined) throw new DemoFailure('The webhooks reported no lock of the nightly job.');
  const waited: Span = { ...had, kind: 'waited', from: wantedAt, to: had.from };
  const picture = chartLines(
    [...spans.filter((span) => span !== had).toSorted((one, other) => (one.path < other.path ? -1 : 1)), waited, had],
    [
      { at: givenBack[0]?.from ?? wantedAt, text: 'release locks the hero and the map.' },
      { at: wantedAt, text: 'nightly needs the map too, and waits.' },
      { at: killedAt, text: 'SIGKILL. The post-step releases both locks.' },
      { at: had.to, text: `nightly loses the map by force. Its check says: ${check.outputs['status']}.` },
    ],
  );
  screen.lines(picture);
  return picture;
}
