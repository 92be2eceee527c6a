import { timeCell } from '../../../interface/format.ts';
import { parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath } from '../../../interface/lock-path.ts';
import { parseTtl } from '../../../interface/ttl.ts';
import { optional, rest, toggle, withDefault } from '../definition/flags.ts';
import { headBranch } from '../remote/checkout.ts';
import { branchFlag, defineRemoteCommand, pathsHelp, waitFlags } from '../remote/remote-command.ts';

export const lockTake = defineRemoteCommand({
  name: 'lock take',
  summary: 'lock all of these paths, or none',
  details: [
    pathsHelp,
    'Files with newer versions on another branch, or on that of the checkout, are reported or refused, depending on the workspace settings.',
  ],
  arguments: { paths: rest('PATH', 'a path to lock', canonicalLockPath, 'required') },
  flags: {
    branch: branchFlag,
    ttl: withDefault('DURATION', 'how long the locks last, unless they are released earlier', parseTtl, '1h'),
    note: optional('TEXT', 'note for anyone who finds the path locked', parseNote),
    literal: toggle('lock the paths as written, even if the checkout has a folder, a pattern or a similar name'),
    ...waitFlags,
  },
  example: 'Content/Hero.uasset --ttl 4h --note Armor',
  async run({ flags, arguments: { paths } }, connect) {
    const { branch = headBranch(), note, wait = { seconds: 0 } } = flags;
    const { acquireRemoteLocks } = await import('../remote/take.ts');
    const request = { ...flags, paths, branch, note: note ?? undefined, wait };
    const locks = await acquireRemoteLocks(await connect(branch), request);
    return {
      document: { locks: locks.map(({ raw }) => raw) },
      lines: locks.map(
        ({ path, expires_at }) => `Locked ${path}${expires_at ? ` until ${timeCell(expires_at)}` : ''}.`,
      ),
    };
  },
});
