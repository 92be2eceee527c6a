import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastingFile } from '../../src/command/io.ts';

test('a disk that is full for a while loses the lines of that time, and no other line', () => {
  // The room for each write: all, some, or none.
  const room = fc.array(fc.option(fc.nat({ max: 12 }), { nil: Number.POSITIVE_INFINITY }), { maxLength: 30 });
  fc.assert(
    fc.property(room, (rooms) => {
      let file = '';
      const left = [...rooms];
      const output = lastingFile(0, (_fd, bytes, from) => {
        const taken = Math.min(left.shift() ?? Number.POSITIVE_INFINITY, bytes.length - from);
        if (taken === 0) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        file += bytes.subarray(from, from + taken).toString();
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
