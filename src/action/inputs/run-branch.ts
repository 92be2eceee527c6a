/** The branch of the run: of a pull request its head, of a push the branch. A tag has none. */
export function runBranch(environment: NodeJS.ProcessEnv): string | undefined {
  const head = environment['GITHUB_HEAD_REF'];
  if (head !== undefined && head !== '') return head;
  const [, branch] = /^refs\/heads\/(.+)$/.exec(environment['GITHUB_REF'] ?? '') ?? [];
  return branch;
}
