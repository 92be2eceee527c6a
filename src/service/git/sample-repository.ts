import { ensureRepository, type Mirror } from './bare-repository.ts';
import { type GitCommand, localLimits } from './git-command.ts';

/** A small repository of assets for experiments. An existing repository is not changed. */
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

/** In the format of git-fast-import(1). Each asset contains a line of text. */
function sampleHistory(): string {
  const committer = 'committer Sample <sample@example.com> 1736154000 +0000';
  const data = (content: string): string => `data ${content.length}\n${content}\n`;
  const commit = (branch: string, ...assets: readonly string[]): string =>
    [
      `commit refs/heads/${branch}\n${committer}\n${data(`Add assets to ${branch}\n`)}`,
      branch === 'main' ? '' : 'from refs/heads/main\n',
      ...assets.map((path) => `M 100644 inline ${path}\n${data(`${branch} ${path}\n`)}`),
    ].join('');
  const arena = 'Content/Maps/Arena.umap';
  return `${commit('main', 'Content/Hero.uasset', 'Content/Hero.png', arena)}${commit('release/1.0', arena)}done\n`;
}
