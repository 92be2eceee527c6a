import { parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import { deliberateToggle, optional, rest } from '../definition/flags.ts';
import { defineRemoteCommand, pathsHelp } from '../remote/remote-command.ts';

export const lockRelease = defineRemoteCommand({
  name: 'lock release',
  summary: 'release your own locks, or with --force those of others',
  details: [
    pathsHelp,
    'The holder of the lock relies on it. Before you use --force, make sure that its CI run has ended.',
  ],
  arguments: {
    paths: rest('PATH', 'a locked path', (text) => canonicalLockPath(text, parseHeldPath), 'required'),
  },
  flags: {
    force: deliberateToggle('release the lock even if someone else holds it; needs the scope locks:admin'),
    reason: optional('TEXT', 'with --force, the reason for the audit log', parseNote),
  },
  check({ force, reason }) {
    if (force && !reason) return ['--force needs --reason: the audit log records it.'];
    return reason && !force ? ['--reason applies only to forced releases. Add --force, or remove --reason.'] : [];
  },
  example: 'Content/Hero.uasset',
  async run({ flags: { force, reason }, arguments: { paths } }, connect) {
    const { releaseRemoteLocks } = await import('../remote/release.ts');
    const service = await connect();
    const { released, problems, holderOf } = await releaseRemoteLocks(service, {
      paths,
      force,
      reason: reason ?? undefined,
    });
    const [first, ...more] = problems;
    if (more.length > 0) for (const problem of problems) service.report(problem);
    return {
      document: { released },
      lines: released.map((path) => `Released ${path}.${force ? ` It was held by ${holderOf(path)}.` : ''}`),
      failure: more.length > 0 ? `${problems.length} paths were not released.` : first,
    };
  },
});
