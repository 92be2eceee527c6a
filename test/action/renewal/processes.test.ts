import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  createContainerCheck,
  endMain,
  identifyProcess,
  isGone,
  stopRenewal,
} from '../../../src/action/renewal/processes.ts';
import { sleep, steadyClock } from '../../../src/client/time.ts';
import type { RecordedProcess } from '../../../src/locks/ledger/entry.ts';
import { openLedger } from '../../../src/locks/ledger/ledger.ts';
import { leaveOut } from '../../support/left-out.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

beforeEach((context) => {
  if (process.platform !== 'linux') leaveOut(context, 'Only Linux lists processes as files.');
});

/** Runs until its input ends, unless the program ignores that. */
async function startProcess(program = 'process.stdin.resume()') {
  const child = spawn(process.execPath, ['-e', `${program}; console.log('')`], { stdio: ['pipe', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  const known = child.pid === undefined ? undefined : identifyProcess(child.pid);
  if (known === undefined) throw new Error('There is no process.');
  return { child, known };
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

describe('a process', () => {
  test('is identified by its id and start time, and is gone after it ends', async () => {
    const { child, known } = await startProcess();
    expect(known.startedAt).toMatch(/^\d+$/);
    expect(isGone(known)).toBe(false);
    await end(child);
    expect(isGone(known)).toBe(true);
  });

  test('is gone if another process has its id, but not if its start time is unknown', async () => {
    const { known } = await startProcess();
    expect(isGone({ ...known, startedAt: '1' })).toBe(true);
    expect(isGone({ ...known, startedAt: undefined })).toBe(false);
  });

  test('is gone if it is a zombie', async () => {
    // The shell starts `cat` in the background, then becomes a program that waits for no child. Only then does `cat`
    // end.
    const script = 'cat <&3 >/dev/null & echo $!; exec sleep 60 3<&-';
    const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] });
    onTestFinished(() => void parent.kill('SIGKILL'));
    const [, stdout, , pipe] = parent.stdio;
    const [line] = await once(stdout ?? parent, 'data');
    const pid = Number(String(line));
    await expect.poll(() => readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('sleep\n');
    pipe?.destroy();
    await expect.poll(() => isGone({ pid, startedAt: undefined })).toBe(true);
    // Its id still exists.
    expect(process.kill(pid, 0)).toBe(true);
  });
});

const saved = (known: RecordedProcess): string => JSON.stringify(known);

/** An empty ledger, and virtual time, which passes only in pauses. */
function openContext(onPause: (pauses: number) => void = () => undefined) {
  const ledger = openLedger(join(temporaryFolder(), 'ledger.jsonl'));
  let [now, pauses] = [0, 0];
  return {
    ledger,
    clock: () => now,
    async sleep(ms: number) {
      now += ms;
      pauses += 1;
      onPause(pauses);
      await new Promise(setImmediate);
    },
    kinds: () => ledger.read().entries.map(({ kind }) => kind),
  };
}

describe('the process of a step that is still running', () => {
  async function ending(known: RecordedProcess): Promise<number> {
    const { clock, sleep: pass } = openContext();
    await endMain({ clock, sleep: pass }, saved(known));
    return clock();
  }

  test('is terminated and waited for', async () => {
    const { child, known } = await startProcess();
    const ended = once(child, 'exit');
    await endMain({ clock: steadyClock, sleep }, saved(known));
    expect(await ended).toEqual([null, 'SIGTERM']);
  });

  test('is killed if it does not end', async () => {
    const { child, known } = await startProcess("process.on('SIGTERM', () => undefined); process.stdin.resume()");
    const ended = once(child, 'exit');
    expect(await ending(known)).toBeGreaterThanOrEqual(5_000);
    expect(await ended).toEqual([null, 'SIGKILL']);
  });

  test.each([
    ['if another process has its id', '1', 0],
    ['if its start time is unknown, as on Windows and macOS', undefined, 5_000],
  ])('is not signaled %s', async (_, startedAt, leastMs) => {
    const { child, known } = await startProcess();
    expect(await ending({ ...known, startedAt })).toBeGreaterThanOrEqual(leastMs);
    await expectUnsignaled(child);
  });

  /** A signal would have ended it before its input. */
  async function expectUnsignaled(child: ChildProcess): Promise<void> {
    expect([child.exitCode, child.signalCode]).toEqual([null, null]);
    const ended = once(child, 'exit');
    child.stdin?.end();
    expect(await ended).toEqual([0, null]);
  }
});

describe('a job whose worker is invisible', () => {
  const minute = 60_000;
  const hour = 60 * minute;

  function checking(runsStep: boolean) {
    const file = join(temporaryFolder(), 'ledger.jsonl');
    const ledger = openLedger(file);
    ledger.append({ kind: 'step-started', step: 's', at: new Date().toISOString() });
    let now = 0;
    const clock = () => now;
    const isOver = createContainerCheck(file, clock, () => runsStep);
    return {
      ...{ file, ledger },
      isOverAt(ms: number): boolean {
        now = ms;
        return isOver();
      },
    };
  }

  test.each([
    ['lives while a step runs, even if one has removed the ledger', true, false],
    ['has ended after ten minutes without a step and its ledger, even if the next job has one too', false, true],
  ])('%s', (_, runsStep, isOver) => {
    const { file, ledger, isOverAt } = checking(runsStep);
    expect(isOverAt(10 * minute + 1)).toBe(false);
    ledger.append({ kind: 'step-ended', step: 's', at: new Date().toISOString() });
    expect(isOverAt(10 * minute + 2)).toBe(false);
    rmSync(file);
    expect(isOverAt(10 * minute + 3)).toBe(isOver);
    ledger.append({ kind: 'step-started', step: 't', at: new Date().toISOString() });
    expect(isOverAt(10 * minute + 4)).toBe(isOver);
  });

  test('does not end at once when its ledger is gone', () => {
    const { file, isOverAt } = checking(false);
    rmSync(file);
    expect(isOverAt(10 * minute)).toBe(false);
    expect(isOverAt(10 * minute + 1)).toBe(true);
  });

  test.each([
    ['lives while a step runs', true, false],
    ['has ended after six hours without a step', false, true],
  ])('%s', (_, runsStep, isOver) => {
    const { isOverAt } = checking(runsStep);
    expect(isOverAt(6 * hour)).toBe(false);
    expect(isOverAt(6 * hour + 1)).toBe(isOver);
  });
});

describe('the renewal process of a step', () => {
  async function stopping(saved: string, onPause?: (pauses: number) => void, aborted = false) {
    const context = openContext(onPause);
    await stopRenewal(context, 's', saved, aborted ? AbortSignal.abort() : new AbortController().signal);
    return { waitedMs: context.clock(), kinds: context.kinds };
  }

  test('is asked to end and waited for', async () => {
    const { child, known } = await startProcess();
    function endChild(): void {
      child.kill();
      // A process may take longer to end than the time that passes at each pause.
      for (;;) if (isGone(known)) return;
    }
    const { kinds } = await stopping(saved(known), (pauses) => pauses === 3 && endChild());
    expect(kinds()).toEqual(['step-ended']);
    expect(isGone(known)).toBe(true);
  });

  test.each([
    ['in time', false, 5_000],
    ['because the job is cancelled', true, 0],
  ])('is killed if it does not end %s', async (_, aborted, waitsMs) => {
    const { child, known } = await startProcess();
    const ended = once(child, 'exit');
    expect((await stopping(saved(known), undefined, aborted)).waitedMs).toBeGreaterThanOrEqual(waitsMs);
    expect(await ended).toEqual([null, 'SIGKILL']);
  });

  test('is waited for but not killed if another process may have its id', async () => {
    const { known } = await startProcess();
    expect((await stopping(saved({ ...known, startedAt: undefined }))).waitedMs).toBeGreaterThanOrEqual(5_000);
    expect(isGone(known)).toBe(false);
    expect((await stopping(saved({ ...known, startedAt: '1' }))).waitedMs).toBe(0);
    expect(isGone(known)).toBe(false);
  });

  test.each(['{', 'null', '{"pid":"7"}', '{"pid":1}', '{"pid":-1}', '{"pid":0.5}'])(
    'is asked to end even if the saved state is invalid: %s',
    async (state) => {
      const { waitedMs, kinds } = await stopping(state);
      expect([waitedMs, kinds()]).toEqual([0, ['step-ended']]);
    },
  );
});
