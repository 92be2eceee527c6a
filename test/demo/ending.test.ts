import { describe, expect, test } from 'vitest';
import { startDemo } from './demo-process.ts';

describe('the demo', () => {
  test('ends everything it started when interrupted during a sync, a waiting job and a recording', async () => {
    const demo = await startDemo(['--quick', '--record']);
    await demo.shows(/release │ The sync is running/);
    demo.signal('SIGINT');
    expect(await demo.ended).toBe(130);
    await demo.expectNothingLeft();
    expect(demo.stderr()).toBe('');
    expect(demo.stdout()).toMatch(/Stopped\. All processes have ended, and the temporary folder was removed\.\n$/);
  });

  test('ends everything it started when its output is closed', async () => {
    const demo = await startDemo(['--keep']);
    await demo.shows(/Live dashboard/);
    demo.stopReading();
    expect(await demo.ended).toBe(0);
    await demo.expectNothingLeft();
    expect(demo.stderr()).toBe('');
  });

  test('ends everything it started when it fails, and reports the reason', async () => {
    const demo = await startDemo([], { PATH: '' });
    expect(await demo.ended).toBe(1);
    await demo.expectNothingLeft();
    expect(demo.stderr()).toBe(
      '\nThe demo failed. git was not found on the PATH. Install git and start the demo again.\n',
    );
  });
});
