import { formatSpan } from '../../../interface/duration.ts';
import { parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath } from '../../../interface/lock-path.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { optional, required, toggle } from '../definition/flags.ts';
import { defineRemoteCommand, pathsHelp } from '../remote/remote-command.ts';

export const lockAsk = defineRemoteCommand({
  name: 'lock ask',
  summary: 'ask for a lock that someone else holds',
  details: [
    'The service acquires the lock for you at your turn. The event lock.requested notifies the holder. Asking again changes the',
    `note and the time, and keeps your place. ${pathsHelp}`,
  ],
  arguments: { path: required('PATH', 'the locked path', canonicalLockPath) },
  flags: {
    withdraw: toggle('leave the line'),
    note: optional('TEXT', 'note to the holder', parseNote),
    ttl: optional(
      'DURATION',
      'how long the lock lasts',
      parseTtl,
      'default that of the earlier request, or of Git LFS',
    ),
  },
  example: 'Content/Hero.uasset --note Lights --ttl 8h',
  check: ({ withdraw, note, ttl }) =>
    withdraw && (note || ttl !== undefined) ? ['--withdraw leaves the line: remove --note and --ttl.'] : [],
  async run({ flags: { withdraw, note, ttl }, arguments: { path } }, connect) {
    const { client, workspace, within } = await connect();
    if (withdraw) {
      await client.withdrawRequest({ workspace, path }, within());
      return { document: { withdrawn: path }, lines: [`You are no longer in line for ${path}.`] };
    }
    const { position, raw } = await client.askForLock({ workspace, path, note: note ?? undefined, ttl }, within());
    const number = position === undefined ? '' : ` number ${position}`;
    const lockTtl = parseTtl(String(raw['ttl']));
    const span = lockTtl.ok ? `, for ${formatSpan(lockTtl.value.seconds)}` : '';
    return { document: raw, lines: [`You are${number} in line for ${path}. You get the lock at your turn${span}.`] };
  },
});
