import { parseNote, pathKeptMinutes } from '../../../interface/lock-note.ts';
import { canonicalLockPath } from '../../../interface/lock-path.ts';
import { optional, required, toggle } from '../definition/flags.ts';
import { defineRemoteCommand, pathsHelp } from '../remote/remote-command.ts';

export const lockAsk = defineRemoteCommand({
  name: 'lock ask',
  summary: 'ask for a lock that someone else holds',
  details: [
    `When the path is free, it is kept for you for ${pathKeptMinutes} minutes: lock it then. The event lock.requested notifies the holder.`,
    `Asking again changes the note, and keeps your place. ${pathsHelp}`,
  ],
  arguments: { path: required('PATH', 'the locked path', canonicalLockPath) },
  flags: {
    withdraw: toggle('leave the line'),
    note: optional('TEXT', 'note to the holder', parseNote),
  },
  example: 'Content/Hero.uasset --note Lights',
  check: ({ withdraw, note }) => (withdraw && note ? ['--withdraw leaves the line: remove --note.'] : []),
  async run({ flags: { withdraw, note }, arguments: { path } }, connect) {
    const { client, workspace, within } = await connect();
    if (withdraw) {
      await client.withdrawRequest({ workspace, path }, within());
      return { document: { withdrawn: path }, lines: [`You are no longer in line for ${path}.`] };
    }
    const { position, raw } = await client.askForLock(
      { workspace, path, note: note ?? undefined, ttl: undefined },
      within(),
    );
    const number = position === undefined ? '' : ` number ${position}`;
    const kept = `When it is free, it is kept for you for ${pathKeptMinutes} min.`;
    return { document: raw, lines: [`You are${number} in line for ${path}. ${kept}`] };
  },
});
