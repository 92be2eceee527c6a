import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { GitError } from '../../../src/service/git/git-error.ts';
import { splitLines } from '../../../src/service/git/git-output.ts';
import { runGit } from '../../../src/service/git/run-git.ts';
import { processesNaming } from '../../support/git-processes.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A script that replaces git, to test how a misbehaving process is handled. */
async function environmentWithGit(script: string): Promise<{ readonly PATH: string; readonly folder: string }> {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return { PATH: `${folder}:${process.env['PATH']}`, folder };
}

const purpose = 'do its work';
const limits = { timeoutMs: 30_000 };

/** Processes that were killed with their group may take a moment to disappear. */
const expectNoProcess = (folder: string): Promise<void> => expect.poll(() => processesNaming(folder)).toEqual([]);

describe('git as a process', () => {
  test('fails with its error lines, with both kinds of line breaks, or with its status', async () => {
    const environment = await environmentWithGit('printf "one\\rtwo\\nthree" >&2; exit 3');
    const seen: string[] = [];
    const work = { purpose, limits, onErrorLine: (line: string) => seen.push(line) };
    await expect(runGit([], environment, work)).rejects.toEqual(
      new GitError('failed', 'git could not do its work: one two three'),
    );
    expect(seen).toEqual(['one', 'two', 'three']);
    const silent = await environmentWithGit('exit 3');
    await expect(runGit([], silent, work)).rejects.toThrow('git could not do its work: status 3.');
  });

  test('receives its arguments unchanged, and an empty input', async () => {
    const environment = await environmentWithGit('printf "%s|" "$@"; cat');
    const output = await runGit(['$(id)', 'a b', '; exit 1', ''], environment, { purpose, limits });
    expect(output).toBe('$(id)|a b|; exit 1||');
  });

  test('reads the given input, and does not fail if it ignores the input', async () => {
    const reading = await environmentWithGit('cat');
    const output = await runGit([], reading, { purpose, limits, input: Buffer.from('all of it') });
    expect(output).toBe('all of it');
    const deaf = await environmentWithGit('exec <&-; exit 0');
    expect(await runGit([], deaf, { purpose, limits, input: Buffer.alloc(4_000_000) })).toBe('');
  });

  test('ends at its time limit, together with the helpers that it started', async () => {
    const environment = await environmentWithGit('sh -c ": $0-helper; sleep 600" "$0" & wait');
    const run = runGit([], environment, { purpose, limits: { timeoutMs: 300 } });
    await expect(run).rejects.toMatchObject({ kind: 'timeout' });
    await expectNoProcess(environment.folder);
  });

  test('ends at its time limit if it has closed its output before', async () => {
    const environment = await environmentWithGit('exec >&-; sleep 600');
    const run = runGit([], environment, { purpose, limits: { timeoutMs: 300 } });
    await expect(run).rejects.toMatchObject({ kind: 'timeout' });
  });

  test('ends when aborted, even if it ignores the first signal', async () => {
    const environment = await environmentWithGit('trap "" TERM; echo ready >&2; while :; do sleep 0.1; done');
    const abort = new AbortController();
    const run = runGit([], environment, {
      purpose,
      limits: { ...limits, signal: abort.signal },
      onErrorLine: () => abort.abort(),
    });
    await expect(run).rejects.toMatchObject({ kind: 'aborted' });
    await expectNoProcess(environment.folder);
  });

  test('waits for a slow reader, and loses no output that is unread when it exits', async () => {
    const environment = await environmentWithGit('echo $$ >&2; printf first; head -c 200000 /dev/zero');
    const kill = vi.spyOn(process, 'kill');
    onTestFinished(() => kill.mockRestore());
    let group = 0;
    let taken = 0;
    let running = 0;
    let mostRunning = 0;
    await runGit([], environment, {
      purpose,
      limits,
      onErrorLine: (line) => (group = -Number(line)),
      async onOutput(chunk) {
        running += 1;
        mostRunning = Math.max(mostRunning, running);
        // The rest fits into the pipe, and waits there longer than the pipes of an ended process stay open.
        if (taken <= 140_000 && taken + chunk.length > 140_000) await sleep(2_500);
        await sleep(50);
        taken += chunk.length;
        running -= 1;
      },
    });
    expect({ taken, mostRunning }).toEqual({ taken: 200_005, mostRunning: 1 });
    // Another group may have the id by the end of the reader. Work of earlier tests may still be ended meanwhile.
    expect(kill.mock.calls.filter(([id]) => id === group)).toEqual([[group, 'SIGTERM']]);
  });

  test('ends at its time limit while the reader is behind, also after git has exited', async () => {
    const environment = await environmentWithGit('head -c 100 /dev/zero');
    const never = new Promise<void>(() => undefined);
    const work = { purpose, limits: { timeoutMs: 500 }, onOutput: () => never };
    await expect(runGit([], environment, work)).rejects.toMatchObject({ kind: 'timeout' });
  });

  test('ends at once if its reader fails', async () => {
    const environment = await environmentWithGit('while :; do echo more; done');
    const error = new Error('too much');
    const run = runGit([], environment, { purpose, limits, onOutput: () => Promise.reject(error) });
    await expect(run).rejects.toBe(error);
    await expectNoProcess(environment.folder);
  });

  test('ends at once if its output is too long to be kept', async () => {
    const environment = await environmentWithGit('while :; do head -c 100000 /dev/zero; done');
    const run = runGit(['version'], environment, { purpose, limits });
    await expect(run).rejects.toEqual(new GitError('failed', 'The output of git version is too long.'));
    await expectNoProcess(environment.folder);
  });

  test('runs with low priority', async () => {
    const environment = await environmentWithGit('sleep 0.2; nice');
    expect(await runGit([], environment, { purpose, limits })).toBe('10\n');
  });

  test('reports the signal that killed it, and ends the helpers that it leaves behind', async () => {
    const environment = await environmentWithGit('sh -c ": $0-helper; sleep 600" "$0" & kill -9 $$');
    await expect(runGit([], environment, { purpose, limits })).rejects.toThrow('it was killed with SIGKILL.');
    await expectNoProcess(environment.folder);
  });
});

describe('the lines of the output', () => {
  test('are complete, however the text is split', () => {
    const lines: string[] = [];
    const cutter = splitLines((line) => lines.push(line));
    for (const character of 'first\r\nsecond\r\rthird') cutter.push(character);
    expect(lines).toEqual(['first', 'second']);
    cutter.end();
    expect(lines).toEqual(['first', 'second', 'third']);
  });

  test('are truncated if they do not end', () => {
    const lines: string[] = [];
    const cutter = splitLines((line) => lines.push(line));
    for (let part = 0; part < 100; part += 1) cutter.push('x'.repeat(1_000));
    cutter.push('\nnext\n');
    expect(lines.map((line) => line.length)).toEqual([8_192, 4]);
  });
});
