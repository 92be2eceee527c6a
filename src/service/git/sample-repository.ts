import { ensureRepository, type Mirror } from './bare-repository.ts';
import { type GitCommand, localLimits } from './git-command.ts';

/** A small repository of assets for trying the service. An existing one stays unchanged. */
export async function createSampleRepository(git: GitCommand, sample: Mirror): Promise<void> {
  const { repository } = sample;
  await ensureRepository(sample);
  const task = { limits: localLimits, repository };
  if ((await git(['for-each-ref'], { ...task, purpose: 'look at the sample repository' })) !== '') return;
  await git(['fast-import', '--quiet', '--done', '--force'], {
    ...task,
    purpose: 'create the sample repository',
    input: Buffer.from(sampleHistory()),
  });
}

/** Branch, message and changed assets of each commit. */
const history = [
  ['main', 'Add the hero', 'Content/Hero.uasset', 'Content/Textures/Hero.png'],
  ['main', 'Build the arena', 'Content/Maps/Arena.umap', 'Content/Props/Gate.fbx'],
  ['main', 'Score the arena', 'Content/Audio/Arena.wav'],
  ['release/1.0', 'Tune the arena for the release', 'Content/Maps/Arena.umap'],
  ['main', 'Give the hero a cape', 'Content/Hero.uasset', 'Content/Textures/Cape.png'],
] as const;

const firstCommitTime = Date.UTC(2025, 0, 6, 9) / 1_000;
const daySeconds = 86_400;

/** The history in the format of git-fast-import(1). Each asset has a line of text. */
function sampleHistory(): string {
  const commits = history.map(([branch, message, ...assets], index) =>
    [
      `commit refs/heads/${branch}\n`,
      `committer Sample <sample@example.com> ${firstCommitTime + index * daySeconds} +0000\n`,
      data(`${message}\n`),
      branch === 'main' ? '' : 'from refs/heads/main\n',
      ...assets.map((path) => `M 100644 inline ${path}\n${data(`${index} ${path}\n`)}`),
    ].join(''),
  );
  return `${commits.join('')}done\n`;
}

const data = (content: string): string => `data ${Buffer.byteLength(content)}\n${content}\n`;
