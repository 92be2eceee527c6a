import { createHash } from 'node:crypto';
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
    input: sampleHistory(),
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

/** The history in the format of git-fast-import(1). */
function sampleHistory(): Buffer {
  const parts: (string | Buffer)[] = [];
  const data = (content: string | Buffer): void => {
    parts.push(`data ${Buffer.byteLength(content)}\n`, content, '\n');
  };
  for (const [index, [branch, message, ...assets]] of history.entries()) {
    parts.push(`commit refs/heads/${branch}\n`);
    parts.push(`committer Sample <sample@example.com> ${firstCommitTime + index * daySeconds} +0000\n`);
    data(`${message}\n`);
    if (branch !== 'main') parts.push('from refs/heads/main\n');
    for (const path of assets) {
      parts.push(`M 100644 inline ${path}\n`);
      data(assetBytes(`${index} ${path}`));
    }
  }
  parts.push('done\n');
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

const assetSize = 4_096;

/** Reproducible bytes that do not compress, like those of a real asset. */
function assetBytes(seed: string): Buffer {
  const digest = (block: number): Buffer => createHash('sha512').update(`${seed} ${block}`).digest();
  return Buffer.concat(Array.from({ length: assetSize / 64 }, (_, block) => digest(block)));
}
