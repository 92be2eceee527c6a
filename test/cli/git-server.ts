import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { serveGit } from '../support/git-http-backend.ts';
import { authorOfTests, createRepository } from '../support/git-repository.ts';
import { fakeSsh } from '../support/git-ssh.ts';
import { listenHere } from '../support/listen.ts';
import { commandFile } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface PushResult {
  readonly code: number;
  /** What the person who pushes sees, without the prefix of git. */
  readonly seen: string;
}

export interface GitServerOptions {
  /** The variables of the hook. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The hook of the documents, with the command of this checkout. */
export const hookScript = `#!/bin/sh
set -a
. "$(dirname "$0")/../hook.env"
exec '${process.execPath}' '${commandFile}' lock check --receive
`;

/** A bare repository on a git server with a `pre-receive` hook, and a clone of it in which people work. */
export async function createGitServer({ environment }: GitServerOptions) {
  const folder = temporaryFolder();
  const repository = createRepository(folder, 'game.git');
  mkdirSync(join(repository.path, 'hooks'));
  const setHook = (script: string) =>
    writeFileSync(join(repository.path, 'hooks/pre-receive'), script, { mode: 0o755 });
  const clone = join(folder, 'clone');
  const env = { PATH: process.env['PATH'], HOME: folder, GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C', ...authorOfTests };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: clone, env, encoding: 'utf8', stdio: 'pipe' }).trim();

  function change(files: Readonly<Record<string, string | null>>): void {
    for (const [name, content] of Object.entries(files)) {
      if (content === null) {
        git('rm', '--quiet', name);
        continue;
      }
      mkdirSync(dirname(join(clone, name)), { recursive: true });
      writeFileSync(join(clone, name), content);
    }
    git('add', '--all');
    git('commit', '--quiet', '--message=change');
  }

  const run = (args: readonly string[], more: NodeJS.ProcessEnv): Promise<PushResult> =>
    new Promise((resolve) => {
      execFile('git', ['push', ...args], { cwd: clone, env: { ...env, ...more } }, (error, _, stderr) =>
        resolve({
          code: error === null ? 0 : Number(error.code),
          seen: stderr.replaceAll(/^remote: (.*?) *$/gm, '$1'),
        }),
      );
    });

  const address = `git.example.com:${repository.path}`;

  /** An ssh, whose server sets these variables for the person of the key. */
  function sshAs(variables: NodeJS.ProcessEnv): Promise<string> {
    const exports = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
    return fakeSsh(folder, `ssh-${crypto.randomUUID()}`, exports.join('\n'));
  }

  const push = async (variables: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<PushResult> =>
    run([address, ...args], { GIT_SSH_COMMAND: await sshAs(variables) });

  /** Over http, where the web server has authenticated the person. */
  async function pushOverHttp(person: string, ...args: readonly string[]): Promise<PushResult> {
    const server = createServer((request, response) =>
      serveGit(request, response, { folder, environment: () => ({ REMOTE_USER: person }) }),
    );
    const { port, close } = await listenHere(server);
    onTestFinished(close);
    return run([`http://127.0.0.1:${port}/game.git`, ...args], {});
  }

  writeFileSync(
    join(repository.path, 'hook.env'),
    Object.entries(environment)
      .map(([name, value]) => `${name}='${value}'\n`)
      .join(''),
    { mode: 0o600 },
  );
  execFileSync('git', ['clone', '--quiet', repository.path, clone], { env, stdio: 'pipe' });
  git('checkout', '--quiet', '-B', 'main');
  return {
    folder,
    repository,
    clone,
    git,
    /** Writes files, or deletes those that are null, and commits. */
    change,
    /** The URL of the repository over ssh. */
    address,
    /** Pushes with these arguments and variables. */
    run,
    push,
    pushOverHttp,
    setHook,
    /** Starts the check with these files on `main`. */
    start(files: Readonly<Record<string, string>>): void {
      change(files);
      git('push', '--quiet', repository.path, 'main');
      setHook(hookScript);
    },
  };
}

export type GitServer = Awaited<ReturnType<typeof createGitServer>>;
