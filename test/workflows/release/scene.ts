import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { authorOfTests } from '../../support/git-repository.ts';
import { ourActionFile } from '../../support/runner/action-file.ts';
import { tagEvent } from '../../support/runner/github-context.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { runWorkflowJob, type UsesHandler, type WorkflowJobResult } from '../job-runner.ts';
import { readWorkflow } from '../workflow-file.ts';

const root = dirname(ourActionFile);
const workflow = await readWorkflow('release.yml');

/** Skipped scripts: the test repository has no dependencies, and is built for one platform only. */
const leftOut = ['npm ci', 'sudo apt-get update && sudo apt-get install --yes qemu-user-static'];

/** Builds a bundle from one file, always with the same result. */
const build = `node --eval "fs.mkdirSync('dist/post', { recursive: true }); for (const entry of ['', 'post/']) fs.writeFileSync('dist/' + entry + 'index.js', '// ' + entry + fs.readFileSync('source.txt', 'utf8'))"`;

interface Change {
  readonly version: string;
  /** The text of the section in CHANGELOG.md; null for no section. */
  readonly notes?: string | null;
  readonly packageVersion?: string;
  /** Content of the committed bundle, if it differs from the build. */
  readonly bundle?: string;
}

export type ReleaseScene = Awaited<ReturnType<typeof releaseScene>>;

/** A remote with the scripts of this repository, a clone to work in, and a `gh` without releases. */
export async function releaseScene() {
  const folder = temporaryFolder();
  const remote = join(folder, 'remote.git');
  const clone = join(folder, 'clone');
  const gh = fakeGh(join(folder, 'gh'));
  const registry = join(folder, 'registry');
  cpSync(fileURLToPath(new URL('fake-docker.bash', import.meta.url)), join(gh.bin, 'docker'));
  const environment = {
    ...gh.environment,
    FAKE_DOCKER: registry,
    PATH: [gh.bin, process.env['PATH']].join(delimiter),
    ...authorOfTests,
  };
  const gitIn = (cwd: string, ...args: readonly string[]): string =>
    execFileSync('git', args, { cwd, env: environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
  const git = (...args: readonly string[]): string => gitIn(clone, ...args);

  gitIn(folder, 'init', '--quiet', '--bare', '--initial-branch=main', remote);
  gitIn(folder, 'clone', '--quiet', remote, clone);
  for (const name of ['.ci', '.gitattributes', 'LICENSE', 'action.yml']) {
    cpSync(join(root, name), join(clone, name), { recursive: true });
  }

  let meanwhile = (): void => undefined;
  const attested: string[] = [];
  const checkout: UsesHandler = async ({ job, with: given }) => {
    if (given['fetch-depth'] !== '0') throw new Error('Tags and branches would be missing.');
    const { workspace } = job.folders;
    gitIn(folder, 'clone', '--quiet', '--no-checkout', remote, workspace);
    gitIn(workspace, 'checkout', '--quiet', '--detach', job.variables('')['GITHUB_REF'] ?? '');
    return undefined;
  };
  const attest: UsesHandler = async ({ job, with: given }) => {
    if (given['subject-digest'] !== undefined) {
      attested.push(`${given['subject-name']}@${given['subject-digest']}`);
      return undefined;
    }
    meanwhile();
    const patterns = (given['subject-path'] ?? '').split('\n').filter((line) => line !== '');
    attested.push(...patterns.flatMap((pattern) => globSync(pattern, { cwd: job.folders.workspace })));
    return undefined;
  };

  const run = (
    name: string,
    tag: string,
    image: WorkflowJobResult['outputs'] = {},
    vars: Readonly<Record<string, string>> = {},
  ): Promise<WorkflowJobResult> => {
    const definition = workflow.jobs[name];
    if (definition === undefined) throw new Error(`There is no job ${name}.`);
    const steps = (definition.steps ?? []).filter((step) => step.run === undefined || !leftOut.includes(step.run));
    return runWorkflowJob({
      workflow: { ...workflow, jobs: { [name]: { ...definition, steps } } },
      event: tagEvent(tag),
      env: environment,
      vars,
      needs: { compare: { result: 'success' }, image: { result: 'success', outputs: image } },
      uses: { 'actions/checkout': checkout, 'actions/setup-node': async () => undefined, 'actions/attest': attest },
    });
  };

  let current = 'main';
  return {
    gh,
    git,
    attested: () => attested,
    /** Runs a callback during a release: after the checkout, before anything is published. */
    meanwhile: (happens: () => void): void => {
      meanwhile = happens;
    },
    /** Commits and pushes the files of a release to a branch. A new branch starts at `from`. */
    prepare(
      { version, notes = `- What ${version} brings.`, packageVersion = version, bundle }: Change,
      branch = 'main',
      from?: string,
    ): void {
      if (branch !== current) git('checkout', '--quiet', ...(from === undefined ? [branch] : ['-b', branch, from]));
      current = branch;
      const write = (name: string, text: string): void => writeFileSync(join(clone, name), text);
      const section = notes === null ? '' : `## [${version}] - 2026-03-01\n\n${notes}\n\n`;
      const earlier = '## [0.0.9] - 2025-12-24\n\n- The beginning.\n\n[0.0.9]: https://example.com/0.0.9\n';
      write('CHANGELOG.md', `# Changelog\n\n## [Unreleased]\n\n${section}${earlier}`);
      const scripts = { build, 'check:bundle': 'bash .ci/check-bundle' };
      write('package.json', JSON.stringify({ version: packageVersion, type: 'module', scripts }));
      write('source.txt', version);
      rmSync(join(clone, 'dist'), { recursive: true, force: true });
      mkdirSync(join(clone, 'dist/post'), { recursive: true });
      write('dist/index.js', `// ${bundle ?? version}`);
      write('dist/post/index.js', `// post/${version}`);
      git('add', '--all');
      git('commit', '--quiet', '--message', version);
      git('push', '--quiet', 'origin', `HEAD:${branch}`);
    },
    /** Tags the last commit, and pushes the tag. */
    tag(name: string, { annotated = false } = {}): void {
      git('tag', ...(annotated ? ['--annotate', '--message', name] : []), name);
      git('push', '--quiet', 'origin', `refs/tags/${name}`);
    },
    compare: (tag: string) => run('compare', tag),
    /** The content of the registry: how each digest was built, and the digest of each tag. */
    images() {
      const filesIn = (name: string): Record<string, string> => {
        const names = readdirSync(join(registry, name));
        return Object.fromEntries(names.map((file) => [file, readFileSync(join(registry, name, file), 'utf8')]));
      };
      return { built: filesIn('digests'), tags: filesIn('tags') };
    },
    /** Runs the jobs `image` and `publish`. */
    async publish(tag: string, vars?: Readonly<Record<string, string>>): Promise<WorkflowJobResult> {
      const image = await run('image', tag);
      return image.result === 'success' ? run('publish', tag, image.outputs, vars) : image;
    },
  };
}

/** A `gh` without releases, and what is published with it. */
function fakeGh(folder: string) {
  const bin = join(folder, 'bin');
  const state = join(folder, 'state');
  for (const each of [bin, state]) mkdirSync(each, { recursive: true });
  cpSync(fileURLToPath(new URL('fake-gh.bash', import.meta.url)), join(bin, 'gh'));
  const write = (name: string, text: string): void => writeFileSync(join(state, name), `${text}\n`);
  write('immutable-releases', 'true');

  const read = (name: string): string => readFileSync(join(state, name), 'utf8').trimEnd();
  const releases = join(state, 'releases');
  /** The result of `gh release view`, and the names of the files. */
  const release = (tag: string) => ({
    draft: read(`releases/${tag}/draft`) === 'true',
    prerelease: read(`releases/${tag}/prerelease`) === 'true',
    immutable: read(`releases/${tag}/immutable`) === 'true',
    notes: read(`releases/${tag}/notes`),
    assets: readdirSync(join(releases, tag, 'assets')),
  });
  return {
    bin,
    /** Environment for the steps of a job. */
    environment: { FAKE_GH: state },
    releases: () =>
      Object.fromEntries((existsSync(releases) ? readdirSync(releases) : []).map((tag) => [tag, release(tag)])),
    /** As a person does on the page of the draft. */
    publishByHand(tag: string): void {
      write(`releases/${tag}/draft`, 'false');
      write(`releases/${tag}/immutable`, read('immutable-releases'));
    },
    /** The tag of the latest release; null if there is none. */
    latest: () => (existsSync(join(state, 'latest')) ? read('latest') : null),
    asset: (tag: string, name: string) => readFileSync(join(releases, tag, 'assets', name)),
    replaceAsset: (tag: string, name: string, content: Buffer) =>
      writeFileSync(join(releases, tag, 'assets', name), content),
    /** Lets the next command with these words fail, as if GitHub were unreachable. */
    failOnce: (words: string) => write('fails-once', words),
  };
}
