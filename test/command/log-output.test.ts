import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastingFile } from '../../src/command/io.ts';
import { startCommand } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

test('a temporarily full disk loses the lines of that time, and no others', () => {
  // The room for each write: all, some, or none.
  const room = fc.array(fc.option(fc.nat({ max: 12 }), { nil: Number.POSITIVE_INFINITY }), { maxLength: 30 });
  fc.assert(
    fc.property(room, (rooms) => {
      let file = '';
      const left = [...rooms];
      const output = lastingFile(0, (_fd, bytes) => {
        const taken = Math.min(left.shift() ?? Number.POSITIVE_INFINITY, bytes.length);
        if (taken === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        file += bytes.subarray(0, taken).toString();
        return taken;
      });
      const lines = Array.from({ length: rooms.length + 3 }, (_, index) => `{"line":${index}}`);
      for (const line of lines) output.write(`${line}\n`);

      const written = file.split('\n').filter((line) => line !== '');
      const whole = written.filter((line) => lines.includes(line));
      // The lines are in order, and all later ones are complete; each partial line is the start of one.
      expect(whole).toEqual(lines.filter((line) => whole.includes(line)));
      expect(whole).toEqual(expect.arrayContaining(lines.slice(rooms.length)));
      for (const line of written) expect(lines.some((one) => one.startsWith(line))).toBe(true);
    }),
  );
});

test('a line that could not be written at all leaves no trace', () => {
  let file = '';
  let isFull = false;
  const output = lastingFile(0, (_fd, bytes) => {
    if (isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    file += bytes.toString();
    return bytes.length;
  });
  output.write('one\n');
  isFull = true;
  output.write('two\n');
  isFull = false;
  output.write('three\n');
  expect(file).toBe('one\nthree\n');
});

test('a full disk for the output causes a one-line error, and does not undo the work', async () => {
  // Only Linux has /dev/full.
  if (process.platform !== 'linux') return;
  const options = { folder: temporaryFolder() };
  const create = ['workspace', 'add', 'game', '--remote', 'https://git.example.com/game.git', '--no-check'];
  const through = ['bash', '-c', 'exec "$0" "$@" >/dev/full'];
  const added = startCommand(create, { ...options, through });
  expect(await added.ended()).toBe(1);
  expect(added.stderr()).toMatch(/^The output could not be written: the disk is full\.$/m);
  const listed = startCommand(['workspace', 'list'], options);
  expect(await listed.ended()).toBe(0);
  expect(listed.stdout()).toContain('game');
});
