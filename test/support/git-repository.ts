import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';

export interface Commit {
  readonly branch: string;
  readonly files: Readonly<Record<string, string | Buffer>>;
  /** The branch or commit from which the branch starts again. By default, the commit follows the previous one. */
  readonly from?: string;
  readonly merge?: string;
  readonly removed?: readonly string[];
}

/** The author of all commits, without the settings of the user and of the machine. */
export const authorOfTests: NodeJS.ProcessEnv = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.com',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.com',
};

/** The output of git in an existing repository. */
export const gitAt = (folder: string, ...args: readonly string[]): string => git(args, folder);

function git(args: readonly string[], cwd: string, input?: Buffer): string {
  return execFileSync('git', args, {
    cwd,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], ...authorOfTests },
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(input === undefined ? {} : { input }),
  });
}

/** The commits in the format of git-fast-import(1). The clock only gives each commit a later time. */
function asStream(commits: readonly Commit[], existing: ReadonlySet<string>, startTime: number): Buffer {
  const parts: (string | Buffer)[] = [];
  const data = (content: string | Buffer): void => {
    parts.push(`data ${Buffer.byteLength(content)}\n`, content, '\n');
  };
  const known = new Set(existing);
  const started = new Set<string>();
  const place = (from: string): string => {
    if (started.has(from)) return `refs/heads/${from}`;
    return known.has(from) ? `refs/heads/${from}^0` : from;
  };
  for (const [index, { branch, files, from, merge, removed = [] }] of commits.entries()) {
    const parent = from ?? (known.has(branch) && !started.has(branch) ? branch : undefined);
    parts.push(`commit refs/heads/${branch}\n`, `committer Test <test@example.com> ${startTime + index} +0000\n`);
    data(`commit ${index}`);
    if (parent !== undefined) parts.push(`from ${place(parent)}\n`);
    if (merge !== undefined) parts.push(`merge ${place(merge)}\n`);
    for (const path of removed) parts.push(`D ${path}\n`);
    for (const [path, content] of Object.entries(files)) {
      parts.push(`M ${path.endsWith('.sh') ? '100755' : '100644'} inline ${path}\n`);
      data(content);
    }
    known.add(branch);
    started.add(branch);
  }
  parts.push('done\n');
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

export type Repository = ReturnType<typeof createRepository>;

/** A bare repository for a test, created with the real git and without the user's settings. */
export function createRepository(folder: string, name = 'remote.git') {
  const path = join(folder, name);
  git(['init', '--quiet', '--bare', '--template=', '--initial-branch=main', path], folder);
  let time = 1_735_689_600;
  const inside = (...args: readonly string[]): string => git(args, path);
  return {
    path,
    git: inside,
    head: (branch: string) => inside('rev-parse', '--verify', `refs/heads/${branch}`).trim(),
    commit(...commits: readonly Commit[]): void {
      const branches = inside('for-each-ref', '--format=%(refname:lstrip=2)', 'refs/heads/').split('\n');
      git(['fast-import', '--quiet', '--done', '--force'], path, asStream(commits, new Set(branches), time));
      time += commits.length;
    },
  };
}

/** This number of commits on one branch, each changing one of a few files in folders. */
export function manyCommits(count: number, branch = 'main', seed = branch): readonly Commit[] {
  return Array.from({ length: count }, (_, index) => ({
    branch,
    files: { [`folder-${index % 7}/deep-${index % 3}/file-${index % 20}`]: `${seed} ${index}\n`.repeat(20) },
  }));
}

/** A PATH on which git runs these shell commands before its own work. */
export async function pathWithGit(folder: string, first: string): Promise<string> {
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const bin = join(folder, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'git'), `#!/bin/sh\n${first}\nexec '${git}' "$@"\n`, { mode: 0o755 });
  return `${bin}:${process.env['PATH']}`;
}
