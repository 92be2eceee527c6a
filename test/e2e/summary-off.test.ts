import { expect, test } from 'vitest';
import { openScene } from './scene.ts';

const scene = openScene();

test.each(['false', 'False', 'FALSE'])(
  'with `summary: %s` neither the step nor its post-step writes one',
  async (off) => {
    const workspace = await scene.service.workspace();
    const job = await scene.job({ workspace });
    const step = await job.run({ with: { operation: 'lock', path: 'a', summary: off } });
    expect([step.conclusion, step.summary]).toEqual(['success', '']);
    const [post] = await job.post();
    expect(post?.log).toContain('Released');
    expect(post?.summary).toBe('');
    expect(await scene.locked(workspace)).toEqual([]);
  },
);
