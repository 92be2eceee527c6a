import { canonicalLockPath, parseHeldPath } from '../../../interface/lock-path.ts';
import type { Lock } from '../../../interface/resources.ts';
import { releaseLock } from '../../locks/release.ts';
import { shareReleases } from '../../locks/share-releases.ts';
import { defineCommand } from '../command.ts';
import { Failure } from '../failure.ts';
import { toggle } from '../flags.ts';
import { withStorage } from '../open-storage.ts';
import { operatorActor } from '../operator.ts';
import { printJson, printLines } from '../output/print.ts';
import { shownTime } from '../output/times.ts';
import { commonFlags } from './common-flags.ts';
import { existingWorkspace, workspaceArgument } from './workspace-argument.ts';

function heldBy({ owner, acquired_at, expires_at, origin }: Lock): string {
  const run = origin === null ? 'from an unknown run' : `from the run ${origin}`;
  return `${owner}, ${run}, since ${shownTime(acquired_at)} until ${shownTime(expires_at)}`;
}

export const lockRelease = defineCommand({
  name: 'lock release',
  summary: 'release a lock that somebody else has left behind',
  details: ['Its holder counts on it: make sure that the run it came from has ended.'],
  arguments: {
    workspace: workspaceArgument,
    path: { placeholder: 'PATH', what: 'the locked path', parse: (text) => canonicalLockPath(text, parseHeldPath) },
  },
  flags: { force: toggle('take the lock away from its holder'), ...commonFlags },
  example: 'game Content/Hero.uasset --force',
  async run({ flags, arguments: { workspace, path }, environment, io }) {
    const release = await withStorage({ ...flags, environment }, 'there', async (storage) => {
      await existingWorkspace(storage, workspace);
      const releaser = { ...operatorActor(), force: flags.force };
      const released = await storage.commit({ workspace }, (db) =>
        releaseLock(db, storage.now, { workspace, path, match: null, releaser }),
      );
      if (released.kind === 'released') {
        await shareReleases(storage.broadcast).tell({ workspace, path, id: released.lock.id });
      }
      return released;
    });
    switch (release.kind) {
      case 'released':
        if (flags.json) printJson(io.stdout, { released: release.lock });
        else printLines(io.stdout, [`Released ${path}. It was held by ${heldBy(release.lock)}.`]);
        return;
      case 'absent':
        throw new Failure(`There is no lock on ${path} in the workspace "${workspace}".`);
      case 'another-token':
      // Not asked for a certain lock, this is the answer to a lock that is not the operator's.
      case 'another-lock':
        throw new Failure(
          `The lock on ${path} is held by ${heldBy(release.lock)}. Nothing was released: add --force to take it away.`,
        );
    }
  },
});
