import { parseNote } from '../../../interface/lock-note.ts';
import { canonicalLockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import { commitReleasesOf } from '../../locks/commit-releases.ts';
import { CommandError } from '../definition/command.ts';
import { deliberateToggle, optional, required, rest } from '../definition/flags.ts';
import { holderText } from '../output/locks.ts';
import { defineRemoteCommand, pathsHelp } from '../remote/remote-command.ts';
import { remoteOrLocal } from '../remote/remote-or-local.ts';
import { defineStorageCommand, operatorActor, workspaceArgument } from '../storage/storage-command.ts';

const common = {
  name: 'lock release',
  summary: 'release your own locks, or with --force those of others',
  flags: {
    force: deliberateToggle('release the lock even if someone else holds it'),
    reason: optional('TEXT', 'with --force, the reason for the audit log', parseNote),
  },
  check({ force, reason }: { readonly force: boolean; readonly reason?: string | null | undefined }) {
    if (force && !reason) return ['--force needs --reason: the audit log has it, for the holder.'];
    return reason && !force ? ['--reason applies only to forced releases. Add --force, or remove --reason.'] : [];
  },
} as const;

const parsePath = (text: string) => canonicalLockPath(text, parseHeldPath);

const remote = defineRemoteCommand({
  ...common,
  details: [pathsHelp],
  arguments: { paths: rest('PATH', 'a locked path', parsePath, 'required') },
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

const local = defineStorageCommand({
  ...common,
  details: ['The holder of the lock relies on it. Before you use --force, make sure that its CI run has ended.'],
  arguments: { workspace: workspaceArgument, path: required('PATH', 'the locked path', parsePath) },
  example: 'game Content/Hero.uasset --force --reason Ill',
  async run({ flags, arguments: { workspace, path } }, storage) {
    const { force, reason } = flags;
    const releaser = { ...operatorActor(), owner: null, force, ...(reason && { reason }) };
    const [release = { kind: 'absent' as const }] = await commitReleasesOf(storage)(workspace, (_, release) =>
      release([{ workspace, path, match: null, releaser }]),
    );
    switch (release.kind) {
      case 'released':
        return {
          document: { released: release.lock },
          lines: [`Released ${path}. It was held by ${holderText(release.lock)}.`],
        };
      case 'absent':
        throw new CommandError(`There is no lock on ${path} in the workspace "${workspace}".`);
      case 'another-owner':
      // Does not occur with `match: null`.
      case 'another-lock':
        throw new CommandError(
          `The lock on ${path} is held by ${holderText(release.lock)}. Nothing was released. To release it anyway, add --force --reason TEXT.`,
        );
    }
  },
});

export const lockRelease = remoteOrLocal(remote, local);
