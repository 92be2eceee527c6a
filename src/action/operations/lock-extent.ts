import type { Within } from '../../client/client.ts';
import type { LockPath } from '../../interface/lock-path.ts';
import type { ChangeSource } from '../changed-files/source.ts';
import { count } from '../report/words.ts';
import type { Parts } from './parts.ts';

/** Of what locks are listed, as far as that is known without a request. */
export type LockExtent =
  | { readonly kind: 'workspace' }
  | { readonly kind: 'paths'; readonly paths: readonly LockPath[] }
  | { readonly kind: 'changed-files'; readonly source: ChangeSource };

export interface LookedUp {
  /** Undefined stands for all there are; an empty list for none. */
  readonly paths: readonly LockPath[] | undefined;
  /** What a sentence says behind the name of the workspace. */
  readonly among: string;
}

const capitalised = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

async function lookUpChange(source: ChangeSource, parts: Parts, within: Within): Promise<LookedUp> {
  // With it comes a large part of the bundle, and only a step with `changed-files` needs it.
  const { lookUpChangedFiles } = await import('../changed-files/changed-files.ts');
  const { of, files, paths } = await lookUpChangedFiles(source, parts, within);
  const { owner, repo } = source.repository;
  const different = paths.length === files ? '' : `, which makes ${count(paths.length, 'path')} to look up`;
  parts.log.line(`${capitalised(of)} of ${owner}/${repo} changes ${count(files, 'file')}${different}.`);
  return { paths, among: `, among ${count(files, 'file')} of ${of}` };
}

/** The paths to look up, with all requests that it takes to know them. */
export async function lookUp(extent: LockExtent, parts: Parts, within: Within): Promise<LookedUp> {
  switch (extent.kind) {
    case 'workspace':
      return { paths: undefined, among: '' };
    case 'paths':
      return { paths: extent.paths, among: `, among ${count(extent.paths.length, 'path')}` };
    case 'changed-files':
      return lookUpChange(extent.source, parts, within);
  }
}
