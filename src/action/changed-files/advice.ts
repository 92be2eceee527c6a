import { ServiceError } from '../../client/client.ts';
import type { Change } from './change.ts';

/** What to do about an answer of GitHub, to be put behind what it said; empty where that says enough. */
export function adviceOn(error: unknown, { kind }: Change): string {
  if (!(error instanceof ServiceError)) return '';
  const permission = `the permission \`${kind === 'pull-request' ? 'pull-requests' : 'contents'}: read\``;
  switch (error.status) {
    case 401:
      return ` Leave \`github-token\` out: the token of the job is enough, if it has ${permission}.`;
    case 403:
      return ` Give the job ${permission}, below \`permissions:\`. Reading is enough, so the token of a run from a fork will do.`;
    case 404: {
      const gone = kind === 'push' ? ' Or the commit before the push is gone, as it may be after a force push.' : '';
      return ` GitHub says so, too, of what a token may not see: give the job ${permission}, below \`permissions:\`.${gone}`;
    }
    default:
      return '';
  }
}
