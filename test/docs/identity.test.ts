import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { matchTrustRules } from '../../src/service/trust/match.ts';
import type { TrustRule } from '../../src/service/trust/rules.ts';
import { anyJob, mainJob } from '../service/trust/samples.ts';
import { findingsIn } from '../support/language-service.ts';
import { leaveOut } from '../support/left-out.ts';
import { json } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { ourActionFile } from '../support/runner/action-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import {
  codeIn,
  identity,
  ourAction,
  ourVersion,
  runSnippet,
  section,
  snippets,
  snippetWith,
  tableRows,
} from './pages.ts';

const onMain: TrustRule = {
  ...anyJob,
  id: 'trust_0b7c0f3e-3d5c-4c58-9a53-6f2f5a8f6a11',
  claims: { ...anyJob.claims, ref: 'refs/heads/main' },
};

/** The reason that the log gives for refusing a job. */
function refusalReason(change: object, rules: readonly TrustRule[] = [onMain]): string {
  const decision = matchTrustRules(rules, anyJob.issuer, { ...mainJob, ...change });
  if (decision.kind === 'trusted') throw new Error('It is trusted.');
  return decision.reason;
}

test('the workflow passes the language service of GitHub, and contains no secret', async () => {
  const [workflow = ''] = snippets(section(identity, 'GitHub, step by step'), 'yaml');
  const action = await readFile(ourActionFile, 'utf8');
  const ours = { [ourAction]: action };
  expect(await findingsIn('.github/workflows/release.yml', workflow, ours)).toEqual([]);
  expect(workflow).toContain(`uses: ${ourAction}@${ourVersion}\n`);
  expect(workflow).not.toContain('secrets.');
});

test('GitHub sends each claim of the table', () => {
  const job = { ...mainJob, repo_property_NAME: 'VALUE' };
  const rows = tableRows(section(identity, 'What a rule can name'), 'Claim');
  expect(rows.length).toBeGreaterThan(5);
  for (const [claim = ''] of rows) expect(job).toHaveProperty(codeIn(claim)[0] ?? '');
});

test('the log line and the table of refusals match the reasons that the service gives', () => {
  const [line = ''] = snippets(section(identity, 'What is refused'), 'text');
  expect(line.trim()).toBe(refusalReason({ ref: 'refs/heads/fix' }));
  const production = { ...onMain, claims: { ...onMain.claims, environment: 'production' } };
  const said = [
    refusalReason({ environment: undefined }, [production]),
    refusalReason({ repository_owner_id: '9' }),
    refusalReason({ event_name: 'pull_request' }),
    refusalReason({}, [onMain, { ...onMain, owner: 'art-bot' }]),
    refusalReason({}, []),
  ];
  const told = tableRows(section(identity, 'What is refused'), 'The log says').map(([words = '']) => codeIn(words)[0]);
  expect(told).toEqual(said.map((reason) => told.find((words = '?') => reason.includes(words))));
});

test('the script exchanges a JWT with a request of RFC 8693, and reports why it failed', async (context) => {
  const tools = await runSnippet('command -v curl jq', {}).catch(() => undefined);
  if (tools === undefined) leaveOut(context, 'There is no curl or jq on this machine.');
  const granted = json(200, { access_token: 'wsa_x', token_type: 'Bearer', expires_in: 900 });
  const refused = json(400, { error: 'invalid_request', error_description: 'The identity is not accepted.' });
  const { baseUrl, requests } = await startOtherServer((response, request) =>
    (request.body.includes('subject_token=a.b%2B.c') ? granted : refused)(response, request),
  );
  const folder = temporaryFolder();
  const script = join(folder, 'workspace-token');
  await writeFile(script, snippetWith(identity, 'curl --silent'));
  await chmod(script, 0o755);
  const run = (jwt: string) =>
    runSnippet(`printf %s '${jwt}' | ./workspace-token`, {
      cwd: folder,
      environment: { WORKSPACE_BASE_URL: baseUrl },
    });
  expect(await run('a.b+.c')).toBe('wsa_x\n');
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: 'a.b+.c',
  });
  const headers = expect.objectContaining({ 'content-type': 'application/x-www-form-urlencoded' });
  expect(requests).toMatchObject([{ method: 'POST', url: '/v1/token', headers, body: `${form}` }]);
  await expect(run('wrong')).rejects.toThrow('The identity is not accepted.');
});
