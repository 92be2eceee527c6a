import type { Compared, Outdated, Timestamp } from './resources.ts';

export function outdatedText(outdated: Outdated, branch: string | undefined): string {
  const { path, commit, author, at } = outdated;
  const change = `commit ${commit.slice(0, 10)} by ${author} at ${at}`;
  const newer = outdated.deleted
    ? `${change} deleted it on ${outdated.branch}`
    : `${outdated.branch} has a newer version, from ${change}`;
  return `${path} is outdated${branch === undefined ? '' : ` on ${branch}`}: ${newer}. Merge ${outdated.branch} first.`;
}

export const mirrorAgeText = (asOf: Timestamp | null): string =>
  asOf === null
    ? 'Not all branches were compared: the mirror could not be read or brought up to date.'
    : `The files were compared with the mirror as of ${asOf}, which could not be brought up to date in time.`;

/** Whether the workspace refuses a lock on a file that is outdated, or that could not be compared. */
export const isRefused = ({ latest, outdated, gap }: Compared): boolean =>
  latest === 'refuse' && (outdated.length > 0 || gap !== undefined);
