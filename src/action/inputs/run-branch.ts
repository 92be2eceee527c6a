/**
 * The branch of the run: the head of a pull request, or the pushed branch. Undefined for a tag. Not in the table of
 * inputs, because the process that renews locks does not load that.
 */
export function runBranch(environment: NodeJS.ProcessEnv): string | undefined {
  const [, branch] = /^refs\/heads\/(.+)$/.exec(environment['GITHUB_REF'] ?? '') ?? [];
  return environment['GITHUB_HEAD_REF'] || branch;
}
