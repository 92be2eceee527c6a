import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Replaces the ssh that git starts: `paced-link.ts <repository> <arguments for ssh>`. The other end of the link is git
 * on this machine. Its output is slowed down to the speed of a network, so that progress is visible.
 */

/**
 * The sync takes 10 s. The service stores its progress every 2 s, and the fourth request of a step comes within 7.5 s, so
 * every step sees progress before the end.
 */
const bytesPerSecond = 300_000;
const pieceBytes = 16_384;

const [, , repository = '', ...given] = process.argv;
if (!/^git-upload-pack '/.test(given.at(-1) ?? '')) throw new Error('This link supports only fetches.');

const otherEnd = spawn('git', ['upload-pack', repository], { stdio: ['inherit', 'pipe', 'inherit'] });
process.once('exit', () => otherEnd.kill());
// The fetching git has ended.
process.stdout.once('error', () => process.exit(1));
otherEnd.once('close', (code) => {
  process.exitCode = code ?? 1;
});

const began = performance.now();
let sent = 0;
for await (const chunk of otherEnd.stdout) {
  // A stream without an encoding yields buffers.
  const bytes = chunk as Buffer;
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const piece = bytes.subarray(at, at + pieceBytes);
    if (!process.stdout.write(piece)) await once(process.stdout, 'drain');
    sent += piece.length;
    await sleep(began + (sent / bytesPerSecond) * 1_000 - performance.now());
  }
}
