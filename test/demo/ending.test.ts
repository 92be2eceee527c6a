import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { needSignals, startDemo } from './demo-process.ts';

describe('the demo ends everything that it started', () => {
  test('when it is interrupted while a sync and a waiting job run, and it records', async (context) => {
    needSignals(context);
    const demo = await startDemo(['--quick', '--record']);
    await demo.shows(/release │ The sync is running/);
    demo.signal('SIGINT');
    expect(await demo.ended).toBe(130);
    await demo.expectNothingLeft();
    expect(demo.stderr()).toBe('');
    expect(demo.stdout()).toMatch(/Stopped\. Nothing runs any more, and the temporary folder is gone\.\n$/);
  });

  test('when it is interrupted at its very end, and then it has recorded nothing', async (context) => {
    needSignals(context);
    const demo = await startDemo(['--quick', '--record']);
    const [, port] = await demo.shows(/The dashboard, live: \S+:(\d+)\//);
    await demo.shows(/ Force\n/);
    // The service does not end before a request that it has begun to read, so there is time to interrupt the demo.
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    onTestFinished(() => void socket.destroy());
    socket.write('POST /sign-in/link HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n\r\n');
    await demo.shows(/The picture/);
    demo.signal('SIGINT');
    socket.destroy();
    expect(await demo.ended).toBe(130);
    await demo.expectNothingLeft();
  });

  test('when its output is closed', async () => {
    const demo = await startDemo(['--keep']);
    await demo.shows(/The dashboard/);
    demo.stopReading();
    expect(await demo.ended).toBe(0);
    await demo.expectNothingLeft();
    expect(demo.stderr()).toBe('');
  });

  test('when it fails, and says why', async () => {
    const demo = await startDemo([], { PATH: '' });
    expect(await demo.ended).toBe(1);
    await demo.expectNothingLeft();
    expect(demo.stderr()).toBe(
      '\nThe demo did not succeed. The demo needs git, and there is none on the PATH. Install git and start the demo again.\n',
    );
  });
});
