import { describe, expect, test } from 'vitest';
import { checkOut, errorsOf, openScene, type SceneJob } from './scene.ts';

const scene = openScene();

const hero = 'Content/Hero.uasset';
const chair = 'Content/Props/Chair.uasset';
const arena = 'Content/Maps/Arena.umap';

async function jobWithCheckout() {
  const workspace = await scene.service.workspace();
  const job = await scene.job({ workspace });
  await checkOut(job, hero, chair, arena);
  return { workspace, job };
}

const locking = (job: SceneJob, path: string, more: Readonly<Record<string, string>> = {}) =>
  job.run({ with: { operation: 'lock', path, ...more } });

const mistakes = [`- ${hero}`, `"${hero}"`, '# a comment', `$GITHUB_WORKSPACE/${hero}`, '~/x'].join('\n');

describe('lock', () => {
  test('reports a folder and every line that is unlikely to be a path, and locks nothing', async () => {
    const { workspace, job } = await jobWithCheckout();
    const result = await locking(job, `${hero}\nContent/Maps\n${mistakes}`);
    expect(result).toMatchObject({ conclusion: 'failure', outputs: {} });
    const [ofFolder, ...others] = errorsOf(result);
    expect(ofFolder).toMatch(
      /"Content\/Maps"\. It is a folder of the checkout in <checkout>\. Write `Content\/Maps\/\*\*`/,
    );
    expect(others).toHaveLength(5);
    expect(await scene.locked(workspace)).toEqual([]);
  });
});

describe('unlock', () => {
  test('warns about a path that is neither a file nor a lock of the job, but not about a lock without a file', async () => {
    const { workspace, job } = await jobWithCheckout();
    await locking(job, `new.txt\n${hero}`, { glob: 'false' });
    const wrong = await job.run({ with: { operation: 'unlock', path: 'content/hero.uasset' } });
    expect(wrong).toMatchObject({ conclusion: 'success', outputs: { status: 'absent' } });
    expect(errorsOf(wrong)).toEqual([expect.stringContaining('(did you mean "Content/Hero.uasset"?)')]);
    const right = await job.run({ with: { operation: 'unlock', path: 'new.txt' } });
    expect(right).toMatchObject({ conclusion: 'success', annotations: [], outputs: { released: '["new.txt"]' } });
    expect(await scene.locked(workspace)).toEqual([hero]);
  });
});
