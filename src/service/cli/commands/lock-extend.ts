import { timeCell } from '../../../interface/format.ts';
import { canonicalLockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { CommandError } from '../definition/command.ts';
import { required } from '../definition/flags.ts';
import { checkLocks, checkText } from '../remote/check.ts';
import { defineRemoteCommand, pathsHelp } from '../remote/remote-command.ts';

export const lockExtend = defineRemoteCommand({
  name: 'lock extend',
  summary: 'keep a lock that you hold for longer',
  details: [pathsHelp],
  arguments: {
    path: required('PATH', 'a path that you have locked', (text) => canonicalLockPath(text, parseHeldPath)),
  },
  flags: { ttl: required('DURATION', 'how long the lock lasts from now on', parseTtl) },
  example: 'Content/Hero.uasset --ttl 8h',
  async run({ flags: { ttl }, arguments: { path } }, connect) {
    const remote = await connect();
    const { client, workspace, within } = remote;
    const [checked] = await checkLocks(remote, [path]);
    if (checked?.status !== 'yours' || checked.lock === undefined)
      throw new CommandError(checked === undefined ? '' : checkText(checked));
    const request = { workspace, path, type: 'exclusive', ttl, idempotencyKey: crypto.randomUUID() };
    const result = await client.renewLock({ ...request, proof: checked.lock }, within());
    if (result.kind !== 'renewed') {
      const { message } = result.kind === 'replaced' ? { message: 'The service granted another lock.' } : result.error;
      throw new CommandError(`The lock on ${path} was not extended. ${message}`);
    }
    const { raw, expires_at } = result.lock;
    return { document: raw, lines: [`The lock on ${path} lasts until ${timeCell(expires_at)}.`] };
  },
});
